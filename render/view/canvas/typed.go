package canvas

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// typedText makes what is read of a terminal valid UTF-8: the screen's reader of keys turns round for ever at the first byte
// that is not, and no key passes any more. A byte that is none of a character is taken for Latin-1, which is what is pasted
// that way, and for ? where that has a control there. So is U+FFFD, which the reader takes for such bytes. A character that is
// not whole yet waits for its rest.
type typedText struct {
	begun []byte // of a character
	ready []byte // to be read
}

// read is Read of a terminal.
func (t *typedText) read(p []byte, from func([]byte) (int, error)) (int, error) {
	for len(t.ready) == 0 {
		n, err := from(p)
		if n <= 0 || err != nil {
			return n, err
		}
		if len(t.begun) == 0 && utf8.Valid(p[:n]) && !bytes.ContainsRune(p[:n], utf8.RuneError) {
			return n, nil
		}
		t.take(p[:n])
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

func (t *typedText) take(p []byte) {
	b := append(t.begun, p...)
	t.begun, t.ready = nil, nil
	for len(b) > 0 {
		if !utf8.FullRune(b) {
			t.begun = b
			return
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError {
			if r = '?'; n == 1 && b[0] >= firstLatin1 {
				r = rune(b[0])
			}
		}
		t.ready = utf8.AppendRune(t.ready, r)
		b = b[n:]
	}
}

// firstLatin1 is the first character of Latin-1 behind its controls.
const firstLatin1 = 0xa0

// isUTF8 says whether a character set, as an environment names it, is UTF-8.
func isUTF8(charset string) bool {
	return strings.EqualFold(strings.ReplaceAll(charset, "-", ""), "utf8")
}
