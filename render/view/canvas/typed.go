package canvas

import (
	"bytes"
	"unicode/utf8"
)

// typedText converts terminal input to valid UTF-8. tcell's key reader loops forever at an invalid byte and blocks all
// keys, and most terminals send UTF-8 in any locale. A byte outside of characters is decoded by itself, as ? if it is a
// control; so is U+FFFD, which the reader takes for such bytes. In a UTF-8 locale an incomplete character waits for its
// remaining bytes.
type typedText struct {
	decode func(byte) rune // decodes a byte; nil: as Latin-1
	eager  bool            // characters of the locale are single bytes, so an incomplete sequence does not wait
	begun  []byte          // incomplete character
	ready  []byte          // decoded input to be read
}

// read reads from a terminal like its Read.
func (t *typedText) read(p []byte, from func([]byte) (int, error)) (int, error) {
	for len(t.ready) == 0 {
		n, err := from(p)
		if n <= 0 || err != nil {
			return n, err
		}
		if len(t.begun) == 0 && utf8.Valid(p[:n]) && !bytes.ContainsRune(p[:n], utf8.RuneError) {
			return n, nil
		}
		t.take(p[:n], t.eager && n < len(p))
	}
	n := copy(p, t.ready)
	t.ready = t.ready[n:]
	return n, nil
}

// take decodes p. If whole, no byte follows an incomplete character at its end.
func (t *typedText) take(p []byte, whole bool) {
	b := append(t.begun, p...)
	t.begun, t.ready = nil, nil
	for len(b) > 0 {
		if !whole && !utf8.FullRune(b) {
			t.begun = b
			return
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			r = t.byte(b[0])
		}
		if r == utf8.RuneError {
			r = '?'
		}
		t.ready = utf8.AppendRune(t.ready, r)
		b = b[n:]
	}
}

// byte decodes a byte outside of UTF-8; it returns utf8.RuneError for a control.
func (t *typedText) byte(b byte) rune {
	r := rune(b)
	if t.decode != nil {
		r = t.decode(b)
	}
	if r < firstLatin1 {
		return utf8.RuneError
	}
	return r
}

// firstLatin1 is the first character of Latin-1 after its controls.
const firstLatin1 = 0xa0
