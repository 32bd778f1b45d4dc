package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lineHostOf is the session as the machine that runs lines sees it (lineexec.Host). All of it
// happens on the owner's goroutine.
type lineHostOf struct{ s *Session }

// lines is the machine that runs lines.
func (s *Session) lines() *lineexec.Machine {
	if s.lineExec == nil {
		s.lineExec = lineexec.New(lineHostOf{s})
	}
	return s.lineExec
}

// View implements lineexec.Host.
func (h lineHostOf) View() lineexec.View {
	s := h.s
	return lineexec.View{
		Now: time.Now(), LastOutput: s.Status().LastOutput, Offset: s.off,
		Kind: s.shell.kind, State: s.shell.State(),
	}
}

// Do implements lineexec.Host.
func (h lineHostOf) Do(a lineexec.Action) error {
	s := h.s
	switch a.Kind {
	case lineexec.ActKeys:
		_, _ = s.inputs.Add(context.Background(), a.Keys) // a terminal that is gone says so elsewhere
	case lineexec.ActType:
		return s.typeLine(s.runOf(a.Line))
	case lineexec.ActWake:
		s.execTimer = time.After(a.After)
	case lineexec.ActFlush:
		s.takeBackReplies()
	case lineexec.ActSane:
		s.saneTerminal()
	case lineexec.ActBegun:
		r := s.runOf(a.Line)
		r.Started = s.lastCommand
		close(r.Begun)
	case lineexec.ActOver:
		s.runOver(&a)
	case lineexec.ActReads, lineexec.ActLost:
		s.lostMarks(&a)
	case lineexec.ActRepair:
		return s.repairMarks(s.runOf(a.Line))
	case lineexec.ActFollow:
		return s.followAnother(&a)
	}
	return nil
}

// runOf is the run that a line of the machine is.
func (s *Session) runOf(l *lineexec.Line) *Run {
	for _, r := range s.execs {
		if &r.exec == l {
			return r
		}
	}
	return nil
}

// runOver makes the record of a line that has ended.
func (s *Session) runOver(a *lineexec.Action) {
	r := s.runOf(a.Line)
	if r == nil {
		return
	}
	now := time.Now()
	switch first := &r.Started; {
	case a.Err != nil:
	case a.Nothing:
		zero := 0
		r.Command = Command{Command: shell.Command{
			Text: r.Text, TextSource: shell.TextTyped, Start: s.off, End: s.off, Began: now, Ended: now,
			Exit: &zero, CwdBefore: s.Status().Cwd, CwdAfter: s.Status().Cwd, Quality: shell.Basic,
		}}
	case s.lastCommand.Running || s.lastCommand.Number < first.Number: // its command goes on: another shell
		r.Command = *first
		r.Command.Running, r.Command.Ended, r.Command.End, r.Command.Quality = false, now, s.off, shell.None
		r.Command.CwdAfter = s.Status().Cwd
	default:
		r.Command = s.lastCommand
		if a.Several {
			r.Command.Start, r.Command.Began, r.Command.CwdBefore, r.Command.Text = first.Start, first.Began, first.CwdBefore, r.Text
		}
	}
	if a.Err == nil && r.lostAt > 0 {
		r.Command.End = s.beforePrompt(r, r.Command.Start, min(r.Command.End, r.lostAt))
	}
	if a.Err == nil && r.Command.Exit == nil {
		r.Command.Note = r.note
	}
	if errors.Is(a.Err, lineexec.ErrForeign) {
		a.Err = ErrNoShell
	}
	s.endRun(r, a.Err)
}

// lostMarks takes the kernel's word that the shell is at its prompt.
func (s *Session) lostMarks(a *lineexec.Action) {
	if r := s.current(); r != nil {
		r.note = a.Reason
	}
	lost := a.Kind == lineexec.ActReads && !s.shell.State().Drawing
	if r := s.current(); r != nil && lost && r.lostAt == 0 {
		r.lostAt = s.off
	}
	s.tell(shell.Event{Kind: shell.EventReads, At: s.off})
	if lost && s.repairMarks(nil) == nil {
		s.lines().Repairs()
	}
}

var errNoRepair = errors.New("the marks of this shell cannot be put back")

// repairMarks types a line of our own that puts the shell's marks back. The status of the line
// before it is kept, and the next mark tells it.
func (s *Session) repairMarks(r *Run) error {
	line := shell.Repair(s.shell.kind)
	if line == "" {
		return errNoRepair
	}
	if r != nil {
		r.lostAt = s.off
	}
	s.log.Info("the shell's marks are gone; they are put back", "session", s.cfg.ID)
	data := []byte(line + "\r")
	s.noteTyped(data)
	_, err := s.inputs.Add(context.Background(), data)
	return err
}

