package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// lineHost is the host of the machine that runs lines (lineexec.Host), with the state of the shell. It belongs to the
// owner.
type lineHost struct {
	s       *Session
	machine *lineexec.Machine
	shell   *tracking        // nil: the program is not a supported shell
	runs    []*Run           // lines to run, oldest first; the first one may be running
	timer   <-chan time.Time // fires when the machine set a timer (ActSetTimer)
	// separate from inputWait's, so that unchanged-since checks do not mix; nil: not used yet
	prober     *inputdetect.Prober
	shellArgv  string // arguments of the shell's process at its start
	shellImage string // executable of that process, see sys.Image
	// hasPreparedShell is set once a shell that replaced the first one has got the integration.
	hasPreparedShell bool
	lastCommand      Command   // newest command of the shell, running or ended
	readSince        time.Time // when the editor last started to read, for pastes
	noEditorSince    time.Time // since when every probe finds that no editor reads, for pastes
	entered          enteredLine
}

// enteredLine is the newest line that was typed with keys and ended with Enter.
type enteredLine struct {
	at     uint64 // output offset
	time   time.Time
	prompt uint64 // number of the newest prompt
	text   string // "": unknown
	author string // see Command.By
}

// recordEntered records lines ended with Enter. It keeps an earlier line that may not have started yet: newer lines
// are then its input, perhaps a password.
func (h *lineHost) recordEntered(lines int, echo respond.EchoState) {
	st, now := h.shell.State(), time.Now()
	atPrompt := st.Phase == shell.PhasePrompt
	if atPrompt && h.entered.prompt == st.Prompt && now.Sub(h.entered.time) < 2*lineexec.EnterTime {
		return
	}
	h.entered = enteredLine{at: h.s.offset, time: now, prompt: st.Prompt, author: h.s.typing.lineAuthor}
	if atPrompt && lines == 1 && echo != respond.EchoOff { // else a program may have read it
		h.entered.text = h.s.typing.lineText.LastEntered
	}
}

// newLineHost returns the host of a session's lines, with the tracking of its shell.
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
		Now: time.Now(), LastOutput: s.Status().LastOutput, Offset: s.offset,
		Kind: h.shell.kind, State: h.shell.State(),
	}
}

// Do implements lineexec.Host.
func (h *lineHost) Do(a lineexec.Action) error {
	s := h.s
	switch a.Kind {
	case lineexec.ActKeys:
		_, _ = s.typing.queue.Add(context.Background(), a.Keys) // a closed terminal reports itself elsewhere
	case lineexec.ActType:
		return h.typeLine(h.runOf(a.Line))
	case lineexec.ActSetTimer:
		h.timer = time.After(a.After)
	case lineexec.ActFlush:
		h.discardReplies()
	case lineexec.ActSane:
		h.resetTerminal()
	case lineexec.ActStarted:
		r := h.runOf(a.Line)
		r.StartCommand = h.lastCommand
		close(r.StartedC)
	case lineexec.ActEnded:
		h.recordEnd(&a)
	case lineexec.ActFoundRunning:
		h.startEntered()
	case lineexec.ActAtPrompt, lineexec.ActMarksLost:
		h.assumeAtPrompt(&a)
	case lineexec.ActRepair:
		return h.repairMarks(h.runOf(a.Line))
	case lineexec.ActFollow:
		return h.followForeignShell(&a)
	}
	return nil
}

// runOf returns the run of a machine's line.
func (h *lineHost) runOf(l *lineexec.Line) *Run {
	for _, r := range h.runs {
		if &r.exec == l {
			return r
		}
	}
	return nil
}

// recordEnd builds the record of a line that has ended.
func (h *lineHost) recordEnd(a *lineexec.Action) {
	s := h.s
	r := h.runOf(a.Line)
	if r == nil {
		return
	}
	now := time.Now()
	switch first := &r.StartCommand; {
	case a.Err != nil:
	case a.NoCommand:
		zero := 0
		r.Command = Command{Command: shell.Command{
			Text: r.Text, TextSource: shell.TextTyped, Start: s.offset, End: s.offset, Began: now, Ended: now,
			Exit: &zero, CwdBefore: s.Status().Cwd, CwdAfter: s.Status().Cwd, Quality: shell.Basic,
		}}
	case h.lastCommand.Running || h.lastCommand.Number < first.Number: // the command continues in another shell
		r.Command = *first
		r.Command.Running, r.Command.Ended, r.Command.End, r.Command.Quality = false, now, s.offset, shell.None
		r.Command.CwdAfter = s.Status().Cwd
	default:
		r.Command = h.lastCommand
	}
	if a.Err == nil && r.marksLostAt > 0 {
		r.Command.End = h.outputEndBeforePrompt(r, r.Command.Start, min(r.Command.End, r.marksLostAt))
	}
	if a.Err == nil && r.Command.Exit == nil {
		r.Command.Note = r.statusNote
	}
	if errors.Is(a.Err, lineexec.ErrForeignShell) {
		a.Err = ErrNoShell
	}
	h.endRun(r, a.Err)
}

