package session

import (
	"context"
	"strings"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// Probe implements lineexec.Host: what the kernel tells of who reads the terminal. While output is on
// its way nothing is known: a mark may be among it, and the program that reads now has printed it before.
func (h *lineHost) Probe() (p lineexec.Probe) {
	s := h.s
	switch {
	case s.cfg.Device == nil:
		return p
	case s.ring != nil && s.ring.Head() != s.off:
		return lineexec.Probe{Prints: true}
	}
	var r evidence.Result
	onItsWay := false
	err := s.cfg.Device.Control(func(fd int) error {
		m, err := sys.ReadModes(fd)
		if err != nil {
			return err
		}
		t, err := evidence.TargetOf(fd)
		if err != nil {
			return err
		}
		t.Leader = s.leader.look(&t, s.Status().PID)
		if h.prober == nil {
			h.prober = new(evidence.Prober)
		}
		// First, so that a program that is seen to wait does so after all that was typed, a key that interrupts it too.
		p.Unread, _ = sys.UnreadInput(fd) // 0 when it is not known
		r = h.prober.Probe(t)
		p.Canonical = m.Canonical
		onItsWay = sys.OutputPending(fd)
		return nil
	})
	if !s.typing.queue.Empty() { // nor is that read
		p.Unread = max(1, p.Unread)
	}
	onItsWay = onItsWay || s.ring != nil && s.ring.Head() != s.off // came during the look
	if err != nil || r.PID == 0 || onItsWay {
		return lineexec.Probe{Prints: onItsWay}
	}
	p.Known = r.Source > evidence.NoSource
	p.Reads = r.State == evidence.Reading || r.State == evidence.Polling || r.State == evidence.Unknown && r.Idle
	p.Program, p.Argv = r.Program, argvOf(r.PID)
	p.Shell, p.Pastes = r.PID == s.Leader(), s.engine.Modes().BracketedPaste
	if p.Shell && len(p.Argv) > 0 && h.shell != nil {
		kind := shell.Detect(p.Argv)
		p.Replaced = h.isReplaced(r.PID, p.Argv) || kind != shell.Unknown && kind != h.shell.kind
	}
	if p.Blocked = r.State == evidence.Reading; p.Blocked {
		p.Bytes = evidence.ReadSize(r.PID, r.TID)
	}
	return p
}

// rememberShell notes how the shell's process was started, and its image, at its first prompt.
func (h *lineHost) rememberShell() {
	s := h.s
	if h.argv == "" && s.Status().PID > 0 {
		s.findLeader()
		h.argv, h.image = joinArgv(argvOf(s.Leader())), sys.Image(s.Leader())
	}
}

// isReplaced reports whether the shell's process runs another program, or the same one again: exec
// leaves its PID and start time as they are. Before the first prompt its arguments and its
// environment are those of its start, unless a start file replaced it: the integration unsets
// its variables before it reads the user's files.
func (h *lineHost) isReplaced(pid int, argv []string) bool {
	switch l := h.s.cfg.Shell; {
	case h.argv != "":
		return h.argv != joinArgv(argv) || h.image != "" && h.image != sys.Image(pid)
	case h.prepared || len(l.Argv) == 0:
		return false
	default:
		return joinArgv(argv[1:]) != joinArgv(l.Argv[1:]) || l.StateDir != "" && hasNoVariable(pid, shell.StateVariable)
	}
}

// hasNoVariable reports whether a process was executed without an environment variable. It returns false if the environment
// cannot be read.
func hasNoVariable(pid int, name string) bool {
	env, err := sys.ReadEnviron(pid)
	_, has := env.Lookup(name)
	return err == nil && len(env) > 0 && !has
}

func joinArgv(argv []string) string { return strings.Join(argv, "\x00") }

// argvOf is a process's argument vector; nil: it is gone, or may not be seen.
func argvOf(pid int) []string {
	argv, _ := sys.Cmdline(pid)
	return argv
}

// Blocked says that a program in the foreground is blocked in a read of its terminal, and
// nothing that was typed is left to be read.
func (s *Session) Blocked(ctx context.Context) (blocked bool, err error) {
	err = s.do(ctx, func() {
		if s.Status().State == Running && s.ring != nil && s.ring.Head() == s.off && s.typing.queue.Empty() {
			p := s.lines.Probe()
			blocked = p.Known && p.Blocked && p.Unread == 0
		}
	})
	return blocked, err
}
