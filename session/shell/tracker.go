package shell

import (
	"crypto/subtle"
	"strings"
	"unicode"
)

// Tracker follows one shell. It is a pure machine: Apply takes an event and returns what
// it changed; State may be read at any time.
type Tracker struct{ s State }

// NewTracker makes the tracker of a shell that was started by l.
func NewTracker(l Launch) *Tracker {
	return &Tracker{State{Nonce: l.Nonce, Offered: l.Quality, Quality: l.Quality, Phase: PhaseUnknown, Cwd: Cwd{Path: l.Cwd}, Numbers: l.Numbers}}
}

// Resume continues from a state.
func Resume(s State) *Tracker { return &Tracker{s.clone()} }

// State returns a copy of the state.
func (t *Tracker) State() State { return t.s.clone() }

// Phase returns State().Phase without the copy.
func (t *Tracker) Phase() Phase { return t.s.Phase }

func (s *State) clone() State {
	c := *s
	c.Running, c.Typed, c.Doubt = clonePtr(s.Running), clonePtr(s.Typed), clonePtr(s.Doubt)
	if c.Running != nil {
		c.Running.Exit = clonePtr(c.Running.Exit)
	}
	return c
}

func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Apply takes the next event. Events come in the order of their offsets.
func (t *Tracker) Apply(e Event) []Change {
	if t.s.Phase == PhaseEnded {
		return nil
	}
	switch e.Kind {
	case EventMark:
		return t.mark(e)
	case EventTyped:
		return t.handleTyped(e)
	case EventSentinel:
		t.s.Sentinel = e.Text
	case EventCwd:
		t.s.Hint = e.Cwd
	case EventAltScreen:
		t.s.Alt = e.On
	case EventLost:
		return t.handleLost(e)
	case EventForeground:
		return t.foreground(e)
	case EventReads:
		return t.reads(e)
	case EventExit:
		return t.exited(e)
	}
	return nil
}

// mark handles a mark with the session's nonce or sentinel. Others are of another shell, or forged. A mark whose place
// was accepted before is a copy: repeated output, or a redrawn prompt.
func (t *Tracker) mark(e Event) []Change {
	if same(e.Mark.Nonce, t.s.Sentinel) {
		return t.sentinel(e)
	}
	if !same(e.Mark.Nonce, t.s.Nonce) {
		return nil
	}
	if !t.inOrder(&e.Mark) {
		return nil
	}
	switch e.Mark.Kind {
	case MarkPrompt:
		return t.prompt(e)
	case MarkContinuation:
		return t.continuation()
	case MarkInput:
		return t.input(e)
	case MarkOutput:
		return t.output(e)
	case MarkDone:
		return t.done(e)
	}
	return nil
}

// inOrder accepts a mark's place. A shell that counts its marks counts all of them: a mark without a place is not its
// own then.
func (t *Tracker) inOrder(m *Mark) bool {
	if m.Count <= t.s.Mark {
		return m.Count == 0 && t.s.Mark == 0
	}
	t.s.Mark = m.Count
	return true
}

// Takes reports whether a mark is the shell's own and new.
func (t *Tracker) Takes(m *Mark) bool {
	return same(m.Nonce, t.s.Nonce) && (m.Count > t.s.Mark || m.Count == 0 && t.s.Mark == 0)
}

func same(nonce, ours string) bool {
	return ours != "" && subtle.ConstantTimeCompare([]byte(nonce), []byte(ours)) == 1
}

