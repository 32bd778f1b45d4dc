package pipeoutput

import (
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Encoding is how a program writes text. The zero value is UTF-8.
type Encoding struct {
	e encoding.Encoding // nil: UTF-8
}

// ParseEncoding finds an encoding by its name or label in the WHATWG Encoding Standard,
// such as shift_jis, latin1 or utf-16le.
func ParseEncoding(name string) (Encoding, error) {
	if name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8") {
		return Encoding{}, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return Encoding{}, fmt.Errorf("no encoding %q; names are those of the web, as in latin1, shift_jis, gbk, utf-16le", name)
	}
	return Encoding{e}, nil
}

// NeedsDecoding reports whether it is not UTF-8.
func (e Encoding) NeedsDecoding() bool { return e.e != nil }

// Decoder returns a writer that writes UTF-8 to w. Invalid input becomes U+FFFD; characters may arrive in pieces. Close
// flushes an incomplete one; it does not close w.
func (e Encoding) Decoder(w io.Writer) io.WriteCloser {
	if e.e == nil {
		return transform.NewWriter(w, unicode.UTF8.NewDecoder())
	}
	return transform.NewWriter(w, e.e.NewDecoder())
}
