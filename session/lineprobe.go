package session

import (
	"context"
	"strings"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// Probe implements lineexec.Host. It returns the process that reads the terminal, as the kernel reports it. While
// output is in transit the result is unknown: a mark may be in it, printed before the program started to read.
func (h *lineHost) Probe() (p lineexec.Probe) {
	s := h.s
	switch {
	case s.cfg.Device == nil:
		return p
	case s.ring != nil && s.ring.Head() != s.offset:
		return lineexec.Probe{OutputPending: true}
	}
	var r inputdetect.Result
	onItsWay, sameMode := false, false
	err := s.cfg.Device.Control(func(fd int) error {
		m, err := sys.ReadModes(fd)
		if err != nil {
			return err
		}
		t, err := inputdetect.TargetOf(fd)
		if err != nil {
			return err
		}
		t.Leader = s.leader.find(&t, s.Status().PID)
		if h.prober == nil {
			h.prober = new(inputdetect.Prober)
		}
		// Input is checked before the processes. A program that is found waiting then waits after all input, including
		// an interrupt key.
		p.Unread, _ = sys.UnreadInput(fd) // 0 if unknown
		r = h.prober.Probe(t)
		p.Canonical = m.Canonical
		after, err := sys.ReadModes(fd)
		sameMode = err == nil && after.Canonical == m.Canonical
		onItsWay = sys.HasPendingOutput(fd)
		return nil
	})
	if !s.typing.queue.IsEmpty() { // queued input is unread too
		p.Unread = max(1, p.Unread)
	}
	onItsWay = onItsWay || s.ring != nil && s.ring.Head() != s.offset // output came during the probe
	if err != nil || r.PID == 0 || onItsWay {
		return lineexec.Probe{OutputPending: onItsWay}
	}
	p.Known = r.Source > inputdetect.NoSource
	p.Reads = r.State == inputdetect.Reading || r.State == inputdetect.Polling || r.State == inputdetect.Unknown && r.Idle
	p.Program, p.Argv = r.Program, argvOf(r.PID)
	p.ReaderIsShell, p.Pastes = r.PID == s.Leader(), s.engine.Modes().BracketedPaste
	if p.ReaderIsShell && len(p.Argv) > 0 && h.shell != nil {
		kind := shell.Detect(p.Argv)
		p.Replaced = h.isReplaced(r.PID, p.Argv) || kind != shell.Unknown && kind != h.shell.kind
	}
	if l := s.cfg.Shell; p.ReaderIsShell && p.Reads && l != nil {
		p.Shadowed = l.IsShadowed()
	}
	p.Blocked = r.State == inputdetect.Reading
	if size, stack := inputdetect.BlockedRead(r.PID, r.TID); p.Reads {
		if sameMode {
			p.Stack = stack
		}
		if p.Blocked {
			p.ReadSize = size
		}
	}
	return p
}

// recordShellImage records the arguments and the executable of the shell's process at its first prompt, unless a line that was typed before
// has replaced it since.
func (h *lineHost) recordShellImage() {
	s := h.s
	if h.shellArgv == "" && s.Status().PID > 0 {
		s.findLeader()
		argv := argvOf(s.Leader())
		if s.cfg.Shell == nil || len(argv) == 0 || !h.isReplaced(s.Leader(), argv) {
			h.shellArgv, h.shellImage = joinArgv(argv), sys.ImageID(s.Leader())
		}
	}
}

// isReplaced reports whether the shell's process runs another program, or the same one again: exec leaves its PID and
// start time unchanged. Before the first prompt its arguments and its environment are those of its start, unless a
// start file replaced it: the integration unsets its variables before it reads the user's files.
func (h *lineHost) isReplaced(pid int, argv []string) bool {
	switch l := h.s.cfg.Shell; {
	case h.shellArgv != "":
		return h.shellArgv != joinArgv(argv) || h.shellImage != "" && h.shellImage != sys.ImageID(pid)
	case h.hasPreparedShell || len(l.Argv) == 0:
		return false
	default:
		return joinArgv(argv[1:]) != joinArgv(l.Argv[1:]) || l.StateDir != "" && hasNoVariable(pid, shell.StateVariable)
	}
}

// hasNoVariable reports whether a process was executed without an environment variable. It returns false if the
// environment cannot be read.
func hasNoVariable(pid int, name string) bool {
	env, err := sys.ReadEnviron(pid)
	_, has := env.Lookup(name)
	return err == nil && len(env) > 0 && !has
}

// joinArgv returns arguments as one comparable string.
func joinArgv(argv []string) string { return strings.Join(argv, "\x00") }

// argvOf returns a process's arguments, or nil if the process has exited or may not be read.
func argvOf(pid int) []string {
	argv, _ := sys.Cmdline(pid)
	return argv
}

// IsReadBlocked reports whether a foreground program is blocked in a read of its terminal and all typed input is read.
func (s *Session) IsReadBlocked(ctx context.Context) (blocked bool, err error) {
	err = s.do(ctx, func() {
		if s.Status().State == Running && s.ring != nil && s.ring.Head() == s.offset && s.typing.queue.IsEmpty() {
			p := s.lines.Probe()
			blocked = p.Known && p.Blocked && p.Unread == 0
		}
	})
	return blocked, err
}
