//go:build unix

package remote

import (
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
)

// What is typed into a session of another host is drawn while the other end says nothing, and is the session's own when
// that speaks again; a password is not drawn.
//
// FEATURES: R75, R94
func TestTypedAheadOfItsEcho(t *testing.T) {
	h := newHost(t, true)
	h.here.Run("-H", "far", "new", "-n", "s", "--", "/usr/bin/env", "PS1=at> ", "/bin/sh")
	p := newTerminal(t, h.here, "attach", "--predict", "always", "far/s")
	p.shows(t, "at>")
	p.types(t, "e")
	p.shows(t, "at> e")
	pid := h.server(t)
	stopped := func(is bool) {
		t.Helper()
		signal := syscall.SIGCONT
		if is {
			signal = syscall.SIGSTOP
		}
		h.make(t, syscall.Kill(pid, signal))
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	stopped(true)
	p.types(t, "cho a$((40+2))b")
	p.shows(t, "at> echo a$((40+2))b")
	stopped(false)
	p.types(t, "\r")
	p.shows(t, "\na42b")
	p.types(t, "stty -echo; echo Password:; read x; stty echo; echo \"<$x>\"\r")
	p.shows(t, "\nPassword:")
	p.types(t, "hunter2")
	e2e.Eventually(t, "it arrived", func() bool { // and what was typed is taken, so that its echo would be there
		p.types(t, "3")
		return strings.Count(h.here.Run("-H", "far", "ls"), "\n") == 2
	})
	if text := p.text(); strings.Contains(text, "hunter") {
		t.Errorf("a password is shown:\n%s", text)
	}
	p.types(t, "\r")
	p.shows(t, "<hunter23")
}
