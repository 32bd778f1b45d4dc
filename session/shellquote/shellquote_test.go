package shellquote

import "testing"

func TestLine(t *testing.T) {
	for want, argv := range map[string][]string{
		"make -j8":           {"make", "-j8"},
		"sh -c 'echo \"x\"'": {"sh", "-c", `echo "x"`},
		`echo 'it'\''s' ''`:  {"echo", "it's", ""},
		"echo '$HOME' '*'":   {"echo", "$HOME", "*"},
		"ls /tmp/größe":      {"ls", "/tmp/größe"},
	} {
		if got := Line(argv); got != want {
			t.Errorf("%q: %s, want %s", argv, got, want)
		}
	}
}
