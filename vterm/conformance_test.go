package vterm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixtureDifferences names fixtures that are not followed, with the reason.
var fixtureDifferences = map[string]string{
	"t0060-DECSC": "DECRC restores the pending wrap, as the VT510 and xterm since patch 279 do",
}

// TestFixtures replays recorded output whose screen in xterm is known.
//
// FEATURES: R30
func TestFixtures(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "conformance", "xterm.js")
	files, _ := filepath.Glob(filepath.Join(dir, "*.in"))
	if len(files) == 0 {
		t.Skip("no fixtures in", dir)
	}
	for _, in := range files {
		name := strings.TrimSuffix(filepath.Base(in), ".in")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(in)
			if err != nil {
				t.Fatal(err)
			}
			recorded, err := os.ReadFile(strings.TrimSuffix(in, ".in") + ".text")
			if err != nil {
				t.Fatal(err)
			}
			// A PTY in its default state was between the file and the terminal (ONLCR).
			term := newTest(t, 80, 25, strings.ReplaceAll(string(data), "\n", "\r\n"))
			got, want := text(term), trimLines(string(recorded))
			if why := fixtureDifferences[name]; why != "" {
				if got == want {
					t.Errorf("agrees now, but should not: %s", why)
				}
				return
			}
			if got != want {
				t.Errorf("screen is\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}
