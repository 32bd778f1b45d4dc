//go:build unix

package fleet

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/fleet/certs"
)

// limit bounds each step that waits for servers: after a kill they vote, and members try again with pauses.
const limit = 4 * time.Minute

// within polls until f holds. f runs programs, so the interval leaves them time.
func within(t *testing.T, what string, f func() bool) {
	t.Helper()
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for end := time.Now().Add(limit); !f(); <-look.C {
		if time.Now().After(end) {
			t.Fatal("never: ", what)
		}
	}
}

// port reserves an address of loopback for the test: it is bound without a listener, so that no other program gets it
// while its server is dead.
func port(t *testing.T) string {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(fd)
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*syscall.SockaddrInet4).Port)
}

// wire is the network between some hosts and one server. While it is cut nothing passes, and no end is notified.
type wire struct {
	net.Listener
	to string

	mu    sync.Mutex
	ended bool
	whole chan struct{} // closed while it is
	conns []net.Conn
}

func newWire(t *testing.T, to string) *wire {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{Listener: l, to: to, whole: make(chan struct{})}
	close(w.whole)
	t.Cleanup(func() {
		_ = l.Close()
		w.mu.Lock()
		w.ended = true
		w.mu.Unlock()
		w.mend()
	})
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
	return w
}

// passes waits until the wire is connected.
func (w *wire) passes() {
	w.mu.Lock()
	whole := w.whole
	w.mu.Unlock()
	<-whole
}

func (w *wire) carry(in net.Conn) {
	defer in.Close()
	w.passes()
	out, err := net.Dial("tcp", w.to)
	if err != nil {
		return
	}
	defer out.Close()
	w.mu.Lock()
	if w.ended {
		w.mu.Unlock()
		return
	}
	w.conns = append(w.conns, in, out)
	w.mu.Unlock()
	flow := func(to, from net.Conn) {
		defer to.Close()
		defer from.Close()
		b := make([]byte, 32<<10)
		for {
			n, err := from.Read(b)
			w.passes()
			if _, werr := to.Write(b[:n]); err != nil || werr != nil {
				return
			}
		}
	}
	go flow(out, in)
	flow(in, out)
}

func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.whole = make(chan struct{})
}

// mend restores new connections. The old ones stay lost, as those of a restarted router.
func (w *wire) mend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.conns {
		_ = c.Close()
	}
	w.conns = nil
	select {
	case <-w.whole:
	default:
		close(w.whole)
	}
}

// node is one server of a cluster, a process.
type node struct {
	t               *testing.T
	exe, state      string
	listen, cluster string
	routes          []string
	wire            *wire
	cmd             *exec.Cmd
	said            chan error // that it serves, or why it does not
}

func (n *node) start() {
	n.t.Helper()
	n.cmd = exec.Command(n.exe, "-json", "-state", n.state, "-listen", n.listen, "-advertise", n.wire.Addr().String(), "-cluster", n.cluster,
		"-route", strings.Join(n.routes, ","))
	out, err := n.cmd.StdoutPipe()
	if err == nil {
		err = n.cmd.Start()
	}
	if err != nil {
		n.t.Fatal(err)
	}
	n.said = make(chan error, 1)
	go func() {
		_, err := bufio.NewReader(out).ReadBytes('\n')
		n.said <- err
		_, _ = io.Copy(io.Discard, out)
	}()
}

func (n *node) serves() {
	n.t.Helper()
	select {
	case err := <-n.said:
		if err != nil {
			n.t.Fatalf("the server %s: %v", n.state, err)
		}
	case <-time.After(limit):
		n.t.Fatalf("the server %s never served", n.state)
	}
}