// assumeAtPrompt treats the shell as at its prompt, as the kernel reports, although its marks are missing.
func (h *lineHost) assumeAtPrompt(a *lineexec.Action) {
	s := h.s
	if r := h.currentRun(); r != nil {
		r.statusNote = a.Reason
	}
	st := h.shell.State()
	lost := a.Kind == lineexec.ActAtPrompt && a.AtPrompt && !st.IsDrawingPrompt && (st.PossibleEnd == nil || st.PossibleEnd.LatePrompt == nil)
	if r := h.currentRun(); r != nil && lost && r.marksLostAt == 0 {
		r.marksLostAt = s.offset
	}
	h.applyEvent(shell.Event{Kind: shell.EventShellReads, At: s.offset})
	if lost && h.repairMarks(nil) == nil {
		h.machine.HoldForRepair()
	}
}

// startEntered records the start of the user's line, after the kernel showed that it runs.
func (h *lineHost) startEntered() {
	s, e := h.s, h.entered
	s.history.recordCommand(journal.PhaseTyping, typedMark{Text: e.text, IsTyped: true, TypedAt: e.at, Author: e.author})
	s.typing.lineAuthor = e.author // for the command that starts now
	h.applyEvent(shell.Event{Kind: shell.EventTyped, At: s.offset, Time: e.time, Text: e.text, TypedAt: e.at})
	s.inputwait.scheduleProbe(s.inputwait.machine.Resume(time.Now(), s.silentSince()))
}

// errNoRepair is returned for a shell without a line that restores its marks.
var errNoRepair = errors.New("no repair line for the marks of this shell")

// repairMarks types a line that restores the shell's marks. The line keeps the exit status of the line before it, which
// the next mark reports.
func (h *lineHost) repairMarks(r *Run) error {
	s := h.s
	line := shell.RepairLine(h.shell.kind)
	if line == "" {
		return errNoRepair
	}
	if r != nil {
		r.marksLostAt = s.offset
	}
	s.log.Info("shell marks missing; restoring them", "session", s.cfg.ID)
	st := h.shell.State()
	data := []byte(st.InputPrefix(h.shell.kind, false) + line + "\r")
	h.moveWaitAnchor(data)
	_, err := s.typing.queue.Add(context.Background(), data)
	return err
}

// outputEndBeforePrompt returns the offset at which the output of a line ended, if a prompt follows instead of a mark.
// The prompt is recognized if it equals the one that the line was typed at.
func (h *lineHost) outputEndBeforePrompt(r *Run, start, end uint64) uint64 {
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
	last, _, _ := plain.AppendUnfinished(nil)
	switch prompt := strings.TrimRight(r.prompt, " "); {
	case prompt != "" && strings.TrimRight(string(last), " ") == prompt, strings.Contains(r.Text, "PS1"):
		return end - uint64(len(o.Data)-i)
	case prompt != "" && bytes.HasSuffix(o.Data, []byte(r.prompt)): // of output without a last newline
		return end - uint64(len(r.prompt))
	}
	return end
}

// isShownByEditor reports whether the shell's editor shows the text of a mark that is a guess: the newest entry of the
// history. If not, the history did not record the line that runs.
func (h *lineHost) isShownByEditor(e *shell.Event) bool {
	from, end := h.shell.State().InputAt, e.At-min(e.Mark.Length, e.At)
	if from == 0 || end <= from {
		return false
	}
	o, err := h.s.Output(from, make([]byte, min(end-from, maxEditorOutput)))
	if err != nil || o.Next != end {
		return false
	}
	var plain plaintext.Writer
	_, _ = plain.Write(bytes.ReplaceAll(o.Data, []byte(" \r"), nil)) // never fails; the editor wraps its rows so
	var shown []byte
	plain.Lines(func(l plaintext.Line) { shown = append(shown, l.Text...) })
	shown, _, _ = plain.AppendUnfinished(shown)
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	return squeeze(string(shown)) == squeeze(e.Mark.Text)
}

