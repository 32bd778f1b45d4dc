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
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Errors of running lines.
var (
	ErrNoShell    = errors.New("the session's program is no shell whose commands can be followed")
	ErrBusy       = lineexec.ErrBusy
	ErrIncomplete = lineexec.ErrIncomplete
	ErrRefused    = lineexec.ErrRefused
	ErrLine       = errors.New("the line cannot be typed")
)

// Line is a command line for a session's shell.
type Line struct {
	Text string
	// ID, when there is one, is what Session.Typed knows the line by, over restarts too.
	ID string
	// By is who gives it: see Command.By; empty: ByExec.
	By string
	// Wait has the line wait until the shell is at its prompt; else a shell that runs
	// something refuses with ErrBusy. The first prompt is always waited for.
	Wait bool
	// Record has the shell record the line in the user's history, as it does what is typed.
	Record bool
	// Try has nothing typed: it is only looked whether the line could be, now.
	Try bool
	// Rules answer what the line asks, from when it is typed to its end.
	Rules []respond.Rule
}

// Run is a line given to the shell. Its channels are closed when it begins and when its
// end is known.
type Run struct {
	Line
	Begun, Done chan struct{}

	Typed      time.Time // when the shell was given it; to be read once Begun is closed
	Started    Command   // as it began; likewise
	Command    Command   // as it ended; to be read once Done is closed
	Err        error     // why there is none; likewise
	Cleared    string    // what somebody had typed before it and not ended; to be read once Begun is closed
	rules.Call           // of Rules; its Firings are to be read once Done is closed

	// The owner's.
	exec   lineexec.Line
	unseen bool   // the terminal does not echo it
	note   string // why its status is not known
	prompt string // what stood before the cursor when it was typed
	lostAt uint64 // where the output stood when it turned out that the shell's marks are gone
}

// Exec gives the shell a line to run, after those it was given before. It returns once the
// line is queued; Run.Done tells its end.
func (s *Session) Exec(ctx context.Context, l Line) (*Run, error) {
	if err := checkLine(l.Text); err != nil {
		return nil, err
	}
	r := &Run{Line: l, Begun: make(chan struct{}), Done: make(chan struct{}), Call: rules.Call{Failed: make(chan struct{})}}
	r.exec = lineexec.Line{Wait: l.Wait, Parts: strings.Contains(l.Text, "\n"), Keeps: readsItself(l.Text)}
	var err error
	opErr := s.do(ctx, func() { err = s.lines.addRun(r) })
	return r, errors.Join(opErr, err)
}

// readsItself says that a line may read from the terminal with the shell's own editor: then
// a shell that reads like that is no sign that the line has ended.
func readsItself(text string) bool {
	return strings.Contains(text, "read") || strings.Contains(text, "vared") || strings.Contains(text, "select")
}

// checkLine refuses what a line editor would take for keys.
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

func (h *lineHost) addRun(r *Run) error {
	s := h.s
	switch st := s.Status(); {
	case st.State != Running || s.ring == nil:
		return fmt.Errorf("%w (%s)", ErrEnded, st.State)
	case !h.followed():
		return ErrNoShell
	case st.Shell.Phase == shell.PhasePrompt && s.typing.begun.Line(time.Now(), true): // it would be cleared
		return ErrBegun
	}
	if r.Try {
		err := h.machine.Try(&r.exec, h.busyWith)
		if errors.Is(err, lineexec.ErrForeign) {
			return ErrNoShell
		}
		return err
	}
	h.runs = append(h.runs, r)
	err := h.machine.Give(&r.exec, h.busyWith)
	if err != nil {
		h.runs = slices.DeleteFunc(h.runs, func(x *Run) bool { return x == r })
	}
	if errors.Is(err, lineexec.ErrForeign) {
		return ErrNoShell
	}
	return err
}

func (h *lineHost) noteEntered(data []byte) {
	if h.followed() {
		h.machine.Typed(data)
	}
}

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

// typeLine types a line whose turn it is.
func (h *lineHost) typeLine(r *Run) error {
	s := h.s
	if wait := h.pasteSoon(r.Text); wait > 0 {
		return &lineexec.Later{After: wait}
	}
	data, err := h.typedLine(&r.Line)
	if err == nil && len(r.Rules) > 0 {
		_, err = s.addRules(r.Rules, &r.Call)
	}
	if err != nil {
		return err
	}
	r.Typed = time.Now()
	r.prompt, _ = s.inputwait.machine.CursorLine()
	r.Cleared = s.typing.half.take(r.prompt)
	s.typing.run.Add(1)
	s.typing.line = 0
	if h.wraps(r.Text) {
		r.exec.Wrapped = bytes.Count(data, []byte("\r"))
	}
	m := h.lineModes()
	r.unseen = m.Canonical && !m.Echo
	h.noteTyped(data)
	s.typing.by = cmp.Or(r.By, ByExec)
	s.typing.markLine(r.ID)
	h.tellTyped(&r.Line) // before it is typed, so that a restart in between types it no second time
	_, err = s.typing.queue.AddNoted(context.Background(), data, s.typing.lineNote(r.ID))
	return err
}

