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

// Keeper starts processes.
type Keeper interface {
	Link() *link.Link
	// Retry calls f, and again if the connection to the keeper was replaced during the call.
	Retry(ctx context.Context, f func(*link.Link) error) error
}

// request returns the keeper's spawn request.
func (p *Plan) request() wire.Spawn {
	return wire.Spawn{
		ID: p.Record.ID, Path: p.path, Argv: p.argv, Env: p.env, Dir: p.Record.Cwd,
		Cols: uint64(p.Record.Cols), Rows: uint64(p.Record.Rows), RingBytes: ring.DefaultSize, Base: p.Base,
		Pipe: p.pipe, Separate: p.pipe, Input: p.pipe && p.input, Memory: p.memory, CPU: p.cpu, PIDs: p.pids,
		Umask: p.umask, Shim: p.shim, Restricted: p.isBound(),
	}
}

// isBound reports whether the session is an agent's, or has a policy or a sandbox (wire.Bound).
func (p *Plan) isBound() bool {
	return p.Record.Agent != "" || p.Record.Policy != "" || p.sandbox != nil
}

// noTerminal reports whether a session could not be started because no PTY is free.
func noTerminal(err error) (why string, ok bool) {
	var se *link.SpawnError
	if !errors.As(err, &se) || se.Errno != syscall.ENXIO && se.Errno != syscall.ENOSPC {
		return "", false
	}
	return se.Message, true
}

// mayOutliveKeeper reports whether a program may run, or have run, without the keeper that started it: it has no
// terminal that hangs up, or it starts through our own executable, which takes time.
func mayOutliveKeeper(m *wire.Spawn) bool { return m.Pipe || m.Shim }

// spawnAt starts a process at the keeper. A keeper that was replaced during the call may have started it already: after an
// exec into another binary it is the same process and reports that; a new keeper does not know.
func spawnAt(ctx context.Context, k Keeper, m wire.Spawn) (s *wire.Spawned, a *link.Adopted, err error) {
	again, asked := false, int64(0)
	err = k.Retry(ctx, func(l *link.Link) (err error) {
		if pid := l.Hello().PID; asked != 0 && pid != asked {
			return mayHaveRun()
		} else if mayOutliveKeeper(&m) {
			asked = pid
		}
		s, a, err = l.SpawnAdopted(ctx, m)
		if again && errors.Is(err, link.ErrExists) {
			s, err = &wire.Spawned{Base: m.Base, Limited: true, Shim: m.Shim, Checked: m.Shim}, nil
		}
		again = true
		return err
	})
	return s, a, err
}

// unspawnTime bounds Unspawn.
const unspawnTime = 2 * time.Second

// Unspawn ends a process whose start was canceled, also if it starts later.
func Unspawn(k Keeper, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), unspawnTime)
	defer cancel()
	l := k.Link()
	_ = l.Signal(ctx, id, syscall.SIGKILL, wire.ScopeAll) // the keeper may not know it
	_ = l.Release(ctx, id)
}

// Start starts the process at the keeper. If it fails and ctx has ended, a process that appears later is killed. It
// returns nil without an error if the process was started and must be adopted.
func (s *Spawner) Start(ctx context.Context, k Keeper, p *Plan) (*link.Adopted, error) {
	if err := s.integrate(p.Record.ID, p); err != nil {
		return nil, err
	}
	if err := s.confine(p); err != nil {
		return nil, err
	}
	if err := s.enableExecutionChecks(k, p); err != nil {
		return nil, errors.Join(err, s.dropNewDraft(p))
	}
	spawned, adopted, err := spawnAt(ctx, k, p.request())
	if why, ok := noTerminal(err); ok && p.fallback {
		p.pipe, p.Record.Pipe, p.PipeReason = true, true, why
		spawned, adopted, err = spawnAt(ctx, k, p.request())
	}
	if err != nil {
		if ctx.Err() != nil { // it may come yet
			Unspawn(k, p.Record.ID)
		}
		if dropErr := s.dropNewDraft(p); dropErr != nil {
			s.Log.Error("drop the draft of a session that did not start", "session", p.Record.ID, "err", dropErr)
		}
		return nil, p.startError(p.withProgramName(err))
	}
	if err := p.checkSettings(spawned); err != nil {
		adopted.Close()
		Unspawn(k, p.Record.ID)
		return nil, err
	}
	return adopted, nil
}

// checkSettings returns an error if the keeper did not apply all settings, because it is older.
func (p *Plan) checkSettings(spawned *wire.Spawned) error {
	lacks := ""
	switch {
	case p.hasLimits() && !spawned.Limited:
		lacks = "sets no limits"
	case p.sandbox != nil && p.shim && !spawned.Shim:
		lacks = "starts nothing in a sandbox"
	case spawned.Base != p.Base:
		lacks = "cannot continue a session's history"
	}
	if err := p.executionDecision(spawned); err != nil || lacks == "" {
		return err
	}
	return api.Errorf(api.CodeUnavailable, "the keeper is of an older version and %s", lacks).
		WithHint("run `longterm daemon upgrade`; sessions continue")
}

// Environ returns the environment of the process.
func (p *Plan) Environ() []string { return p.env }

// startError returns the error for a failed start.
func (p *Plan) startError(err error) error {
	if m := p.request(); errors.Is(err, link.ErrUnanswered) && mayOutliveKeeper(&m) {
		return mayHaveRun()
	}
	return spawnError(err)
}

// NotAdopted returns the error for a started process that could not be adopted.
func (p *Plan) NotAdopted(err error) error {
	if errors.Is(err, link.ErrLost) {
		return mayHaveRun()
	}
	return spawnError(err)
}

// mayHaveRun returns the error for a process that may have run before its keeper was lost.
func mayHaveRun() error {
	return api.Errorf(api.CodeUnavailable, "keeper lost during the start; the program may have run and may still run").
		WithHint("look whether it did (`ps`) before you start it again")
}

// spawnError converts a keeper's error to an API error.
func spawnError(err error) error {
	var told *api.Error
	if errors.As(err, &told) {
		return err
	}
	if errors.Is(err, link.ErrLost) {
		return api.Errorf(api.CodeUnavailable, "the keeper did not start it: %v", err).WithHint("try again").Retryable()
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

// NoDescriptors returns the error for too many open files.
func NoDescriptors(err error) error {
	return api.Errorf(api.CodeLimit, "no room for another session: %v", err).
		WithHint("end some sessions, or raise the limit (ulimit -n) and restart longterm")
}

// StorageError returns the error for a session that cannot be stored below a directory.
func StorageError(err error, dir string) error {
	e := api.Errorf(api.CodeStorage, "session not stored: %v", err)
	if errors.Is(err, syscall.ENOSPC) {
		return e.WithHint("%s is on that disk; free space with `longterm rm` and `longterm prune`", dir)
	}
	return e.WithHint("free space in %s or make it writable", dir)
}
