package compare

import (
	"bytes"
	"strings"
	"testing"
)

// FEATURES: R127
func TestTemplate_SameForNoise(t *testing.T) {
	for name, lines := range map[string][]string{
		"durations":    {"ok  \tpkg/a\t0.123s", "ok  \tpkg/a\t12.9s", "ok  \tpkg/a\t1m2.3s", "ok  \tpkg/a\t(cached)"},
		"unit words":   {"built in 12 ms", "built in 3 seconds", "built in 1.5 s"},
		"times":        {"2026-11-29T12:30:11.123Z start", "2025-01-02T03:04:05Z start"},
		"clock":        {"[12:01:59] compile a.c", "[09:00:00] compile a.c"},
		"sizes":        {"wrote 12KiB", "wrote 3.4MB", "wrote 17 MB"},
		"counts":       {"[3/17] Linking x", "[12/340] Linking x"},
		"percentages":  {"Receiving objects:  12% (3/25)", "Receiving objects: 100% (25/25)"},
		"hashes":       {"commit 1a2b3c4d5e6f", "commit deadbeef01"},
		"uuids":        {"job 123e4567-e89b-42d3-a456-426614174000 began", "job 923e4567-ef9b-12d3-b456-126614174999 began"},
		"identifiers":  {"container aB3xY9zQ1 up", "container Zz9yX8wV7 up"},
		"directories":  {"/home/a/src/x.c: compiled", "/srv/ci/build/17/x.c: compiled"},
		"temporary":    {"writing /tmp/tmp.Xyzabc", "writing /tmp/tmp.Qrstuv"},
		"colours":      {"\x1b[1;32mok\x1b[0m a", "ok a"},
		"hyperlinks":   {"\x1b]8;;http://x\x1b\\ok\x1b]8;;\x1b\\ a", "ok a"},
		"bars":         {"[=====>    ] x", "[=========>    ] x"},
		"blocks":       {"██████░░░ x", "██░ x"},
		"spinners":     {"⠋ install", "⠹ install"},
		"spaces":       {"  a   b ", "a b"},
		"addresses":    {"goroutine at 0x7fff12ab", "goroutine at 0xc000012345"},
		"line numbers": {"a.c:10:5: note", "a.c:112: note"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, l := range lines[1:] {
				if a, b := Template(lines[0]), Template(l); a != b {
					t.Errorf("%q: %q\n%q: %q", lines[0], a, l, b)
				}
			}
		})
	}
}

// FEATURES: R127
func TestTemplate_DiffersForMeaning(t *testing.T) {
	for _, pair := range [][2]string{
		{"# fail 0", "# fail 1"},
		{"0 errors", "3 errors"},
		{"exit 0", "exit 2"},
		{"ok pkg/a 0.1s", "FAIL pkg/a 0.1s"},
		{"gcc -c src/a.c", "gcc -c src/b.c"},
		{"✓ adds", "✖ adds"},
		{"/usr/include/stdio.h", "/usr/include/stdlib.h"},
		{"using cache", "using network"},
	} {
		if a, b := Template(pair[0]), Template(pair[1]); a == b {
			t.Errorf("%q and %q: both %q", pair[0], pair[1], a)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"", "a.c:10:5: error: x", "\x1b[1m/tmp/x\x1b]8;;", "\xff\xfe\xe2\xa0", "12m3s 0x1f v1.2.3", "[====>   ] 12%", "/a/b//c/", "\x1b", "1.2.3.4:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tpl := Template(s)
		if len(tpl) > 3*min(len(s), maxLine) {
			t.Errorf("template of %d bytes has %d", len(s), len(tpl))
		}
		if strings.HasSuffix(tpl, " ") || strings.HasPrefix(tpl, " ") {
			t.Errorf("%q: spaces at an end", tpl)
		}
		versionsIn([]byte(s))
		score(s)
		// A run that prints the same has no differences.
		g := NewGoodRun()
		lines := bytes.Split([]byte(s), []byte("\n"))
		for _, l := range lines {
			g.Add(l)
		}
		c := NewComparison(g)
		for _, l := range lines {
			c.Add(l)
		}
		if r := c.Finish(); r.NewLines+r.MissingLines+len(r.Versions) > 0 {
			t.Errorf("a run compared with itself: %+v", r)
		}
		for _, l := range clip([]byte(s)) {
			_ = l
		}
	})
}
