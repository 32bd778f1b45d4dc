package inputdetect

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys"
)

// A relay (script, ssh, sudo, tmux) waits for its terminal all the time. The program behind it has another terminal; if
// that is on this machine, it is probed too.
//
//	relay ─ master of pts/N ── fdinfo: tty-index N ──→ process with the terminal pts/N ──→ Probe
//	ssh   ─ socket ── /proc/net/tcp: its other end ──→ sshd ─ master of pts/N …
//	tmux  ─ the server that has the client's terminal open ─ masters of its panes …

const (
	maxRelayFDs   = 256
	maxSockets    = 16
	maxTable      = 4 << 20 // bytes of a table of connections
	relayPatience = 500 * time.Millisecond
)

// relayServer is the process at which the other side of a relay was last found.
type relayServer struct {
	relay, server int
	at            time.Time
}

// noteMaster records the terminal of a master.
func (p *Prober) noteMaster(pr *process, path string, fd int) {
	if len(p.masters) >= maxBehind {
		return
	}
	b, err := p.read(pr, path+"fdinfo/"+strconv.Itoa(fd))
	if err != nil {
		return
	}
	if n, ok := ttyIndex(b); ok && sys.TerminalDevice(n) != p.target.TTY && !slices.Contains(p.masters, n) {
		p.masters = append(p.masters, n)
	}
}

// probeRelayed probes the terminals behind the program that decided.
func (p *Prober) probeRelayed() {
	r := &p.result
	if p.depth >= maxDepth || r.PID == 0 || r.State == Busy || r.State == Sleeping && !paned[r.Program] {
		return
	}
	server, lines := r.PID, p.relays
	if relays[r.Program] {
		server, lines = p.terminalsOf(r.PID, r.Program)
	}
	for i, n := range lines[:min(len(lines), maxBehind)] {
		t, ok := p.onTerminal(sys.TerminalDevice(n), server)
		if !ok {
			continue
		}
		for len(p.behind) <= i {
			p.behind = append(p.behind, &Prober{depth: p.depth + 1, noCalls: p.noCalls, noChannels: p.noChannels})
		}
		r.Behind = append(r.Behind, RelayedTTY{Probe: p.behind[i].Probe(t), Modes: modesOf(n)})
	}
}

// terminalsOf returns the terminals behind a known relay, and the process that holds them.
func (p *Prober) terminalsOf(relay int, name string) (server int, lines []int) {
	if lines = p.mastersOf(relay); len(lines) > 0 {
		return relay, lines
	}
	finds, ok := serverOf[name]
	if !ok {
		return relay, p.otherTerminals(relay)
	}
	c := &p.relayed
	if c.relay == relay && c.server > 0 {
		if lines = p.mastersOf(c.server); len(lines) > 0 {
			return c.server, lines
		}
	}
	if c.relay == relay && time.Since(c.at) < relayPatience {
		return relay, nil
	}
	*c = relayServer{relay, finds(p, relay), time.Now()}
	if c.server == 0 {
		return relay, nil
	}
	return c.server, p.mastersOf(c.server)
}

// serverOf maps relays to functions that find the other side, if it is no descendant.
var serverOf = map[string]func(p *Prober, relay int) int{
	"ssh":          (*Prober).sshServer,
	"tmux: client": (*Prober).tmuxServer,
	"screen":       (*Prober).tmuxServer,
}

// mastersOf returns the terminals whose masters a process has open.
func (p *Prober) mastersOf(pid int) []int {
	p.masters = p.masters[:0]
	pr, ok := p.openProcess(pid)
	if !ok {
		return nil
	}
	defer pr.Close()
	p.eachDescriptor(&pr, func(fd int) bool {
		if dev, ok := pr.CharDevice("fd/" + strconv.Itoa(fd)); ok && dev == devMaster {
			p.noteMaster(&pr, "", fd)
		}
		return true
	})
	return slices.Clone(p.masters)
}

func (p *Prober) eachDescriptor(pr *process, f func(fd int) bool) {
	n := 0
	_ = pr.Numbers("fd", func(fd int) bool {
		n++
		return f(fd) && n < maxRelayFDs
	})
}

// otherTerminals returns the terminals of a process's descendants other than the probed one: a relay of another user,
// which may not be examined, can only relay for these.
func (p *Prober) otherTerminals(root int) (lines []int) {
	p.descendants(root, func(pr *process) bool {
		major, minor := sys.Device(pr.TTY)
		if dev := unix.Mkdev(major, minor); pr.TTY != 0 && dev != p.target.TTY && major == 136 && !slices.Contains(lines, int(minor)) {
			lines = append(lines, int(minor))
		}
		return len(lines) < maxBehind
	})
	return lines
}

