package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Errors of submitted lines.
var (
	// ErrNoShell rejects lines for a program that is not a shell with integration.
	ErrNoShell    = errors.New("the session's program is no shell whose commands can be followed")
	ErrBusy       = lineexec.ErrBusy
	ErrIncomplete = lineexec.ErrIncomplete
	ErrRefused    = lineexec.ErrRefused
	ErrLine       = errors.New("the line cannot be typed")
)

// Line is a command line for a session's shell.
type Line struct {
	Text string
	// ID identifies the line for Session.WasLineTyped, also after a restart. It may be empty.
	ID string
	// By names the author of the line: see Command.By. Empty means ByExec.
	By string
	// Wait makes the line wait until the shell is at its prompt. Otherwise a shell that runs a command rejects the line
	// with ErrBusy. A new shell's first prompt is always waited for.
	Wait bool
	// RecordHistory makes the shell record the line in the user's history, as it does with typed lines.
	RecordHistory bool
	// DryRun types nothing: it only checks whether the line could be typed now.
	DryRun bool
	// Rules answer prompts of the line, from its start to its end.
	Rules []respond.Rule
}

// Run is a line submitted to the shell. StartedC closes when it starts, DoneC when its end is known. The other fields
// are valid after one of them.
type Run struct {
	Line
	StartedC, DoneC chan struct{}

	TypedAt         time.Time // valid once it has started
	StartCommand    Command   // the command as it started; likewise
	Command         Command   // the command as it ended; valid after DoneC
	Err             error     // why Command is missing; likewise
	ClearedText     string    // unfinished input that was cleared before the line was typed; valid once it has started
	rules.LineRules           // of Rules; its Matches are valid after DoneC

	// The owner's:
	exec        lineexec.Line
	noEcho      bool   // the terminal does not echo the line
	statusNote  string // why the exit status is unknown
	prompt      string // the text before the cursor when it was typed
	marksLostAt uint64 // offset at which the shell's marks were found missing
}

// Exec submits a line to the shell, which runs it after the lines submitted before. It returns once the line is queued;
// Run.DoneC is closed when the line has ended.
func (s *Session) Exec(ctx context.Context, l Line) (*Run, error) {
	if err := checkLine(l.Text); err != nil {
		return nil, err
	}
	r := &Run{Line: l, StartedC: make(chan struct{}), DoneC: make(chan struct{}), LineRules: rules.LineRules{Failed: make(chan struct{})}}
	r.exec = lineexec.Line{Wait: l.Wait, Multiline: strings.Contains(l.Text, "\n")}
	var err error
	opErr := s.do(ctx, func() { err = s.lines.addRun(r) })
	return r, errors.Join(opErr, err)
}

// checkLine rejects characters that a line editor would take for keys.
func checkLine(text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%w: it is empty", ErrLine)
	}
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: it is not UTF-8", ErrLine)
	}
	for i, r := range text {
		if (r < ' ' && r != '\n' && r != '\t') || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return fmt.Errorf("%w: the control character %U at byte %d would be a key; write it in the shell's own way, as in $'\\e'", ErrLine, r, i)
		}
	}
	return nil
}

// addRun adds a line to the queue.
func (h *lineHost) addRun(r *Run) error {
	s := h.s
	switch st := s.Status(); {
	case st.State != Running || s.ring == nil:
		return fmt.Errorf("%w (%s)", ErrEnded, st.State)
	case !h.isFollowed():
		return ErrNoShell
	// the partial line would be cleared
	case st.Shell.Phase == shell.PhasePrompt && s.typing.partial.IsUnfinished(time.Now(), true):
		return ErrUserTyping
	}
	if r.DryRun {
		err := h.machine.CheckQueue(&r.exec, h.busyWith)
		if errors.Is(err, lineexec.ErrForeignShell) {
			return ErrNoShell
		}
		return err
	}
	h.runs = append(h.runs, r)
	err := h.machine.Submit(&r.exec, h.busyWith)
	if err != nil {
		h.runs = slices.DeleteFunc(h.runs, func(x *Run) bool { return x == r })
	}
	if errors.Is(err, lineexec.ErrForeignShell) {
		return ErrNoShell
	}
	return err
}

