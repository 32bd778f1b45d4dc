package vterm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRecordings replays the output of real programs on an 80×25 terminal and compares the screen after a third, two
// thirds and all of it. The expected screens were compared with xterm's (docs/conformance.md); -update writes them.
//
// FEATURES: R30, R33
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "recordings", "*.raw"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".raw"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := replay(t, raw)
			golden := strings.TrimSuffix(file, ".raw") + ".screens"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("screens are\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// replay feeds a recording and describes the screen on the way.
func replay(t *testing.T, raw []byte) string {
	term := newTest(t, 80, 25)
	var b strings.Builder
	for i, from := 1, 0; i <= 3; i++ {
		to := len(raw) * i / 3
		feed(term, string(raw[from:to]))
		from = to
		fmt.Fprintf(&b, "--- %d bytes, cursor %d,%d, history %d\n%s\n",
			to, term.cur.Row, term.cur.Col, term.History().Len(), text(term))
		if what := broken(term); what != "" {
			t.Errorf("after %d bytes: %s", to, what)
		}
	}
	return b.String()
}
