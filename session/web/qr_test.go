package web

import (
	"fmt"
	"strings"
	"testing"
)

// TestQRPath_HasTheModulesOfTheCode draws a path's rectangles and compares them with the code.
//
// FEATURES: R83
func TestQRPath_HasTheModulesOfTheCode(t *testing.T) {
	const link = "http://127.0.0.1:7719/#token=lt_0123456789"
	path, size := QRPath(link)
	code := QR(link)
	if code == nil || size != code.Size+2*QRBorder {
		t.Fatalf("size %d of %v", size, code)
	}
	dark := map[[2]int]bool{}
	for part := range strings.SplitSeq(strings.TrimSuffix(path, "z"), "z") {
		var x, y, n, back int
		if _, err := fmt.Sscanf(part, "M%d %dh%dv1h-%d", &x, &y, &n, &back); err != nil || n != back {
			t.Fatalf("%q: %v", part, err)
		}
		for i := range n {
			dark[[2]int{x + i, y}] = true
		}
	}
	for y := range size {
		for x := range size {
			inside := min(x, y) >= QRBorder && max(x, y) < size-QRBorder
			if want := inside && code.Black(x-QRBorder, y-QRBorder); dark[[2]int{x, y}] != want {
				t.Fatalf("module %d, %d: dark is %v", x, y, !want)
			}
		}
	}
	if path, size := QRPath(strings.Repeat("x", 4000)); path != "" || size != 0 {
		t.Errorf("a code of a text that is too long: size %d", size)
	}
}
