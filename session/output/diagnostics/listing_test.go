package diagnostics

import (
	"fmt"
	"strings"
	"testing"
)

// FEATURES: R28
func TestListing(t *testing.T) {
	zero := 0
	for _, c := range []struct {
		name, line, text string
		want             []string // type name dir size time owner target
	}{
		{"long", "ls -la g", `total 28
drwxr-xr-x 3 root root 4096 Nov 21 21:23 .
-rw-r--r-- 1 ann  staff  63 Nov 21  2024 a
-rwxr-xr-x+ 1 root root 2 2026-11-21 21:23 d e
lrwxrwxrwx 1 root root 2 Nov 21 21:23 l -> '/a b'
crw-rw-rw- 1 root root 1, 3 Nov 18 09:15 null
`, []string{"dir . [] 4096 Nov 21 21:23 root ", "file a [] 63 Nov 21  2024 ann ", "file d e [] 2 2026-11-21 21:23 root ", "link l [] 2 Nov 21 21:23 root /a b", "char-device null [] 0 Nov 18 09:15 root "}},
		{"long with units", "ls -lh", "total 3.1M\n-rw-r--r-- 1 root root 3.0M Nov 21 21:23 big\n-rw-r--r-- 1 root root 1,5K Nov 21 21:23 small\n", []string{"file big [] 3145728 Nov 21 21:23 root ", "file small [] 1536 Nov 21 21:23 root "}},
		{"full time", "ls -l --time-style=full-iso", "-rw-r--r-- 1 root root 0 2026-11-21 21:23:43.124708199 +0000 f1\n", []string{"file f1 [] 0 2026-11-21 21:23:43.124708199 +0000 root "}},
		{"no owner", "ls -lg", "-rw-r--r-- 1 staff 5 Nov 21 21:23 f1\n", []string{"file f1 [] 5 Nov 21 21:23  "}},
		{"alias", "ll", "-rw-r--r-- 1 root root 5 Nov 21 21:23 f1\n", []string{"file f1 [] 5 Nov 21 21:23 root "}},
		{"inodes and blocks", "ls -lis", "10155822 4 -rw-r--r-- 1 root root 5 Nov 21 21:23 f1\n", []string{"file f1 [] 5 Nov 21 21:23 root "}},
		{"several", "ls -l a b", "a:\ntotal 0\n-rw-r--r-- 1 root root 5 Nov 21 21:23 x\n\nb:\ntotal 0\n-rw-r--r-- 1 root root 5 Nov 21 21:23 y\n", []string{"file x [a] 5 Nov 21 21:23 root ", "file y [b] 5 Nov 21 21:23 root "}},
		{"columns", "ls", "f1   f12  'with space'\tf4\nf10  f13  \"it's\"\n", []string{" f1 [] 0  ", " f12 [] 0  ", " with space [] 0  ", " f4 [] 0  ", " f10 [] 0  ", " f13 [] 0  ", " it's [] 0  "}},
		{"classified", "ls -F", "ct/  run*  l@  a.c\n", []string{"dir ct [] 0  ", "file run [] 0  ", "link l [] 0  ", " a.c [] 0  "}},
		{"one a line", "ls -1", "a  b\nc\n", []string{" a  b [] 0  ", " c [] 0  "}},
		{"recursive", "ls -R", ".:\nd\n\n./d:\nx\n", []string{" d [.] 0  ", " x [./d] 0  "}},
		{"inodes", "ls -1i", " 123 a\n4567 b\n", []string{" a [] 0  ", " b [] 0  "}},
		{"complaints", "ls x y", "ls: cannot access 'x': No such file or directory\ny\n", []string{" y [] 0  "}},
		{"nothing", "ls", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Parse(c.line, &zero, c.text)
			var got []string
			for _, e := range r.Listing {
				got = append(got, strings.TrimRight(fmt.Sprintf("%s %s [%s] %d %s %s %s", e.Type, e.Name, e.Dir, e.SizeBytes, e.Time, e.Owner, e.Target), " "))
			}
			for i := range c.want {
				c.want[i] = strings.TrimRight(c.want[i], " ")
			}
			if r.Kind != Listing || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s\n%s\nwant\n%s", r.Kind, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
	if r := Parse("lsof", &zero, "a b\n"); r.Kind != Text {
		t.Errorf("lsof is ls: %s", r.Kind)
	}
	if r := Parse("ls -1", &zero, strings.Repeat("x\n", maxEntries+5)); len(r.Listing) != maxEntries || !r.Truncated {
		t.Errorf("%d entries, truncated %v", len(r.Listing), r.Truncated)
	}
}