// beforePrompt is where the output of a line ended whose end no mark told, but a prompt at an
// offset. That prompt is known if it is the one that the line was typed at.
func (s *Session) beforePrompt(r *Run, start, end uint64) uint64 {
	if end <= start {
		return start
	}
	buf := make([]byte, min(end-start, 4096))
	o, err := s.Output(end-uint64(len(buf)), buf)
	if err != nil || o.Next != end {
		return end
	}
	i := bytes.LastIndexByte(o.Data, '\n') + 1
	var plain plaintext.Writer
	_, _ = plain.Write(o.Data[i:]) // never fails
	last, _, _ := plain.Rest(nil)
	switch prompt := strings.TrimRight(r.prompt, " "); {
	case prompt != "" && strings.TrimRight(string(last), " ") == prompt, strings.Contains(r.Text, "PS1"):
		return end - uint64(len(o.Data)-i)
	case prompt != "" && bytes.HasSuffix(o.Data, []byte(r.prompt)): // of output without a last newline
		return end - uint64(len(r.prompt))
	}
	return end
}

func (s *Session) current() *Run {
	if l := s.lines().Current(); l != nil {
		return s.runOf(l)
	}
	return nil
}

// otherShell is a shell that took the terminal from the one that is followed.
type otherShell struct {
	Program  string `json:"program"`
	Replaced bool   `json:"replaced,omitempty"` // else it was started by it, and will end
}

var errForeign = errors.New("its commands are not followed")

// followAnother notes that another shell reads the terminal. One that is in the place of the
// session's own is prepared to tell of itself, where it can be.
func (s *Session) followAnother(a *lineexec.Action) error {
	if r := s.runOf(a.Line); r != nil {
		r.note = a.Reason + ": how this line ends is not known"
	}
	if st := s.shell.State(); a.Replaced && (st.Running != nil || st.Phase != shell.PhaseUnknown) {
		s.tell(shell.Event{Kind: shell.EventLost, At: s.off})
	}
	prepared := a.Replaced && a.Again && s.prepareAgain(a.Argv)
	s.log.Info("another shell reads the terminal", "session", s.cfg.ID, "program", a.Program, "replaced", a.Replaced, "prepared", prepared)
	if prepared {
		s.showShell()
		return nil
	}
	s.shell.other = &otherShell{a.Program, a.Replaced}
	s.guessPrompt(true)
	return errForeign
}

// prepareAgain has a shell that replaced the session's read the integration, and follows it
// from here. Its marks carry the same nonce; commands are counted on.
func (s *Session) prepareAgain(argv []string) bool {
	t, st := s.shell, s.shell.State()
	host, _ := os.Hostname()
	line, l, err := shell.Again(argv, t.stateDir, st.Nonce, host)
	if err != nil {
		s.log.Info("the shell's commands will not be followed", "session", s.cfg.ID, "err", err)
		return false
	}
	t.kind, t.env, s.shellArgv = l.Kind, nil, ""
	t.Tracker = shell.Resume(shell.State{
		Nonce: st.Nonce, Offered: l.Quality, Quality: l.Quality, Phase: shell.PhaseUnknown, Cwd: st.Cwd, Numbers: st.Numbers,
	})
	data := []byte(line + "\r")
	s.noteTyped(data)
	_, err = s.inputs.Add(context.Background(), data)
	return err == nil
}

// shellIsBack notes that the shell that is followed told of itself again.
func (s *Session) shellIsBack() {
	if s.shell.other != nil {
		s.shell.other = nil
		s.showShell()
	}
}

// takeBackReplies takes back what was typed and not read: the machine knows that it is
// replies to queries only.
func (s *Session) takeBackReplies() {
	s.inputs.DropReplies()
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(sys.FlushUnread) // where it cannot be had, the editor is cleared
	}
}

// saneTerminal undoes what a program that crashed did to the terminal, for a shell that does
// not do so itself. ksh93 has an editor, but uses it only where it finds echo on.
func (s *Session) saneTerminal() {
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(func(fd int) error {
			if s.shell.kind.Edits() && !sys.RawOutput(fd) {
				return nil // it is the editor's mode
			}
			_, err := sys.Sane(fd)
			return err
		})
	}
}

// otherProgram is the shell that took the terminal from the one that is followed.
func (s *Session) otherProgram() string {
	if s.shell == nil || s.shell.other == nil {
		return ""
	}
	return s.shell.other.Program
}
