package authorize

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/policy"
)

// TestBehindMounts checks that a home that a process has mounted under a harmless name is a home.
//
// FEATURES: R60 R107
func TestBehindMounts(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	other, free := t.TempDir(), t.TempDir()
	cmd := exec.Command("unshare", "-rm", "sh", "-c", `mount --bind "$1" "$2" && ln -s "$2" "$3/link" && echo ready && read x`, "sh", home, other, free)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _, _ = in.Close(), cmd.Wait() }) // however it ended
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Skipf("private mounts are not available: %q, %v", line, err)
	}
	g, _ := faultyHouse(t)
	for _, c := range []struct {
		argv []string
		cwd  string
		want policy.Verdict
	}{
		{[]string{"rm", "-rf", other}, "/", policy.Deny},
		{[]string{"rm", "-rf", other + "/"}, "/", policy.Deny},
		{[]string{"rm", "-rf", "."}, other, policy.Deny},
		{[]string{"rm", "-rf", free + "/link/"}, "/", policy.Deny},
		{[]string{"find", other, "-delete"}, "/", policy.Deny},
		{[]string{"chmod", "-R", "0", other}, "/", policy.Deny},
		{[]string{"rm", "-rf", free + "/link"}, "/", policy.Allow}, // the link itself
		{[]string{"rm", "-rf", free, other + "/none"}, "/", policy.Allow},
		{[]string{"ls", other}, "/", policy.Allow},
	} {
		a := Request{Kind: Execution, Actor: identity.Actor{PID: cmd.Process.Pid}, Path: "/bin/" + c.argv[0], Argv: c.argv, Cwd: c.cwd, Home: home}
		if j := g.Judge(a); j.Verdict != c.want {
			t.Errorf("%q in %s: %+v", c.argv, c.cwd, j)
		}
	}
}
