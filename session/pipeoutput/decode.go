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
	e encoding.Encoding // nil: UTF-8, or detected
	// isDetected is set if each stream's encoding is detected from its bytes. fallback is then the one for text that no detection
	// recognizes.
	isDetected bool
	fallback   encoding.Encoding
}

// Auto is the name of the encoding that is detected.
const Auto = "auto"

// ParseEncoding finds an encoding by its name or label in the WHATWG Encoding Standard, such as shift_jis, latin1 or utf-16le.
// For Auto it returns an encoding that is detected; locale is the value of LC_ALL, LC_CTYPE or LANG that the program runs with.
func ParseEncoding(name, locale string) (Encoding, error) {
	switch {
	case name == "" || strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8"):
		return Encoding{}, nil
	case strings.EqualFold(name, Auto):
		return Encoding{isDetected: true, fallback: encodingOfLocale(locale)}, nil
	}
	e, err := htmlindex.Get(name)
	if err != nil {
		return Encoding{}, fmt.Errorf("no encoding %q; names are those of the web, as in latin1, shift_jis, gbk, utf-16le; auto detects it", name)
	}
	return Encoding{e: e}, nil
}

// NeedsDecoding reports whether it may not be UTF-8.
func (e Encoding) NeedsDecoding() bool { return e.e != nil || e.isDetected }

// Decoder returns a writer that writes UTF-8 to w. Invalid input becomes U+FFFD; characters may arrive in pieces. Close
// flushes an incomplete one; it does not close w. A detected encoding leaves data that no encoding explains as it is.
func (e Encoding) Decoder(w io.Writer) io.WriteCloser {
	if e.isDetected {
		return &detectingDecoder{w: w, fallback: e.fallback}
	}
	if e.e == nil {
		return transform.NewWriter(w, unicode.UTF8.NewDecoder())
	}
	return transform.NewWriter(w, e.e.NewDecoder())
}
