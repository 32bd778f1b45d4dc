package listeners

import (
	"bytes"
	"os"
	"strconv"

	"github.com/longterm-dev/longterm/session/sys"
)

// Supported reports whether this system has a source of listeners.
const Supported = true

// Bounds of one look.
const (
	maxTable       = 2 << 20 // bytes of one file of a namespace
	maxInodes      = 8192    // listeners of one namespace
	maxDescriptors = 4096    // of one process
)

// Look finds the listeners of groups of processes, with Unix sockets if unix is set. A process that has ended or is not
// readable counts as having none.
func Look(groups [][]int, unix bool) []Found {
	l := look{unix: unix, tables: map[string]map[uint64]Socket{}}
	if self, err := sys.OpenDir(os.Getpid()); err == nil {
		l.own = l.namespace(self)
		self.Close()
	}
	found := make([]Found, len(groups))
	for i, pids := range groups {
		found[i] = l.group(pids)
	}
	return found
}

// look is the state of one Look.
type look struct {
	unix   bool
	own    string                       // network namespace of this process; "" if unknown
	tables map[string]map[uint64]Socket // listeners by inode, by namespace
	buf    [4096]byte
}

func (l *look) namespace(d sys.Dir) string {
	name, err := d.Link("ns/net", l.buf[:])
	if err != nil {
		return ""
	}
	return string(name)
}

// group returns the listeners of one group.
func (l *look) group(pids []int) Found {
	held := map[uint64]Socket{}
	for _, pid := range pids {
		if d, err := sys.OpenDir(pid); err == nil {
			l.process(d, pid, held)
			d.Close()
		}
	}
	all := make([]Socket, 0, len(held))
	for _, s := range held {
		all = append(all, s)
	}
	return newFound(all)
}

// process adds the listeners of one process. A socket that several hold, such as a parent and its workers, belongs to
// the lowest pid.
func (l *look) process(d sys.Dir, pid int, held map[uint64]Socket) {
	ns := l.namespace(d)
	if ns == "" {
		return
	}
	table, known := l.tables[ns]
	if !known {
		table = l.read(d, ns)
		l.tables[ns] = table
	}
	if len(table) == 0 {
		return
	}
	n := 0
	_ = d.Numbers("fd", func(fd int) bool { // it may have ended
		if link, err := d.Link("fd/"+strconv.Itoa(fd), l.buf[:64]); err == nil {
			inode, _ := parseLink(link)
			s, listens := table[inode]
			if had, twice := held[inode]; listens && (!twice || pid < had.PID) {
				s.PID = pid
				held[inode] = s
			}
		}
		n++
		return n < maxDescriptors
	})
}

// read returns the listeners of the network namespace of a process.
func (l *look) read(d sys.Dir, ns string) map[uint64]Socket {
	table := map[uint64]Socket{}
	add := func(inode uint64, s Socket) bool {
		if len(table) < maxInodes {
			s.Inside = ns != l.own && l.own != ""
			table[inode] = s
		}
		return len(table) < maxInodes
	}
	if ns != l.own || diagnose(l.unix, func(inode uint64, s Socket) { add(inode, s) }) != nil {
		l.readFiles(d, add)
	}
	return table
}

// readFiles reads the listeners of the network namespace of a process from its files.
func (l *look) readFiles(d sys.Dir, add func(uint64, Socket) bool) {
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		// The kernel prints listeners first. Connections can be many and are not read, up to the end of a piece.
		eachLine(d, file, l.buf[:], func(line []byte) bool {
			addr, inode, listens, ok := parseTCP(line)
			return !ok || listens && add(inode, Socket{Addr: addr})
		})
	}
	if l.unix {
		eachLine(d, "net/unix", l.buf[:], func(line []byte) bool {
			path, inode, listens, ok := parseUnix(line)
			return !ok || !listens || add(inode, Socket{Path: path})
		})
	}
}

// eachLine calls f with the lines of a file, until the piece in which f returned false ends.
func eachLine(d sys.Dir, file string, buf []byte, f func(line []byte) bool) {
	var rest []byte
	size := 0
	_ = d.Pieces(file, buf, func(p []byte) bool { // unreadable: no listeners
		more := true
		for len(p) > 0 {
			line, after, ends := bytes.Cut(p, []byte{'\n'})
			if p = after; !ends {
				rest = append(rest, line...)
				break
			}
			if len(rest) > 0 {
				line = append(rest, line...)
				rest = rest[:0]
			}
			size += len(line) + 1
			more = f(line) && more
		}
		return more && size+len(rest) < maxTable
	})
}
