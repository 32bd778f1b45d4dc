//go:build unix

package webpage

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
)

// network is the way between pages and the daemon, which can be cut: what was under way is lost then, and nobody gets
// through until it is mended.
type network struct {
	listener net.Listener
	to       string

	mu    sync.Mutex // guards what follows
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
		return // the daemon is gone for now
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

// set cuts the network, or mends it.
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

// tabs opens pages behind a network of their own.
func tabs(i *e2e.Instance, b *browser.Browser, count int) (*network, []*browser.Page) {
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
		out = append(out, p)
	}
	return n, out
}

// killDaemon kills the daemon, and comes back when there is another.
func killDaemon(i *e2e.Instance) {
	i.T.Helper()
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		i.T.Fatal(err)
	}
	i.Run("ls")
}

// settles waits until a page shows what the screen of a session is, which does not change any more.
func settles(i *e2e.Instance, p *browser.Page, name string) {
	i.T.Helper()
	p.Wait("connected", `longterm.link.state === 'open'`)
	s := screenOf(i, name)
	want := make([][]cell, s.Rows)
	for _, l := range s.Lines {
		want[l.Row] = cellsOf(l)
	}
	var got [][]cell
	for until := time.Now().Add(time.Minute); ; {
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

// typedOnce fails a test unless each line came to a session that says "got" of it, and came once.
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
			i.T.Errorf("the line %q came %d times", l, got[l])
		}
		delete(got, l)
	}
	if len(got) > 0 {
		i.T.Errorf("nobody typed %v", got)
	}
}

// What happens while the network is cut and the daemon dies is on the page when both are back, and what was typed
// comes once.
//
// FEATURES: R83, R112
func TestNetworkIsCut(t *testing.T) {
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "work", "--cols", "100", "--rows", "30", "--", "sh", "-c", `while read n; do j=0; while [ $j -lt 400 ]; do j=$((j+1)); printf '\033[3%dmline %d of %s\033[m\n' $((j%8)) $j $n; done; echo "done $n"; done`)
	i.Run("new", "-n", "typed", "--", "sh", "-c", `stty -echo; echo ready; while read l; do echo "got $l"; done`)
	n, pages := tabs(i, b, 2)
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

// chaosPrograms draw until a file is there, which is their $0.
var chaosPrograms = []struct{ name, script string }{
	{"flood", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); echo "line $i of a build"; [ $((i%300)) = 0 ] && sleep 0.3; done; echo end; exec cat`},
	{"full", `printf '\033[?1049h\033[2J'; i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[%d;%dH\033[38;5;%dm%d 漢字 é\033[m' $((i%24+1)) $((i*7%60+1)) $((i%256)) $i; [ $((i%50)) = 0 ] && sleep 0.1; done; printf '\033[24;1H\033[Kend'; exec cat`},
	{"regions", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[5;15r\033[15;1H\n\033[1;3%dmregion %d\033[m\033[r\033[20;1H\033[Kstatus %d' $((i%8)) $i $i; [ $((i%20)) = 0 ] && sleep 0.1; done; printf '\033[24;1Hend'; exec cat`},
	{"switch", `i=0; while [ ! -e "$0" ]; do i=$((i+1)); printf '\033[?1049h\033[2J\033[Hinside %d' $i; sleep 0.2; printf '\033[?1049loutside %d\r\n' $i; sleep 0.1; done; echo end; exec cat`},
	{"typed", `stty -echo; echo ready; while read l; do echo "got $l"; done`},
}

// CHAOS=20m,20 has that many tabs for that long see daemons killed every 20 s, and a network that is cut again and
// again: at the end each shows what its session's screen is, and what was typed in them came once.
func TestChaos(t *testing.T) {
	wanted := os.Getenv("CHAOS")
	if wanted == "" {
		t.Skip("no CHAOS=DURATION,TABS")
	}
	for_, number, _ := strings.Cut(wanted, ",")
	long, err := time.ParseDuration(for_)
	count := 0
	if _, bad := fmt.Sscan(number, &count); err != nil || bad != nil || count < 1 || long <= 0 {
		t.Fatalf("CHAOS=%s is no DURATION,TABS such as 20m,20", wanted)
	}
	b := browser.New(t)
	i := e2e.New(t)
	stop := filepath.Join(i.Dir, "stop")
	shown := make([]string, count)
	var typists []int
	for k := range shown {
		p := chaosPrograms[k%len(chaosPrograms)]
		shown[k] = p.name
		if p.name == "typed" { // each types into a session of its own: keys of two would mix
			shown[k] = fmt.Sprintf("typed%d", k)
			typists = append(typists, k)
		}
		if k < len(chaosPrograms) || p.name == "typed" {
			i.Run("new", "-n", shown[k], "--cols", "90", "--rows", "24", "--", "sh", "-c", p.script, stop)
		}
	}
	n, pages := tabs(i, b, count)
	for k, p := range pages {
		show(i, p, shown[k])
	}
	typed := map[int][]string{}
	kills, cuts, lines := 0, 0, 0
	begun := time.Now()
	kill, change, cut, typing := begun.Add(20*time.Second), begun.Add(10*time.Second), false, begun
	for now := begun; now.Sub(begun) < long; now = time.Now() {
		switch {
		case now.After(kill):
			kill = now.Add(20 * time.Second)
			killDaemon(i)
			if kills++; kills%15 == 1 {
				status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", i.Status().DaemonPID))
				_, rss, _ := strings.Cut(string(status), "VmRSS:")
				rss, _, _ = strings.Cut(rss, "\n")
				t.Logf("%v: %d kills, %d cuts, %d lines typed; the daemon has %s", now.Sub(begun).Round(time.Second), kills, cuts, lines, strings.TrimSpace(rss))
			}
		case now.After(change):
			if cut = !cut; cut {
				cuts++
			}
			change = now.Add(time.Duration(1+rand.IntN(15)) * time.Second)
			n.set(cut)
		case now.After(typing):
			typing = now.Add(time.Second)
			if len(typists) > 0 {
				k := typists[lines%len(typists)]
				line := fmt.Sprintf("t%d.%d", k, lines)
				pages[k].Type(line + "\n")
				typed[k] = append(typed[k], line)
				lines++
			}
		default: // the page is what waits
			pages[0].Eval(`new Promise((on) => setTimeout(on, 200))`, nil)
		}
	}
	n.set(false)
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for k, p := range pages {
		p.Wait("connected", `longterm.link.state === 'open'`)
		if !slices.Contains(typists, k) {
			shows(p, "end")
		}
		p.Wait("what was typed", `longterm.link.pending.size === 0`)
	}
	for k, p := range pages {
		if all := typed[k]; len(all) > 0 {
			shows(p, "got "+all[len(all)-1])
		}
		settles(i, p, shown[k])
	}
	for k, all := range typed {
		typedOnce(i, shown[k], all)
	}
	quiet(t, b, "WebSocket", "Failed to load resource")
	t.Logf("%d kills, %d cuts, %d lines typed", kills, cuts, lines)
}