// noteTypedInput passes typed input to the machine that runs lines. echo is the terminal's echo state before the input.
func (h *lineHost) noteTypedInput(data []byte, echo respond.EchoState) {
	if !h.isFollowed() {
		return
	}
	if n := bytes.Count(data, []byte("\r")); n > 0 {
		h.recordEntered(n, echo)
	}
	h.machine.NoteTyped(data)
}

// busyWith returns the running command, for an error.
func (h *lineHost) busyWith() string {
	st := h.shell.State()
	switch {
	case st.Running != nil && st.Running.Text != "":
		return "it runs " + st.Running.Text
	case st.Phase == shell.PhaseUnknown:
		return "what it does is not known"
	}
	return "it runs something"
}

// typeLine types the line at the head of the queue.
func (h *lineHost) typeLine(r *Run) error {
	s := h.s
	if l := s.cfg.Shell; l != nil && h.shell.State().Prompt > 0 && l.IsShadowed() {
		_ = h.followForeignShell(&lineexec.Action{Program: filepath.Base(l.Argv[0]), Shadowed: true, Reason: lineexec.ShadowedReason})
		return lineexec.ErrForeignShell
	}
	if wait := h.pasteCheckDelay(r.Text); wait > 0 {
		return &lineexec.RetryAfterError{After: wait}
	}
	data, err := h.typedLine(&r.Line)
	if err == nil && len(r.Rules) > 0 {
		_, err = s.addRules(r.Rules, &r.LineRules)
	}
	if err != nil {
		return err
	}
	r.TypedAt = time.Now()
	r.prompt, _ = s.inputwait.machine.CursorLine()
	r.ClearedText = s.typing.lineText.Take(r.prompt)
	s.typing.linesRun.Add(1)
	s.typing.lineLength = 0
	if h.needsWrap(r.Text) {
		r.exec.MarkedLines = bytes.Count(data, []byte("\r"))
	}
	m := h.lineModes()
	r.noEcho = m.Canonical && !m.Echo
	h.moveWaitAnchor(data)
	s.typing.lineAuthor = cmp.Or(r.By, ByExec)
	s.typing.noteLineMark(r.ID)
	h.recordTyped(&r.Line) // before the line is typed, so that it is not typed again after a restart in between
	_, err = s.typing.queue.AddNoted(context.Background(), data, s.typing.lineNote(r.ID))
	return err
}

// typedLine returns the bytes to type for a line. If the editor accepts pastes, the line is pasted, so that no
// character acts as a key. A line that the editor kept is cleared first.
func (h *lineHost) typedLine(l *Line) ([]byte, error) {
	s := h.s
	var b []byte
	st, text := h.shell.State(), l.Text
	if st.HasKeptLine { // Ctrl-U kills a line up to its start, or the end of the line before
		b = append(b, bytes.Repeat([]byte{'U' - '@'}, 1+2*strings.Count(h.lastCommand.Text, "\n"))...)
	}
	if err := h.saveTextBefore(&st); err != nil {
		s.log.Warn("output on the row of the prompt may be cleared", "session", s.cfg.ID, "err", err)
	}
	b = append(b, st.InputPrefix(h.shell.kind, l.RecordHistory)...)
	if !l.RecordHistory && !h.needsWrap(text) { // a wrapped line removes itself from the history
		if name, content := st.HistoryRemovalFile(h.shell.kind); name != "" {
			if err := atomicfile.Write(filepath.Join(h.shell.stateDir, name), atomicfile.Options{Shared: true}, content); err != nil {
				s.log.Warn("the shell may record a submitted line in its history", "session", s.cfg.ID, "err", err)
			}
		}
	}
	if h.needsWrap(text) {
		var err error
		if text, err = h.wrapLine(text); err != nil {
			return nil, err
		}
	}
	m := s.engine.Modes()
	switch {
	case h.acceptsPastes():
		b = input.AppendPaste(b, []byte(text), &m)
	case strings.Contains(text, "\n"):
		b = append(b, strings.ReplaceAll(text, "\n", "\r")...)
	case len(text) > inputqueue.MaxLine:
		return nil, fmt.Errorf("%w: this shell reads lines of %d bytes at most; put it into a file", ErrLine, inputqueue.MaxLine)
	default:
		b = append(b, text...)
	}
	return append(b, '\r'), nil
}

