//go:build unix

package fleet

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/fleet/ident"
	"github.com/longterm-dev/longterm/store/fleet/server"
)

// Two machines of a fleet list each other's sessions, and each drives those of the other as far as it was let in for.
//
// FEATURES: R94
func TestTwoMachines(t *testing.T) {
	one, two := e2e.New(t), e2e.New(t)
	one.Run("fleet", "init", "team", "--name", "one", "--address", "127.0.0.1:1")
	dir := ident.Dir(filepath.Join(one.Dir, "state", "fleet"))
	id, err := dir.Identity(ident.Server)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := server.Start(server.Config{Identity: id, Dir: t.TempDir(), Listen: "127.0.0.1:0", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	<-srv.Ready()
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
	connected := func(i *e2e.Instance, want int) {
		t.Helper()
		e2e.Eventually(t, fmt.Sprint(want, " hosts are connected"), func() bool {
			var hosts []api.FleetHost
			out, _, code := i.Try("fleet", "hosts", "--json")
			return code == 0 && json.Unmarshal([]byte(out), &hosts) == nil && strings.Count(out, `"connected"`) == want
		})
	}
	connected(one, 1)
	code := strings.TrimSpace(one.Run("fleet", "invite", "--may", "look"))
	two.Run("fleet", "join", code, "--name", "two", "--label", "gpu=yes")
	if _, stderr, _ := two.Try("fleet", "join", code, "--name", "three"); !strings.Contains(stderr, "already") {
		t.Error(stderr)
	}
	connected(one, 2)
	one.Run("new", "-n", "there", "--", "sh", "-c", "echo needle; exec sleep 600")
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
	// This machine is asked by its own name, too; and a program in an agent's session is let to no other.
	if out := one.Run("-H", "one", "ls"); !strings.Contains(out, "there") || strings.Contains(out, "placed") {
		t.Errorf("of one: %s", out)
	}
	one.Run("new", "-n", "robot", "--agent", "bot", "--yes", "--", "sh", "-c", one.Exe+" -H two ls 2>&1; echo status $?; exec sleep 600")
	one.Run("wait", "robot", "--for", "text=status")
	if out := strings.ReplaceAll(one.Run("screen", "robot"), "\n", ""); !strings.Contains(out, "reached by a person") || strings.Contains(out, "placed") {
		t.Errorf("an agent's session asks another host: %s", out)
	}
	if out, _, code := one.Try("exec", "-H", "two", "none", "x"); code != 113 {
		t.Errorf("%d, %s", code, out)
	}
	// What two may not do on one is refused there, and written down under its name what it may.
	if out := two.Run("screen", "one/there"); !strings.Contains(out, "needle") {
		t.Errorf("the screen: %q", out)
	}
	if _, stderr, code := two.Try("send", "one/there", "x"); code == 0 || !strings.Contains(stderr, "fleet:two") {
		t.Errorf("typing: %d, %s", code, stderr)
	}
	if _, stderr, code := two.Try("-H", "one", "kill", "there"); code == 0 || !strings.Contains(stderr, "needs manage") {
		t.Errorf("killing: %d, %s", code, stderr)
	}
	one.Run("-H", "two", "fleet", "drain")
	if _, stderr, code := one.Try("fleet", "run", "--on", "gpu", "--", "true"); code == 0 || !strings.Contains(stderr, "1 drained") {
		t.Errorf("on a drained host: %d, %s", code, stderr)
	}
	one.Run("fleet", "revoke", "two")
	e2e.Eventually(t, "the revoked machine is refused", func() bool {
		_, _, code := two.Try("-H", "one", "ls")
		return code != 0
	})
	if out := two.Run("ls"); !strings.Contains(out, "placed") {
		t.Errorf("its own sessions: %s", out)
	}
}