// typedLine is a line as it is typed: pasted where the editor takes pastes, so that it is
// text and no keys whatever is in it; a line that the editor kept is cleared.
func (h *lineHost) typedLine(l *Line) ([]byte, error) {
	s := h.s
	var b []byte
	st, text := h.shell.State(), l.Text
	if st.Kept { // Ctrl-U kills a line up to its beginning, or the end of the one before
		b = append(b, bytes.Repeat([]byte{'U' - '@'}, 1+2*strings.Count(h.last.Text, "\n"))...)
	}
	if err := h.saveTextBefore(&st); err != nil {
		s.log.Warn("output on the row of the prompt may be cleared", "session", s.cfg.ID, "err", err)
	}
	b = append(b, st.Prelude(h.shell.kind, l.Record)...)
	if h.wraps(text) {
		var err error
		if text, err = h.wrapLine(text); err != nil {
			return nil, err
		}
	}
	m := s.engine.Modes()
	switch {
	case h.pastes():
		b = input.AppendPaste(b, []byte(text), &m)
	case strings.Contains(text, "\n"):
		b = append(b, strings.ReplaceAll(text, "\n", "\r")...)
	case len(text) > typing.MaxLine:
		return nil, fmt.Errorf("%w: this shell reads lines of %d bytes at most; put it into a file", ErrLine, typing.MaxLine)
	default:
		b = append(b, text...)
	}
	return append(b, '\r'), nil
}