// saveTextBefore writes the text that precedes the prompt on its row to a file, from which the shell prints it again
// (shell.State.PromptPrefixFile).
func (h *lineHost) saveTextBefore(st *shell.State) error {
	row, col := h.s.typing.editor.PromptStart()
	if col == 0 || h.shell.foreignShell != nil || h.s.engine.Modes().AltScreen {
		return nil
	}
	var f vterm.Frame
	h.s.engine.Frame(&f, vterm.Query{})
	first := int(row - h.s.topRow())
	if first < 0 || first >= len(f.Lines) || !editorClears(&f, first, col) {
		return nil
	}
	f.Lines = f.Lines[first : first+1]
	f.Lines[0].Cells = f.Lines[0].Cells[:min(col, len(f.Lines[0].Cells))]
	text := bytes.TrimSuffix(render.AppendANSI(nil, &f, render.ANSIOptions{}), []byte("\n"))
	name, content := st.PromptPrefixFile(h.shell.kind, fmt.Appendf(text, "\x1b[%dG", col+1))
	if name == "" {
		return nil
	}
	return atomicfile.Write(filepath.Join(h.shell.stateDir, name), atomicfile.Options{Shared: true}, content)
}

// editorClears reports whether a line editor that redraws its line clears the given row, on which its prompt starts in column
// col. The editor assumes that the prompt starts in column 0, and clears as many rows, up from the cursor's, as its line would
// take from there.
func editorClears(f *vterm.Frame, row, col int) bool {
	size := f.Cursor.Col - col
	for _, l := range f.Lines[row:max(row, f.Cursor.Row)] {
		if size += f.Cols; !l.Wrapped {
			return false // of a prompt with several lines the editor clears only the last, which starts in column 0
		}
	}
	return size/f.Cols == f.Cursor.Row-row
}

// acceptsPastes reports whether the shell's editor accepts pastes. For a shell without paste support the mode is a
// leftover of another program.
func (h *lineHost) acceptsPastes() bool {
	s := h.s
	return s.engine.Modes().BracketedPaste && h.shell.kind.Spec().SupportsPaste
}

// needsWrap reports whether a text must be turned into one line by wrapLine.
func (h *lineHost) needsWrap(text string) bool {
	if st := h.shell.State(); strings.Contains(text, "!") && st.ExpandsHistory(h.shell.kind) {
		return true
	}
	if !h.acceptsPastes() {
		return strings.ContainsAny(text, "\n\t")
	}
	return h.shell.kind.Spec().DropsTabs && strings.Contains(text, "\t")
}

// An editor enables pastes after its prompt, zsh behind a hook of the user's, and so at any time before it reads.
// pasteWait is the time limit if it is unknown whether the editor reads, pasteWaitLong if it is known not to read yet.
// pastePoll is the interval between checks. pasteSettle is how long output printed before the read may be in transit,
// on a busy machine too.
const (
	pasteWait     = time.Second
	pasteWaitLong = 10 * time.Second
	pastePoll     = 5 * time.Millisecond
	pasteSettle   = 600 * time.Millisecond
)

// pasteCheckDelay returns the time until the next check whether the editor accepts pastes, or 0 if it never will. A
// line that is typed before would run as a quoted text, which gives other error messages.
func (h *lineHost) pasteCheckDelay(text string) time.Duration {
	since := h.shell.State().Since
	waited := time.Since(since)
	if h.acceptsPastes() || !h.shell.kind.Spec().SupportsPaste || !h.needsWrap(text) || waited >= pasteWaitLong {
		return 0
	}
	p := h.Probe()
	edits := p.ReaderIsShell && !p.Canonical
	hasNoEditor := !p.OutputPending && (!p.Known || p.Reads && !edits)
	if !hasNoEditor {
		h.noEditorSince = time.Time{}
	} else if h.noEditorSince.IsZero() {
		h.noEditorSince = time.Now()
	}
	switch {
	case p.OutputPending, h.s.inputwait.hasUnprobedOutput(): // the editor's state is unknown too
		return pastePoll
	case waited >= pasteWait && hasNoEditor && time.Since(h.noEditorSince) >= pasteSettle: // one probe fails where a hook's program ends
		return 0
	case !p.Reads || !edits:
		return pastePoll
	case h.readSince.Equal(since):
		return 0
	}
	h.readSince = since // output from before its read may still be in transit
	return pasteSettle
}

