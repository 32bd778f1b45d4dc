package listeners

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Requests of sock_diag(7) select sockets by state in the kernel. Reading /proc/net instead takes 15 ms on a large machine: it
// lists all connections, and the kernel visits each of the 262144 buckets of its table.
const (
	stateListen     = 1 << 10 // TCP_LISTEN
	showName        = 1       // UDIAG_SHOW_NAME
	inetRequestSize = 56      // bytes of struct inet_diag_req_v2
	unixRequestSize = 24      // bytes of struct unix_diag_req
	inetAnswerSize  = 72      // bytes of struct inet_diag_msg
	unixAnswerSize  = 16      // bytes of struct unix_diag_msg
	maxDiagReads    = 4096    // reads of one response
)

var errDiag = errors.New("sock_diag: unexpected answer")

// queryDiag calls f with the listeners of this process's network namespace.
func queryDiag(withUnix bool, f func(inode uint64, s Socket)) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	buf := make([]byte, 32<<10)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		body := make([]byte, inetRequestSize)
		body[0], body[1] = family, unix.IPPROTO_TCP
		binary.NativeEndian.PutUint32(body[4:], stateListen)
		if err := dump(fd, body, buf, func(b []byte) {
			if addr, inode, ok := parseInetDiag(b); ok {
				f(inode, Socket{Addr: addr})
			}
		}); err != nil {
			return err
		}
	}
	if !withUnix {
		return nil
	}
	body := make([]byte, unixRequestSize)
	body[0] = unix.AF_UNIX
	binary.NativeEndian.PutUint32(body[4:], stateListen)
	binary.NativeEndian.PutUint32(body[12:], showName)
	return dump(fd, body, buf, func(b []byte) {
		if path, inode, ok := parseUnixDiag(b); ok {
			f(inode, Socket{Path: path})
		}
	})
}

// dump sends one request and calls f with the body of each response message.
func dump(fd int, body, buf []byte, f func([]byte)) error {
	req := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+len(body))
	binary.NativeEndian.PutUint32(req, uint32(cap(req)))
	binary.NativeEndian.PutUint16(req[4:], unix.SOCK_DIAG_BY_FAMILY)
	binary.NativeEndian.PutUint16(req[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	if err := unix.Sendto(fd, append(req, body...), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	for range maxDiagReads {
		n, _, err := unix.Recvfrom(fd, buf, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return err
		}
		for i := range messages {
			switch m := &messages[i]; m.Header.Type {
			case unix.NLMSG_DONE:
				return nil
			case unix.NLMSG_ERROR: // the kernel lacks the module
				return errDiag
			case unix.SOCK_DIAG_BY_FAMILY:
				f(m.Data)
			}
		}
	}
	return errDiag
}

// parseInetDiag reads a struct inet_diag_msg.
func parseInetDiag(b []byte) (addr netip.AddrPort, inode uint64, ok bool) {
	if len(b) < inetAnswerSize {
		return addr, 0, false
	}
	n := 4
	if b[0] == unix.AF_INET6 {
		n = 16
	}
	ip, _ := netip.AddrFromSlice(b[8 : 8+n])
	addr = netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(b[4:]))
	return addr, uint64(binary.NativeEndian.Uint32(b[68:])), addr.Port() > 0
}

// parseUnixDiag reads a struct unix_diag_msg and its attribute UNIX_DIAG_NAME. ok is false without a name.
func parseUnixDiag(b []byte) (path string, inode uint64, ok bool) {
	const header, name = 4, 0
	if len(b) < unixAnswerSize {
		return "", 0, false
	}
	inode = uint64(binary.NativeEndian.Uint32(b[4:]))
	for b = b[unixAnswerSize:]; len(b) >= header; {
		size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
		if size < header || size > len(b) {
			return "", 0, false
		}
		if kind == name {
			path = string(b[header:size])
			if abstract, is := strings.CutPrefix(path, "\x00"); is {
				path = "@" + abstract
			} else {
				path, _, _ = strings.Cut(path, "\x00")
			}
			return path, inode, path != ""
		}
		b = b[min(len(b), (size+3)&^3):]
	}
	return "", 0, false
}
