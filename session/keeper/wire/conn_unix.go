//go:build unix

package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/sys/rawio"
)

// Conn is one end of a connection. Read and Write may be used by one goroutine each.
type Conn struct {
	f   *os.File
	br  *bufio.Reader
	fds []receivedFDs // received, not yet claimed by a frame; in order, like the bytes
	out []byte        // encoded frame
}

// receivedFDs holds the descriptors that came with one frame. The kernel passes at most the number that the process may
// open. If some are missing, truncated is set and the descriptors are useless.
type receivedFDs struct {
	fds       []int
	truncated bool
}

// NewConn wraps a connected Unix socket (unixsock.Dial), whose name and deadlines stay the caller's.
func NewConn(f *os.File) *Conn {
	c := &Conn{f: f}
	c.br = bufio.NewReaderSize(rightsReader{c}, 4096)
	return c
}

// Close closes the socket and every descriptor that was not claimed.
func (c *Conn) Close() error { return c.f.Close() }

// File returns the socket.
func (c *Conn) File() *os.File { return c.f }

// rightsReader reads bytes and puts the descriptors that come with them in a queue.
type rightsReader struct{ c *Conn }

// Read implements io.Reader.
func (r rightsReader) Read(p []byte) (int, error) {
	oob := make([]byte, syscall.CmsgSpace(4*MaxDescriptors))
	n, oobn, flags, err := rawio.ReadMsg(r.c.f, p, oob)
	if cut := flags&syscall.MSG_CTRUNC != 0; oobn > 0 || cut {
		fds, ferr := parseRights(oob[:oobn])
		r.c.fds = append(r.c.fds, receivedFDs{fds, cut})
		if err == nil {
			err = ferr
		}
	}
	if n == 0 && err == nil {
		err = io.EOF // a stream socket reads 0 bytes only at its end
	}
	return max(n, 0), err
}

// parseRights returns the descriptors in ancillary data.
func parseRights(oob []byte) ([]int, error) {
	msgs, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("keeper protocol: control message: %w", err)
	}
	var all []int
	for i := range msgs {
		fds, err := syscall.ParseUnixRights(&msgs[i])
		if err != nil {
			continue // other ancillary data is ignored
		}
		all = append(all, fds...)
	}
	return all, nil
}

// ErrDescriptors is returned with a frame whose descriptors this process had no room
// for. The connection is fine.
var ErrDescriptors = fmt.Errorf("descriptors could not be received: %w", syscall.EMFILE)

// Read reads the next frame and the descriptors that travel with it. The caller owns
// the files. With ErrDescriptors the frame is valid and the files are missing.
func (c *Conn) Read() (Frame, []*os.File, error) {
	f, err := ReadFrame(c.br)
	if err != nil {
		c.dropDescriptors()
		return Frame{}, nil, err
	}
	if f.Descriptors == 0 {
		return f, nil, nil
	}
	if len(c.fds) == 0 {
		return Frame{}, nil, fmt.Errorf("%w: %d descriptors announced, none came", ErrMalformed, f.Descriptors)
	}
	b := c.fds[0]
	c.fds = c.fds[1:]
	if b.truncated || len(b.fds) != f.Descriptors {
		closeFDs(b.fds)
		return f, nil, ErrDescriptors
	}
	files := make([]*os.File, len(b.fds))
	for i, fd := range b.fds {
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "passed")
	}
	return f, files, nil
}

// HasBufferedFrame reports whether the start of another frame is already buffered.
func (c *Conn) HasBufferedFrame() bool { return c.br.Buffered() > 0 }

// dropDescriptors closes the unclaimed descriptors.
func (c *Conn) dropDescriptors() {
	for _, b := range c.fds {
		closeFDs(b.fds)
	}
	c.fds = nil
}

// closeFDs closes descriptors.
func closeFDs(fds []int) {
	for _, fd := range fds {
		_ = syscall.Close(fd)
	}
}

// Write sends a message with descriptors; the files stay the caller's.
func (c *Conn) Write(msg Message, files ...*os.File) error {
	c.out = AppendFrame(c.out[:0], msg, len(files))
	return c.WriteFrame(c.out, files...)
}

// WriteFrame sends a frame made by AppendFrame.
func (c *Conn) WriteFrame(frame []byte, files ...*os.File) error {
	if len(files) == 0 {
		_, err := c.f.Write(frame)
		return err
	}
	d, err := Duplicate(files...)
	if err != nil {
		return err
	}
	defer d.Close()
	return c.WriteDescriptors(frame, d)
}

// TryWrite sends what the socket accepts of a frame without waiting, and returns how much that was. The next Write
// reports errors. No other goroutine may be writing.
func (c *Conn) TryWrite(frame []byte) (n int) {
	raw, err := c.f.SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Write(func(fd uintptr) bool {
		n, _ = rawio.Write(int(fd), frame)
		return true
	})
	return max(n, 0)
}

// Descriptors are duplicates of files' descriptors, to be sent later: they stay valid when the files are closed and
// their numbers are reused.
type Descriptors []int

// Duplicate duplicates the descriptors of open files.
func Duplicate(files ...*os.File) (Descriptors, error) {
	var d Descriptors
	for _, f := range files {
		raw, err := f.SyscallConn()
		if err == nil {
			var dup int
			var dupErr error
			err = errors.Join(raw.Control(func(fd uintptr) {
				dup, dupErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 3)
			}))
			err = errors.Join(err, dupErr)
			if err == nil {
				d = append(d, dup)
				continue
			}
		}
		d.Close()
		return nil, fmt.Errorf("duplicate a descriptor: %w", err)
	}
	return d, nil
}

// Close closes them.
func (d Descriptors) Close() { closeFDs(d) }

// WriteDescriptors sends a frame with descriptors, which stay the caller's.
func (c *Conn) WriteDescriptors(frame []byte, fds Descriptors) error {
	if len(fds) == 0 {
		_, err := c.f.Write(frame)
		return err
	}
	n, err := c.sendRights(frame, syscall.UnixRights(fds...))
	if err == nil && n < len(frame) { // the descriptors went with the first part
		_, err = c.f.Write(frame[n:])
	}
	return err
}

// sendRights sends a part of a frame, and descriptors with it.
func (c *Conn) sendRights(frame, rights []byte) (n int, err error) {
	raw, err := c.f.SyscallConn()
	if err != nil {
		return 0, err
	}
	outer := raw.Write(func(fd uintptr) bool {
		for {
			n, err = unix.SendmsgN(int(fd), frame, rights, nil, 0)
			if !errors.Is(err, unix.EINTR) {
				return !errors.Is(err, unix.EAGAIN)
			}
		}
	})
	if outer != nil {
		return 0, rawio.RawError(c.f, outer)
	}
	return max(n, 0), os.NewSyscallError("sendmsg", err)
}
