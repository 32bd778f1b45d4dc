package bytescan

import (
	"testing"
	"unicode/utf8"
)

// TestRune agrees with the standard library on every code point and on all that
// two and three bytes can hold.
func TestRune(t *testing.T) {
	check := func(b []byte) {
		want, n := utf8.DecodeRune(b)
		if want == utf8.RuneError && n == 1 {
			n = 0
		}
		if r, k := Rune(b); k != n || k > 0 && r != want {
			t.Fatalf("% x: %U in %d bytes, want %U in %d", b, r, k, want, n)
		}
	}
	for r := rune(0x80); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			check(append(utf8.AppendRune(nil, r), 'x'))
		}
	}
	for i := range 1 << 16 {
		check([]byte{0x80 | byte(i>>8), byte(i)})
		check([]byte{0xe0 | byte(i>>12), byte(i >> 4), 0x80 | byte(i)&0x3f})
		check([]byte{0xf0 | byte(i>>12), byte(i >> 4), 0x80 | byte(i)&0x3f, 0x80})
	}
}
