//go:build unix

package remote

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestViewerOfTwoHosts shows and types into sessions of two hosts in the viewer. It reports a host that is cut off
// while the other continues; input of that time arrives after the reconnect.
//
// FEATURES: R94, R113
func TestViewerOfTwoHosts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("new", "-n", "near", "--", "/bin/sh")
	h.here.Run("-H", "far", "new", "-n", "away", "--", "/bin/sh")
	p := newTerminal(t, h.here, "view", "-H", "", "-H", "far")
	p.shows(t, " near")
	p.shows(t, "far/away")
	p.types(t, "\x00\x31echo on near $((40+2))\r") // Ctrl-Space 1
	p.shows(t, "on near 42")
	p.types(t, "\x00\x32echo on far $((50+2))\r")
	p.shows(t, "on far 52")

	h.server(t)
	h.down(t, true)
	h.cut(t)
	p.types(t, "echo early $((80+2))\r") // the lost connection is not detected yet
	p.shows(t, "far cut off")
	p.types(t, "echo kept $((60+2))\r")
	p.types(t, "\x00\x31echo still $((70+2))\r")
	p.shows(t, "still 72")
	h.down(t, false)
	p.shows(t, "early 82")
	p.shows(t, "kept 62")
	if n := strings.Count(h.here.Run("-H", "far", "output", "away"), "early 82"); n != 1 {
		t.Errorf("input typed before the cut was detected ran %d times", n)
	}
	e2e.Eventually(t, "the viewer no longer shows the host as unreachable", func() bool { return !strings.Contains(p.text(), "cut off") })
	p.types(t, "\x00n") // a session beside a local one is local
	e2e.Eventually(t, "one more session is listed locally", func() bool { return strings.Count(h.here.Run("ls"), "\n") == 3 })
	if n := strings.Count(h.here.Run("-H", "far", "ls"), "\n"); n != 2 {
		t.Errorf("%d lines of sessions there", n)
	}
	p.types(t, "\x00q")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	p.shows(t, "return with `longterm view -H '' -")
}

// TestTypedIntoPanes types into a pane of another host while the connection stalls. Local echo shows the text until the
// session's echo arrives; a password is not shown. Input that never arrives is counted when the pane or the viewer
// closes.
//
// FEATURES: R75, R94
func TestTypedIntoPanes(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	h := newHost(t, true)
	h.here.Run("config", "set", "attach.predict", "always")
	h.here.Run("-H", "far", "new", "-n", "s", "--", "/usr/bin/env", "PS1=at> ", "/bin/sh")
	h.here.Run("new", "-n", "near", "--", "cat")
	p := newTerminal(t, h.here, "view", "-H", "", "-H", "far")
	p.shows(t, " near")
	p.shows(t, "at>")
	p.types(t, "\x00\x32\x00z") // Ctrl-Space 2, and alone on the screen
	e2e.Eventually(t, "the session is shown without a notice", func() bool { return strings.Contains(p.text(), "\nat>") && !strings.Contains(p.text(), "│") })
	h.typedAhead(t, p)

	h.down(t, true)
	h.cut(t)
	p.shows(t, "far cut off")
	p.types(t, "lost")
	p.types(t, "\x00\x31") // the other one is alone on the screen
	p.shows(t, "not sent: 4 bytes typed into far/s")
	p.types(t, "\x00\x32more!\x00q")
	if err := <-p.done; err != nil {
		t.Error(err)
	}
	p.shows(t, "[not sent: 5 bytes typed into far/s]")
	h.down(t, false)
}

// TestOneHostAtATime checks that verbs other than the viewer reject several hosts.
func TestOneHostAtATime(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, args := range [][]string{{"-H", "a", "-H", "b", "ls"}, {"ls", "-H", "a", "--host=b"}} {
		if _, stderr, code := i.Try(args...); code != 2 || !strings.Contains(stderr, "one host at a time") {
			t.Errorf("%q: %d %s", args, code, stderr)
		}
	}
}
