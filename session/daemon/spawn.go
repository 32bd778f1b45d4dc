//go:build unix

package daemon

import (
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
