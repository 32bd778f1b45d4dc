package rulebook

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	tomlBlock  = regexp.MustCompile("(?ms)^```toml\n(.*?)^```$")
	exampleRow = regexp.MustCompile("(?m)^\\| `(.+)` \\| (allow|ask|deny) \\|$")
	keyRow     = regexp.MustCompile("(?m)^\\| `([a-z_-]+)` \\| ")
)

// TestPage checks that the page's example files are valid, its claims about lines are true, and it mentions every key.
//
// FEATURES: R61
func TestPage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "policy.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	blocks := tomlBlock.FindAllStringSubmatchIndex(page, -1)
	if len(blocks) < 3 {
		t.Fatalf("%d files on the page", len(blocks))
	}
	rows := 0
	for i, at := range blocks {
		end := len(page)
		if i+1 < len(blocks) {
			end = blocks[i+1][0]
		}
		l := newLibrary(t, page[at[2]:at[3]])
		if st := l.Status(); st.Using != "file" {
			t.Errorf("%+v", st)
		}
		for _, row := range exampleRow.FindAllStringSubmatch(page[at[1]:end], -1) {
			rows++
			l.want(Subject{Agent: "x", Cwd: l.home, Home: l.home}, strings.ReplaceAll(row[1], `\|`, "|"), row[2])
		}
	}
	if rows < 10 {
		t.Errorf("%d lines are judged on the page", rows)
	}
	told := map[string]bool{}
	for _, row := range keyRow.FindAllStringSubmatch(page, -1) {
		told[row[1]] = true
	}
	for _, k := range RuleKeys {
		if !told[k.Name] {
			t.Errorf("the page does not mention %s", k.Name)
		}
	}
	for _, k := range append(SectionKeys, TopKeys...) {
		if !regexp.MustCompile(fmt.Sprintf("(?m)^\\s*%s += ", k.Name)).MatchString(page) {
			t.Errorf("no file on the page has %s", k.Name)
		}
	}
	for _, p := range Presets() {
		if !told[string(p)] {
			t.Errorf("the page does not mention the preset %s", p)
		}
	}
}
