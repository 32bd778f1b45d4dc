package listeners

import (
	"bytes"
	"os"
	"strconv"

	"github.com/longterm-dev/longterm/session/sys"
)

// Supported reports whether this system has a source of listeners.
const Supported = true

// Bounds of one Find.
const (
	maxTable       = 2 << 20 // bytes of one file of a namespace
	maxInodes      = 8192    // listeners of one namespace
	maxDescriptors = 4096    // of one process
)

// Find returns the listeners of groups of processes, with Unix sockets if unix is set. A process that has exited or is not
// readable counts as having none.
func Find(groups [][]int, unix bool) []GroupSockets {
	l := scan{withUnix: unix, tables: map[string]map[uint64]Socket{}}
	if self, err := sys.OpenProcDir(os.Getpid()); err == nil {
		l.ownNamespace = l.namespace(self)
		self.Close()
	}
	found := make([]GroupSockets, len(groups))
	for i, pids := range groups {
		found[i] = l.groupSockets(pids)
	}
	return found
}

// scan is the state of one Find.
type scan struct {
	withUnix     bool
	ownNamespace string                       // network namespace of this process; "" if unknown
	tables       map[string]map[uint64]Socket // listeners by inode, by namespace
	buf          [4096]byte
}

// namespace returns the name of a process's network namespace, or "".
func (l *scan) namespace(d sys.ProcDir) string {
	name, err := d.ReadLink("ns/net", l.buf[:])
	if err != nil {
		return ""
	}
	return string(name)
}

// groupSockets returns the listeners of one group.
func (l *scan) groupSockets(pids []int) GroupSockets {
	byInode := map[uint64]Socket{}
	for _, pid := range pids {
		if d, err := sys.OpenProcDir(pid); err == nil {
			l.addProcess(d, pid, byInode)
			d.Close()
		}
	}
	all := make([]Socket, 0, len(byInode))
	for _, s := range byInode {
		all = append(all, s)
	}
	return newGroupSockets(all)
}

// addProcess adds the listeners of one process. A socket that several processes share, such as a parent and its workers,
// gets the lowest pid.
func (l *scan) addProcess(d sys.ProcDir, pid int, byInode map[uint64]Socket) {
	ns := l.namespace(d)
	if ns == "" {
		return
	}
	table, known := l.tables[ns]
	if !known {
		table = l.readNamespace(d, ns)
		l.tables[ns] = table
	}
	if len(table) == 0 {
		return
	}
	n := 0
	_ = d.EachNumber("fd", func(fd int) bool { // the process may have exited
		if link, err := d.ReadLink("fd/"+strconv.Itoa(fd), l.buf[:64]); err == nil {
			inode, _ := parseLink(link)
			s, listens := table[inode]
			if other, isShared := byInode[inode]; listens && (!isShared || pid < other.PID) {
				s.PID = pid
				byInode[inode] = s
			}
		}
		n++
		return n < maxDescriptors
	})
}

// readNamespace returns the listeners of the network namespace of a process.
func (l *scan) readNamespace(d sys.ProcDir, ns string) map[uint64]Socket {
	table := map[uint64]Socket{}
	add := func(inode uint64, s Socket) bool {
		if len(table) < maxInodes {
			s.IsOtherNamespace = ns != l.ownNamespace && l.ownNamespace != ""
			table[inode] = s
		}
		return len(table) < maxInodes
	}
	if ns != l.ownNamespace || queryDiag(l.withUnix, func(inode uint64, s Socket) { add(inode, s) }) != nil {
		l.readFiles(d, add)
	}
	return table
}

// readFiles reads the listeners of the network namespace of a process from its files.
func (l *scan) readFiles(d sys.ProcDir, add func(uint64, Socket) bool) {
	for _, file := range []string{"net/tcp", "net/tcp6"} {
		// The kernel prints listeners first. Connections can be many and are not read, beyond the current chunk.
		eachLine(d, file, l.buf[:], func(line []byte) bool {
			addr, inode, listens, ok := parseTCP(line)
			return !ok || listens && add(inode, Socket{Addr: addr})
		})
	}
	if l.withUnix {
		eachLine(d, "net/unix", l.buf[:], func(line []byte) bool {
			path, inode, listens, ok := parseUnix(line)
			return !ok || !listens || add(inode, Socket{Path: path})
		})
	}
}

// eachLine calls f with the lines of a file, until the end of the chunk in which f returned false.
func eachLine(d sys.ProcDir, file string, buf []byte, f func(line []byte) bool) {
	var rest []byte
	size := 0
	_ = d.ReadChunks(file, buf, func(p []byte) bool { // unreadable: no listeners
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
