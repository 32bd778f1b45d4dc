package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func window(t testing.TB, margin int) PictureOptions {
	o := lookOf(t, "dark")
	o.Window, o.Margin, o.MarginColor = true, margin, 0x123456
	return o
}

// FEATURES: R36
func TestWindow_SVG(t *testing.T) {
	s := screenOf(native(30, 4), "\x1b]2;build & <test>\x07$ make")
	got := AppendSVG(nil, s, window(t, 20))
	checkSVG(t, got)
	file := filepath.Join("testdata", "golden", "window.svg")
	if *update {
		fail(t, os.WriteFile(file, got, 0o644))
	}
	want, err := os.ReadFile(file)
	fail(t, err)
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s\n(go test ./render -run Window -update accepts it)", got, want)
	}
	if side, top, bottom := new(PictureOptions).Insets(); side+top+bottom != 0 {
		t.Errorf("insets of a picture without padding are %d, %d, %d", side, top, bottom)
	}
}

func TestWindowTitle(t *testing.T) {
	for _, tt := range []struct {
		title string
		width int
		want  string
	}{
		{"make", 1000, "make"},
		{"make all the tests", 240, "make all …"},
		{"日本語日本語日本語", 240, "日本語日…"},
		{"make", 184, ""},
	} {
		if got := WindowTitle(tt.title, tt.width); got != tt.want {
			t.Errorf("title %q in %d pixels: got %q, want %q", tt.title, tt.width, got, tt.want)
		}
	}
}

func TestParseColor(t *testing.T) {
	for s, want := range map[string]uint32{"#a9b4c4": 0xa9b4c4, "FFF": 0xffffff, "#0f8": 0x00ff88} {
		if got, err := ParseColor(s); err != nil || got != want {
			t.Errorf("%q: got %06x, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "#", "red", "#12345", "#1234567", "+12345", "#é1", "##123456"} {
		if _, err := ParseColor(s); err == nil || !strings.Contains(err.Error(), "#rrggbb") {
			t.Errorf("%q: got error %v", s, err)
		}
	}
}
