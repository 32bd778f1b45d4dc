//go:build unix

package keeper

import (
	"errors"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// Errors of requests, sent in a Done.
var (
	errNotFound = errors.New("no such session in this keeper")
	errExists   = errors.New("the keeper has a session with this id")
	errBusy     = errors.New("sessions are running")
)

// request pairs a message with its handler. A handler's error ends the connection; errors that the peer can handle are
// sent in a Done.
type request struct {
	message func() wire.Message
	handle  func(k *Keeper, c *conn, m wire.Message, files []*os.File) error
}

// requests is the table of requests by message kind.
var requests = map[wire.Kind]request{
	wire.KindSpawn:       typedHandler(handleSpawn),
	wire.KindList:        typedHandler(handleList),
	wire.KindAdopt:       typedHandler(handleAdopt),
	wire.KindResume:      typedHandler(handleResume),
	wire.KindSignal:      typedHandler(handleSignal),
	wire.KindRelease:     typedHandler(handleRelease),
	wire.KindReady:       typedHandler(handleReady),
	wire.KindLeave:       typedHandler(handleLeave),
	wire.KindStartDaemon: typedHandler(handleStartDaemon),
	wire.KindUpgrade:     typedHandler(handleUpgrade),
	wire.KindShutdown:    typedHandler(handleShutdown),
	wire.KindStatus:      typedHandler(handleStatus),
	wire.KindCloseInput:  typedHandler(handleCloseInput),

	wire.KindRestricted: typedHandler(handleRestricted),

	wire.KindExecutionAnswer:   typedHandler(handleExecutionAnswer),
	wire.KindExecutionReceiver: typedHandler(handleExecutionReceiver),
}

// typedHandler adapts a typed handler to the table.
func typedHandler[M any, P interface {
	*M
	wire.Message
}](handle func(*Keeper, *conn, P, []*os.File) error,
) request {
	return request{
		message: func() wire.Message { return P(new(M)) },
		handle: func(k *Keeper, c *conn, m wire.Message, files []*os.File) error {
			return handle(k, c, m.(P), files)
		},
	}
}

// dispatch skips kinds it does not know (K5).
func (k *Keeper) dispatch(c *conn, f wire.Frame, files []*os.File) error {
	r, ok := requests[f.Kind]
	if !ok {
		return nil
	}
	m := r.message()
	if err := wire.Decode(f.Payload, m); err != nil {
		return err
	}
	return r.handle(k, c, m, files)
}

// doneMessage returns the Done message for an error.
func doneMessage(req uint64, err error) *wire.Done {
	d := &wire.Done{Req: req}
	if err != nil {
		d.Error = err.Error()
	}
	switch {
	case errors.Is(err, errNotFound):
		d.Code = wire.CodeNotFound
	case errors.Is(err, errExists):
		d.Code = wire.CodeExists
	case errors.Is(err, errBusy):
		d.Code = wire.CodeBusy
	case errors.Is(err, errCrashLoop):
		d.Code = wire.CodeCrashLoop
	}
	return d
}

// child returns a session by its ID.
func (k *Keeper) child(id string) (*child, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if c, ok := k.children[id]; ok {
		return c, nil
	}
	return nil, errNotFound
}

// handleSpawn starts a session.
func handleSpawn(k *Keeper, c *conn, m *wire.Spawn, _ []*os.File) error {
	if !m.Shim {
		ch, err := k.spawn(m)
		c.send(k.spawnReply(m, ch, err))
		return nil
	}
	k.shimMu.RLock() // no upgrade while a shim prepares itself
	ch, err := k.spawn(m)
	if err != nil {
		k.shimMu.RUnlock()
		c.send(k.spawnReply(m, nil, err))
		return nil
	}
	go func() { // other requests are served meanwhile
		defer k.shimMu.RUnlock()
		a, err := k.awaitShim(ch)
		reply := k.spawnReply(m, ch, err)
		reply.Shim, reply.Checked, reply.Report = err == nil, a.checked, a.report
		c.send(reply)
	}()
	return nil
}

// spawnReply returns the reply to a start request.
func (k *Keeper) spawnReply(m *wire.Spawn, ch *child, err error) *wire.Spawned {
	reply := &wire.Spawned{Req: m.Req}
	if err != nil {
		reply.Error = err.Error()
		var errno syscall.Errno
		if errors.As(err, &errno) {
			reply.Errno = int64(errno)
		}
		if errors.Is(err, errNoCgroup) {
			reply.Code = wire.CodeNoCgroup
		}
		k.log.Warn("spawn", "session", m.ID, "path", m.Path, "err", err)
	} else {
		reply.PID, reply.Started, reply.Base = int64(ch.pid), ch.started.UnixNano(), m.Base
		reply.Limited = hasLimits(m)
	}
	return reply
}

// handleList lists the sessions.
func handleList(k *Keeper, c *conn, m *wire.List, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, ch := range k.children {
		c.send(ch.describe(m.Req))
	}
	c.send(doneMessage(m.Req, nil))
	return nil
}

// describe returns the session's description. The caller holds Keeper.mu.
func (c *child) describe(req uint64) *wire.Session {
	return &wire.Session{
		Req: req, ID: c.id, PID: int64(c.pid), Started: c.started.UnixNano(),
		Cols: uint64(c.cols), Rows: uint64(c.rows), Pipe: c.onPipes,
		Exited: c.exitReported, Closed: c.outputClosed,
		Separate: c.ring.IsSeparated(), Input: c.input != nil, Cgroup: c.cgroup,
	}
}

// handleAdopt sends a session's descriptors.
func handleAdopt(k *Keeper, c *conn, m *wire.Adopt, _ []*os.File) error {
	ch, err := k.child(m.ID)
	if err != nil {
		c.send(doneMessage(m.Req, err))
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := c.sendFiles(ch.describe(m.Req), ch.files()...); err != nil {
		c.send(doneMessage(m.Req, err))
		return nil
	}
	if ch.exitReported {
		c.send(ch.exit)
	}
	if ch.outputClosed {
		c.send(&wire.Closed{ID: ch.id, Head: ch.ring.Head()})
	}
	return nil
}

// handleResume wakes the streams that wait for room.
func handleResume(k *Keeper, _ *conn, m *wire.Resume, _ []*os.File) error {
	if ch, err := k.child(m.ID); err == nil {
		ch.wakeAll()
	}
	return nil
}

// handleSignal signals processes of a session.
func handleSignal(k *Keeper, c *conn, m *wire.Signal, _ []*os.File) error {
	ch, err := k.child(m.ID)
	if err == nil {
		err = k.signal(ch, syscall.Signal(m.Signal), m.Scope)
	}
	c.send(doneMessage(m.Req, err))
	return nil
}

// handleCloseInput closes a session's standard input.
func handleCloseInput(k *Keeper, c *conn, m *wire.CloseInput, _ []*os.File) error {
	ch, err := k.child(m.ID)
	if err == nil {
		k.mu.Lock()
		ch.closeInput()
		k.mu.Unlock()
	}
	c.send(doneMessage(m.Req, err))
	return nil
}

// handleRelease removes a session.
func handleRelease(k *Keeper, c *conn, m *wire.Release, _ []*os.File) error {
	ch, err := k.child(m.ID)
	if err == nil {
		k.release(ch)
	}
	c.send(doneMessage(m.Req, err))
	return nil
}

// handleStatus describes the keeper.
func handleStatus(k *Keeper, c *conn, m *wire.Status, _ []*os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c.send(&wire.StatusReply{
		Req: m.Req, PID: int64(os.Getpid()), Build: k.cfg.Build, Started: k.started.UnixNano(),
		Sessions: uint64(len(k.children)), DaemonPID: int64(k.supervisor.pid),
		Restarts: k.supervisor.restarts, LastError: k.supervisor.lastError, Executions: k.execCount,
	})
	return nil
}

// handleShutdown ends the keeper.
func handleShutdown(k *Keeper, c *conn, m *wire.Shutdown, _ []*os.File) error {
	k.mu.Lock()
	var all []*child
	alive := 0
	for _, ch := range k.children {
		all = append(all, ch)
		if !ch.reaped.Load() {
			alive++
		}
	}
	k.supervisor.isWanted = false
	k.mu.Unlock()
	if alive > 0 && !m.Kill {
		c.send(doneMessage(m.Req, errBusy))
		return nil
	}
	for _, ch := range all {
		if err := k.signal(ch, syscall.SIGKILL, wire.ScopeAll); err != nil {
			k.log.Warn("shutdown", "session", ch.id, "err", err)
		}
	}
	c.send(doneMessage(m.Req, nil))
	k.requestEnd(nil)
	return nil
}
