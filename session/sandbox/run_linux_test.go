package sandbox

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/confine"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// machineFeatures returns the features of this machine.
func machineFeatures() Features {
	return Features{Landlock: confine.LandlockABI(), Userns: confine.ProbeNamespaces()}
}

// eachLevel runs a test at the levels that a process applies to itself.
func eachLevel(t *testing.T, f func(t *testing.T, l Level)) {
	for _, l := range []Level{Landlock, Userns} {
		t.Run(string(l), func(t *testing.T) {
			if err := machineFeatures().checkLevel(l, &Profile{}); err != nil {
				t.Skip(err)
			}
			f(t, l)
		})
	}
}

// runIn runs a command under rules and returns its output and exit status.
func runIn(t *testing.T, r *Rules, l Level, argv ...string) (out string, code int) {
	t.Helper()
	path := tier.Path(t, argv[0])
	spec := confine.Spec{Path: path}
	if err := r.Confine(&spec, l, ProxyConfig{}); err != nil {
		t.Fatal(err)
	}
	args, env, err := spec.Command(argv, append(os.Environ(), "HOME="+r.Home))
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	cmd := &exec.Cmd{Path: exe, Args: args, Env: env, Dir: r.Cwd, Stdout: &b, Stderr: &b, WaitDelay: time.Minute}
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String()), cmd.ProcessState.ExitCode()
}

// resolve returns the rules of a built-in profile.
func resolve(t *testing.T, name string, at Place) *Rules {
	t.Helper()
	p, ok := Builtin(name)
	if !ok {
		t.Fatal(name)
	}
	r, err := p.Resolve(at)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// FEATURES: R67
func TestRun_Workspace(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		at := testPlace(t)
		r := resolve(t, "workspace", at)
		out, code := runIn(t, r, l, "sh", "-c", "echo hello; pwd; echo x > src/new; cat src/new; echo $$; exit 3")
		if code != 3 || !strings.HasPrefix(out, "hello\n"+r.Cwd+"\nx\n") {
			t.Errorf("%d: %s", code, out)
		}
		if b, err := os.ReadFile(filepath.Join(at.Cwd, "src/new")); err != nil || string(b) != "x\n" {
			t.Errorf("%q, %v", b, err)
		}
		out, code = runIn(t, r, l, "sh", "-c", "kill -TERM $$; sleep 10")
		if code != -1 {
			t.Errorf("program killed by a signal: got %d %s", code, out)
		}
	})
}

// TestRun_NarrowReads checks that with few readable paths, other paths are neither readable nor writable.
//
// FEATURES: R67
func TestRun_NarrowReads(t *testing.T) {
	eachLevel(t, func(t *testing.T, l Level) {
		at := testPlace(t)
		p := profileFor(t, "[p]\nread = [\"?/usr\", \"?/lib\", \"?/lib64\", \"?/bin\", \"?/etc\"]\nwrite = [\"$CWD/src\"]\nprivate_tmp = false\n")
		at.Cwd += "/src"
		p.Write = []string{"$CWD"}
		r, err := p.Resolve(at)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := runIn(t, r, l, "sh", "-c", "echo x > in && cat in; cat "+at.Home+"/.bashrc || echo no; echo y > /new || echo no; echo y > ../beside || echo no; ls /var || echo no")
		if strings.Count(out, "no\n")+strings.Count(out, "\nno") < 4 || !strings.HasPrefix(out, "x\n") {
			t.Errorf("%s", out)
		}
	})
}