// prompt handles mark A. It ignores a number that it saw before.
func (t *Tracker) prompt(e Event) []Change {
	m := &e.Mark
	if m.Prompt != 0 && m.Prompt <= t.s.Prompt {
		return nil
	}
	if m.Late && t.s.Running != nil && !t.s.Done {
		t.s.Doubt = &doubt{At: e.At, Time: e.Time, Exit: clonePtr(m.Exit), Prompt: clonePtr(m)}
		if t.s.Offered == Basic { // all of its prompts are late
			return []Change{{Kind: ChangePhase}}
		}
		return t.doubtful(e)
	}
	moved := m.Cwd != "" && m.Cwd != t.s.Cwd.Path
	t.s.Cwd.Path = orElse(m.Cwd, t.s.Cwd.Path)
	t.s.Hint = Cwd{}
	changes := t.back(e)
	if moved {
		changes = append(changes, Change{Kind: ChangeCwd})
	}
	t.s.Prompt = max(m.Prompt, t.s.Prompt+1)
	t.s.PromptAt, t.s.InputAt, t.s.Continuation = e.At-min(m.Bytes, e.At), 0, false
	t.s.Quality, t.s.Kept, t.s.Given = t.s.Offered, m.Kept, m.Given
	t.s.Doubt, t.s.Sentinel = nil, ""
	if t.s.Drawing = m.Input; t.s.Drawing {
		return changes
	}
	t.phase(PhasePrompt, e)
	changes = append(changes, Change{Kind: ChangePrompt})
	if t.s.Offered == Basic && t.s.Typed != nil { // typed ahead
		changes = append(changes, t.begin(e, t.takeTyped())...)
	}
	return changes
}

// back accounts for what ran, now that the prompt is back.
func (t *Tracker) back(e Event) []Change {
	m := &e.Mark
	switch {
	case t.s.Running != nil:
		switch {
		case !t.s.Done && t.s.Offered == Basic && hasNoCommand(t.s.Running.Text): // the mark has the status of the line before
			zero := 0
			t.end(e, &zero, Basic)
		case !t.s.Done, t.s.Drawing: // Drawing: the hooks ran before, and not for a prompt
			t.end(e, m.Exit, t.basicIfFull())
		case m.Exit != nil:
			t.s.Running.Exit = clonePtr(m.Exit)
		}
		if m.Input { // the prompt itself is still to come
			return nil
		}
		return t.finish()
	case t.s.Typed != nil && t.s.Typed.Prompt <= t.s.Prompt:
		// Read, but never run: a syntax error, most likely.
		line := t.takeTyped()
		if strings.TrimSpace(line.Text) == "" {
			return nil
		}
		if hasNoCommand(line.Text) { // the mark has the status of the line before
			zero := 0
			line.At = e.At // it has no output
			changes := t.begin(e, line)
			t.end(e, &zero, Basic)
			return append(changes, t.finish()...)
		}
		changes := t.begin(e, line)
		t.s.Running.Echoed = true
		t.end(e, m.Exit, Basic)
		return append(changes, t.finish()...)
	case m.HasText && t.s.Prompt > 0:
		// The shell reports the line only now.
		line := typedLine{Text: m.Text, At: max(t.s.InputAt, t.s.PromptAt), Time: t.s.Since}
		changes := t.begin(e, line)
		t.s.Running.TextSource = TextShell
		changes[0].Command.TextSource = TextShell
		t.end(e, m.Exit, Basic)
		return append(changes, t.finish()...)
	}
	return nil
}

// hasNoCommand reports whether all lines of a text are blank or comments.
func hasNoCommand(text string) bool {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return false
		}
	}
	return true
}

func (t *Tracker) basicIfFull() Quality {
	if t.s.Running.Quality == Full {
		return Basic
	}
	return t.s.Running.Quality
}

func (t *Tracker) continuation() []Change {
	// While a command runs it is the next of several lines that is not complete.
	if t.s.Phase != PhasePrompt && t.s.Offered == Full && t.s.Running == nil || t.s.Continuation {
		return nil
	}
	t.s.Continuation = true
	return []Change{{Kind: ChangeInput}}
}

// input handles mark B.
func (t *Tracker) input(e Event) []Change {
	switch {
	case t.s.Running == nil:
		another := t.s.Drawing // behind one at which nothing ran: after Ctrl-C, or an empty line
		t.s.InputAt, t.s.Drawing = e.At, false
		if another || t.s.Phase != PhasePrompt {
			t.s.Quality = t.s.Offered
			t.phase(PhasePrompt, e)
			return []Change{{Kind: ChangePrompt}}
		}
	case t.s.Done:
		changes := t.finish()
		if !t.s.Drawing { // the prompt's start is missing
			changes[0].Command.CwdAfter = ""
		}
		t.s.InputAt, t.s.Drawing, t.s.Quality = e.At, false, t.s.Offered
		t.phase(PhasePrompt, e)
		return append(changes, Change{Kind: ChangePrompt})
	case t.s.Offered == Full:
		if t.s.Doubt == nil {
			t.s.Doubt = &doubt{At: e.At, Time: e.Time, Exit: clonePtr(e.Mark.Exit)}
		}
		return t.doubtful(e)
	}
	return nil
}

