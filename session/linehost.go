package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lineHost is the session as the machine that runs lines sees it (lineexec.Host), with what is known of
// the shell. All of it happens on the owner's goroutine.
type lineHost struct {
	s       *Session
	machine *lineexec.Machine
	shell   *tracking        // nil: the program is no shell that can be followed
	runs    []*Run           // lines to run, oldest first; the first one may be under way
	timer   <-chan time.Time // see ActWake
	prober  *evidence.Prober // its own: what ran since is asked between its looks; nil: not yet
	argv    string           // the shell's process as it was started
	image   string           // of that process, see sys.Image
	// prepared is set once the integration was given to a shell that replaced the first.
	prepared bool
	last     Command   // of the shell, running or ended
	reads    time.Time // of the prompt at which the editor was seen to read, for pastes
}

func newLineHost(s *Session) *lineHost {
	h := &lineHost{s: s}
	if s.cfg.Shell != nil {
		h.shell = newTracking(s.cfg.Shell, s.cfg.Dir)
	}
	h.machine = lineexec.New(h)
	return h
}

// View implements lineexec.Host.
func (h *lineHost) View() lineexec.View {
	s := h.s
	return lineexec.View{
		Now: time.Now(), LastOutput: s.Status().LastOutput, Offset: s.off,
		Kind: h.shell.kind, State: h.shell.State(),
	}
}

// Do implements lineexec.Host.
func (h *lineHost) Do(a lineexec.Action) error {
	s := h.s
	switch a.Kind {
	case lineexec.ActKeys:
		_, _ = s.typing.queue.Add(context.Background(), a.Keys) // a terminal that is gone says so elsewhere
	case lineexec.ActType:
		return h.typeLine(h.runOf(a.Line))
	case lineexec.ActWake:
		h.timer = time.After(a.After)
	case lineexec.ActFlush:
		h.takeBackReplies()
	case lineexec.ActSane:
		h.saneTerminal()
	case lineexec.ActBegun:
		r := h.runOf(a.Line)
		r.Started = h.last
		close(r.Begun)
	case lineexec.ActOver:
		h.runOver(&a)
	case lineexec.ActReads, lineexec.ActLost:
		h.lostMarks(&a)
	case lineexec.ActRepair:
		return h.repairMarks(h.runOf(a.Line))
	case lineexec.ActFollow:
		return h.followAnother(&a)
	}
	return nil
}

// runOf is the run that a line of the machine is.
func (h *lineHost) runOf(l *lineexec.Line) *Run {
	for _, r := range h.runs {
		if &r.exec == l {
			return r
		}
	}
	return nil
}

// runOver makes the record of a line that has ended.
func (h *lineHost) runOver(a *lineexec.Action) {
	s := h.s
	r := h.runOf(a.Line)
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
	case h.last.Running || h.last.Number < first.Number: // its command goes on: another shell
		r.Command = *first
		r.Command.Running, r.Command.Ended, r.Command.End, r.Command.Quality = false, now, s.off, shell.None
		r.Command.CwdAfter = s.Status().Cwd
	default:
		r.Command = h.last
	}
	if a.Err == nil && r.lostAt > 0 {
		r.Command.End = h.beforePrompt(r, r.Command.Start, min(r.Command.End, r.lostAt))
	}
	if a.Err == nil && r.Command.Exit == nil {
		r.Command.Note = r.note
	}
	if errors.Is(a.Err, lineexec.ErrForeign) {
		a.Err = ErrNoShell
	}
	h.endRun(r, a.Err)
}

// lostMarks takes the kernel's word that the shell is at its prompt.
func (h *lineHost) lostMarks(a *lineexec.Action) {
	s := h.s
	if r := h.current(); r != nil {
		r.note = a.Reason
	}
	st := h.shell.State()
	lost := a.Kind == lineexec.ActReads && !st.Drawing && (st.Doubt == nil || st.Doubt.Prompt == nil)
	if r := h.current(); r != nil && lost && r.lostAt == 0 {
		r.lostAt = s.off
	}
	h.tell(shell.Event{Kind: shell.EventReads, At: s.off})
	if lost && h.repairMarks(nil) == nil {
		h.machine.Repairs()
	}
}

var errNoRepair = errors.New("the marks of this shell cannot be put back")

// repairMarks types a line of our own that puts the shell's marks back. The status of the line
// before it is kept, and the next mark tells it.
func (h *lineHost) repairMarks(r *Run) error {
	s := h.s
	line := shell.Repair(h.shell.kind)
	if line == "" {
		return errNoRepair
	}
	if r != nil {
		r.lostAt = s.off
	}
	s.log.Info("the shell's marks are gone; they are put back", "session", s.cfg.ID)
	data := []byte(line + "\r")
	h.noteTyped(data)
	_, err := s.typing.queue.Add(context.Background(), data)
	return err
}

