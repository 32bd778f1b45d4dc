package search

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// lower maps ASCII letters to lower case.
var lower = func() (t [utf8.RuneSelf]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] += 'a' - 'A'
		}
	}
	return t
}()

// fold maps all runes that differ only in case (Unicode simple folding, like regexp) to the same rune.
func fold(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		return rune(lower[r])
	case 0x2e80 <= r && r < 0xa640, 0xac00 <= r && r < 0xd800:
		return r // East Asian scripts have no case: spares a search in tables
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if least < utf8.RuneSelf {
		return rune(lower[least])
	}
	return least
}

// appendFold appends the folded text, whose length may differ.
func appendFold(dst, text []byte) []byte {
	for len(text) > 0 {
		n := asciiLen(text)
		dst = append(dst, text[:n]...)
		toLower(dst[len(dst)-n:])
		for text = text[n:]; len(text) > 0 && text[0] >= utf8.RuneSelf; text = text[n:] {
			var r rune
			r, n = utf8.DecodeRune(text)
			dst = utf8.AppendRune(dst, fold(r))
		}
	}
	return dst
}

// ones has a 1 in each of eight bytes: ones times a byte repeats that byte.
const ones = 0x0101010101010101

// asciiLen returns the number of ASCII bytes that b starts with.
func asciiLen(b []byte) int {
	i := 0
	for i+8 <= len(b) && binary.NativeEndian.Uint64(b[i:])&(ones*0x80) == 0 {
		i += 8
	}
	for i < len(b) && b[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// toLower folds ASCII in place.
func toLower(b []byte) {
	i := 0
	for ; i+8 <= len(b); i += 8 {
		x := binary.NativeEndian.Uint64(b[i:])
		// The high bit of each byte from A on, less that of each byte behind Z.
		upper := (x + ones*(0x80-'A')) &^ (x + ones*(0x80-'Z'-1)) & (ones * 0x80)
		binary.NativeEndian.PutUint64(b[i:], x|upper>>2) // 'a' - 'A' is 0x80 >> 2
	}
	for ; i < len(b); i++ {
		b[i] = lower[b[i]]
	}
}

// unfold converts ranges of a folded line to ranges of the original line. Ranges are ascending and start and end
// between runes.
func unfold(line []byte, ranges []Range) {
	at, folded := 0, 0 // the same place in both
	walk := func(to int) int {
		for folded < to && at < len(line) {
			r, n := utf8.DecodeRune(line[at:])
			at += n
			folded += utf8.RuneLen(fold(r))
		}
		return at
	}
	for i, r := range ranges {
		ranges[i] = Range{walk(r.Start), walk(r.End)}
	}
}
