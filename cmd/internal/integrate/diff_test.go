package integrate

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	long := strings.Repeat("x\n", 9)
	for _, c := range []struct{ name, before, after, want string }{
		{"same", "a\n", "a\n", ""},
		{"new", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"gone", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n"},
		{"end", "a", "a\nb", "@@ -1,1 +1,2 @@\n-a\n\\ no newline at the end\n+a\n+b\n\\ no newline at the end\n"},
		{"middle", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nnew\n5\n6\n7\n8\n", "@@ -2,6 +2,7 @@\n 2\n 3\n 4\n+new\n 5\n 6\n 7\n"},
		{"two hunks", "a\n" + long + "b\n", "A\n" + long + "B\n", "@@ -1,4 +1,4 @@\n-a\n+A\n x\n x\n x\n@@ -8,4 +8,4 @@\n x\n x\n x\n-b\n+B\n"},
		{"kept between", "a\nk\nb\n", "c\nk\nd\n", "@@ -1,3 +1,3 @@\n-a\n+c\n k\n-b\n+d\n"},
	} {
		if got := Diff(c.before, c.after); got != c.want {
			t.Errorf("%s:\ngot\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
