package web

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// QRBorder is the width of the blank border that cameras need around a QR code, in modules. The standard has four.
const QRBorder = 2

// QR returns a text as a QR code, or nil if it is too long for one.
func QR(text string) *qr.Code {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return nil
	}
	return code
}

// QRPath returns the dark modules of a text's QR code as SVG path data, and the code's size with its border. Both are
// in modules. It returns "" if the text is too long for a code.
func QRPath(text string) (path string, size int) {
	code := QR(text)
	if code == nil {
		return "", 0
	}
	var b strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for x < code.Size && code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&b, "M%d %dh%dv1h-%dz", from+QRBorder, y+QRBorder, x-from, x-from)
			}
		}
	}
	return b.String(), code.Size + 2*QRBorder
}
