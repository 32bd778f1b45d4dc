package pixel

import (
	"go/scanner"
	"go/token"
	"image"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"

	"github.com/longterm-dev/longterm/render/boxdraw"
)

// TestOwnSigns: a picture of the viewer shows every sign that longterm itself draws, without fonts of the machine.
//
// FAULT: B22
func TestOwnSigns(t *testing.T) {
	files, err := filepath.Glob("../view/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"../view/*/*.go", "../../cmd/longterm/*.go"} {
		more, _ := filepath.Glob(pattern) // the pattern is sound
		files = append(files, more...)
	}
	fonts, seen := embedded(), map[rune]bool{}
	var buf sfnt.Buffer
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, r := range literals(t, file) {
			if r < 0x80 || seen[r] || r == '\ufffd' || invisible(r) {
				continue
			}
			seen[r] = true
			f, _, _ := fonts.find(&buf, r, false, false)
			if f == nil && !boxdraw.Has(r) && fonts.bitmap(r, image.Pt(10, 20), 15, image.Pt(1, 1)) == nil {
				t.Errorf("%c (%U) of %s is in no font", r, r, file)
			}
		}
	}
	if !seen['║'] || !seen['·'] || !seen['✓'] {
		t.Error("the signs were not found")
	}
}

// literals are the characters of a file's string literals.
func literals(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile(file, -1, len(src)), src, nil, 0)
	var b strings.Builder
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return b.String()
		case token.STRING:
			text, _ := strconv.Unquote(lit)
			b.WriteString(text)
		case token.CHAR:
			r, _, _, _ := strconv.UnquoteChar(strings.Trim(lit, "'"), '\'')
			b.WriteRune(r)
		}
	}
}