// maxEditorOutput bounds the output of an editor that is compared with a text, in bytes.
const maxEditorOutput = 64 << 10

// currentRun returns the run at the head of the queue, or nil.
func (h *lineHost) currentRun() *Run {
	if l := h.machine.Current(); l != nil {
		return h.runOf(l)
	}
	return nil
}

// foreignShell is a shell that took over the terminal from the one that is followed.
type foreignShell struct {
	Program string `json:"program"`
	// it replaced the shell; otherwise the shell started it and waits for it
	Replaced bool `json:"replaced,omitempty"`
	// why its commands are not followed: the followed shell itself, whose marks will not come
	Reason string `json:"reason,omitempty"`
}

// errNotFollowed is returned for a foreign shell whose commands cannot be followed.
var errNotFollowed = errors.New("commands not followed")

// followForeignShell records that another shell reads the terminal. A shell that replaced the session's own gets the
// integration, if supported.
func (h *lineHost) followForeignShell(a *lineexec.Action) error {
	s := h.s
	if r := h.runOf(a.Line); r != nil {
		r.statusNote = "exit status unknown: " + a.Reason
	}
	if st := h.shell.State(); a.Replaced && (st.Running != nil || st.Phase != shell.PhaseUnknown) {
		h.applyEvent(shell.Event{Kind: shell.EventDropped, At: s.offset})
	}
	prepared := a.Replaced && a.MayPrepare && h.prepareShell(a.Argv)
	s.log.Info("another shell reads the terminal", "session", s.cfg.ID, "program", a.Program, "replaced", a.Replaced, "prepared", prepared)
	if prepared {
		h.showShell()
		return nil
	}
	h.shell.foreignShell = &foreignShell{Program: a.Program, Replaced: a.Replaced}
	if a.Shadowed {
		h.shell.foreignShell.Reason = a.Reason
	}
	s.inputwait.setGuessedPrompt(true)
	return errNotFollowed
}

// prepareShell makes a shell that replaced the session's read the integration, and follows it from here. Its marks carry
// the same nonce, and command numbers continue.
func (h *lineHost) prepareShell(argv []string) bool {
	s := h.s
	t, st := h.shell, h.shell.State()
	host, _ := os.Hostname()
	line, l, err := shell.PrepareAtPrompt(argv, t.stateDir, st.Nonce, host)
	if err != nil {
		s.log.Info("the shell's commands will not be followed", "session", s.cfg.ID, "err", err)
		return false
	}
	t.kind, t.env, h.shellArgv, h.shellImage, h.hasPreparedShell = l.Kind, nil, "", "", true
	t.Tracker = shell.Resume(shell.State{
		Nonce: st.Nonce, MaxQuality: l.Quality, Quality: l.Quality, Phase: shell.PhaseUnknown, Cwd: st.Cwd, CommandCount: st.CommandCount,
	})
	data := []byte(line + "\r")
	h.moveWaitAnchor(data)
	_, err = s.typing.queue.Add(context.Background(), data)
	return err == nil
}

// endForeignShell records that the followed shell printed marks again.
func (h *lineHost) endForeignShell() {
	if h.shell.foreignShell != nil {
		h.shell.foreignShell = nil
		_ = os.Remove(filepath.Join(h.shell.stateDir, shell.ShadowedFile)) // missing, unless it was the reason
		h.showShell()
	}
}

// discardReplies flushes unread input, which the machine knows to be replies to queries only.
func (h *lineHost) discardReplies() {
	s := h.s
	s.typing.queue.DropReplies()
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(sys.FlushUnread) // if unsupported, the editor is cleared
	}
}

// resetTerminal resets the terminal after a crashed program, for a shell that does not do so itself. ksh93 has an
// editor, but uses it only if echo is on.
func (h *lineHost) resetTerminal() {
	s := h.s
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(func(fd int) error {
			if h.shell.kind.Spec().HasEditor && !sys.IsRawOutput(fd) {
				return nil // the mode of the editor
			}
			_, err := sys.ResetModes(fd)
			return err
		})
	}
}

// untrackedReason returns why the commands of the shell that took over the terminal are not tracked, or "".
func (h *lineHost) untrackedReason() string {
	if h.shell == nil || h.shell.foreignShell == nil {
		return ""
	}
	return h.shell.foreignShell.Reason
}

// foreignProgram returns the name of the shell that took over the terminal, or "".
func (h *lineHost) foreignProgram() string {
	if h.shell == nil || h.shell.foreignShell == nil {
		return ""
	}
	return h.shell.foreignShell.Program
}
