//go:build unix

// Package executions checks programs while sessions execute them.
//
//	keeper's Execution → Begin → the executed file, its cwd, its ancestors → Gate → the keeper's answer
//
// A program that needs approval waits in execve. It still waits if the daemon is killed: the keeper sends the execution
// to the next daemon with the same ID, under which the gate keeps its decision. If the process is killed, its approval
// request is closed.
//
// The arguments are read from the program's memory, and another of its threads may change them before the kernel reads
// them. A denial therefore holds only for programs that do not try to evade it. Against others only a sandbox helps.
//
// The goroutine that received an execution judges it, and calls aside before it waits. The lock guards the map of
// executions in progress. It is never held during a query.
package executions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// Subject is the session in which something is executed.
type Subject struct {
	Name   string
	Labels map[string]string
	Agent  string // label of the agent that started it, or ""
	Policy string // rules that are stored with it
	Home   string
	// Programs lists the programs of the session's sandbox profile; nil allows all. Differ requires approval for other
	// programs, which are otherwise denied.
	Programs    []string
	AskUnlisted bool
}

// Sessions finds sessions and records refusals in them.
type Sessions interface {
	// Subject returns a session, or a zero Subject if it is unknown.
	Subject(id string) Subject
	// RecordRefusal records an execution that was denied or rejected.
	RecordRefusal(id string, r api.Refused)
	// RecordUnprivileged records that a started program lost rights that it would have had beyond its user's (set-user-ID).
	RecordUnprivileged(id, path string)
}

// uid is the daemon's user ID, read once.
var uid = syscall.Getuid()

// Gate decides; *authorize.Gateway implements it. Its refusals are *api.Error.
type Gate interface {
	Admit(context.Context, authorize.Request) (authorize.Answer, error)
	// Refuse records that an admitted request is refused after all, and returns the error to report.
	Refuse(context.Context, authorize.Request, *api.Error) error
}

// Set holds the executions in progress.
type Set struct {
	Gate     Gate
	Sessions Sessions
	Log      *slog.Logger

	ctx      context.Context // ends with the daemon
	stop     context.CancelFunc
	programs programs

	mu      sync.Mutex
	pending map[key]*pending
	closed  bool
	wg      sync.WaitGroup
}

// key identifies an execution.
type key struct {
	session     string
	run, number uint64
}

// pending is an execution that waits for a decision.
type pending struct {
	answer Answer
	cancel context.CancelFunc
}

// Answer sends the decision to the keeper; 0 lets the execution proceed.
type Answer func(errno syscall.Errno) error

// New returns an empty Set.
func New(gate Gate, sessions Sessions, log *slog.Logger) *Set {
	s := &Set{Gate: gate, Sessions: sessions, Log: log, pending: map[key]*pending{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close stops all waits. The next daemon continues them.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
}

// Begin registers an execution. The returned function judges and answers it, and calls async before it waits for a user. Begin
// returns nil if the set is closed, or if the execution is already registered: its answer is then sent by the new answer
// function.
func (s *Set) Begin(m *wire.Execution, answer Answer) (judge func(async func())) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	k := key{m.ID, m.Run, m.Number}
	if a := s.pending[k]; a != nil {
		a.answer = answer
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.pending[k] = &pending{answer, cancel}
	s.wg.Add(1)
	return func(async func()) {
		defer s.wg.Done()
		defer cancel()
		errno, decided := s.judge(ctx, m, async)
		s.mu.Lock()
		answer := s.pending[k].answer
		delete(s.pending, k)
		s.mu.Unlock()
		if !decided {
			return
		}
		if err := answer(errno); err != nil { // the keeper repeats the execution after it reconnects
			s.Log.Warn("answer an execution", "session", m.ID, "err", err)
		}
	}
}

// Cancel drops an execution whose process has ended.
func (s *Set) Cancel(m *wire.ExecutionEnded) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.pending[key{m.ID, m.Run, m.Number}]; a != nil {
		a.cancel()
	}
}

// judge decides an execution. It calls async before it waits for a user. decided is false if ctx ended first.
func (s *Set) judge(ctx context.Context, m *wire.Execution, async func()) (errno syscall.Errno, decided bool) {
	ask, file, err := s.request(m)
	var waited []fileIdentity // of the files that are executed, when the wait began
	ask.OnWait = func() {
		waited = filesOf(&ask, file)
		async()
	}
	ask.ResolveID = func() (string, []string) { return executionID(m, waited) }
	if errno := missingErrno(err); errno != 0 {
		return errno, true // mostly a search along PATH; the kernel would report the same
	}
	_, err = s.Gate.Admit(ctx, ask)
	if err == nil && waited != nil {
		err = s.checkUnswapped(ctx, m, ask, waited)
	}
	switch {
	case err == nil:
		if file.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			s.Sessions.RecordUnprivileged(m.ID, file.Path)
		}
		return 0, true
	case ctx.Err() != nil:
		return 0, false
	}
	s.Sessions.RecordRefusal(m.ID, refusalOf(ask, err))
	return syscall.EPERM, true
}

// missingErrno returns the error number of a file that does not exist, or 0 if it may exist.
func missingErrno(err error) syscall.Errno {
	for _, errno := range []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP} {
		if errors.Is(err, errno) {
			return errno
		}
	}
	return 0
}