// output handles mark C.
func (t *Tracker) output(e Event) []Change {
	m := &e.Mark
	if t.continues(m) {
		t.s.Continuation, t.s.Doubt = false, nil
		t.phase(PhaseRunning, e)
		return nil
	}
	changes := t.abandon(e)
	line := typedLine{Text: m.Text, At: e.At, Time: e.Time}
	source := TextShell
	switch typed := t.s.Typed; {
	case typed != nil && (m.Given || !m.HasText || m.Guess || t.s.Sentinel != "" || sameText(typed.Text, m.Text)): // a wrapped line has other text
		line.Text, source = typed.Text, TextTyped
	case m.Guess:
		source = TextGuess
	case !m.HasText:
		source = TextNone
	}
	t.s.Typed = nil
	started := t.begin(e, line)
	t.s.Running.TextSource = source
	t.s.Running.TextCut = m.Cut && source != TextTyped
	started[0].Command = *t.s.Running
	changes = append(changes, started...)
	if replaces(line.Text) {
		changes = append(changes, t.doubtful(e)...)
	}
	return changes
}

// continues reports whether a mark belongs to a further statement of the submitted line that runs.
// Bash sends a mark for each of its statements, and no prompt between them. All statements are
// one command, with the text that was submitted. A line that runs the hook itself, or expands PS0, sends a mark too.
func (t *Tracker) continues(m *Mark) bool {
	r := t.s.Running
	return r != nil && !t.s.Done && t.s.Typed == nil && r.TextSource == TextTyped &&
		(t.s.Doubt == nil || strings.Contains(r.Text, "\n") && (m.Given || m.Guess || !m.HasText))
}

// sameText compares typed text with the shell's report of its command. Bash reports "; " for line ends, and joins lines
// that end in a backslash.
func sameText(typed, said string) bool {
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == ';' || r == '\\' || unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	return typed == said || squeeze(typed) == squeeze(said)
}

// replaces reports whether a line replaces the shell by another program. "exec" with redirections only does not; a
// prompt will follow.
func replaces(text string) bool {
	fields := strings.Fields(text)
	return len(fields) > 1 && fields[0] == "exec" && !strings.ContainsAny(fields[1][:1], "<>&0123456789{")
}

// done handles mark D.
func (t *Tracker) done(e Event) []Change {
	if t.s.Running == nil || t.s.Done {
		return nil
	}
	t.end(e, e.Mark.Exit, t.s.Running.Quality)
	t.s.Doubt = nil
	if t.s.Quality != t.s.Offered || t.s.Phase != PhaseRunning {
		t.s.Quality = t.s.Offered
		t.phase(PhaseRunning, e)
	}
	return []Change{{Kind: ChangeDone, Command: *t.s.Running}}
}

// handleTyped handles a line that was typed into the shell.
func (t *Tracker) handleTyped(e Event) []Change {
	line := typedLine{Text: e.Text, At: e.At, Time: e.Time, Prompt: t.s.Prompt}
	if !t.s.Drawing && (t.s.Running != nil || t.s.Phase != PhasePrompt) {
		line.Prompt++
	}
	t.s.Typed = &line
	t.s.Continuation = false
	if t.s.Offered == Basic && t.s.Phase == PhasePrompt && t.s.Sentinel == "" { // otherwise its mark follows
		return t.begin(e, t.takeTyped())
	}
	return nil
}

func (t *Tracker) takeTyped() typedLine {
	line := *t.s.Typed
	t.s.Typed = nil
	return line
}

// begin starts a command with the given line.
func (t *Tracker) begin(e Event, line typedLine) []Change {
	t.s.Numbers++
	t.s.Running = &Command{
		Number: t.s.Numbers, Text: line.Text, TextSource: TextTyped,
		Start: line.At, Began: line.Time, CwdBefore: t.s.Cwd.Path, Quality: t.s.Offered,
	}
	t.s.Done, t.s.Doubt, t.s.Continuation, t.s.Drawing, t.s.Kept = false, nil, false, false, false
	t.s.Quality = t.s.Offered
	t.phase(PhaseRunning, e)
	return []Change{{Kind: ChangeStarted, Command: *t.s.Running}}
}

