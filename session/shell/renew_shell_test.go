//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// TestRenewalFile_AppliedOnce checks that a shell applies a renewal file before its next prompt, once: it exports the
// values, whatever they contain, and unsets nil ones. The command before keeps its status, and later changes by the
// user stay.
// FEATURES: R119
func TestRenewalFile_AppliedOnce(t *testing.T) {
	for _, sh := range shells {
		if !Detect([]string{sh.name}).Spec().ReadsEnvUpdate {
			continue
		}
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			r := newTestShellSession(t, testShellOptions{
				argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...),
				env:  []string{"DISPLAY=:1", "GONE=there"},
			})
			r.waitForPrompt()
			display, odd := ":7", "it's \\ \"so\"\nor $not `x` %s é"
			name, text, err := EnvUpdateFile(r.launch.Kind, map[string]*string{"DISPLAY": &display, "ODD": &odd, "GONE": nil, "NEVER": nil})
			if err == nil {
				err = os.WriteFile(filepath.Join(r.launch.StateDir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if code := exitOf(r.run("false")); code != 1 {
				t.Errorf("got status %d of the command before", code)
			}
			env := r.environ()
			if gone, ok := env["GONE"]; env["DISPLAY"] != display || env["ODD"] != odd || ok {
				t.Errorf("DISPLAY=%q ODD=%q GONE=%q", env["DISPLAY"], env["ODD"], gone)
			}
			if c := r.run(`test "$DISPLAY" = :7`); exitOf(c) != 0 {
				t.Errorf("the shell's own variables: got status %d\n%s", exitOf(c), r.describe())
			}
			own := "export DISPLAY=:9"
			if sh.name == "fish" {
				own = "set -gx DISPLAY :9"
			}
			r.run(own)
			r.run("true")
			if got := r.environ()["DISPLAY"]; got != ":9" {
				t.Errorf("the file was applied again: got %s", got)
			}
		})
	}
}

func TestRenewalFile_RejectsInvalidNames(t *testing.T) {
	for _, name := range []string{"", "A B", "1A", "A=B", "A;x", "é"} {
		if _, _, err := EnvUpdateFile(Bash, map[string]*string{name: nil}); err == nil {
			t.Errorf("%q: got no error", name)
		}
	}
}
