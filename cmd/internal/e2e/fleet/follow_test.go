//go:build unix

package fleet

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestEventsAreFollowedOverTheServersEnd follows the fleet's events while its server is down. It reports that, and
// continues with each missed event once.
//
// FEATURES: R94
func TestEventsAreFollowedOverTheServersEnd(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one := e2e.New(t)
	srv, c := foundServer(t, one)
	follow := one.Command(t.Context(), "fleet", "events", "reader", "-f")
	out, err := follow.StdoutPipe()
	var said io.Reader
	if err == nil {
		said, err = follow.StderrPipe()
	}
	if err == nil {
		err = follow.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines, warnings := bufio.NewReader(out), bufio.NewReader(said)
	line := func(r *bufio.Reader, want string) {
		t.Helper()
		if got, err := r.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			t.Fatalf("%q, %v, not %q", got, err, want)
		}
	}
	// A new reader starts with new events: sessions end until the follower has one.
	n := 0
	first := make(chan string, 1)
	go func() {
		got, _ := lines.ReadString('\n')
		first <- got
	}()
	e2e.Eventually(t, "an event is published", func() bool {
		n++
		one.Run("new", "-n", fmt.Sprint("before-", n), "--", "true")
		select {
		case <-first:
			return true
		default:
			return false
		}
	})
	addr := srv.Addr()
	srv.Close()
	line(warnings, "retrying")
	one.Run("new", "-n", "meanwhile", "--", "true")
	one.Run("wait", "meanwhile", "--for", "exit")
	c.Listen = addr
	t.Cleanup(serve(t, c).Close)
	line(warnings, "reachable again")
	seen := map[string]int{}
	for told := ""; !strings.Contains(told, "/after"); {
		if told, err = lines.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(told, "/meanwhile ") {
			one.Run("new", "-n", "after", "--", "true")
		}
		seen[told]++
	}
	for told, times := range seen {
		if times != 1 {
			t.Errorf("%d times: %s", times, told)
		}
	}
	_ = follow.Process.Kill()
	_ = follow.Wait()
}

// TestAttach_RejectsLoopOverTwoHosts attaches two sessions of two hosts to each other, which is rejected: each would
// draw the other forever.
//
// FEATURES: R94, R96
func TestAttach_RejectsLoopOverTwoHosts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	one.Run("new", "-n", "la", "--", "sh")
	two.Run("new", "-n", "lb", "--", "sh")
	one.Run("send", "la", one.Exe+" attach two/lb", "--enter")
	e2e.Eventually(t, "the client of the other host is listed", func() bool { return strings.Contains(two.Run("clients", "lb"), "fleet:one") })
	two.Run("send", "lb", two.Exe+" attach one/la; echo status $((1+1))-$?", "--enter")
	two.Run("wait", "lb", "--for", "text=status 2-")
	if out := strings.ReplaceAll(two.Run("output", "lb"), "\n", " "); !strings.Contains(out, "show itself for ever") {
		t.Errorf("it is shown in itself: %.2000q", out)
	}
}
