//go:build unix

package webpage

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// network is the connection between pages and the daemon. A cut loses data in transit and blocks new connections until
// it is repaired.
type network struct {
	listener net.Listener
	to       string

	mu    sync.Mutex // guards the fields below
	cut   bool
	conns map[net.Conn]bool
}

// through makes a network before an address that ends with the test.
func through(t *testing.T, to string) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{listener: l, to: to, conns: map[net.Conn]bool{}}
	var working sync.WaitGroup
	working.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			working.Go(func() { n.carry(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		n.set(true)
		working.Wait()
	})
	return n
}

// take notes a connection, so that it ends when the network is cut; false: it is cut.
func (n *network) take(c net.Conn) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.cut {
		n.conns[c] = true
	}
	return !n.cut
}

func (n *network) done(c net.Conn) {
	_ = c.Close()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.conns, c)
}

func (n *network) carry(c net.Conn) {
	defer n.done(c)
	if !n.take(c) {
		return
	}
	d, err := net.Dial("tcp", n.to)
	if err != nil {
		return // the daemon does not run now
	}
	defer n.done(d)
	if !n.take(d) {
		return
	}
	var working sync.WaitGroup
	working.Go(func() { _, _ = io.Copy(d, c); _ = d.Close() })
	_, _ = io.Copy(c, d)
	_ = c.Close()
	working.Wait()
}

// set cuts or restores the network.
func (n *network) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	for c := range n.conns {
		if cut {
			_ = c.Close()
		}
	}
}

// tabs opens pages behind a separate network. opened, if set, makes each show something before the next: until then it
// shows all sessions as tiles.
func tabs(i *e2e.Instance, b *browser.Browser, count int, opened func(int, *browser.Page)) (*network, []*browser.Page) {
	i.T.Helper()
	var n *network
	var out []*browser.Page
	for k := range count {
		args := []string{"web", "--json", "--listen", "127.0.0.1:0"}
		if k > 0 {
			args = args[:2] // it listens already
		}
		link := e2e.Decode[api.WebLink](i.T, i.Run(args...))
		to, err := url.Parse(link.Link)
		if err != nil {
			i.T.Fatal(err)
		}
		if n == nil {
			n = through(i.T, to.Host)
		}
		to.Host = n.listener.Addr().String()
		p := b.Page(browser.Desk)
		p.Go(to.String())
		p.Wait("logged in", `longterm.store.loaded`)
		if out = append(out, p); opened != nil {
			opened(k, p)
		}
	}
	return n, out
}

// killDaemon kills the daemon, and returns when another one runs.
func killDaemon(i *e2e.Instance) {
	i.T.Helper()
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		i.T.Fatal(err)
	}
	i.Run("ls")
}

// settles waits until a page shows the screen of a session, which no longer changes.
func settles(i *e2e.Instance, p *browser.Page, name string) {
	i.T.Helper()
	p.Wait("connected", `longterm.link.state === 'open'`)
	s := screenOf(i, name)
	want := make([][]cell, s.Rows)
	for _, l := range s.Lines {
		want[l.Row] = cellsOf(l)
	}
	var got [][]cell
	for until := time.Now().Add(max(i.Patience, time.Minute)); ; {
		p.Eval(`new Promise((next) => setTimeout(() => next(`+drawn+`), 20))`, &got)
		row := differs(got, want)
		switch {
		case row < 0:
			return
		case time.Now().After(until):
			i.T.Fatalf("%s, row %d of %d: the browser shows %d rows, there\n%v\nthe session has\n%v", name, row, s.Rows, len(got), got[row:min(row+1, len(got))], want[row:min(row+1, len(want))])
		}
	}
}

// differs is a row in which two screens differ; -1: none.
func differs(a, b [][]cell) int {
	for n := range min(len(a), len(b)) {
		if len(a[n])+len(b[n]) > 0 && !reflect.DeepEqual(a[n], b[n]) {
			return n
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}

// typedOnce fails a test unless each line reached a session that prints "got" and the line, once.
func typedOnce(i *e2e.Instance, name string, lines []string) {
	i.T.Helper()
	got := map[string]int{}
	for l := range strings.Lines(i.Run("output", name)) {
		if l, ok := strings.CutPrefix(strings.TrimSpace(l), "got "); ok {
			got[l]++
		}
	}
	for _, l := range lines {
		if got[l] != 1 {
			i.T.Errorf("the line %q arrived %d times", l, got[l])
		}
		delete(got, l)
	}
	if len(got) > 0 {
		i.T.Errorf("lines %v were never typed", got)
	}
}

// TestNetworkIsCut cuts the network and kills the daemon. The page shows all changes afterwards, and typed input
// arrives once.
//
// FEATURES: R83, R112
func TestNetworkIsCut(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--cols", "100", "--rows", "30", "--", "sh", "-c", `while read n; do j=0; while [ $j -lt 400 ]; do j=$((j+1)); printf '\033[3%dmline %d of %s\033[m\n' $((j%8)) $j $n; done; echo "done $n"; done`)
	i.Run("new", "-n", "typed", "--", "sh", "-c", `stty -echo; echo ready; while read l; do echo "got $l"; done`)
	n, pages := tabs(i, b, 2, nil)
	show(i, pages[0], "work")
	show(i, pages[1], "typed")
	shows(pages[1], "ready")
	var lines []string
	state := func(p *browser.Page, what, js string) { t.Helper(); p.Wait(what, `longterm.link.state `+js+` 'open'`) }
	for round := range 3 {
		n.set(true)
		for _, p := range pages {
			state(p, "it is noticed", "!==")
		}
		i.Run("send", "work", "--enter", fmt.Sprintf("w%d", round))
		lines = append(lines, fmt.Sprintf("t%d", round))
		pages[1].Type(lines[round] + "\n")
		if round > 0 {
			killDaemon(i)
		}
		n.set(false)
		shows(pages[0], fmt.Sprintf("done w%d", round))
		shows(pages[1], "got "+lines[round])
		for k, name := range []string{"work", "typed"} {
			settles(i, pages[k], name)
		}
	}
	typedOnce(i, "typed", lines)
	quiet(t, b, "WebSocket", "Failed to load resource")
}
