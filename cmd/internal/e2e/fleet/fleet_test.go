//go:build unix

package fleet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// found makes an instance the host "one" of a fleet with a new server, and waits until it is connected.
func found(t *testing.T, one *e2e.Instance) {
	t.Helper()
	foundServer(t, one)
}

// foundServer finds the server, and returns its version and arguments.
func foundServer(t *testing.T, one *e2e.Instance) (*server.Server, server.Config) {
	t.Helper()
	one.Run("fleet", "init", "team", "--name", "one", "--address", "127.0.0.1:1")
	dir := certs.Dir(filepath.Join(one.Dir, "state", "fleet"))
	id, err := dir.Identity(certs.Server)
	if err != nil {
		t.Fatal(err)
	}
	c := server.Config{Identity: id, Dir: t.TempDir(), Listen: "127.0.0.1:0"}
	srv := serve(t, c)
	t.Cleanup(srv.Close)
	s, err := dir.Settings()
	if err != nil {
		t.Fatal(err)
	}
	s.Servers, s.Reach = []string{srv.Addr()}, []string{srv.Addr()}
	if err := dir.SaveSettings(s); err != nil {
		t.Fatal(err)
	}
	if body, code := one.Post("/fleet", `{"act":"reload"}`); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	connected(t, one, 1)
	return srv, c
}

// serve starts a server, and waits until it stores data.
func serve(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	c.Log = slog.New(slog.DiscardHandler)
	srv, err := server.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	<-srv.Ready()
	return srv
}

// connected waits until so many hosts are, as one of them sees it.
func connected(t *testing.T, i *e2e.Instance, want int) {
	t.Helper()
	e2e.Eventually(t, fmt.Sprint(want, " hosts are connected"), func() bool {
		var hosts []api.FleetHost
		out, _, code := i.Try("fleet", "hosts", "--json")
		return code == 0 && json.Unmarshal([]byte(out), &hosts) == nil && strings.Count(out, `"connected"`) == want
	})
}

