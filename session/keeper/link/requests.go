//go:build unix

package link

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/wire"
)

// Spawn starts a child.
func (l *Link) Spawn(ctx context.Context, m wire.Spawn) (*wire.Spawned, error) {
	r, err := l.postSpawn(&m)
	if err != nil {
		return nil, err
	}
	return r.awaitSpawned(ctx, &m)
}

// SpawnAdopted starts a child and adopts it, with both requests at once to save a round trip. For a child that
// restricts itself first, or that could not be adopted, it returns nil: the caller must adopt it and gets the error.
func (l *Link) SpawnAdopted(ctx context.Context, m wire.Spawn) (*wire.Spawned, *Adopted, error) {
	if m.Shim { // the keeper adopts it before it has answered
		s, err := l.Spawn(ctx, m)
		return s, nil, err
	}
	r, err := l.postSpawn(&m)
	if err != nil {
		return nil, nil, err
	}
	adoption, err := l.post(adoptRequest(m.ID), nil)
	if err != nil {
		r.abandon()
		return nil, nil, err
	}
	s, err := r.awaitSpawned(ctx, &m)
	if err != nil {
		adoption.abandon()
		return nil, nil, err
	}
	a, _ := adoption.awaitAdopted(ctx)
	return s, a, nil
}

// postSpawn sends a spawn request.
func (l *Link) postSpawn(m *wire.Spawn) (*call, error) {
	return l.post(func(req uint64) wire.Message { m.Req = req; return m }, nil)
}

