package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// TestColoursAreThemes checks that every colour of the viewer's own belongs to a theme. The canvas draws the sessions'
// colours. The prompt line can be used without a viewer, and has the terminal's sixteen colours then.
//
// FEATURES: R76
func TestColoursAreThemes(t *testing.T) {
	names := regexp.MustCompile(`tcell\.(NewHexColor|NewRGBColor|PaletteColor|GetColor|Color[A-Z][a-z]+)`)
	seen := 0
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		dir, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		switch {
		case err != nil:
			return err
		case e.IsDir() && (dir == "theme" || dir == "canvas" || dir == "prompt"):
			return fs.SkipDir
		case e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		b, err := os.ReadFile(path)
		seen++
		for _, found := range names.FindAllString(string(b), -1) {
			if found != "tcell.ColorDefault" {
				t.Errorf("%s has a separate colour: %s", path, found)
			}
		}
		return err
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// TestColoursOfFew checks that on a terminal of 256 colours the viewer uses those that look the same on all terminals,
// in views that have most of the theme.
//
// FEATURES: R76
func TestColoursOfFew(t *testing.T) {
	b := newBench(t, 90, 26, Options{Inspector: newFakeInspector(), Approver: &approver{}, LiveOptions: LiveOptions{Theme: theme.Dark, Glyphs: "unicode"}})
	b.term.FewColors = true
	var colours int
	for _, view := range []string{"^1", "^?", "<Esc>^p"} {
		panesScene(b)
		b.keys(view)
		for y := range 26 {
			for x := range 90 {
				_, st, _ := b.term.Get(x, y)
				fg, bg, _ := st.Decompose()
				for _, c := range []tcell.Color{fg, bg} {
					if c.IsRGB() {
						t.Fatalf("%q: #%06x at %d,%d", view, c.Hex(), x, y)
					}
					if c >= tcell.PaletteColor(16) {
						colours++
					}
				}
			}
		}
	}
	if colours < 1000 {
		t.Errorf("%d cells have a colour of the theme", colours)
	}
}
