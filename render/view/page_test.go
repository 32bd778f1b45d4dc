package view

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/render/view/keymap"
)

const viewerPage = "../../docs/viewer.md"

// keysTable are the tables of keys as the documentation has them.
func keysTable() string {
	var b strings.Builder
	table := func(title string, rows []keymap.Row) {
		fmt.Fprintf(&b, "%s:\n\n| key | does | action |\n|---|---|---|\n", title)
		for i := range rows {
			r := &rows[i]
			var keys []string
			for _, k := range strings.Fields(r.Labels()) {
				keys = append(keys, "`"+strings.ReplaceAll(k, "|", "\\|")+"`")
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.Join(keys, " "), r.Help, r.Action)
		}
		b.WriteString("\n")
	}
	table("After the prefix", keymap.Prefix)
	table("In copy mode", keymap.Scroll)
	return b.String()
}

// TestPage checks that the page's keys are those of the tables.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(viewerPage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), " -update` -->\n")
	_, after, end := strings.Cut(rest, "<!-- end -->")
	if !ok || !end {
		t.Fatal("the page has no place for the keys")
	}
	want := before + " -update` -->\n" + keysTable() + "<!-- end -->" + after
	if *update {
		if err := os.WriteFile(viewerPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("docs/viewer.md has other keys; run the test with -update")
	}
}
