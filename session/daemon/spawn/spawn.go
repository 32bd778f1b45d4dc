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
		Umask: p.umask, Shim: p.shim, Bound: p.isBound(),
	}
}

// isBound reports whether it is not a user's session alone.
func (p *Plan) isBound() bool { return p.Record.Agent != "" || p.Record.Policy != "" || p.box != nil }

// noTerminal reports whether a session could not be started because no PTY is free.
func noTerminal(err error) (why string, ok bool) {
	var se *link.SpawnError
	if !errors.As(err, &se) || se.Errno != syscall.ENXIO && se.Errno != syscall.ENOSPC {
		return "", false
	}
	return se.Message, true
}

// outlives says that a program may run on, or have run, without the keeper that started it: no terminal of its is hung up, or
// it is started by way of our own executable, which takes a while.
func outlives(m *wire.Spawn) bool { return m.Pipe || m.Shim }

// spawnAt has the keeper start a process. A keeper that was replaced while it was asked may
// have done so already: one that executed another binary, which is the same process, says so; another one knows nothing of it.
func spawnAt(ctx context.Context, k Keeper, m wire.Spawn) (s *wire.Spawned, a *link.Adopted, err error) {
	again, asked := false, int64(0)
	err = k.Retry(ctx, func(l *link.Link) (err error) {
		if pid := l.Hello().PID; asked != 0 && pid != asked {
			return mayHaveRun()
		} else if outlives(&m) {
			asked = pid
		}
		s, a, err = l.SpawnAdopted(ctx, m)
		if again && errors.Is(err, link.ErrExists) {
			s, err = &wire.Spawned{Base: m.Base, Limited: true, Shim: m.Shim, Judged: m.Shim}, nil
		}
		again = true
		return err
	})
	return s, a, err
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
// all the same, and is ended. nil without an error: it was started, and is to be adopted.
func (s *Spawner) Start(ctx context.Context, k Keeper, p *Plan) (*link.Adopted, error) {
	if err := s.integrate(p.Record.ID, p); err != nil {
		return nil, err
	}
	if err := s.confine(p); err != nil {
		return nil, err
	}
	if err := s.judge(k, p); err != nil {
		return nil, err
	}
	spawned, adopted, err := spawnAt(ctx, k, p.request())
	if why, ok := noTerminal(err); ok && p.fallback {
		p.pipe, p.Record.Pipe, p.Why = true, true, why
		spawned, adopted, err = spawnAt(ctx, k, p.request())
	}
	if err != nil {
		if ctx.Err() != nil { // it may come yet
			Unspawn(k, p.Record.ID)
		}
		return nil, p.failed(p.named(err))
	}
	if err := p.startedAs(spawned); err != nil {
		adopted.Close()
		Unspawn(k, p.Record.ID)
		return nil, err
	}
	return adopted, nil
}

// startedAs says what is missing in what the keeper started: an older one knows less.
func (p *Plan) startedAs(spawned *wire.Spawned) error {
	lacks := ""
	switch {
	case p.limited() && !spawned.Limited:
		lacks = "sets no limits"
	case p.box != nil && p.shim && !spawned.Shim:
		lacks = "starts nothing in a sandbox"
	case spawned.Base != p.Base:
		lacks = "cannot go on with a session's history"
	}
	if err := p.judged(spawned); err != nil || lacks == "" {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and %s", lacks).
		WithHint("run `longterm daemon upgrade`; sessions go on")
}

// Environ is what the process is started with.
func (p *Plan) Environ() []string { return p.env }

// failed is what to tell of an error of the keeper that was to start the process.
func (p *Plan) failed(err error) error {
	if m := p.request(); errors.Is(err, link.ErrUnanswered) && outlives(&m) {
		return mayHaveRun()
	}
	return spawnError(err)
}

// NotAdopted is what to tell when the process was started, and could not be adopted.
func (p *Plan) NotAdopted(err error) error {
	if errors.Is(err, link.ErrLost) {
		return mayHaveRun()
	}
	return spawnError(err)
}

func mayHaveRun() error {
	return api.Errorf(api.CodeUnavailable, "the keeper went away while the program was being started: it may have run, and may run still").
		WithHint("look whether it did (`ps`) before you start it again")
}

func spawnError(err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		return err
	}
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
	e := api.Errorf(api.CodeStorage, "the session cannot be recorded: %v", err)
	if errors.Is(err, syscall.ENOSPC) {
		return e.WithHint("%s is on it; `longterm rm` and `longterm prune` drop history, which makes room", dir)
	}
	return e.WithHint("make room in, or make writable, %s", dir)
}