// beforePrompt is where the output of a line ended whose end no mark told, but a prompt at an
// offset. That prompt is known if it is the one that the line was typed at.
func (h *lineHost) beforePrompt(r *Run, start, end uint64) uint64 {
	s := h.s
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

// editorShows reports whether the shell's editor shows the text of a mark that is a guess: the newest
// entry of the history. If not, the history did not record the line that runs.
func (h *lineHost) editorShows(e *shell.Event) bool {
	from, end := h.shell.State().InputAt, e.At-min(e.Mark.Bytes, e.At)
	if from == 0 || end <= from {
		return false
	}
	o, err := h.s.Output(from, make([]byte, min(end-from, maxShown)))
	if err != nil || o.Next != end {
		return false
	}
	var plain plaintext.Writer
	_, _ = plain.Write(bytes.ReplaceAll(o.Data, []byte(" \r"), nil)) // never fails; the editor wraps its rows so
	var shown []byte
	plain.Lines(func(l plaintext.Line) { shown = append(shown, l.Text...) })
	shown, _, _ = plain.Rest(shown)
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return squeeze(string(shown)) == squeeze(e.Mark.Text)
}

// maxShown bounds the output of an editor that is compared with a text, in bytes.
const maxShown = 64 << 10

func (h *lineHost) current() *Run {
	if l := h.machine.Current(); l != nil {
		return h.runOf(l)
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
func (h *lineHost) followAnother(a *lineexec.Action) error {
	s := h.s
	if r := h.runOf(a.Line); r != nil {
		r.note = a.Reason + ": how this line ends is not known"
	}
	if st := h.shell.State(); a.Replaced && (st.Running != nil || st.Phase != shell.PhaseUnknown) {
		h.tell(shell.Event{Kind: shell.EventLost, At: s.off})
	}
	prepared := a.Replaced && a.Again && h.prepareAgain(a.Argv)
	s.log.Info("another shell reads the terminal", "session", s.cfg.ID, "program", a.Program, "replaced", a.Replaced, "prepared", prepared)
	if prepared {
		h.showShell()
		return nil
	}
	h.shell.other = &otherShell{a.Program, a.Replaced}
	s.inputwait.guessPrompt(true)
	return errForeign
}

// prepareAgain has a shell that replaced the session's read the integration, and follows it
// from here. Its marks carry the same nonce; commands are counted on.
func (h *lineHost) prepareAgain(argv []string) bool {
	s := h.s
	t, st := h.shell, h.shell.State()
	host, _ := os.Hostname()
	line, l, err := shell.Again(argv, t.stateDir, st.Nonce, host)
	if err != nil {
		s.log.Info("the shell's commands will not be followed", "session", s.cfg.ID, "err", err)
		return false
	}
	t.kind, t.env, h.argv, h.image, h.prepared = l.Kind, nil, "", "", true
	t.Tracker = shell.Resume(shell.State{
		Nonce: st.Nonce, Offered: l.Quality, Quality: l.Quality, Phase: shell.PhaseUnknown, Cwd: st.Cwd, Numbers: st.Numbers,
	})
	data := []byte(line + "\r")
	h.noteTyped(data)
	_, err = s.typing.queue.Add(context.Background(), data)
	return err == nil
}

// shellIsBack notes that the shell that is followed told of itself again.
func (h *lineHost) shellIsBack() {
	if h.shell.other != nil {
		h.shell.other = nil
		h.showShell()
	}
}

// takeBackReplies takes back what was typed and not read: the machine knows that it is
// replies to queries only.
func (h *lineHost) takeBackReplies() {
	s := h.s
	s.typing.queue.DropReplies()
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(sys.FlushUnread) // where it cannot be had, the editor is cleared
	}
}

// saneTerminal undoes what a program that crashed did to the terminal, for a shell that does
// not do so itself. ksh93 has an editor, but uses it only where it finds echo on.
func (h *lineHost) saneTerminal() {
	s := h.s
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(func(fd int) error {
			if h.shell.kind.Spec().Edits && !sys.RawOutput(fd) {
				return nil // it is the editor's mode
			}
			_, err := sys.Sane(fd)
			return err
		})
	}
}

// otherProgram is the shell that took the terminal from the one that is followed.
func (h *lineHost) otherProgram() string {
	if h.shell == nil || h.shell.other == nil {
		return ""
	}
	return h.shell.other.Program
}
