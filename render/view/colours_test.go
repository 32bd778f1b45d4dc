package view

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every colour of the viewer's own is one of a theme. The canvas draws what sessions show; the prompt line can be used
// without a viewer, and has the terminal's sixteen colours then.
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
				t.Errorf("%s has a colour of its own: %s", path, found)
			}
		}
		return err
	})
	if err != nil || seen < 50 {
		t.Fatalf("%d files, %v", seen, err)
	}
}
