//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// conn is the connection of one peer. It writes what the socket accepts at once. A goroutine writes the queued rest, so
// that a peer which does not read blocks only itself. The queue is bounded by the peer's requests plus one notice per
// session.
type conn struct {
	*wire.Conn
	role string
	uid  int   // user of the peer
	pid  int64 // from the kernel if possible, otherwise from the peer's Hello

	mu         sync.Mutex
	queue      []queuedMessage // oldest first
	writing    bool            // a goroutine writes the queue
	writeEnded bool            // nothing more is written
	wake       chan struct{}   // wakes the writer
	readEnded  chan struct{}   // closed when reading has ended
}

// queuedMessage is an encoded message in the queue.
type queuedMessage struct {
	frame []byte           // encoded message
	fds   wire.Descriptors // duplicates, to send with it
}

const (
	// handshakeTimeout bounds how long a connected peer may take to send its Hello.
	handshakeTimeout = 10 * time.Second
	// flushTimeout bounds the write of the last messages when a connection ends.
	flushTimeout = time.Second
)

// newConn returns the connection of a peer.
func newConn(f *os.File, uid, pid int) *conn {
	return &conn{Conn: wire.NewConn(f), uid: uid, pid: int64(pid), wake: make(chan struct{}, 1), readEnded: make(chan struct{})}
}

// send queues a message.
func (c *conn) send(m wire.Message) { c.enqueue(m, nil) }

// sendFiles queues a message with descriptors, which must be open now; they may be closed
// before it is written.
func (c *conn) sendFiles(m wire.Message, files ...*os.File) error {
	fds, err := wire.Duplicate(files...)
	if err != nil {
		return err
	}
	c.enqueue(m, fds)
	return nil
}

// enqueue queues a message with descriptors and writes what the socket accepts.
func (c *conn) enqueue(m wire.Message, fds wire.Descriptors) {
	frame := wire.AppendFrame(nil, m, len(fds))
	c.mu.Lock()
	ended := c.writeEnded
	if !ended && !c.writing && len(c.queue) == 0 && len(fds) == 0 {
		if frame = frame[c.TryWrite(frame):]; len(frame) == 0 {
			c.mu.Unlock()
			return
		}
	}
	if !ended {
		c.queue = append(c.queue, queuedMessage{frame, fds})
	}
	c.mu.Unlock()
	if ended {
		fds.Close()
	}
	setSignal(c.wake)
}

// writeQueue writes the queue on its own goroutine. It ends when a write fails, or after the reader has ended and all
// messages are written.
func (c *conn) writeQueue() {
	defer c.Close() // ends the reader as well
	defer c.discard()
	for last := false; !last; {
		select {
		case <-c.wake:
		case <-c.readEnded:
			last = true
		}
		for queue := c.takeQueue(); len(queue) > 0; queue = c.takeQueue() {
			for i, o := range queue {
				err := c.WriteDescriptors(o.frame, o.fds)
				o.fds.Close()
				if err != nil {
					closeAll(queue[i+1:])
					return
				}
			}
		}
	}
}

// takeQueue returns the queue and empties it. Until a call finds it empty, new messages are queued behind it.
func (c *conn) takeQueue() []queuedMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	queue := c.queue
	c.queue = nil
	c.writing = len(queue) > 0
	return queue
}

// discard drops the unwritten messages.
func (c *conn) discard() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writeEnded = true
	closeAll(c.queue)
	c.queue = nil
}

// closeAll closes the descriptors of queued messages.
func closeAll(queue []queuedMessage) {
	for _, o := range queue {
		o.fds.Close()
	}
}

// serve is a connection's goroutine.
func (k *Keeper) serve(c *conn) {
	var writer sync.WaitGroup
	writer.Go(c.writeQueue)
	defer func() {
		_ = c.File().SetWriteDeadline(time.Now().Add(flushTimeout))
		close(c.readEnded)
		writer.Wait() // it closes the connection
	}()
	if err := k.handshake(c); err != nil {
		k.log.Warn("greeting failed", "err", err)
		return
	}
	defer k.onDisconnect(c)
	for {
		f, files, err := c.Read()
		k.poller.NoteActivity()
		if err != nil && !errors.Is(err, wire.ErrDescriptors) { // an upgrade finds none missing
			if !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
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

// handshake exchanges Hello messages and checks the peer.
func (k *Keeper) handshake(c *conn) error {
	if err := c.File().SetReadDeadline(time.Now().Add(handshakeTimeout)); err != nil {
		return err
	}
	f, files, err := c.Read()
	if err != nil {
		return err
	}
	if err := c.File().SetReadDeadline(time.Time{}); err != nil {
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
	no := k.checkCaller(c)
	c.send(&wire.Hello{
		Version: wire.Version, MinVersion: wire.Version, Build: k.cfg.Build,
		PID: int64(os.Getpid()), Key: k.cfg.Key, HandlesSignalCalls: true, Rejection: no.reason,
	})
	if no.reason != "" {
		k.noteRejected(c, hello.Role, no)
		return fmt.Errorf("caller refused: role %q, pid %d, session %q: %s", hello.Role, c.pid, no.session, no.reason)
	}
	if hello.MinVersion > wire.Version || hello.Version < wire.Version {
		return fmt.Errorf("peer %q speaks protocol %d to %d, this keeper %d",
			hello.Build, hello.MinVersion, hello.Version, wire.Version)
	}
	if c.role = hello.Role; c.pid == 0 {
		c.pid = hello.PID
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.conns[c] = struct{}{}
	if c.role == wire.RoleDaemon {
		k.daemonConnectedLocked(c)
	}
	return nil
}

// onDisconnect handles the end of a connection.
func (k *Keeper) onDisconnect(c *conn) {
	k.mu.Lock()
	delete(k.conns, c)
	k.daemonDroppedLocked(c)
	k.mu.Unlock()
	k.endIfIdle()
}

// notify sends a notice to the daemon, if connected; a new daemon requests missed ones.
func (k *Keeper) notify(m wire.Message) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.notifyLocked(m)
}

// notifyLocked works like notify. The caller holds mu.
func (k *Keeper) notifyLocked(m wire.Message) {
	if c := k.supervisor.conn; c != nil {
		c.send(m)
	}
}