// wrapLine turns a text of several lines into one line for a shell whose editor accepts no pastes. The line prints
// marks that show where its output starts.
func (h *lineHost) wrapLine(text string) (string, error) {
	s := h.s
	token := shell.NewNonce()
	line := shell.Wrap(h.shell.kind, text, token)
	if line == "" {
		return "", fmt.Errorf("%w: this shell takes one line at a time", ErrLine)
	}
	for part := range strings.SplitSeq(line, "\n") {
		if len(part) > inputqueue.MaxLine && !h.acceptsPastes() {
			return "", fmt.Errorf("%w: this shell reads lines of %d bytes at most; put it into a file", ErrLine, inputqueue.MaxLine)
		}
	}
	if strings.Contains(line, "\t") && !h.lineModes().Canonical {
		return "", fmt.Errorf("%w: this shell's editor would take its tabs for keys; put it into a file", ErrLine)
	}
	h.applyEvent(shell.Event{Kind: shell.EventSentinel, At: s.offset, Text: token})
	return line, nil
}

// lineModes returns the terminal's settings. In canonical mode the terminal is the shell's line editor, and a tab is
// text to it.
func (h *lineHost) lineModes() (m sys.Modes) {
	s := h.s
	if s.cfg.Device != nil {
		_ = s.cfg.Device.Control(func(fd int) (err error) {
			m, err = sys.ReadModes(fd)
			return err
		})
	}
	return m
}

// moveWaitAnchor moves the anchor of waits: later output counts as the answer to data.
func (h *lineHost) moveWaitAnchor(data []byte) {
	s := h.s
	s.typing.rememberTyped(data)
	s.rules.onInput(data, false)
	s.inputwait.noteInput()
	s.typing.lastInput = s.anchorAt(s.offset)
}

// recordTyped records a line in the tracker and in the journal, from which a restart restores it.
func (h *lineHost) recordTyped(l *Line) {
	s := h.s
	h.applyEvent(shell.Event{Kind: shell.EventTyped, At: s.offset, Text: l.Text})
	s.history.recordCommand(journal.PhaseTyping, typedMark{Text: l.Text, ID: l.ID})
	s.typing.dedup.RememberLine(l.ID)
}

// WasLineTyped reports whether the line with an id was typed into the shell, by this process or by one before a
// restart.
func (s *Session) WasLineTyped(ctx context.Context, id string) (typed bool, err error) {
	err = s.do(ctx, func() { typed = s.typing.dedup.HasLine(id) })
	return typed, err
}

// WasInputTyped reports whether input with an id was typed that is not a line for the shell.
func (s *Session) WasInputTyped(ctx context.Context, id string) (typed bool, err error) {
	err = s.do(ctx, func() {
		var mark []byte
		_, typed, mark = s.typing.dedup.Lookup(id)
		s.typing.noteID(mark)
	})
	return typed, err
}

// advanceExec advances the line at the head of the queue after a change of the shell's state.
func (h *lineHost) advanceExec(c *shell.Change) {
	s := h.s
	if c.Kind == shell.ChangePrompt {
		h.recordShellImage()
	}
	if !s.publishMuted {
		h.machine.HandleChange(c.Kind)
	}
}

// onExecTimer handles the expiry of the lines' timer.
func (h *lineHost) onExecTimer() {
	h.timer = nil
	if h.shell != nil {
		h.machine.OnTimer()
	}
}

// DropIncomplete handles a line that was typed and has not started. A shell whose editor silently keeps incomplete lines
// (fish) gets keys that drop the line.
func (s *Session) DropIncomplete(ctx context.Context, r *Run) error {
	return s.do(ctx, func() { s.lines.machine.DropIncomplete(&r.exec) })
}