// saveTextBefore writes the text that precedes the prompt on its row to a file, from which the shell prints it again
// (shell.State.BeforeFile).
func (h *lineHost) saveTextBefore(st *shell.State) error {
	row, col := h.s.typing.editor.Start()
	if col == 0 || h.shell.other != nil || h.s.engine.Modes().AltScreen {
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
	name, content := st.BeforeFile(h.shell.kind, fmt.Appendf(text, "\x1b[%dG", col+1))
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

// pastes says that the shell's editor takes pastes. Where it knows none, the mode was left
// on by some program.
func (h *lineHost) pastes() bool {
	s := h.s
	return s.engine.Modes().BracketedPaste && h.shell.kind.Spec().Pastes
}

// wraps says that a text has to be made one line by wrapLine.
func (h *lineHost) wraps(text string) bool {
	if st := h.shell.State(); strings.Contains(text, "!") && st.Expands(h.shell.kind) {
		return true
	}
	if !h.pastes() {
		return strings.ContainsAny(text, "\n\t")
	}
	return h.shell.kind.Spec().DropsTabs && strings.Contains(text, "\t")
}

// An editor asks for pastes after its prompt, zsh behind a hook of the user's, and so at any time before it reads. asksFor is
// how long it gets where it is not known whether it reads, asksForLong where it is known that it does not yet; asksEvery is how
// often it is looked at, asksLast how long what it printed before may be on its way, on a busy machine too.
const (
	asksFor     = time.Second
	asksForLong = 10 * time.Second
	asksEvery   = 5 * time.Millisecond
	asksLast    = 200 * time.Millisecond
)

// pasteSoon is when to look again whether the editor has asked for pastes; 0: it will not. What is given to it before would
// be run as a text in quotes, which says other things of what is wrong with it.
func (h *lineHost) pasteSoon(text string) time.Duration {
	since := h.shell.State().Since
	waited := time.Since(since)
	if h.pastes() || !h.shell.kind.Spec().Pastes || !h.wraps(text) || waited >= asksForLong {
		return 0
	}
	p := h.Probe()
	edits := p.Shell && !p.Canonical
	switch {
	case h.s.inputwait.unseen(): // nor is it known then what it does
		return asksEvery
	case waited >= asksFor && (!p.Known || p.Reads && !edits):
		return 0
	case !p.Reads || !edits:
		return asksEvery
	case h.reads.Equal(since):
		return 0
	}
	h.reads = since // what it printed before it read may be on its way here still
	return asksLast
}

// wrapLine makes one line of several for a shell whose editor knows no paste: one that
// tells by marks of its own where the output begins.
func (h *lineHost) wrapLine(text string) (string, error) {
	s := h.s
	token := shell.NewNonce()
	line := shell.Wrap(h.shell.kind, text, token)
	if line == "" {
		return "", fmt.Errorf("%w: this shell takes one line at a time", ErrLine)
	}
	for part := range strings.SplitSeq(line, "\n") {
		if len(part) > typing.MaxLine && !h.pastes() {
			return "", fmt.Errorf("%w: this shell reads lines of %d bytes at most; put it into a file", ErrLine, typing.MaxLine)
		}
	}
	if strings.Contains(line, "\t") && !h.lineModes().Canonical {
		return "", fmt.Errorf("%w: this shell's editor would take its tabs for keys; put it into a file", ErrLine)
	}
	h.tell(shell.Event{Kind: shell.EventSentinel, At: s.off, Text: token})
	return line, nil
}

// lineModes are the terminal's settings. One that is canonical is its shell's line editor
// itself, to which a tab is text.
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

// noteTyped moves the anchor of waits: what comes now answers what was typed now.
func (h *lineHost) noteTyped(data []byte) {
	s := h.s
	s.typing.rememberTyped(data)
	s.rules.typed(data, false)
	s.inputwait.typedSomething()
	s.typing.at = s.moment(s.off)
}

// tellTyped tells the tracker of a line, and the journal, from which a restart tells it
// again.
func (h *lineHost) tellTyped(l *Line) {
	s := h.s
	h.tell(shell.Event{Kind: shell.EventTyped, At: s.off, Text: l.Text})
	s.history.noteCommand(journal.PhaseTyping, typedMark{l.Text, l.ID})
	s.typing.dedup.RememberLine(l.ID)
}

// Typed tells whether the line with an id was given to the shell, by this process or the
// one before a restart.
func (s *Session) Typed(ctx context.Context, id string) (typed bool, err error) {
	err = s.do(ctx, func() { typed = s.typing.dedup.HasLine(id) })
	return typed, err
}

// TypedInput tells so of input that was typed with an id and is no line of the shell's.
func (s *Session) TypedInput(ctx context.Context, id string) (typed bool, err error) {
	err = s.do(ctx, func() {
		var mark []byte
		_, typed, mark = s.typing.dedup.Before(id)
		s.typing.noteID(mark)
	})
	return typed, err
}

// advanceExec moves the line under way on.
func (h *lineHost) advanceExec(c *shell.Change) {
	s := h.s
	if c.Kind == shell.ChangePrompt {
		h.rememberShell()
	}
	if !s.quiet {
		h.machine.HandleChange(c.Kind)
	}
}

// execDue does what execTimer was set for.
func (h *lineHost) execDue() {
	h.timer = nil
	if h.shell != nil {
		h.machine.Due()
	}
}

// Stuck looks at a line that was typed and has not begun: a shell whose editor keeps lines
// that are incomplete, without a word (fish), has to be told to drop it.
func (s *Session) Stuck(ctx context.Context, r *Run) error {
	return s.do(ctx, func() { s.lines.machine.Stuck(&r.exec) })
}

// afterEcho is where a command's output begins when the shell does not say: behind the
// echo of its lines.
func (h *lineHost) afterEcho(c *shell.Command, lines int) uint64 {
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

// endRun tells of a line's end.
func (h *lineHost) endRun(r *Run, err error) {
	s := h.s
	h.runs = slices.DeleteFunc(h.runs, func(x *Run) bool { return x == r })
	s.endRules(r)
	select {
	case <-r.Begun:
	default: // it never began
		close(r.Begun)
	}
	r.Err = err
	close(r.Done)
}

// endRuns ends all: no more is coming.
func (h *lineHost) endRuns(err error) {
	if h.shell != nil {
		h.machine.EndAll(err)
	}
}

// Drop takes a line back that has not begun, and leaves one that has to itself.
func (s *Session) Drop(ctx context.Context, r *Run) error {
	return s.do(ctx, func() { s.lines.machine.Drop(&r.exec) })
}

// Interrupt begins to end a line that runs: signal is called, unless the line has ended
// meanwhile and the signal would be another's. Until Interrupted no line is typed.
func (s *Session) Interrupt(ctx context.Context, r *Run, signal func()) (runs bool, err error) {
	err = s.do(ctx, func() { runs = s.lines.machine.Interrupt(&r.exec, signal) })
	return runs, err
}

// InterruptCommand is Interrupt for a command of the shell, by its number.
func (s *Session) InterruptCommand(ctx context.Context, n uint64, signal func()) (runs bool, err error) {
	err = s.do(ctx, func() {
		if s.lines.shell == nil {
			return
		}
		st := s.lines.shell.State()
		if runs = st.Running != nil && !st.Done && (n == 0 || st.Running.Number == n); runs {
			s.lines.machine.HoldFor(signal)
		}
	})
	return runs, err
}

// Interrupted ends what Interrupt or InterruptCommand began.
func (s *Session) Interrupted(ctx context.Context) error {
	return s.do(ctx, func() {
		if s.lines.shell != nil {
			s.lines.machine.Interrupted()
		}
	})
}
