package progress

import (
	"strings"
	"testing"
)

// FuzzShape compares the shape and the bars of a line with the definition, character by character.
func FuzzShape(f *testing.F) {
	for _, line := range []string{
		"", "[ 37%] Building CXX object a.o", "[===>   ] 3/9", "####", "####....", "----", "<====", "|███  | 45%", "━━━━ 1:02", "▰▰▱ é, ü",
		"a\xffb", "\xe2\x96", "12.5,3=#>-\t:", "[=>   ]", "=.=.=.", "[....", "..>>>>", "■□▰", "│││", "\u2500\u2501\u2502\u2503",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if len(line) > maxReadLine {
			return
		}
		var want strings.Builder
		run, last, bar := 0, rune(0), false
		for _, r := range line {
			if !strings.ContainsRune("0123456789 .,=#>-\t:", r) && (r < 0x2500 || r > 0x28ff) {
				want.WriteRune(r)
			}
			switch {
			case r >= 0x2580 && r <= 0x259f, r >= 0x2501 && r <= 0x257f && r != '│', r >= 0x2800 && r <= 0x28ff, strings.ContainsRune("▰▱■□", r):
				run++
				bar = bar || run >= 3
			case strings.ContainsRune("=#->.", r) && (last == r || last == '[' || last == '<' || last == '='):
				run, last = run+1, r
				bar = bar || run >= 4 && r != '-' && r != '.'
			default:
				run, last = 0, r
			}
		}
		if got := shape(line); got != want.String() {
			t.Errorf("shape of %q: %q, want %q", line, got, want.String())
		}
		if got := hasBar(line); got != (bar || hasShortBar(line)) {
			t.Errorf("a bar in %q: %v", line, got)
		}
	})
}
