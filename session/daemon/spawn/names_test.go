package spawn

import "testing"

// TestNameFor checks that a session is named after the program of its line, not after a variable that is set for it.
func TestNameFor(t *testing.T) {
	for line, want := range map[string]string{
		"make -j8":             "make",
		"/usr/bin/git status":  "git",
		"CC=clang make":        "make",
		"A=1 B='x y' npm test": "npm",
		`GIT_EDITOR="sh $PWD/ed.sh" git rebase -i HEAD~2`: "git",
		`X="" Y=" a" Z=' ' ls`:                            "ls",
		"X=1":                                             "X1",
		"[ -e x ]":                                        "session",
	} {
		if got := NameFor([]string{"/bin/sh", "-c", line}); got != want {
			t.Errorf("%q is named %q, not %q", line, got, want)
		}
	}
}
