//go:build unix

package wire

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// Conn is one end of a connection. Read and Write may be used by one goroutine each.
type Conn struct {
	uc  *net.UnixConn
	br  *bufio.Reader
	fds []int // received, not yet claimed by a frame; FIFO like the bytes
	out []byte
}

// NewConn wraps a connected Unix socket.
func NewConn(uc *net.UnixConn) *Conn {
	c := &Conn{uc: uc}
	c.br = bufio.NewReaderSize(rightsReader{c}, 4096)
	return c
}

// Close closes the socket and every descriptor nobody claimed.
func (c *Conn) Close() error { return c.uc.Close() }

// NetConn is the socket.
func (c *Conn) NetConn() *net.UnixConn { return c.uc }

// rightsReader reads bytes and puts the descriptors that come with them in a queue.
type rightsReader struct{ c *Conn }

func (r rightsReader) Read(p []byte) (int, error) {
	oob := make([]byte, syscall.CmsgSpace(4*MaxDescriptors))
	n, oobn, _, _, err := r.c.uc.ReadMsgUnix(p, oob)
	if oobn > 0 {
		fds, ferr := parseRights(oob[:oobn])
		r.c.fds = append(r.c.fds, fds...)
		if err == nil {
			err = ferr
		}
	}
	if n == 0 && err == nil {
		err = io.EOF // a stream socket reads 0 bytes only at its end
	}
	return max(n, 0), err
}

func parseRights(oob []byte) ([]int, error) {
	msgs, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, fmt.Errorf("keeper protocol: control message: %w", err)
	}
	var all []int
	for i := range msgs {
		fds, err := syscall.ParseUnixRights(&msgs[i])
		if err != nil {
			continue // other ancillary data is none of ours
		}
		all = append(all, fds...)
	}
	return all, nil
}

// Read reads the next frame and the descriptors that travel with it. The caller owns
// the files.
func (c *Conn) Read() (Frame, []*os.File, error) {
	f, err := ReadFrame(c.br)
	if err != nil {
		c.dropDescriptors()
		return Frame{}, nil, err
	}
	if f.Descriptors > len(c.fds) {
		c.dropDescriptors()
		return Frame{}, nil, fmt.Errorf("%w: %d descriptors announced, %d came (descriptor limit reached?)",
			ErrMalformed, f.Descriptors, len(c.fds))
	}
	files := make([]*os.File, f.Descriptors)
	for i := range files {
		fd := c.fds[i]
		syscall.CloseOnExec(fd)
		files[i] = os.NewFile(uintptr(fd), "passed")
	}
	c.fds = c.fds[f.Descriptors:]
	return f, files, nil
}

func (c *Conn) dropDescriptors() {
	for _, fd := range c.fds {
		_ = syscall.Close(fd)
	}
	c.fds = nil
}

// Write sends a message with descriptors; the files stay the caller's.
func (c *Conn) Write(msg Message, files ...*os.File) error {
	c.out = AppendFrame(c.out[:0], msg, len(files))
	return c.WriteFrame(c.out, files...)
}

// WriteFrame sends a frame made by AppendFrame.
func (c *Conn) WriteFrame(frame []byte, files ...*os.File) error {
	if len(files) == 0 {
		_, err := c.uc.Write(frame)
		return err
	}
	fds := make([]int, len(files))
	for i, f := range files {
		raw, err := f.SyscallConn()
		if err != nil {
			return err
		}
		// The descriptor stays valid during the send because the caller holds f.
		if err := raw.Control(func(fd uintptr) { fds[i] = int(fd) }); err != nil {
			return err
		}
	}
	n, _, err := c.uc.WriteMsgUnix(frame, syscall.UnixRights(fds...), nil)
	if err == nil && n < len(frame) { // the descriptors went with the first part
		_, err = c.uc.Write(frame[n:])
	}
	return err
}