// awaitSpawned waits for the answer to a spawn request.
func (c *call) awaitSpawned(ctx context.Context, m *wire.Spawn) (got *wire.Spawned, err error) {
	err = c.wait(ctx, func(a answer) (bool, error) {
		s, ok := a.msg.(*wire.Spawned)
		if !ok {
			return true, unexpectedAnswer(a)
		}
		got = s
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	if got.Error != "" {
		if err, ok := errorOfCode[got.Code]; ok {
			return nil, fmt.Errorf("%w: %s", err, got.Error)
		}
		return nil, &SpawnError{Path: m.Path, Dir: m.Dir, Errno: syscall.Errno(got.Errno), Message: got.Error}
	}
	return got, nil
}

// SpawnError is the failure to start a program.
type SpawnError struct {
	Path, Dir string
	Errno     syscall.Errno // system's error number; 0: not a system error
	Message   string
}

func (e *SpawnError) Error() string {
	return fmt.Sprintf("cannot start %s in %s: %s", e.Path, e.Dir, e.Message)
}

// Unwrap returns the system's error, or nil.
func (e *SpawnError) Unwrap() error {
	if e.Errno == 0 {
		return nil
	}
	return e.Errno
}

// List describes every session the keeper has.
func (l *Link) List(ctx context.Context) ([]*wire.Session, error) {
	var all []*wire.Session
	err := l.request(ctx, func(req uint64) wire.Message { return &wire.List{Req: req} },
		func(a answer) (bool, error) {
			switch m := a.msg.(type) {
			case *wire.Session:
				closeAll(a.files)
				all = append(all, m)
				return false, nil
			case *wire.Done:
				return true, doneError(m)
			}
			return true, unexpectedAnswer(a)
		})
	return all, err
}

// Adopted is a session's descriptors. The caller closes them.
type Adopted struct {
	*wire.Session
	Ring *os.File
	PTY  *os.File // nil: the terminal is closed; of a session on pipes: the write end of its standard input
}

// Close closes the adopted descriptors, if any.
func (a *Adopted) Close() {
	if a != nil {
		_, _ = a.Ring.Close(), a.PTY.Close() // these were only passed to us; nil files do no harm
	}
}

// Adopt requests a session's descriptors. If the child ended, Exited and Closed notices follow.
func (l *Link) Adopt(ctx context.Context, id string) (*Adopted, error) {
	c, err := l.post(adoptRequest(id), nil)
	if err != nil {
		return nil, err
	}
	return c.awaitAdopted(ctx)
}

// adoptRequest returns a function that builds an Adopt request.
func adoptRequest(id string) func(req uint64) wire.Message {
	return func(req uint64) wire.Message { return &wire.Adopt{Req: req, ID: id} }
}

// awaitAdopted waits for the answer to an adopt request.
func (c *call) awaitAdopted(ctx context.Context) (got *Adopted, err error) {
	err = c.wait(ctx, func(a answer) (bool, error) {
		switch m := a.msg.(type) {
		case *wire.Session:
			if len(a.files) == 0 {
				return true, wire.ErrDescriptors
			}
			got = &Adopted{Session: m, Ring: a.files[0]}
			if len(a.files) > 1 {
				got.PTY = a.files[1]
			}
			return true, nil
		case *wire.Done:
			return true, doneError(m)
		}
		return true, unexpectedAnswer(a)
	})
	return got, err
}

// Signal sends a signal to a part of a session (wire.ScopeGroup and so on).
func (l *Link) Signal(ctx context.Context, id string, sig syscall.Signal, scope string) error {
	return l.call(ctx, func(req uint64) wire.Message {
		return &wire.Signal{Req: req, ID: id, Signal: int64(sig), Scope: scope}
	})
}

// Release makes the keeper forget a session and hang up its terminal.
func (l *Link) Release(ctx context.Context, id string) error {
	return l.call(ctx, func(req uint64) wire.Message { return &wire.Release{Req: req, ID: id} })
}

// CloseInput ends the standard input of a session on pipes.
func (l *Link) CloseInput(ctx context.Context, id string) error {
	return l.call(ctx, func(req uint64) wire.Message { return &wire.CloseInput{Req: req, ID: id} })
}

// StartDaemon returns once a daemon is ready, or with the reason why none starts.
func (l *Link) StartDaemon(ctx context.Context) error {
	return l.call(ctx, func(req uint64) wire.Message { return &wire.StartDaemon{Req: req} })
}

// Shutdown ends the keeper; while children live only with kill.
func (l *Link) Shutdown(ctx context.Context, kill bool) error {
	err := l.call(ctx, func(req uint64) wire.Message { return &wire.Shutdown{Req: req, Kill: kill} })
	if errors.Is(err, ErrLost) {
		return nil // it ended before its answer was out
	}
	return err
}

// Upgrade makes the keeper execute another binary in place. The connection ends when
// that works; dial again.
func (l *Link) Upgrade(ctx context.Context, exe *os.File) error {
	err := l.request(ctx, func(req uint64) wire.Message { return &wire.Upgrade{Req: req} },
		func(a answer) (bool, error) {
			if d, ok := a.msg.(*wire.Done); ok {
				return true, doneError(d)
			}
			return true, unexpectedAnswer(a)
		}, exe)
	if errors.Is(err, ErrLost) {
		return nil
	}
	return err
}

// Status describes the keeper.
func (l *Link) Status(ctx context.Context) (*wire.StatusReply, error) {
	var got *wire.StatusReply
	err := l.request(ctx, func(req uint64) wire.Message { return &wire.Status{Req: req} },
		func(a answer) (bool, error) {
			s, ok := a.msg.(*wire.StatusReply)
			if !ok {
				return true, unexpectedAnswer(a)
			}
			got = s
			return true, nil
		})
	return got, err
}

// Resume reports that a full ring has room again.
func (l *Link) Resume(id string) error { return l.send(&wire.Resume{ID: id}) }

// Ready reports that this daemon serves clients.
func (l *Link) Ready(socket string) error { return l.send(&wire.Ready{Socket: socket}) }

// MarkRestricted marks a session whose processes the keeper must refuse.
func (l *Link) MarkRestricted(id string) error { return l.send(&wire.Restricted{ID: id}) }

// Leave reports that this daemon ends on purpose.
func (l *Link) Leave(restart bool) error { return l.send(&wire.Leave{Restart: restart}) }

// call sends a request that the keeper answers with wire.Done only, and returns the error of the answer.
func (l *Link) call(ctx context.Context, build func(req uint64) wire.Message) error {
	return l.request(ctx, build, func(a answer) (bool, error) {
		if d, ok := a.msg.(*wire.Done); ok {
			return true, doneError(d)
		}
		return true, unexpectedAnswer(a)
	})
}

// unexpectedAnswer returns the error for an answer of the wrong kind.
func unexpectedAnswer(a answer) error {
	closeAll(a.files)
	return fmt.Errorf("the keeper answered with %T", a.msg)
}