// end records how the running command ended.
func (t *Tracker) end(e Event, exit *int, q Quality) {
	r := t.s.Running
	r.Ended, r.Exit, r.Quality = e.Time, clonePtr(exit), q
	r.End = max(e.At-min(e.Mark.Bytes, e.At), r.Start)
	t.s.Done = true
}

// finish gives the record out. CwdAfter is that of the prompt, if there is one.
func (t *Tracker) finish() []Change {
	r := *t.s.Running
	r.CwdAfter = t.s.Cwd.Path
	t.s.Running, t.s.Done = nil, false
	return []Change{{Kind: ChangeFinished, Command: r}}
}

// abandon ends a command of whose end nothing was seen.
func (t *Tracker) abandon(e Event) []Change {
	if t.s.Running == nil {
		return nil
	}
	if !t.s.Done {
		var exit *int
		if d := t.s.Doubt; d != nil {
			e.At, e.Time, e.Mark, exit = d.At, d.Time, Mark{}, d.Exit
		}
		t.end(e, exit, t.basicIfFull())
	}
	changes := t.finish()
	if !t.s.Drawing { // no prompt reported it
		changes[0].Command.CwdAfter = ""
	}
	return changes
}

// doubtful sets the state in which the shell may have been replaced or lost its hooks.
func (t *Tracker) doubtful(e Event) []Change {
	t.s.Quality = None
	t.phase(PhaseUnknown, e)
	return []Change{{Kind: ChangePhase}}
}

func (t *Tracker) handleLost(e Event) []Change {
	t.s.Typed, t.s.Continuation, t.s.Drawing = nil, false, false
	return append(t.abandon(e), t.doubtful(e)...)
}

// foreground handles a change of the terminal's foreground program. An executable other than the shell's has replaced
// it. Without marks this is the only evidence.
func (t *Tracker) foreground(e Event) []Change {
	if e.On && e.Text != "" {
		if t.s.Shell == "" {
			t.s.Shell = e.Text
		}
		if t.s.Shell != e.Text && t.s.Phase != PhaseUnknown {
			return t.doubtful(e)
		}
	}
	if t.s.Offered != None {
		return nil
	}
	phase := PhaseRunning
	if e.On && t.s.Running == nil {
		phase = PhaseUnknown
	}
	if phase == t.s.Phase {
		return nil
	}
	t.phase(phase, e)
	return []Change{{Kind: ChangePhase}}
}

func (t *Tracker) exited(e Event) []Change {
	var changes []Change
	if t.s.Running != nil {
		if !t.s.Done {
			t.end(e, e.Exit, t.basicIfFull())
		}
		changes = t.finish()
		changes[0].Command.CwdAfter = ""
	}
	t.s.Typed = nil
	t.phase(PhaseEnded, e)
	return append(changes, Change{Kind: ChangePhase})
}

// sentinel takes the marks of a line made by Wrap; the token is good for one line.
func (t *Tracker) sentinel(e Event) []Change {
	switch e.Mark.Kind {
	case MarkOutput:
		if r := t.s.Running; r != nil && !t.s.Done && r.TextSource == TextTyped { // the shell has marked the wrapped line as its own
			r.Start, r.Began, r.Quality = e.At, e.Time, Basic
			return nil
		}
		changes := t.output(e)
		t.s.Running.Quality = Basic
		return changes
	case MarkDone:
		t.s.Sentinel = ""
		if t.s.Running == nil {
			return nil
		}
		t.end(e, e.Mark.Exit, Basic)
		done := Change{Kind: ChangeDone, Command: *t.s.Running}
		if t.s.Offered != None { // the prompt that follows reports the directory and the environment
			return []Change{done}
		}
		changes := append([]Change{done}, t.finish()...)
		t.s.Quality = t.s.Offered
		t.phase(PhaseUnknown, e)
		return append(changes, Change{Kind: ChangePhase})
	}
	return nil
}

func (t *Tracker) phase(p Phase, e Event) {
	if t.s.Phase != p {
		t.s.Phase, t.s.Since = p, e.Time
	}
}

func orElse(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}
