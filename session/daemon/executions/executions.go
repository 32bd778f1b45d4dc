//go:build unix

// Package executions has what sessions execute judged while it runs.
//
//	keeper's Execution → Asked → the file it means, its cwd, what started it → Gate → the keeper's answer
//
// A program that a person has to be asked about just waits in execve; so it does when the daemon is killed: the keeper
// tells the next one of it again, with the same ID, under which the gate has what was decided. Whose process was killed
// is gone, and so is its asking.
//
// What a program asked the kernel for was read from its memory. Another thread of it may change that before the kernel
// reads it again: what is denied here is denied to programs that do what they say, and nothing but a sandbox holds one
// that does not.
//
// An execution is judged by the goroutine that was told of it, which says when it is going to wait. The lock guards the map
// of those that are judged and is never held while anything is asked.
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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/gateway"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/sys"
)

// Subject is the session that something is executed in.
type Subject struct {
	Name   string
	Labels map[string]string
	Agent  string // label of who started it
	Policy string // rules that are kept with it
	Home   string
	// Programs are those that the session's sandbox profile lists; nil: it lists none, and all are as good. Differ has others
	// asked about; else they are refused.
	Programs []string
	Differ   bool
}

// Sessions knows sessions and keeps what was refused in them.
type Sessions interface {
	// Subject is a session; a zero one of those that are not known any more.
	Subject(id string) Subject
	// Refused keeps an execution that was not allowed.
	Refused(id string, r api.Refused)
	// Unprivileged notes that a program was started that would have had more rights than its user's.
	Unprivileged(id, path string)
}

// uid is our user's, which stays what it is: it is asked for once and not for each execution that waits.
var uid = syscall.Getuid()

// Gate decides; *gateway.Gateway does. What it refuses is an *api.Error.
type Gate interface {
	Admit(context.Context, gateway.Ask) (gateway.Answer, error)
	// Refuse keeps that something is refused which was admitted, and returns what is said of it.
	Refuse(context.Context, gateway.Ask, *api.Error) error
}

// Set are the executions that wait.
type Set struct {
	Gate     Gate
	Sessions Sessions
	Log      *slog.Logger

	ctx      context.Context // ends with the daemon
	stop     context.CancelFunc
	programs programs

	mu     sync.Mutex
	asked  map[key]*asking
	closed bool
	wg     sync.WaitGroup
}

type key struct {
	session     string
	run, number uint64
}

type asking struct {
	answer Answer
	cancel context.CancelFunc
}

// Answer tells the keeper: 0 lets it happen.
type Answer func(errno syscall.Errno) error

// New is a set without executions.
func New(gate Gate, sessions Sessions, log *slog.Logger) *Set {
	s := &Set{Gate: gate, Sessions: sessions, Log: log, asked: map[key]*asking{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close gives up what waits: it is the next daemon's.
func (s *Set) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.wg.Wait()
}

// Asked notes an execution. What it returns judges and answers it, and calls aside before it waits for somebody; nil: there
// is nothing to do. One that is told of again is answered by the newer way.
func (s *Set) Asked(m *wire.Execution, answer Answer) (judge func(aside func())) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	k := key{m.ID, m.Run, m.Number}
	if a := s.asked[k]; a != nil {
		a.answer = answer
		return nil
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.asked[k] = &asking{answer, cancel}
	s.wg.Add(1)
	return func(aside func()) {
		defer s.wg.Done()
		defer cancel()
		errno, decided := s.judge(ctx, m, aside)
		s.mu.Lock()
		answer := s.asked[k].answer
		delete(s.asked, k)
		s.mu.Unlock()
		if !decided {
			return
		}
		if err := answer(errno); err != nil { // the keeper tells of it again when it is back
			s.Log.Warn("answer an execution", "session", m.ID, "err", err)
		}
	}
}

// Gone gives up an execution whose process has ended.
func (s *Set) Gone(m *wire.ExecutionGone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.asked[key{m.ID, m.Run, m.Number}]; a != nil {
		a.cancel()
	}
}

// judge decides; not when ctx ends first.
func (s *Set) judge(ctx context.Context, m *wire.Execution, aside func()) (errno syscall.Errno, decided bool) {
	ask, file, err := s.ask(m)
	var waited []fileIdentity // of the files that are executed, when the wait began
	ask.Waits = func() {
		waited = filesOf(&ask, file)
		aside()
	}
	ask.Naming = func() (string, []string) { return named(m, waited) }
	if errno := missing(err); errno != 0 {
		return errno, true // a search along PATH, mostly: the kernel would say the same
	}
	_, err = s.Gate.Admit(ctx, ask)
	if err == nil && waited != nil {
		err = s.stillThat(ctx, m, ask, waited)
	}
	switch {
	case err == nil:
		if file.Mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			s.Sessions.Unprivileged(m.ID, file.Path)
		}
		return 0, true
	case ctx.Err() != nil:
		return 0, false
	}
	s.Sessions.Refused(m.ID, refused(ask, err))
	return syscall.EPERM, true
}

// missing is the error number of what cannot be executed because there is no such file; 0: there is one, for all we know.
func missing(err error) syscall.Errno {
	for _, errno := range []syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP} {
		if errors.Is(err, errno) {
			return errno
		}
	}
	return 0
}

