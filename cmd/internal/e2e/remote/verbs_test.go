//go:build unix

package remote

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestVerbsThere runs verbs on a remote host: sessions start in the remote home with a login environment, lines and
// commands have their true status, names contain the host, and the remote audit log names the caller.
//
// FEATURES: R94
func TestVerbsThere(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	id := strings.TrimSpace(h.here.Run("-H", "far", "new", "-n", "work"))
	if got := h.Info("work"); got.ID != id || got.Cwd != h.home {
		t.Errorf("there it is %s in %s; want %s in %s", got.ID, got.Cwd, id, h.home)
	}
	if got := h.here.Run("ls", "--host=far", "--json"); !strings.Contains(got, id) {
		t.Errorf("ls: %s", got)
	}
	if got := h.here.Run("ls", "--json"); strings.TrimSpace(got) != "[]" {
		t.Errorf("here: %s", got)
	}
	if out, _, code := h.here.Try("exec", "far/work", "echo $LONGTERM_DIR; exit 7"); code != 7 && !strings.Contains(out, h.Dir) {
		t.Errorf("exec: %d, %s", code, out)
	}
	e2e.Eventually(t, "the record names the caller of the line", func() bool {
		return slices.ContainsFunc(e2e.Decode[[]api.Command](t, h.Run("commands", "work", "--json")), func(c api.Command) bool {
			return strings.HasPrefix(c.By, api.ByHost+"ssh:")
		})
	})
	out, stderr, code := h.here.Try("-Hfar", "run", "--pipe", "--", "sh", "-c", "pwd; echo no >&2; exit 5")
	if code != 5 || out != h.home+"\n" || stderr != "no\n" {
		t.Errorf("run: %d, %q, %q", code, out, stderr)
	}
}

// TestPlacesThere checks that paths are those of the host: relative ones are below the remote home.
func TestPlacesThere(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.make(t, os.Mkdir(filepath.Join(h.home, "deep"), 0o700))
	for given, want := range map[string]string{"deep": h.home + "/deep", "~/deep": h.home + "/deep", "~": h.home, "/": "/", "": h.home} {
		args := []string{"-H", "far", "run", "--pipe"}
		if given != "" {
			args = append(args, "--cwd", given)
		}
		if out := h.here.Run(append(args, "--", "pwd")...); out != want+"\n" {
			t.Errorf("--cwd %q: %s, not %s", given, out, want)
		}
	}
}

// TestVerbsAboutTheHost runs verbs that concern a host itself on that host.
func TestVerbsAboutTheHost(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "config", "set", "exec.timeout", "2m")
	if got := h.Run("config", "get", "exec.timeout"); strings.TrimSpace(got) != "2m" {
		t.Errorf("there: %s", got)
	}
	h.here.Run("-H", "far", "ls")
	if st := e2e.Decode[api.Status](t, h.here.Run("-H", "far", "daemon", "status", "--json")); st.DaemonPID != h.Status().DaemonPID {
		t.Errorf("another daemon: %+v", st)
	}
	h.here.Run("-H", "far", "fleet", "init", "there", "--name", "one", "--address", "127.0.0.1:1")
	if there, here := h.Run("fleet", "status"), h.here.Run("fleet", "status"); !strings.Contains(there, "host one of the fleet there") || !strings.Contains(here, "no fleet") {
		t.Errorf("a fleet was created there: %s; here: %s", there, here)
	}
	h.here.Run("-H", "far", "fleet", "leave", "--force")
	if there := h.Run("fleet", "status"); !strings.Contains(there, "no fleet") {
		t.Errorf("it left: %s", there)
	}
	if _, _, code := h.here.Try("-H", "far", "daemon", "nonsense"); code != api.ExitUsage {
		t.Errorf("exit status %d", code)
	}
}

// TestRemoteCaller_Recorded checks that the audit log names a remote caller, and that the caller cannot prevent it.
func TestRemoteCaller_Recorded(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "run", "--", "true")
	got := h.Run("audit", "--json")
	if !strings.Contains(got, `"host":"ssh:`) && !strings.Contains(got, `"host": "ssh:`) {
		t.Errorf("no host in %s", got)
	}
}

