//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// conn is one peer. Messages to it are queued and written by a goroutine of its own:
// a peer that does not read blocks only itself. The queue is bounded by what the
// peer asked for plus one notice a session.
type conn struct {
	*wire.Conn
	role string
	pid  int64

	mu    sync.Mutex
	queue []outgoing
	wake  chan struct{}
	gone  chan struct{} // closed when reading has ended
}

type outgoing struct {
	frame []byte
	files []*os.File
}

func newConn(uc *net.UnixConn) *conn {
	return &conn{Conn: wire.NewConn(uc), wake: make(chan struct{}, 1), gone: make(chan struct{})}
}

// send queues a message. Files must stay open until the connection ends or the
// session is released; a failed send of a closed file ends the connection.
func (c *conn) send(m wire.Message, files ...*os.File) {
	frame := wire.AppendFrame(nil, m, len(files))
	c.mu.Lock()
	c.queue = append(c.queue, outgoing{frame, files})
	c.mu.Unlock()
	wake(c.wake)
}

func (c *conn) write() {
	defer c.Close() // ends the reader as well
	for {
		select {
		case <-c.wake:
		case <-c.gone:
			return
		}
		c.mu.Lock()
		queue := c.queue
		c.queue = nil
		c.mu.Unlock()
		for _, o := range queue {
			if err := c.WriteFrame(o.frame, o.files...); err != nil {
				return
			}
		}
	}
}

// serve is a connection's goroutine.
func (k *Keeper) serve(c *conn) {
	go c.write()
	defer c.Close()
	defer close(c.gone)
	if err := k.greet(c); err != nil {
		k.log.Warn("greeting failed", "err", err)
		return
	}
	defer k.dropped(c)
	for {
		f, files, err := c.Read()
		if err != nil && !errors.Is(err, wire.ErrDescriptors) { // an upgrade finds none missing
			if !errors.Is(err, io.EOF) && !errors.Is(err, net.ErrClosed) {
				k.log.Warn("connection", "role", c.role, "pid", c.pid, "err", err)
			}
			return
		}
		err = k.dispatch(c, f, files)
		for _, file := range files {
			_ = file.Close()
		}
		if err != nil {
			k.log.Warn("request", "kind", f.Kind, "role", c.role, "pid", c.pid, "err", err)
			return
		}
	}
}

func (k *Keeper) greet(c *conn) error {
	f, files, err := c.Read()
	if err != nil {
		return err
	}
	for _, file := range files {
		_ = file.Close()
	}
	var hello wire.Hello
	if f.Kind != wire.KindHello {
		return fmt.Errorf("first message is of kind %d, not a hello", f.Kind)
	}
	if err := wire.Decode(f.Payload, &hello); err != nil {
		return err
	}
	c.send(&wire.Hello{
		Version: wire.Version, MinVersion: wire.Version, Build: k.cfg.Build,
		PID: int64(os.Getpid()), Key: k.cfg.Key,
	})
	if hello.MinVersion > wire.Version || hello.Version < wire.Version {
		return fmt.Errorf("peer %q speaks protocol %d to %d, this keeper %d",
			hello.Build, hello.MinVersion, hello.Version, wire.Version)
	}
	c.role, c.pid = hello.Role, hello.PID
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conns[c] = struct{}{}
	if c.role == wire.RoleDaemon {
		k.daemonConnectedLocked(c)
	}
	return nil
}

func (k *Keeper) dropped(c *conn) {
	k.mu.Lock()
	delete(k.conns, c)
	k.daemonDroppedLocked(c)
	k.mu.Unlock()
	k.endIfIdle()
}

// notify tells the daemon, if there is one; a new one asks for what it missed.
func (k *Keeper) notify(m wire.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notifyLocked(m)
}

func (k *Keeper) notifyLocked(m wire.Message) {
	if c := k.super.conn; c != nil {
		c.send(m)
	}
}