// ask is what the gate is asked. The error says why the file is not known.
func (s *Set) ask(m *wire.Execution) (gateway.Ask, sys.File, error) {
	of := s.Sessions.Subject(m.ID)
	a := gateway.Ask{
		Kind:    gateway.Execution,
		Actor:   actor.Actor{UID: uid, PID: int(m.PID), Agent: of.Agent},
		Session: m.ID, Name: of.Name, Labels: of.Labels, Home: of.Home, Kept: of.Policy,
		Path: m.Path, Argv: m.Argv, Cwd: m.Cwd, Depth: depth(m),
		Programs: of.Programs, Differ: of.Differ,
	}
	a.Parent, _ = sys.Cmdline(int(m.PID)) // what it still is
	switch {
	case m.Error != "": // what nobody has read has no words, which the gate denies
		a.Path, a.Argv = m.Path, nil
		return a, sys.File{}, nil
	case m.Cut:
		a.Argv = append(a.Argv, unread)
	}
	if m.Cwd == "" { // as of one that is deeper down than a path can say
		a.Opaque = "the directory that it runs in cannot be told, and so neither whether it is in a project with rules of its own"
	}
	path := m.Path
	if path == "" { // execveat of a descriptor
		path = m.Dir
	}
	file, err := sys.FileOf(int(m.PID), m.Dir, path)
	if file.Path != "" {
		a.Path = file.Path
	}
	if m.Path == "" && err != nil { // memory, or a file without a name any more: it is executed all the same
		a.Path, a.Nameless = m.Dir, true
		return a, file, nil
	}
	if err == nil {
		a.Real = file.At == file.Path
		a.Installed = ofRoot(file)
		a.Link = systemName(m, file)
		s.programs.look(&a, int(m.PID), file)
	}
	if mayBeEnv(&a) {
		a.Script = ofEnv(&a, sys.Exe(int(m.PID)))
	}
	return a, file, err
}

// mayBeEnv reports whether the words are those of ofEnv, which is to be asked only then.
func mayBeEnv(a *gateway.Ask) bool {
	return len(a.Parent) > 2 && len(a.Argv) > 1 && slices.Equal(a.Parent[1:], a.Argv)
}

// ofEnv reports whether env executes what it was started for by the first line of a script: a shell or another
// interpreter of the system, with the script's full path.
func ofEnv(a *gateway.Ask, exe string) bool {
	return (exe == "/usr/bin/env" || exe == "/bin/env" || exe == "/usr/bin/coreutils") && mayBeEnv(a) && filepath.IsAbs(a.Argv[1]) &&
		(strings.HasPrefix(a.Path, "/usr/bin/") || strings.HasPrefix(a.Path, "/bin/"))
}

// unread stands for arguments that were too many to be read.
const unread = "…(more that could not be read)"

// maxDepth bounds going up to a session's own process.
const maxDepth = 64

// depth is how many processes there are from the one that executes up to the session's own: 1 is what a shell executes that
// was typed into. What lost its parents is below all that is known.
func depth(m *wire.Execution) int {
	n := 1
	for pid := m.Parent; m.PID != m.Lead && pid != m.Lead && pid > 1 && n < maxDepth; n++ {
		parent, err := sys.Parent(int(pid))
		if err != nil {
			break
		}
		pid = int64(parent)
	}
	return n
}

// named are the name of an execution of files, the same for each daemon that is told of it, and the processes from the one
// that executes to the session's own. Each read of when one started takes longer than most are judged.
func named(m *wire.Execution, files []fileIdentity) (id string, descent []string) {
	start := m.Start
	if start == 0 { // the keeper has left it to us
		if st, err := sys.ReadStat(int(m.PID)); err == nil { // of one that has ended nobody waits for the answer
			start = st.Start
		}
	}
	descent = []string{name(m.PID, start)}
	for pid := m.Parent; m.PID != m.Lead && len(descent) < maxDepth; {
		st, err := sys.ReadStat(int(pid))
		if err != nil {
			break
		}
		descent = append(descent, name(pid, st.Start))
		if pid <= 1 || pid == m.Lead {
			break
		}
		pid = int64(st.Parent)
	}
	return fmt.Sprintf("%s.%d.%d.%x.%x", m.ID, start, m.PID, m.Number, markOf(files)), descent
}

// name tells a process from one that gets its number later.
func name(pid int64, start uint64) string {
	return strconv.FormatInt(pid, 10) + "." + strconv.FormatUint(start, 10)
}

// refused is what is kept of one that was not allowed.
func refused(a gateway.Ask, err error) api.Refused {
	r := api.Refused{PID: a.Actor.PID, Path: a.Path, Argv: a.Argv, Cwd: a.Cwd, Depth: a.Depth, Parent: a.Parent, Why: err.Error()}
	var e *api.Error
	if errors.As(err, &e) {
		r.Why, r.Instead = e.Message, e.Hint
	}
	return r.Bounded()
}
