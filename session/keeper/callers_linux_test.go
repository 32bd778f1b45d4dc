package keeper

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// refusalRecorder is a daemon that allows each execution and collects rejected callers.
type refusalRecorder struct {
	notices
	refused chan *wire.Rejected
	allow   chan *wire.Execution
}

func (c refusalRecorder) RecordRejection(m *wire.Rejected) { c.refused <- m }

func (c refusalRecorder) Execution(m *wire.Execution) func(aside func()) {
	c.allow <- m
	return nil
}

func (c refusalRecorder) ExecutionEnded(*wire.ExecutionEnded) {}

// dialRefusalRecorder connects as such a daemon.
func dialRefusalRecorder(t *testing.T, socket string) (*link.Link, refusalRecorder) {
	t.Helper()
	c := refusalRecorder{newNotices(), make(chan *wire.Rejected, 64), make(chan *wire.Execution, 64)}
	l, err := link.Dial(socket, wire.RoleDaemon, "test", c)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			select {
			case e := <-c.allow:
				_ = l.Answer(e, 0)
			case <-l.Closed():
				return
			}
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	if err := l.Ready(""); err != nil {
		t.Fatal(err)
	}
	return l, c
}

// callerSession returns a session that calls the keeper at a socket in each role and by processes of each descent, once
// and then again for each line.
func callerSession(t *testing.T, id, socket string, keeper int) (m wire.Spawn, file string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "calls")
	call := func(role string) string { return fmt.Sprintf("%s %s >>%s\n", exe, role, file) }
	m = sh(id, "while\n"+call("tool")+call("daemon")+call("other")+"setsid "+call("apart")+
		""+asOrphan(keeper, strings.TrimSpace(call("orphan")))+"\nread x; do :; done")
	m.Env = append(m.Env, callerEnv+"="+socket)
	return m, file
}

// asOrphan returns a command that runs once its parent is a keeper.
func asOrphan(keeper int, command string) string {
	return fmt.Sprintf("(setsid sh -c 'until read _ _ _ p _ </proc/$$/stat && test $p = %d; do :; done; ", keeper) + command + "' &)"
}

// roles are the roles and descents in which a callerSession calls.
var roles = []string{"apart", "daemon", "orphan", "other", "tool"}

// checkOutcomes waits for the calls of a round, clears them, and compares their outcomes.
func checkOutcomes(t *testing.T, id, file, how string) {
	t.Helper()
	var got, want []string
	await(t, "calls of "+id, func() bool {
		b, _ := os.ReadFile(file)
		got = strings.Split(strings.TrimSpace(string(b)), "\n")
		return len(got) == len(roles)
	})
	for _, role := range roles {
		want = append(want, role+" "+how+" <nil>")
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", id, got, want)
	}
	if err := os.Truncate(file, 0); err != nil {
		t.Fatal(err)
	}
}