// TestTwoMachines lists the sessions of two machines on each other, and uses those of the other as far as its rights
// allow.
//
// FEATURES: R94, R115
func TestTwoMachines(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	code := strings.TrimSpace(one.Run("fleet", "invite", "--may", "look"))
	two.Run("fleet", "join", code, "--name", "two", "--label", "gpu=yes")
	if _, stderr, _ := two.Try("fleet", "join", code, "--name", "three"); !strings.Contains(stderr, "already") {
		t.Error(stderr)
	}
	connected(t, one, 2)
	one.Run("new", "-n", "there", "--", "sh", "-c", "echo needle; exec sleep 600")
	bot := *two
	bot.Env = append(slices.Clone(two.Env), "LONGTERM_AGENT=bot")
	for _, verb := range [][]string{
		{"fleet", "leave"}, {"fleet", "leave", "--force"}, {"fleet", "invite"}, {"fleet", "run", "--", "true"}, {"fleet", "search", "x"}, {"exec", "--each-host", "true"},
	} {
		if _, stderr, code := bot.Try(verb...); code == 0 || !strings.Contains(stderr, "requires a user") {
			t.Errorf("an agent's %q: status %d, %s", verb, code, stderr)
		}
	}
	if _, err := certs.Dir(filepath.Join(two.Dir, "state", "fleet")).Settings(); err != nil {
		t.Fatalf("it is in no fleet now: %v", err)
	}
	for _, verb := range [][]string{{"exec", "--each-host", "--", "echo up-$((20+3))"}, {"fleet", "run", "--each-host", "--", "sh", "-c", "echo up-$((20+3))"}} {
		if out := one.Run(verb...); !strings.Contains(out, "one: up-23\n") || !strings.Contains(out, "two: up-23\n") {
			t.Errorf("%q: %q", verb, out)
		}
	}
	if _, stderr, code := one.Try("exec", "--each-host", "--json", "--", "echo here; exit 3"); code != 1 {
		t.Errorf("it failed everywhere: status %d, %s", code, stderr)
	}
	if _, stderr, code := one.Try("exec", "--each-host", "--timeout", "1s", "--", "sleep 600"); code != 1 || strings.Count(stderr, "timeout") != 2 {
		t.Errorf("a line that takes too long: status %d, %s", code, stderr)
	}
	for _, args := range [][]string{
		{"--each-host", "--kill", "true"}, {"--wait", "--each-host", "true"}, {"there", "--each-host", "true"}, {"--each-host"}, {"--each-host", "ls", "--sandbox", "x"},
	} {
		if _, stderr, code := one.Try(append([]string{"exec"}, args...)...); code != 2 {
			t.Errorf("exec %q: status %d, %s", args, code, stderr)
		}
	}
	if out := strings.TrimSpace(one.Run("fleet", "run", "-n", "placed", "--on", "gpu=yes", "--", "sh", "-c", "echo needle; exec sleep 600")); out != "two/placed" {
		t.Errorf("it was placed as %s", out)
	}
	e2e.Eventually(t, "both sessions are listed", func() bool {
		out := two.Run("fleet", "ls")
		return strings.Contains(out, "one/there") && strings.Contains(out, "two/placed")
	})
	if out := one.Run("-H", "two", "ls"); !strings.Contains(out, "placed") || strings.Contains(out, "there") {
		t.Errorf("of two: %s", out)
	}
	one.Run("wait", "two/placed", "--for", "text=needle")
	e2e.Eventually(t, "both sessions are found", func() bool {
		out, _, _ := one.Try("fleet", "search", "needle")
		return strings.Contains(out, "one/there:") && strings.Contains(out, "two/placed:")
	})
	// A host can also query itself by its own name. A program in an agent's session may query no other host.
	if out := one.Run("-H", "one", "ls"); !strings.Contains(out, "there") || strings.Contains(out, "placed") {
		t.Errorf("of one: %s", out)
	}
	one.Run("new", "-n", "robot", "--agent", "bot", "--yes", "--", "sh", "-c", one.Exe+" -H two ls 2>&1; echo status $?; exec sleep 600")
	one.Run("wait", "robot", "--for", "text=status")
	if out := strings.ReplaceAll(one.Run("screen", "robot"), "\n", ""); !strings.Contains(out, "denied for uid") || strings.Contains(out, "placed") {
		t.Errorf("an agent's session queries another host: %s", out)
	}
	if out, _, code := one.Try("exec", "-H", "two", "none", "x"); code != 113 {
		t.Errorf("%d, %s", code, out)
	}
	// An operation that needs both hosts is rejected there, and an allowed one is recorded under the caller's name.
	if out := two.Run("screen", "one/there"); !strings.Contains(out, "needle") {
		t.Errorf("the screen: %q", out)
	}
	if _, stderr, code := two.Try("send", "one/there", "x"); code == 0 || !strings.Contains(stderr, "fleet:two") {
		t.Errorf("typing: %d, %s", code, stderr)
	}
	if _, stderr, code := two.Try("-H", "one", "kill", "there"); code == 0 || !strings.Contains(stderr, "needs manage") {
		t.Errorf("killing: %d, %s", code, stderr)
	}
	for _, args := range [][]string{{"leave", "--force"}, {"invite"}, {"init", "other"}, {"join", code}, {"serve"}} { // nor those of this machine
		_, stderr, code := one.Try(append([]string{"-H", "two", "fleet"}, args...)...)
		if code != 2 || !strings.Contains(stderr, "longterm -H two run -- longterm fleet "+args[0]) {
			t.Errorf("%s of the other one: %d, %s", args, code, stderr)
		}
	}
	connected(t, one, 2)
	if _, _, err := one.Try("fleet", "invite"); err != 0 {
		t.Error("the authority's key is gone")
	}
	one.Run("-H", "two", "fleet", "drain")
	if _, stderr, code := one.Try("fleet", "run", "--on", "gpu", "--", "true"); code == 0 || !strings.Contains(stderr, "1 drained") {
		t.Errorf("on a drained host: %d, %s", code, stderr)
	}
	var said strings.Builder
	follow := two.Command(t.Context(), "output", "-f", "one/there")
	follow.Stderr = &said
	out, err := follow.StdoutPipe()
	if err == nil {
		err = follow.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, "needle") {
		t.Fatalf("%q, %v", line, err)
	}
	one.Run("fleet", "revoke", "two")
	if err := follow.Wait(); err == nil || !strings.Contains(said.String(), "was revoked") {
		t.Errorf("a follower of a host that no longer admits it: %v: %s", err, said.String())
	}
	e2e.Eventually(t, "the fleet rejects the revoked machine", func() bool {
		_, _, code := two.Try("-H", "one", "ls")
		return code != 0
	})
	e2e.Eventually(t, "the revoked machine reports the revocation", func() bool { return strings.Contains(two.Run("fleet", "status"), "was revoked") })
	if out := two.Run("ls"); !strings.Contains(out, "placed") {
		t.Errorf("its own sessions: %s", out)
	}
}