// request returns the authorization request of an execution. The error reports why the file is unknown.
func (s *Set) request(m *wire.Execution) (authorize.Request, sys.ResolvedFile, error) {
	of := s.Sessions.Subject(m.ID)
	a := authorize.Request{
		Kind:    authorize.Execution,
		Actor:   identity.Actor{UID: uid, PID: int(m.PID), Agent: of.Agent},
		Session: m.ID, Name: of.Name, Labels: of.Labels, Home: of.Home, Kept: of.Policy,
		Path: m.Path, Argv: m.Argv, Cwd: m.Cwd, Depth: depth(m),
		Programs: of.Programs, Differ: of.AskUnlisted,
	}
	a.Parent, _ = sys.Cmdline(int(m.PID)) // what it still is
	switch {
	case m.Error != "": // the gate denies a request without words
		a.Path, a.Argv = m.Path, nil
		return a, sys.ResolvedFile{}, nil
	case m.ArgvTruncated:
		a.Argv = append(a.Argv, unreadArguments)
	}
	if m.Cwd == "" { // as for a directory deeper than a path can name
		a.Opaque = "its working directory is unknown, and so are the project's rules for it"
	}
	path := m.Path
	if path == "" { // execveat of a descriptor
		path = m.Dir
	}
	file, err := sys.ResolvePath(int(m.PID), m.Dir, path)
	if file.Path != "" {
		a.Path = file.Path
	}
	if m.Path == "" && err != nil { // in memory, or removed: it can be executed anyway
		a.Path, a.Nameless = m.Dir, true
		return a, file, nil
	}
	if err == nil {
		a.Real = file.LocalPath == file.Path
		a.Installed = isRootPackage(file)
		a.Link = systemName(m, file)
		s.programs.addPrograms(&a, int(m.PID), file)
	}
	if mayBeEnv(&a) {
		a.Script = isEnvOfScript(&a, sys.Exe(int(m.PID)))
	}
	return a, file, err
}

// mayBeEnv is a quick check: if it reports false, isEnvOfScript is false too.
func mayBeEnv(a *authorize.Request) bool {
	return len(a.Parent) > 2 && len(a.Argv) > 1 && slices.Equal(a.Parent[1:], a.Argv)
}

// isEnvOfScript reports whether env executes the interpreter of a script's first line: a shell or another interpreter
// of the system, with the script's full path.
func isEnvOfScript(a *authorize.Request, exe string) bool {
	return (exe == "/usr/bin/env" || exe == "/bin/env" || exe == "/usr/bin/coreutils") && mayBeEnv(a) && filepath.IsAbs(a.Argv[1]) &&
		(strings.HasPrefix(a.Path, "/usr/bin/") || strings.HasPrefix(a.Path, "/bin/"))
}

// unreadArguments replaces arguments that were too many to read.
const unreadArguments = "…(more that could not be read)"

// maxDepth bounds the walk up to a session's own process.
const maxDepth = 64

// depth returns the number of processes from the executing one up to the session's own. A command of the interactive
// shell has depth 1. A process without known parents gets the largest depth.
func depth(m *wire.Execution) int {
	n := 1
	for pid := m.Parent; m.PID != m.LeaderPID && pid != m.LeaderPID && pid > 1 && n < maxDepth; n++ {
		parent, err := sys.Parent(int(pid))
		if err != nil {
			break
		}
		pid = int64(parent)
	}
	return n
}

// executionID returns the id of an execution of files, the same in each daemon, and the processes from the executing
// one up to the session's own. Reading a start time costs more than most judgements.
func executionID(m *wire.Execution, files []fileIdentity) (id string, descent []string) {
	start := m.Start
	if start == 0 { // the keeper has left it to us
		if st, err := sys.ReadStat(int(m.PID)); err == nil { // if the process has ended, the answer is not needed
			start = st.Start
		}
	}
	descent = []string{processKey(m.PID, start)}
	for pid := m.Parent; m.PID != m.LeaderPID && len(descent) < maxDepth; {
		st, err := sys.ReadStat(int(pid))
		if err != nil {
			break
		}
		descent = append(descent, processKey(pid, st.Start))
		if pid <= 1 || pid == m.LeaderPID {
			break
		}
		pid = int64(st.Parent)
	}
	return fmt.Sprintf("%s.%d.%d.%x.%x", m.ID, start, m.PID, m.Number, hashFiles(files)), descent
}

// processKey returns an id of a process that differs from later processes with the same PID.
func processKey(pid int64, start uint64) string {
	return strconv.FormatInt(pid, 10) + "." + strconv.FormatUint(start, 10)
}

// refusalOf returns the record of an execution that was not allowed.
func refusalOf(a authorize.Request, err error) api.Refused {
	r := api.Refused{PID: a.Actor.PID, Path: a.Path, Argv: a.Argv, Cwd: a.Cwd, Depth: a.Depth, Parent: a.Parent, Why: err.Error()}
	var e *api.Error
	if errors.As(err, &e) {
		r.Why, r.Instead = e.Message, e.Hint
	}
	return r.Truncate()
}
