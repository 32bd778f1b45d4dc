//go:build unix

package daemon

import (
	"context"
	"errors"
	"syscall"

	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// request is what the keeper is asked for.
func (p *plan) request(e *entry) wire.Spawn {
	return wire.Spawn{
		ID: e.rec.ID, Path: p.path, Argv: p.argv, Env: p.env, Dir: e.rec.Cwd,
		Cols: uint64(e.rec.Cols), Rows: uint64(e.rec.Rows), RingBytes: ring.DefaultSize, Base: p.base,
		Pipe: p.pipe, Apart: p.pipe, Input: p.pipe && p.input, Memory: p.memory, CPU: p.cpu, PIDs: p.pids,
		Umask: p.umask,
	}
}

// noTerminal reports whether a session could not be started because no PTY is free.
func noTerminal(err error) (why string, ok bool) {
	var se *link.SpawnError
	if !errors.As(err, &se) || se.Errno != syscall.ENXIO && se.Errno != syscall.ENOSPC {
		return "", false
	}
	return se.Message, true
}

// spawnAt has the keeper start a process. A keeper that was replaced while it was asked may
// have done so already.
func spawnAt(ctx context.Context, k Keeper, m wire.Spawn) (s *wire.Spawned, err error) {
	again := false
	err = k.Retry(ctx, func(l *link.Link) (err error) {
		s, err = l.Spawn(ctx, m)
		if again && errors.Is(err, link.ErrExists) {
			s, err = &wire.Spawned{Base: m.Base, Limited: true}, nil
		}
		again = true
		return err
	})
	return s, err
}

// unspawn ends a process that is not to be, whether it was started or is about to.
func unspawn(k Keeper, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	l := k.Link()
	_ = l.Signal(ctx, id, syscall.SIGKILL, wire.ScopeAll) // the keeper may not know it
	_ = l.Release(ctx, id)
}