// TestAuditOfTheHostIsVerified verifies a host's audit log by its own daemon, against a local record of its head. A
// changed log is reported, with the exit status of an invalid log.
//
// FEATURES: R94, R109
func TestAuditOfTheHostIsVerified(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "run", "--", "sh", "-c", "exit 0")
	head := strings.TrimSpace(h.here.Run("-H", "far", "audit", "--head"))
	if there := strings.TrimSpace(h.Run("audit", "--head")); head != there {
		t.Errorf("the head is %s there, and %s from here", there, head)
	}
	if got := h.here.Run("-H", "far", "audit", "--verify", "--anchor", head); !strings.Contains(got, "unchanged, none missing; newest "+head) {
		t.Errorf("%q", got)
	}
	files, err := filepath.Glob(filepath.Join(h.Dir, "state", "audit", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	changed := strings.Replace(string(text), "exit 0", "exit 1", 1)
	if err != nil || changed == string(text) {
		t.Fatalf("no record of the command in %q, %v", text, err)
	}
	if err := os.WriteFile(files[0], []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := h.here.Try("-H", "far", "audit", "--verify")
	if code != api.ExitFailure || !strings.Contains(out, "damage: record ") || !strings.Contains(out, "it does not match its hash") {
		t.Errorf("exit status %d, %q", code, out)
	}
	if r := e2e.Decode[audit.Report](t, first(h.here.Try("-H", "far", "audit", "--verify", "--json"))); r.OK || len(r.Findings) == 0 {
		t.Errorf("%+v", r)
	}
	if _, _, code := h.here.Try("-H", "far", "audit", "--verify", "--anchor", "1:x"); code != api.ExitUsage {
		t.Errorf("exit status %d", code)
	}
	if got := h.here.Run("audit", "--verify"); got != "no records\n" { // of this host, where no command ran
		t.Errorf("%q", got)
	}
}

func first(out, _ string, _ int) string { return out }

// TestHostsThatCannotBeUsed checks the error of each kind of unusable host. Nothing is started.
func TestHostsThatCannotBeUsed(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*host)
		code  string
	}{
		"its key is another": {func(h *host) { h.write(t, "known", "far "+h.read(t, "id.pub")) }, "host_refused"},
		"our key counts not": {func(h *host) { h.write(t, "authorized", "") }, "host_refused"},
		"it is not there":    {func(h *host) { h.down(t, true) }, "unavailable"},
		"it has no longterm": {func(h *host) { h.make(t, os.Remove(filepath.Join(h.dir, "bin", "longterm"))) }, "host_bare"},
		"another version": {func(h *host) {
			h.make(t, os.Remove(filepath.Join(h.dir, "bin", "longterm")))
			h.write(t, "bin/longterm", "#!/bin/sh\necho 'longterm-bridge {\"protocol\":99,\"oldest\":98,\"version\":\"v9\"}'\nsleep 1\n")
			h.make(t, os.Chmod(filepath.Join(h.dir, "bin", "longterm"), 0o755))
		}, "host_version"},
		"what answers is no longterm": {func(h *host) {
			h.make(t, os.Remove(filepath.Join(h.dir, "bin", "longterm")))
			h.write(t, "bin/longterm", "#!/bin/sh\nyes\n")
			h.make(t, os.Chmod(filepath.Join(h.dir, "bin", "longterm"), 0o755))
		}, "host_bare"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, true)
			c.spoil(h)
			_, stderr, code := h.here.Try("-H", "far", "ls", "--json")
			if code != api.ExitUnavailable || !strings.Contains(stderr, `"code":"`+c.code+`"`) || !strings.Contains(stderr, `"hint":"`) {
				t.Errorf("exit status %d, %s; want %s", code, stderr, c.code)
			}
		})
	}
}

// TestBareHost installs longterm on a host without it after confirmation, and removes an executable that does not run
// there.
//
// FEATURES: R114
func TestBareHost(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, false)
	if _, stderr, code := h.here.Try("-H", "far", "ls"); code != api.ExitUnavailable || !strings.Contains(stderr, "install") {
		t.Errorf("exit status %d, %s", code, stderr)
	}
	if left, _ := os.ReadDir(h.home); len(left) > 0 {
		t.Errorf("without a request it left %v", left)
	}
	asked := func(answer string) (p *terminal, err error) {
		p = newTerminal(t, h.here, "-H", "far", "ls")
		p.shows(t, "[y/N]")
		p.types(t, answer+"\r")
		return p, <-p.done
	}
	p, err := asked("n")
	if left, _ := os.ReadDir(h.home); err == nil || len(left) > 0 {
		t.Errorf("after a rejection: %v, %v left\n%s", err, left, p.text())
	}
	if p, err := asked("y"); err != nil || !strings.Contains(p.text(), "no sessions") {
		t.Errorf("after an approval: %v\n%s", err, p.text())
	}
	h.here.Run("hosts", "disconnect", "far")
	h.make(t, os.RemoveAll(filepath.Join(h.home, ".local")))
	releases := t.TempDir()
	system := strings.TrimSpace(h.here.Run("-H", "far", "--install", "ls", "--json"))
	if system != "[]" {
		t.Errorf("ls: %s", system)
	}
	program := filepath.Join(h.home, ".local", "bin", "longterm")
	want, err := os.ReadFile(h.Exe)
	h.make(t, err)
	got, err := os.ReadFile(program)
	if err != nil || string(got) != string(want) {
		t.Errorf("%d bytes arrived (%v), not %d", len(got), err, len(want))
	}
	arch := e2e.Decode[struct{ System string }](t, h.here.Run("hosts", "install", "far", "--json")).System
	h.make(t, os.WriteFile(filepath.Join(releases, "longterm-"+strings.ReplaceAll(arch, "/", "-")), []byte("no program"), 0o755))
	_, stderr, code := h.here.Try("hosts", "install", "far", "--release-dir", releases)
	if code != api.ExitUnavailable || !strings.Contains(stderr, "does not run") {
		t.Errorf("exit status %d, %s", code, stderr)
	}
	if got, err := os.ReadFile(program); err != nil || string(got) != string(want) {
		t.Errorf("the existing file is gone (%v)", err)
	}
	if left, _ := filepath.Glob(filepath.Join(h.home, ".local", "bin", ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestListOfAllHosts lists the sessions of several hosts, and names a host that does not answer.
func TestListOfAllHosts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("config", "set", "hosts.names", "far", "closed")
	h.here.Run("new", "-n", "near", "--", "cat")
	h.Run("new", "-n", "there", "--", "cat")
	out, stderr, code := h.here.Try("ls", "--all-hosts")
	if code != api.ExitUnavailable || !strings.Contains(stderr, "closed") || !strings.Contains(out, " near ") || !strings.Contains(out, " far/there ") {
		t.Errorf("exit status %d, %s, %s", code, stderr, out)
	}
	out, _, _ = h.here.Try("ls", "--all-hosts", "-F", "{{.host}}:{{.name}}")
	if out != ":near\nfar:there\n" {
		t.Errorf("by a template: %q", out)
	}
}