func (n *node) kill() {
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

// newCluster makes an instance the host "one" of a fleet with three servers, and waits until it is connected. Others are
// let in to addresses that are wires.
func newCluster(t *testing.T, one *e2e.Instance) (nodes []*node) {
	t.Helper()
	flags := []string{}
	if e2e.RaceEnabled {
		flags = append(flags, "-race")
	}
	exe := sessiontest.Build(t, "github.com/longterm-dev/longterm/cmd/longterm-fleetd", flags...)
	one.Run("fleet", "init", "team", "--name", "one", "--address", "127.0.0.1:1")
	dir := certs.Dir(filepath.Join(one.Dir, "state", "fleet"))
	a, err := dir.Authority()
	if err != nil {
		t.Fatal(err)
	}
	var routes, listen, reach []string
	for i := range 3 {
		n := &node{t: t, exe: exe, listen: port(t), cluster: port(t), state: t.TempDir()}
		n.wire = newWire(t, n.listen)
		key, csr, err := certs.NewKey(fmt.Sprint("s", i))
		if err != nil {
			t.Fatal(err)
		}
		cert, err := dir.Admit(a, certs.Member{Name: fmt.Sprint("s", i), Kind: certs.Server}, csr)
		if err != nil {
			t.Fatal(err)
		}
		if err := certs.Dir(n.state).SaveIdentity(&certs.Identity{Member: certs.MemberOf(cert), CA: a.Cert, Cert: cert, Key: key}); err != nil {
			t.Fatal(err)
		}
		nodes, routes = append(nodes, n), append(routes, n.cluster)
		listen, reach = append(listen, n.listen), append(reach, n.wire.Addr().String())
	}
	for i, n := range nodes {
		n.routes = append(append(n.routes, routes[:i]...), routes[i+1:]...)
		n.start()
		t.Cleanup(n.kill)
	}
	for _, n := range nodes {
		n.serves()
	}
	s, err := dir.Settings()
	if err != nil {
		t.Fatal(err)
	}
	s.Servers, s.Reach = listen, reach
	if err := dir.SaveSettings(s); err != nil {
		t.Fatal(err)
	}
	if body, code := one.Post("/fleet", `{"act":"reload"}`); code != 200 {
		t.Fatalf("%d %s", code, body)
	}
	within(t, "the first host is connected", func() bool { return hostsConnected(one) == 1 })
	return nodes
}

// hostsConnected returns the number of connected hosts as one host sees it, or -1 if that is unknown.
func hostsConnected(i *e2e.Instance) int {
	var hosts []api.FleetHost
	out, _, code := i.Try("fleet", "hosts", "--json")
	if code != 0 || json.Unmarshal([]byte(out), &hosts) != nil {
		return -1
	}
	return strings.Count(out, `"connected"`)
}

// pair is two hosts of a fleet; the second prints in its session "work".
type pair struct {
	t        *testing.T
	one, two *e2e.Instance
}

// end returns the number of bytes printed by the session.
func (p pair) end() uint64 { return p.two.Info("work").Output.End }

// listed waits until the first host lists a session of the second.
func (p pair) listed(name string) {
	p.t.Helper()
	within(p.t, name+" is listed", func() bool {
		out, _, _ := p.one.Try("fleet", "ls")
		return strings.Contains(out, "two/"+name)
	})
}

// copied waits until the fleet has the output up to an offset.
func (p pair) copied(upTo uint64) {
	p.t.Helper()
	within(p.t, "what was printed is copied", func() bool {
		now := p.end() // before the query, which counts later output too
		st := e2e.Decode[api.Fleet](p.t, p.two.Run("fleet", "status", "--json"))
		return st.CopyError == "" && now-min(now, st.CopyBehind) >= upTo
	})
}

// goesOn waits until the first host can query the second, learns of a new session there, and has copied its output.
func (p pair) goesOn(session string) {
	p.t.Helper()
	at := p.end()
	p.two.Run("new", "-n", session, "--", "sleep", "600")
	within(p.t, "the host is asked by the other one", func() bool {
		out, _, code := p.one.Try("info", "two/work", "--json")
		return code == 0 && !strings.Contains(out, `"copy"`) && e2e.Decode[api.Session](p.t, out).Output.End > at
	})
	p.listed(session)
	p.copied(at)
}

// busy is the maximum additional delay of a busy machine before it sends the copies of each second.
const busy = 2 * time.Second

// lastTime returns the time of the last complete line with a time stamp.
func lastTime(t *testing.T, printed string) time.Time {
	t.Helper()
	whole := printed[:strings.LastIndex(printed, "\r\n")]
	ns, err := strconv.ParseInt(whole[strings.LastIndex(whole, " ")+1:], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(0, ns)
}

// TestServersAreKilledInTurn kills each of three servers in turn while a host prints, then cuts the host off from all
// for a while. Sessions continue, new ones are listed once possible, and no output is lost. Then the host is lost with
// its disk. Its output is read from the replica, in order and without a hole, at least up to the confirmed offset;
// missing output is counted.
//
// FEATURES: R94
func TestServersAreKilledInTurn(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	one, two := e2e.New(t), e2e.New(t)
	p := pair{t, one, two}
	nodes := newCluster(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	within(t, "both hosts are connected", func() bool { return hostsConnected(one) == 2 })
	printed := filepath.Join(t.TempDir(), "printed")
	two.Run("new", "-n", "work", "--", "sh", "-c",
		"n=0; while :; do n=$((n+1)); echo line $n of needles at $(date +%s%N); sleep 0.02; done | tee "+printed)
	for i, n := range nodes {
		n.kill()
		p.goesOn(fmt.Sprint("after-", i))
		n.start()
		n.serves()
	}

	for _, n := range nodes {
		n.wire.cut()
	}
	at := p.end()
	two.Run("new", "-n", "apart", "--", "sh", "-c", "echo it works; exec sleep 600")
	two.Run("wait", "apart", "--for", "text=it works")
	within(t, "the host counts as away", func() bool { return hostsConnected(one) == 1 })
	within(t, "the session prints on", func() bool { return p.end() > at })
	at = p.end()
	for _, n := range nodes {
		n.wire.mend()
	}
	within(t, "both hosts are connected again", func() bool { return hostsConnected(one) == 2 })
	p.listed("apart")
	p.copied(at)

	at = p.end()
	p.copied(at)
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
	b, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(string(b), "\n", "\r\n")
	got, stderr, code := one.Try("output", "two/work", "--raw")
	if code != 0 || !strings.Contains(stderr, "from the replica of two, as of ") {
		t.Fatalf("%d: %s", code, stderr)
	}
	const line = 80 // more than one has: tee may have been killed between the terminal and the file
	if uint64(len(got)) < at || len(got) > len(want)+line || !strings.HasPrefix(want, got[:min(len(got), len(want))]) {
		t.Errorf("%d bytes are in the copy, %d were confirmed, %d printed; it ends with %q", len(got), at, len(want), e2e.Tail([]byte(got), 200))
	}
	info := e2e.Decode[struct{ Copy api.FleetCopy }](t, one.Run("info", "two/work", "--json"))
	missing := max(0, len(want)-len(got))
	if info.Copy.NotCopied > uint64(missing+line) || info.Copy.Damaged != 0 {
		t.Errorf("%d bytes are missing: %+v", missing, info.Copy)
	}
	tail := lastTime(t, want).Sub(lastTime(t, got))
	t.Logf("%d of %d bytes are missing at the end, of %v, of which %d were known of", missing, len(want), tail, info.Copy.NotCopied)
	if tail > time.Second+busy {
		t.Errorf("output of %v is missing", tail)
	}
}