// outputStart returns the offset at which a command's output starts, behind the echo of its lines, for shells that do
// not mark it.
func (h *lineHost) outputStart(c *shell.Command, lines int) uint64 {
	s := h.s
	buf := make([]byte, 64<<10)
	at := c.Start
	for at < c.End && lines > 0 {
		o, err := s.Output(at, buf[:min(uint64(len(buf)), c.End-at)])
		if err != nil || len(o.Data) == 0 {
			return c.Start
		}
		i := bytes.IndexByte(o.Data, '\n')
		if i < 0 {
			at = o.Next
			continue
		}
		at, lines = o.From+uint64(i)+1, lines-1
	}
	return at
}

// OutputStart returns the offset at which the output of a running command starts, up to end: behind the echo of its
// line, for shells that do not mark it.
func (s *Session) OutputStart(ctx context.Context, c Command, end uint64) uint64 {
	at := c.Start
	_ = s.do(ctx, func() {
		h := s.lines
		if h.shell == nil || c.Quality != shell.Basic || h.shell.State().MaxQuality != shell.Basic {
			return
		}
		if c.End = min(end, s.offset); c.End > c.Start {
			at = h.outputStart(&c.Command, h.echoedLines())
		}
	}) // an ended session has the offset of the command's record
	return at
}

// echoedLines returns how many lines of echo precede the output of the current command, in a shell that does not mark
// it.
func (h *lineHost) echoedLines() int {
	if len(h.runs) > 0 && h.runs[0].exec.Step() == lineexec.Running && (h.runs[0].exec.MarkedLines > 0 || h.runs[0].noEcho) {
		return 0 // a mark shows that the line was wrapped; or the shell does not echo
	}
	return 1
}

// endRun closes a run's channels.
func (h *lineHost) endRun(r *Run, err error) {
	s := h.s
	h.runs = slices.DeleteFunc(h.runs, func(x *Run) bool { return x == r })
	s.endRules(r)
	select {
	case <-r.StartedC:
	default: // it never started
		close(r.StartedC)
	}
	r.Err = err
	close(r.DoneC)
}

// endRuns ends all runs with an error.
func (h *lineHost) endRuns(err error) {
	if h.shell != nil {
		h.machine.EndAll(err)
	}
}

// NewestCommand returns the newest command of the session's shell, running or ended. Its Number is 0 before the first one.
func (s *Session) NewestCommand(ctx context.Context) (c Command, err error) {
	err = s.do(ctx, func() {
		if c = s.lines.lastCommand; s.lines.shell == nil {
			return
		}
		if st := s.lines.shell.State(); st.Running != nil && !st.HasEnded {
			c.Command, c.Running = *st.Running, true
		}
	})
	return c, err
}

// Drop removes a line that has not started from the queue. A line that has started continues without supervision.
func (s *Session) Drop(ctx context.Context, r *Run) error {
	return s.do(ctx, func() { s.lines.machine.Drop(&r.exec) })
}

// Interrupt starts to end a running line. It calls signal, unless the line has ended already and the signal would reach
// another line. No line is typed before EndInterrupt is called.
func (s *Session) Interrupt(ctx context.Context, r *Run, signal func()) (runs bool, err error) {
	err = s.do(ctx, func() { runs = s.lines.machine.Interrupt(&r.exec, signal) })
	return runs, err
}

// InterruptCommand works like Interrupt for a command of the shell, given by its number.
func (s *Session) InterruptCommand(ctx context.Context, n uint64, signal func()) (runs bool, err error) {
	err = s.do(ctx, func() {
		if s.lines.shell == nil {
			return
		}
		st := s.lines.shell.State()
		if runs = st.Running != nil && !st.HasEnded && (n == 0 || st.Running.Number == n); runs {
			s.lines.machine.InterruptUnsubmitted(signal)
		}
	})
	return runs, err
}

// EndInterrupt ends an Interrupt or InterruptCommand.
func (s *Session) EndInterrupt(ctx context.Context) error {
	return s.do(ctx, func() {
		if s.lines.shell != nil {
			s.lines.machine.EndInterrupt()
		}
	})
}
