//go:build unix

package spawn

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
)

// SpawnKeeper is what a process is started by.
type Keeper interface {
	Link() *link.Link
	// Retry has f ask the keeper, and ask again when the connection was replaced meanwhile.
	Retry(ctx context.Context, f func(*link.Link) error) error
}

// request is what the keeper is asked for.
func (p *Plan) request() wire.Spawn {
	return wire.Spawn{
		ID: p.Record.ID, Path: p.path, Argv: p.argv, Env: p.env, Dir: p.Record.Cwd,
		Cols: uint64(p.Record.Cols), Rows: uint64(p.Record.Rows), RingBytes: ring.DefaultSize, Base: p.Base,
		Pipe: p.pipe, Separate: p.pipe, Input: p.pipe && p.input, Memory: p.memory, CPU: p.cpu, PIDs: p.pids,
		Umask: p.umask, Shim: p.shim,
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
			s, err = &wire.Spawned{Base: m.Base, Limited: true, Shim: m.Shim, Judged: m.Shim}, nil
		}
		again = true
		return err
	})
	return s, err
}

// unspawnTime bounds ending a process that is not to be.
const unspawnTime = 2 * time.Second

// Unspawn ends a process that is not to be, whether it was started or is about to.
func Unspawn(k Keeper, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), unspawnTime)
	defer cancel()
	l := k.Link()
	_ = l.Signal(ctx, id, syscall.SIGKILL, wire.ScopeAll) // the keeper may not know it
	_ = l.Release(ctx, id)
}

// Start has the keeper start the process. When it fails and ctx has ended, the process may have come
// all the same, and is ended.
func (s *Spawner) Start(ctx context.Context, k Keeper, p *Plan) error {
	if err := s.integrate(p.Record.ID, p); err != nil {
		return err
	}
	if err := s.confine(p); err != nil {
		return err
	}
	if err := s.judge(k, p); err != nil {
		return err
	}
	spawned, err := spawnAt(ctx, k, p.request())
	if why, ok := noTerminal(err); ok && p.fallback {
		p.pipe, p.Record.Pipe, p.Why = true, true, why
		spawned, err = spawnAt(ctx, k, p.request())
	}
	if err != nil {
		if ctx.Err() != nil { // it may come yet
			Unspawn(k, p.Record.ID)
		}
		return spawnError(p.named(err))
	}
	if err := p.judged(spawned); err != nil {
		Unspawn(k, p.Record.ID)
		return err
	}
	if p.limited() && !spawned.Limited {
		Unspawn(k, p.Record.ID)
		return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and sets no limits").
			WithHint("run `longterm daemon upgrade`; sessions go on")
	}
	if p.box != nil && p.shim && !spawned.Shim {
		Unspawn(k, p.Record.ID)
		return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and starts nothing in a sandbox").
			WithHint("run `longterm daemon upgrade`; sessions go on")
	}
	if spawned.Base != p.Base {
		Unspawn(k, p.Record.ID)
		return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and cannot go on with a session's history").
			WithHint("run `longterm daemon upgrade`; sessions go on")
	}
	return nil
}

func spawnError(err error) error {
	if errors.Is(err, link.ErrLost) {
		return api.Errorf(api.CodeUnavailable, "the keeper did not start it: %v", err).WithHint("try again").AgainSoon()
	}
	if errors.Is(err, link.ErrNoCgroup) {
		return api.Errorf(api.CodeUnavailable, "%v", err).
			WithHint("limits need a cgroup v2 of the keeper's own with the controllers memory, cpu and pids, as systemd's user manager gives one; start it without limits, or see `ulimit`")
	}
	var se *link.SpawnError
	if !errors.As(err, &se) {
		return api.Errorf(api.CodeUnavailable, "the keeper did not start it: %v", err)
	}
	e := api.Errorf(api.CodeSpawn, "%v", se)
	switch se.Errno {
	case syscall.EMFILE, syscall.ENFILE:
		return NoDescriptors(err)
	case syscall.ENOSPC, syscall.ENXIO:
		e = e.WithHint("no terminal is free: end some sessions, or use --pipe")
	case syscall.E2BIG:
		e = e.WithHint("arguments and environment are too large: put them into a file, and run that")
	case syscall.EACCES, syscall.ENOEXEC:
		e = e.WithHint("the file is not a program this system can run")
	}
	return e
}

// NoDescriptors says that this process can open no more files.
func NoDescriptors(err error) error {
	return api.Errorf(api.CodeLimit, "no room for another session: %v", err).
		WithHint("end some sessions, or raise the limit (ulimit -n) and start longterm anew")
}

// StorageError says that a session cannot be recorded below a directory.
func StorageError(err error, dir string) error {
	return api.Errorf(api.CodeStorage, "the session cannot be recorded: %v", err).
		WithHint("make room in, or make writable, %s", dir)
}