// onTerminal returns the foreground group of another terminal, from the descendants of a process, or else from all
// processes.
func (p *Prober) onTerminal(dev uint64, root int) (t Target, ok bool) {
	look := func(pr *process) bool {
		if pr.TTY != 0 && unix.Mkdev(sys.Device(pr.TTY)) == dev && pr.Front > 0 {
			t, ok = Target{TTY: dev, Group: pr.Front, Leader: pr.Session}, true
		}
		return !ok
	}
	if p.descendants(root, look); !ok {
		p.everyProcess(look)
	}
	return t, ok
}

// descendants calls f for a process and its descendants until f returns false.
func (p *Prober) descendants(root int, f func(*process) bool) {
	p.queue, p.kin = append(p.queue[:0], root), p.kin[:0]
	for i, on := 0, true; on && i < len(p.queue) && i < maxProcesses; i++ {
		if pr, ok := p.openProcess(p.queue[i]); ok {
			if on = f(&pr); on {
				p.queueChildren(&pr, false)
			}
			pr.Close()
		}
	}
}

// everyProcess calls f for all processes until it returns false.
func (p *Prober) everyProcess(f func(*process) bool) {
	_ = sys.EachPID(func(pid int) (on bool) {
		pr, ok := p.openProcess(pid)
		if !ok {
			return true
		}
		defer pr.Close()
		return f(&pr)
	})
}

// tmuxServer finds the server that has the client's terminal open.
func (p *Prober) tmuxServer(int) (server int) {
	p.everyProcess(func(pr *process) bool {
		if name := string(pr.Name); name != "tmux: server" && name != "screen" {
			return true
		}
		pid, holds, masters := pr.pid, false, false
		p.eachDescriptor(pr, func(fd int) bool {
			dev, _ := pr.CharDevice("fd/" + strconv.Itoa(fd))
			holds, masters = holds || dev == p.target.TTY, masters || dev == devMaster
			return !holds || !masters
		})
		if holds && masters {
			server = pid
		}
		return server == 0
	})
	return server
}

// sshServer finds the server at the other end of a connection, if on this machine.
func (p *Prober) sshServer(relay int) (server int) {
	pr, ok := p.openProcess(relay)
	if !ok {
		return 0
	}
	ends := p.otherEnds(&pr, p.sockets(&pr))
	pr.Close()
	if len(ends) == 0 {
		return 0
	}
	p.everyProcess(func(pr *process) bool {
		if !strings.HasPrefix(string(pr.Name), "sshd") {
			return true
		}
		pid, connected := pr.pid, false
		for _, s := range p.sockets(pr) {
			connected = connected || slices.Contains(ends, s)
		}
		if connected && len(p.mastersOf(pid)) > 0 {
			server = pid
		}
		return server == 0
	})
	return server
}

// sockets returns the inode numbers of a process's sockets.
func (p *Prober) sockets(pr *process) (inodes []string) {
	var buf [64]byte
	p.eachDescriptor(pr, func(fd int) bool {
		to, err := pr.Link("fd/"+strconv.Itoa(fd), buf[:])
		if err != nil {
			return true
		}
		if rest, ok := strings.CutPrefix(string(to), "socket:["); ok {
			inodes = append(inodes, strings.TrimSuffix(rest, "]"))
		}
		return len(inodes) < maxSockets
	})
	return inodes
}

// otherEnds finds the sockets on this machine that are connected to one of the given ones.
func (p *Prober) otherEnds(pr *process, inodes []string) (ends []string) {
	if len(inodes) == 0 {
		return nil
	}
	var table []connection
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		table = append(table, parseConnections(pr.ReadLong(name, maxTable))...)
	}
	for i := range table {
		c := &table[i]
		if !slices.Contains(inodes, c.inode) {
			continue
		}
		for j := range table {
			if o := &table[j]; o.local == c.remote && o.remote == c.local && o.inode != "0" {
				ends = append(ends, o.inode)
			}
		}
	}
	return ends
}

// modesOf returns the settings of a terminal by its number, or nil if it may not be opened.
func modesOf(n int) *sys.Modes {
	m, err := sys.ModesOf(n)
	if err != nil {
		return nil
	}
	return &m
}
