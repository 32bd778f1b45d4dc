package project

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocsPage checks the example and the tables of keys in docs/projects.md.
//
// FEATURES: R116
func TestDocsPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "projects.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	blocks := regexp.MustCompile("(?ms)^```toml\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d files on the page", len(blocks))
	}
	f, err := Decode("/home/me/shop", []byte(blocks[0][1]), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Sessions) != 4 || len(f.Tabs) != 2 {
		t.Errorf("%+v", f)
	}
	rows := 0
	for _, keys := range [][]Key{TopKeys, SessionKeys, TabKeys} {
		for _, k := range keys {
			rows++
			if want := fmt.Sprintf("| `%s` | %s | %s |\n", k.Name, k.Kind, k.Help); !strings.Contains(page, want) {
				t.Errorf("%s missing on the page", want)
			}
		}
	}
	if got := strings.Count(page, "\n| `"); got != rows {
		t.Errorf("%d keys on the page, %d in the tables", got, rows)
	}
}
