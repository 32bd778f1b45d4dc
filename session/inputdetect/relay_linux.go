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
	maxRelayFDs = 256
	maxSockets  = 16
	maxTable    = 4 << 20 // bytes of a table of connections
	// serverSearchInterval bounds how often the other side of a relay is searched.
	serverSearchInterval = 500 * time.Millisecond
)

// relayServer is the process that was last found at the other side of a relay.
type relayServer struct {
	relay, server int
	at            time.Time
}

// recordMaster records the terminal of a PTY master.
func (p *Prober) recordMaster(pr *process, path string, fd int) {
	if len(p.masters) >= maxRelayed {
		return
	}
	b, err := p.read(pr, path+"fdinfo/"+strconv.Itoa(fd))
	if err != nil {
		return
	}
	if n, ok := parseTTYIndex(b); ok && sys.TerminalDevice(n) != p.target.TTY && !slices.Contains(p.masters, n) {
		p.masters = append(p.masters, n)
	}
}

// probeRelayed probes the terminals behind the process that determined the result.
func (p *Prober) probeRelayed() {
	r := &p.result
	if p.depth >= maxRelayDepth || r.PID == 0 || r.State == Busy || r.State == Sleeping && !multiplexers[r.Program] {
		return
	}
	server, lines := r.PID, p.deciderMasters
	if relayPrograms[r.Program] {
		server, lines = p.relayedTerminals(r.PID, r.Program)
	}
	for i, n := range lines[:min(len(lines), maxRelayed)] {
		t, ok := p.findTarget(sys.TerminalDevice(n), server)
		if !ok {
			continue
		}
		for len(p.relayedProbers) <= i {
			p.relayedProbers = append(p.relayedProbers, &Prober{depth: p.depth + 1, disableSyscall: p.disableSyscall, disableWchan: p.disableWchan})
		}
		r.Relayed = append(r.Relayed, RelayedTTY{Probe: p.relayedProbers[i].Probe(t), Modes: modesOf(n)})
	}
}

// relayedTerminals returns the device numbers of the terminals that a known relay process relays, and the PID of the
// process that holds their masters.
func (p *Prober) relayedTerminals(relay int, name string) (server int, lines []int) {
	if lines = p.mastersOf(relay); len(lines) > 0 {
		return relay, lines
	}
	finds, ok := serverFinders[name]
	if !ok {
		return relay, p.descendantTerminals(relay)
	}
	c := &p.lastServer
	if c.relay == relay && c.server > 0 {
		if lines = p.mastersOf(c.server); len(lines) > 0 {
			return c.server, lines
		}
	}
	if c.relay == relay && time.Since(c.at) < serverSearchInterval {
		return relay, nil
	}
	*c = relayServer{relay, finds(p, relay), time.Now()}
	if c.server == 0 {
		return relay, nil
	}
	return c.server, p.mastersOf(c.server)
}

// serverFinders maps relays to functions that find the other side, if it is no descendant.
var serverFinders = map[string]func(p *Prober, relay int) int{
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
			p.recordMaster(&pr, "", fd)
		}
		return true
	})
	return slices.Clone(p.masters)
}

// eachDescriptor calls f for the descriptors of a process until f returns false.
func (p *Prober) eachDescriptor(pr *process, f func(fd int) bool) {
	n := 0
	_ = pr.EachNumber("fd", func(fd int) bool {
		n++
		return f(fd) && n < maxRelayFDs
	})
}

// descendantTerminals returns the terminals of a process's descendants other than the probed one: a relay of another
// user, which may not be examined, can only relay for these.
func (p *Prober) descendantTerminals(root int) (lines []int) {
	p.eachDescendant(root, func(pr *process) bool {
		major, minor := sys.SplitDevice(pr.TTY)
		if dev := unix.Mkdev(major, minor); pr.TTY != 0 && dev != p.target.TTY && major == 136 && !slices.Contains(lines, int(minor)) {
			lines = append(lines, int(minor))
		}
		return len(lines) < maxRelayed
	})
	return lines
}

// findTarget returns the foreground group of another terminal, searched among the descendants of a process, and then
// among all processes.
func (p *Prober) findTarget(dev uint64, root int) (t Target, ok bool) {
	check := func(pr *process) bool {
		if pr.TTY != 0 && unix.Mkdev(sys.SplitDevice(pr.TTY)) == dev && pr.Foreground > 0 {
			t, ok = Target{TTY: dev, Group: pr.Foreground, Leader: pr.SessionLeader}, true
		}
		return !ok
	}
	if p.eachDescendant(root, check); !ok {
		p.eachProcess(check)
	}
	return t, ok
}

// eachDescendant calls f for a process and its descendants until f returns false.
func (p *Prober) eachDescendant(root int, f func(*process) bool) {
	p.queue, p.inGroupTree = append(p.queue[:0], root), p.inGroupTree[:0]
	for i, on := 0, true; on && i < len(p.queue) && i < maxProcesses; i++ {
		if pr, ok := p.openProcess(p.queue[i]); ok {
			if on = f(&pr); on {
				p.queueChildren(&pr, false)
			}
			pr.Close()
		}
	}
}

// eachProcess calls f for all processes until f returns false.
func (p *Prober) eachProcess(f func(*process) bool) {
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
	p.eachProcess(func(pr *process) bool {
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

// sshServer finds the server at the other end of an ssh connection, if it is on this machine.
func (p *Prober) sshServer(relay int) (server int) {
	pr, ok := p.openProcess(relay)
	if !ok {
		return 0
	}
	ends := p.peerSockets(&pr, p.sockets(&pr))
	pr.Close()
	if len(ends) == 0 {
		return 0
	}
	p.eachProcess(func(pr *process) bool {
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
		to, err := pr.ReadLink("fd/"+strconv.Itoa(fd), buf[:])
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

// peerSockets returns the sockets on this machine that are connected to one of the given ones.
func (p *Prober) peerSockets(pr *process, inodes []string) (ends []string) {
	if len(inodes) == 0 {
		return nil
	}
	var table []tcpConnection
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		table = append(table, parseConnections(pr.ReadUpTo(name, maxTable))...)
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
