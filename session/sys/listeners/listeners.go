// Package listeners finds the TCP and Unix sockets on which processes accept connections.
//
// pids → network namespace (ns/net) → its table, read once per Find → listening inodes
//
//	→ open descriptors (fd/N → socket:[inode]) ──────────────────────────→ Socket
//
// The table of this process's namespace comes from sock_diag(7), others from the files net/tcp, net/tcp6 and net/unix of
// proc(5). The kernel does not report new listeners, so callers choose when to call Find. It reads one table per namespace,
// some 0.1 ms (by files up to 30 ms), and one link of 1 µs per open descriptor; it skips descriptors in namespaces without
// listeners. Parsers do not trust their bytes: a program chooses the names of its Unix sockets.
package listeners

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
)

// MaxSockets is the largest number of sockets that Find returns for one group of processes.
const MaxSockets = 64

// Socket is a socket that accepts connections.
type Socket struct {
	Addr netip.AddrPort // of a TCP socket
	Path string         // of a Unix socket; a leading @ means an abstract name
	PID  int            // lowest pid among the processes that have it open
	// IsOtherNamespace reports that it is in another network namespace than this process, which cannot connect to it.
	IsOtherNamespace bool
}

// GroupSockets are the sockets of one group of processes: TCP by port and address, then Unix by path.
type GroupSockets struct {
	Sockets []Socket
	Omitted int // sockets beyond MaxSockets
}

// compareSockets orders sockets.
func compareSockets(a, b Socket) int {
	return cmp.Or(
		cmp.Compare(min(1, len(a.Path)), min(1, len(b.Path))),
		cmp.Compare(a.Addr.Port(), b.Addr.Port()), a.Addr.Compare(b.Addr), cmp.Compare(a.Path, b.Path), cmp.Compare(a.PID, b.PID),
	)
}

// newGroupSockets orders sockets and truncates them to MaxSockets.
func newGroupSockets(all []Socket) GroupSockets {
	slices.SortFunc(all, compareSockets)
	n := min(len(all), MaxSockets)
	return GroupSockets{all[:n:n], len(all) - n}
}

// listenState is the state TCP_LISTEN of net/tcp, acceptFlag the flag __SO_ACCEPTCON of net/unix.
const (
	listenState = "0A"
	acceptFlag  = 1 << 16
)

// parseTCP reads a line of net/tcp or net/tcp6. listens is false for connections; ok is false for the header and for
// anything else.
func parseTCP(line []byte) (addr netip.AddrPort, inode uint64, listens, ok bool) {
	const local, state, number = 1, 3, 9
	n := 0
	for f := range bytes.FieldsSeq(line) {
		switch n {
		case local:
			if addr, ok = parseAddr(f); !ok {
				return addr, 0, false, false
			}
		case state:
			if listens = string(f) == listenState; !listens {
				return addr, 0, false, len(f) == len(listenState)
			}
		case number:
			inode, err := strconv.ParseUint(string(f), 10, 64)
			return addr, inode, true, err == nil
		}
		n++
	}
	return addr, 0, false, false
}

// parseAddr reads HEX:PORT. The address is printed in words of four bytes, each as this machine's integer.
func parseAddr(f []byte) (netip.AddrPort, bool) {
	words, port, _ := bytes.Cut(f, []byte{':'})
	b := make([]byte, 16)
	n := len(words) / 2
	if len(words) != 8 && len(words) != 32 {
		return netip.AddrPort{}, false
	}
	if _, err := hex.Decode(b[:n], words); err != nil {
		return netip.AddrPort{}, false
	}
	for w := b[:n]; len(w) > 0; w = w[4:] {
		binary.NativeEndian.PutUint32(w, binary.BigEndian.Uint32(w))
	}
	p, err := strconv.ParseUint(string(port), 16, 16)
	ip, ok := netip.AddrFromSlice(b[:n])
	return netip.AddrPortFrom(ip.Unmap(), uint16(p)), ok && err == nil && p > 0
}

// parseUnix reads a line of net/unix. ok is false for the header, for sockets without a name, and for anything else.
func parseUnix(line []byte) (path string, inode uint64, listens, ok bool) {
	const flags, number = 3, 6
	for n := 0; n <= number; n++ {
		line = bytes.TrimLeft(line, " ") // the name starts after one space and is not trimmed
		var f []byte
		f, line, _ = bytes.Cut(line, []byte{' '})
		switch n {
		case flags:
			bits, err := strconv.ParseUint(string(f), 16, 32)
			if err != nil {
				return "", 0, false, false
			}
			listens = bits&acceptFlag != 0
		case number:
			var err error
			if inode, err = strconv.ParseUint(string(f), 10, 64); err != nil {
				return "", 0, false, false
			}
		}
	}
	path = string(bytes.TrimSuffix(line, []byte{'\n'}))
	return path, inode, listens, path != ""
}

// parseLink reads the target of a descriptor, socket:[inode].
func parseLink(link []byte) (inode uint64, ok bool) {
	digits, found := bytes.CutPrefix(link, []byte("socket:["))
	digits, end := bytes.CutSuffix(digits, []byte{']'})
	if !found || !end {
		return 0, false
	}
	inode, err := strconv.ParseUint(string(digits), 10, 64)
	return inode, err == nil
}
