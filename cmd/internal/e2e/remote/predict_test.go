//go:build unix

package remote

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestTypedAheadOfItsEcho types into a remote session while the connection stalls. Local echo shows the text until the
// session's echo arrives; a password is not shown.
//
// FEATURES: R75, R94
func TestTypedAheadOfItsEcho(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("-H", "far", "new", "-n", "s", "--", "/usr/bin/env", "PS1=at> ", "/bin/sh")
	p := newTerminal(t, h.here, "attach", "--predict", "always", "far/s")
	p.shows(t, "at>")
	h.typedAhead(t, p)
}

// typedAhead types at a prompt "at> " of a local session that a terminal shows, over a link that is silent for a while.
func (h *host) typedAhead(t *testing.T, p *terminal) {
	t.Helper()
	pid, end := h.server(t), time.Now().Add(time.Minute)
	stopped := func(is bool) {
		t.Helper()
		signal := syscall.SIGCONT
		if is {
			signal = syscall.SIGSTOP
		}
		h.make(t, syscall.Kill(pid, signal))
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	for n := 10; ; n++ { // a slow machine may delay an echo so that it does not count as one
		sum := strconv.Itoa(n)
		p.types(t, "e")
		e2e.Eventually(t, "the terminal shows the echo", func() bool { return strings.Contains(p.text(), "at> e\n") })
		stopped(true)
		p.types(t, "cho a$((40+"+sum+"))b")
		drawn, until := false, time.Now().Add(time.Second)
		e2e.Eventually(t, "a connection attempt has ended", func() bool {
			drawn = strings.Contains(p.text(), "at> echo a$((40+"+sum+"))b")
			return drawn || time.Now().After(until)
		})
		stopped(false)
		if p.types(t, "\r"); drawn {
			p.shows(t, "\na"+strconv.Itoa(40+n)+"b")
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the prediction was never drawn:\n%s", p.text())
		}
		p.shows(t, "\na"+strconv.Itoa(40+n)+"b\nat>")
		p.types(t, "sleep 0.5; echo c$((40+"+sum+"))d\r") // the next proof is not of these lines
		p.shows(t, "\nc"+strconv.Itoa(40+n)+"d\nat>")
	}
	p.types(t, "stty -echo; echo Password:; read x; stty echo; echo \"<$x>\"\r")
	p.shows(t, "\nPassword:")
	p.types(t, "hunter2")
	e2e.Eventually(t, "the session has received the input", func() bool { // the typed input has arrived, so its echo would be there
		p.types(t, "3")
		return strings.Count(h.here.Run("-H", "far", "ls"), "\n") == 2
	})
	if text := p.text(); strings.Contains(text, "hunter") {
		t.Errorf("a password is shown:\n%s", text)
	}
	p.types(t, "\r")
	p.shows(t, "<hunter23")
}