// TestHostIsLostWithItsDisk kills a host and loses its disk. Another host reads the replicated output and marks it as a
// replica. Input is rejected.
//
// FEATURES: R94, R115
func TestHostIsLostWithItsDisk(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	two.Run("new", "-n", "work", "--", "sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do echo line $i of needles; done; exec sleep 600")
	want := ""
	e2e.Eventually(t, "all output is printed", func() bool {
		want = two.Run("output", "work", "--raw")
		return strings.HasSuffix(want, "line 9 of needles\r\n")
	})
	e2e.Eventually(t, "all output is replicated", func() bool {
		st := e2e.Decode[api.Fleet](t, two.Run("fleet", "status", "--json"))
		return st.CopyBehind == 0 && st.CopyError == ""
	})
	e2e.Eventually(t, "all processes of the host are killed", func() bool {
		pids := e2e.Processes(two.Dir)
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		return len(pids) == 0
	})
	if err := os.RemoveAll(two.Dir); err != nil {
		t.Fatal(err)
	}
	got, stderr, code := one.Try("output", "two/work", "--raw")
	if code != 0 || got != want || !strings.Contains(stderr, "from the replica of two, as of ") || !strings.Contains(stderr, " 0 bytes were not copied") {
		t.Errorf("%d, %q instead of %q: %s", code, got, want, stderr)
	}
	info := e2e.Decode[struct {
		State string
		Copy  api.FleetCopy
	}](t, one.Run("info", "two/work", "--json"))
	if info.State != "lost" || info.Copy.Host != "two" || info.Copy.AsOf.IsZero() || info.Copy.NotCopied != 0 {
		t.Errorf("%+v", info)
	}
	if out := one.Run("screen", "two/work"); !strings.Contains(out, "line 9 of needles") {
		t.Errorf("the screen: %q", out)
	}
	if out, stderr, code := one.Try("fleet", "search", "needles"); code != 0 || strings.Count(out, "two/work:") != 9 || !strings.Contains(stderr, "from the replica of two") {
		t.Errorf("%d, %q: %s", code, out, stderr)
	}
	for _, args := range [][]string{{"send", "two/work", "x"}, {"exec", "two/work", "true"}, {"kill", "two/work"}, {"restore", "two/work"}, {"wait", "two/work", "--for", "exit"}} {
		_, stderr, code := one.Try(args...)
		if code != 5 && (code != 122 || args[0] != "exec") || !strings.Contains(stderr, "read-only") {
			t.Errorf("%s: %d, %s", args, code, stderr)
		}
		for _, hint := range []string{"longterm output two/work", "longterm search -H two TEXT", "longterm fleet restore two"} {
			if !strings.Contains(stderr, hint) {
				t.Errorf("%s: no hint at %s: %s", args, hint, stderr)
			}
		}
	}
	if out := one.Run("ls"); strings.Contains(out, "work") {
		t.Errorf("it is among the sessions of the other: %s", out)
	}
}