// TestCallers checks that a process of a checked or restricted session is served in no role, whatever its parents are,
// and that requests after its greeting are dropped, also after an upgrade. A process of a user's session is served.
//
// FAULT: G3
func TestCallers(t *testing.T) {
	socket, pid := start(t)
	l, c := dialRefusalRecorder(t, socket)
	user, file := callerSession(t, "of-a-user", socket, pid)
	if _, err := l.Spawn(ctx(t), user); err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, user.ID, file, "served")
	l, c = dialRefusalRecorder(t, socket) // a served caller acted as the daemon
	if err := l.Signal(ctx(t), "escaped", syscall.SIGKILL, wire.ScopeAll); err != nil {
		t.Error("a user's request had no effect:", err)
	}
	if err := l.Release(ctx(t), "escaped"); err != nil {
		t.Fatal(err)
	}
	files, ids := map[string]string{}, []string{"judged", "bound"}
	if adopt(t, l, user.ID).Cgroup == "" {
		t.Log("this system gives the keeper no cgroup: the origin of an orphan without filter is unknown")
		ids = ids[:1]
	}
	for _, id := range ids {
		m, file := callerSession(t, id, socket, pid)
		if m.Restricted = id == "bound"; !m.Restricted {
			m = withExecutionChecks(t, m)
		}
		if _, err := l.Spawn(ctx(t), m); err != nil {
			t.Fatal(err)
		}
		files[id] = file
	}
	for round := range 2 {
		for id, file := range files {
			checkOutcomes(t, id, file, "refused")
		}
		if m := receive(t, c.refused, "refusal"); m.PID == 0 || m.Path == "" || m.Reason == "" || m.Count == 0 {
			t.Errorf("%+v", m)
		}
		if _, err := l.Adopt(ctx(t), "escaped"); !errors.Is(err, link.ErrNotFound) {
			t.Error("a rejected caller's request had an effect:", err)
		}
		if round > 0 {
			break
		}
		if err := l.Upgrade(ctx(t), executable(t, "/proc/self/exe")); err != nil {
			t.Fatal(err)
		}
		receive(t, l.Closed(), "end of the connection")
		l, c = dialRefusalRecorder(t, socket)
		for id := range files {
			if _, err := adopt(t, l, id).pty.WriteString("\n"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCallers_Bound_LaterAndUnheard checks that a session is restricted once the daemon requests it, and that rejected
// callers are counted while no daemon runs.
//
// FAULT: G3
func TestCallers_Bound_LaterAndUnheard(t *testing.T) {
	socket, pid := start(t)
	l, _ := dialRefusalRecorder(t, socket)
	m, file := callerSession(t, "a", socket, pid)
	m.Argv[2] = "read x; " + m.Argv[2]
	// The origin is unknown.
	m.Argv[2] = strings.ReplaceAll(m.Argv[2], strings.TrimSuffix(asOrphan(pid, ""), "' &)"), "(sh -c '")
	if _, err := l.Spawn(ctx(t), m); err != nil {
		t.Fatal(err)
	}
	if err := l.MarkRestricted("a"); err != nil {
		t.Fatal(err)
	}
	if err := l.MarkRestricted("none"); err != nil {
		t.Fatal(err)
	}
	s := adopt(t, l, "a")
	_ = l.Close()
	if _, err := s.pty.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, "a", file, "refused")
	_, c := dialRefusalRecorder(t, socket)
	counted := map[string]uint64{}
	for range roles {
		m := receive(t, c.refused, "refusal")
		if counted[m.Role] += m.Count; m.Session != "a" || m.Reason != reasonRestricted || m.UID != int64(os.Getuid()) {
			t.Errorf("%+v", m)
		}
	}
	for _, role := range roles {
		if counted[role] != 1 {
			t.Errorf("%v", counted)
		}
	}
}

// TestCallers_OfOthers checks that each keeper rejects checked processes of another keeper's sessions, and processes that
// its own daemon runs. The daemon is served.
//
// FAULT: G3
func TestCallers_OfOthers(t *testing.T) {
	other, pid := start(t)
	l, _ := dialRefusalRecorder(t, other)
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	socket, _ := start(t, supervised("runs-a-caller"), hookEnv+"="+exe+" hook >>"+dir+"/hook; :")
	tool, _ := dial(t, socket, wire.RoleTool)
	if err := tool.StartDaemon(ctx(t)); err != nil { // the tool is served
		t.Fatal(err)
	}
	if b, err := os.ReadFile(dir + "/hook"); err != nil || string(b) != "hook refused <nil>\n" {
		t.Errorf("a process of the daemon: %q, %v", b, err)
	}
	m, file := callerSession(t, "a", socket, pid)
	if _, err := l.Spawn(ctx(t), withExecutionChecks(t, m)); err != nil {
		t.Fatal(err)
	}
	checkOutcomes(t, "a", file, "refused")
	if err := tool.Shutdown(ctx(t), true); err != nil {
		t.Error(err)
	}
}
