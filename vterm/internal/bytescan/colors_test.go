package bytescan

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"testing"
)

var (
	colorForm  = regexp.MustCompile(`^\x1b\[([34])8;2;(\d{1,3});(\d{1,3});(\d{1,3})m`)
	letterForm = regexp.MustCompile(`^[ -~]\x1b`)
)

// plainColor is Color by a regular expression.
func plainColor(s string) (rgb uint32, n int, background bool) {
	m := colorForm.FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	for _, number := range m[2:] {
		v, _ := strconv.Atoi(number)
		if v > 255 {
			return 0, 0, false
		}
		rgb = rgb<<8 | uint32(v)
	}
	return rgb, len(m[0]), m[1] == "4"
}

// colored makes sequences that set colours, with letters behind them, some with a mistake.
func colored(r *rand.Rand) string {
	numbers := []string{"", "0", "00", "007", "9", "10", "99", "100", "199", "255", "256", "300", "0255", "1000", ":", "-1", "\xff", "\xfa9", "/", "2?"}
	var b []byte
	for range 1 + r.IntN(6) {
		n := [3]string{}
		for i := range n {
			if n[i] = strconv.Itoa(r.IntN(256)); r.IntN(12) == 0 {
				n[i] = numbers[r.IntN(len(numbers))]
			}
		}
		b = fmt.Appendf(b, "\x1b[%d8;2;%s;%s;%sm%c", 3+r.IntN(12)/11, n[0], n[1], n[2], ' '+r.IntN(96))
		if r.IntN(6) == 0 {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		if r.IntN(12) == 0 {
			b = append(b, "more"...)
		}
	}
	return string(b) + "                                         "
}

// TestColors compares the fast reading of sequences that set colours with a regular expression.
func TestColors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	letters := make([]ColoredLetter, 4)
	taken := 0
	for range 40_000 {
		s := colored(r)
		wantRGB, wantN, wantBG := plainColor(s)
		rgb, n, bg := Color((*[ColorReach]byte)([]byte(s)))
		if rgb != wantRGB || n != wantN || bg != wantBG {
			t.Fatalf("%q: colour %06x of %d bytes, background: %v, want %06x of %d, %v", s, rgb, n, bg, wantRGB, wantN, wantBG)
		}
		got := letters[:ColoredLetters([]byte(s), letters)]
		at := 0
		for i := range len(letters) + 1 {
			rgb, n, bg := plainColor(s[at:])
			good := n > 0 && !bg && letterForm.MatchString(s[at+n:]) && i < len(letters)
			if good != (i < len(got)) {
				t.Fatalf("%q: %d letters", s, len(got))
			}
			if !good {
				break
			}
			if c := got[i]; c.RGB() != rgb || c.Letter() != s[at+n] || c.End() != at+n+1 {
				t.Fatalf("%q: letter %d is %q in %06x up to %d", s, i, c.Letter(), c.RGB(), c.End())
			}
			at += n + 1
			taken++
		}
	}
	if taken < 20_000 {
		t.Errorf("only %d letters were read", taken)
	}
}
