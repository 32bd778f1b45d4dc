package canvas

import (
	"strings"

	"github.com/gdamore/tcell/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// charsetOf returns the character set that the environment names, as the screen reads it (POSIX).
func charsetOf(env func(string) string) string {
	locale := ""
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if locale = env(name); locale != "" {
			break
		}
	}
	if locale == "C" || locale == "POSIX" {
		return "US-ASCII"
	}
	locale, _, _ = strings.Cut(locale, "@")
	_, set, named := strings.Cut(locale, ".")
	if !named {
		return "UTF-8"
	}
	return set
}

// isUTF8 reports whether a character set, as an environment names it, is UTF-8.
func isUTF8(charset string) bool {
	return strings.EqualFold(strings.ReplaceAll(charset, "-", ""), "utf8")
}

// outputEncoding is an encoding for output only: input is UTF-8 when the screen gets it (typedText).
type outputEncoding struct{ encoding.Encoding }

// NewDecoder implements encoding.Encoding.
func (outputEncoding) NewDecoder() *encoding.Decoder { return tcell.GetEncoding("UTF-8").NewDecoder() }

// useCharset makes the screen draw in a character set, or in ASCII if the set is unknown. It returns the function that
// decodes a typed byte outside of UTF-8: by the set if all its characters are single bytes, else as Latin-1.
func useCharset(name string) (typed func(byte) rune) {
	typed = charmap.ISO8859_1.DecodeByte
	if isUTF8(name) {
		return typed
	}
	known, err := htmlindex.Get(name)
	if set, ok := known.(*charmap.Charmap); ok && name != "US-ASCII" {
		typed = set.DecodeByte
	}
	drawn := tcell.GetEncoding(name)
	switch _, done := drawn.(outputEncoding); {
	case done:
		return typed
	case drawn == nil && err == nil:
		drawn = known
	case drawn == nil:
		drawn = tcell.GetEncoding("US-ASCII")
	}
	if ascii, done := drawn.(outputEncoding); done {
		drawn = ascii.Encoding
	}
	tcell.RegisterEncoding(name, outputEncoding{drawn})
	return typed
}
