//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// What is left for a shell it exports before its next prompt, once, whatever is in it; what is nil it unsets. The command
// before has its status all the same, and what the user sets afterwards stays.
//
// FEATURES: R119
func TestRenewal(t *testing.T) {
	for _, sh := range shells {
		if !Detect([]string{sh.name}).Spec().Renews {
			continue
		}
		t.Run(sh.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{
				argv: append([]string{shellPath(t, sh.name)}, sh.argv[1:]...),
				env:  []string{"DISPLAY=:1", "GONE=there"},
			})
			r.prompt()
			display, odd := ":7", "it's \\ \"so\"\nor $not `x` %s é"
			name, text, err := Renewal(r.launch.Kind, map[string]*string{"DISPLAY": &display, "ODD": &odd, "GONE": nil, "NEVER": nil})
			if err == nil {
				err = os.WriteFile(filepath.Join(r.launch.StateDir, name), text, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if code := exitOf(r.run("false")); code != 1 {
				t.Errorf("the status before it was taken over: %d", code)
			}
			env := r.environ()
			if gone, ok := env["GONE"]; env["DISPLAY"] != display || env["ODD"] != odd || ok {
				t.Errorf("DISPLAY=%q ODD=%q GONE=%q", env["DISPLAY"], env["ODD"], gone)
			}
			if c := r.run(`test "$DISPLAY" = :7`); exitOf(c) != 0 {
				t.Errorf("the shell itself: %d\n%s", exitOf(c), r.describe())
			}
			own := "export DISPLAY=:9"
			if sh.name == "fish" {
				own = "set -gx DISPLAY :9"
			}
			r.run(own)
			r.run("true")
			if got := r.environ()["DISPLAY"]; got != ":9" {
				t.Errorf("it was taken over again: %s", got)
			}
		})
	}
}

func TestRenewalIsOfNames(t *testing.T) {
	for _, name := range []string{"", "A B", "1A", "A=B", "A;x", "é"} {
		if _, _, err := Renewal(Bash, map[string]*string{name: nil}); err == nil {
			t.Errorf("%q is taken for a name", name)
		}
	}
}
