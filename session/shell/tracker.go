package shell

import (
	"cmp"
	"crypto/subtle"
	"strings"
	"unicode"
)

// Tracker follows one shell. Apply processes an event and returns the changes of the state. It has no clock and does no
// I/O.
type Tracker struct{ state State }

// NewTracker returns the tracker of a shell that was started by l.
func NewTracker(l Launch) *Tracker {
	return &Tracker{State{Nonce: l.Nonce, MaxQuality: l.Quality, Quality: l.Quality, Phase: PhaseUnknown, Cwd: Cwd{Path: l.Cwd}, CommandCount: l.CommandCount}}
}

// Resume returns a tracker that continues from a state.
func Resume(s State) *Tracker { return &Tracker{s.clone()} }

// State returns a copy of the state.
func (t *Tracker) State() State { return t.state.clone() }

// Phase returns State().Phase without the copy.
func (t *Tracker) Phase() Phase { return t.state.Phase }

// clone returns a deep copy.
func (s *State) clone() State {
	c := *s
	c.Running, c.PendingLine, c.PossibleEnd = clonePtr(s.Running), clonePtr(s.PendingLine), clonePtr(s.PossibleEnd)
	if c.Running != nil {
		c.Running.Exit = clonePtr(c.Running.Exit)
	}
	return c
}

// clonePtr returns a pointer to a copy of *p, or nil.
func clonePtr[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// Apply processes the next event. Events must come in the order of their offsets.
func (t *Tracker) Apply(e Event) []Change {
	if t.state.Phase == PhaseEnded {
		return nil
	}
	switch e.Kind {
	case EventMark:
		return t.handleMark(e)
	case EventTyped:
		return t.handleTyped(e)
	case EventSentinel:
		t.state.Sentinel = e.Text
	case EventCwd:
		t.state.ReportedCwd = e.Cwd
	case EventAltScreen:
		t.state.AltScreen = e.On
	case EventDropped:
		return t.handleDropped(e)
	case EventForeground:
		return t.handleForeground(e)
	case EventShellReads:
		return t.handleShellReads(e)
	case EventExit:
		return t.handleExit(e)
	}
	return nil
}

// handleMark handles a mark with the session's nonce or sentinel. Others belong to another shell, or are forged. A mark
// whose sequence number was accepted before is a copy: repeated output, or a redrawn prompt.
func (t *Tracker) handleMark(e Event) []Change {
	if equalNonce(e.Mark.Nonce, t.state.Sentinel) {
		return t.handleSentinel(e)
	}
	if !equalNonce(e.Mark.Nonce, t.state.Nonce) {
		return nil
	}
	if !t.acceptSequence(&e.Mark) {
		return nil
	}
	switch e.Mark.Kind {
	case MarkPrompt:
		return t.handlePrompt(e)
	case MarkContinuation:
		return t.handleContinuation()
	case MarkInput:
		return t.handleInput(e)
	case MarkOutput:
		return t.handleOutput(e)
	case MarkDone:
		return t.handleDone(e)
	}
	return nil
}

// acceptSequence reports whether a mark is new, and records its sequence number. A shell that numbers its marks numbers
// all of them: a mark without a number is not its own then.
func (t *Tracker) acceptSequence(m *Mark) bool {
	if m.Sequence <= t.state.LastMark {
		return m.Sequence == 0 && t.state.LastMark == 0
	}
	t.state.LastMark = m.Sequence
	return true
}

// IsNewMark reports whether a mark is the shell's own and new.
func (t *Tracker) IsNewMark(m *Mark) bool {
	return equalNonce(m.Nonce, t.state.Nonce) && (m.Sequence > t.state.LastMark || m.Sequence == 0 && t.state.LastMark == 0)
}

// equalNonce compares a nonce with the expected one in constant time. An empty expected nonce equals none.
func equalNonce(nonce, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(nonce), []byte(want)) == 1
}

// handlePrompt handles mark A. It ignores a prompt's number that is not new.
func (t *Tracker) handlePrompt(e Event) []Change {
	m := &e.Mark
	if m.Prompt != 0 && m.Prompt <= t.state.Prompt {
		return nil
	}
	if m.Late && t.state.Running != nil && !t.state.HasEnded {
		t.state.PossibleEnd = &possibleEnd{At: e.At, Time: e.Time, Exit: clonePtr(m.Exit), LatePrompt: clonePtr(m)}
		if t.state.MaxQuality == Basic { // all of its prompts are late marks
			return []Change{{Kind: ChangePhase}}
		}
		return t.setUnknown(e)
	}
	cwdChanged := m.Cwd != "" && m.Cwd != t.state.Cwd.Path
	t.state.Cwd.Path = cmp.Or(m.Cwd, t.state.Cwd.Path)
	t.state.ReportedCwd = Cwd{}
	changes := t.endLineAtPrompt(e)
	if cwdChanged {
		changes = append(changes, Change{Kind: ChangeCwd})
	}
	t.state.Prompt = max(m.Prompt, t.state.Prompt+1)
	t.state.PromptAt, t.state.InputAt, t.state.InContinuation = e.At-min(m.Length, e.At), 0, false
	t.state.Quality, t.state.HasKeptLine, t.state.SupportsLiteralKey = t.state.MaxQuality, m.Kept, m.Literal
	t.state.PossibleEnd, t.state.Sentinel = nil, ""
	if t.state.IsDrawingPrompt = m.InputFollows; t.state.IsDrawingPrompt {
		return changes
	}
	t.setPhase(PhasePrompt, e)
	changes = append(changes, Change{Kind: ChangePrompt})
	if t.state.MaxQuality == Basic && t.state.PendingLine != nil { // typed ahead
		changes = append(changes, t.startCommand(e, t.takePendingLine())...)
	}
	return changes
}

// endLineAtPrompt ends the command or line before a prompt.
func (t *Tracker) endLineAtPrompt(e Event) []Change {
	m := &e.Mark
	switch {
	case t.state.Running != nil:
		switch {
		case !t.state.HasEnded && t.state.MaxQuality == Basic && t.state.Running.TextSource != TextNone && hasNoCommand(t.state.Running.Text): // the mark has the status of the line before
			zero := 0
			t.endCommand(e, &zero, Basic)
		case !t.state.HasEnded, t.state.IsDrawingPrompt: // Drawing: the hooks ran before, and not for a prompt
			t.endCommand(e, m.Exit, t.reducedQuality())
		case m.Exit != nil:
			t.state.Running.Exit = clonePtr(m.Exit)
		}
		if m.InputFollows { // the rest of the prompt follows
			return nil
		}
		return t.finishCommand()
	case t.state.PendingLine != nil && t.state.PendingLine.Prompt <= t.state.Prompt:
		// The shell read it but did not run it: most likely a syntax error.
		line := t.takePendingLine()
		if strings.TrimSpace(line.Text) == "" {
			return nil
		}
		if hasNoCommand(line.Text) { // the mark has the status of the line before
			zero := 0
			line.At = e.At // it has no output
			changes := t.startCommand(e, line)
			t.endCommand(e, &zero, Basic)
			return append(changes, t.finishCommand()...)
		}
		changes := t.startCommand(e, line)
		t.state.Running.NeverRan = true
		t.endCommand(e, m.Exit, Basic)
		return append(changes, t.finishCommand()...)
	case m.HasText && t.state.Prompt > 0:
		// The shell reports the line only now.
		line := pendingLine{Text: m.Text, At: max(t.state.InputAt, t.state.PromptAt), Time: t.state.Since}
		changes := t.startCommand(e, line)
		t.state.Running.TextSource = TextShell
		changes[0].Command.TextSource = TextShell
		t.endCommand(e, m.Exit, Basic)
		return append(changes, t.finishCommand()...)
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

// reducedQuality returns the running command's quality, at most Basic.
func (t *Tracker) reducedQuality() Quality {
	if t.state.Running.Quality == Full {
		return Basic
	}
	return t.state.Running.Quality
}

// handleContinuation handles mark A;k=s.
func (t *Tracker) handleContinuation() []Change {
	// While a command runs, a later one of several typed lines is incomplete.
	if t.state.Phase != PhasePrompt && t.state.MaxQuality == Full && t.state.Running == nil || t.state.InContinuation {
		return nil
	}
	t.state.InContinuation = true
	return []Change{{Kind: ChangeInput}}
}

// handleInput handles mark B.
func (t *Tracker) handleInput(e Event) []Change {
	switch {
	case t.state.Running == nil:
		isNewPrompt := t.state.IsDrawingPrompt // after a prompt without a command: Ctrl-C, or an empty line
		t.state.InputAt, t.state.IsDrawingPrompt = e.At, false
		if isNewPrompt || t.state.Phase != PhasePrompt {
			t.state.Quality = t.state.MaxQuality
			t.setPhase(PhasePrompt, e)
			return []Change{{Kind: ChangePrompt}}
		}
	case t.state.HasEnded:
		changes := t.finishCommand()
		if !t.state.IsDrawingPrompt { // the prompt's start is missing
			changes[0].Command.CwdAfter = ""
		}
		t.state.InputAt, t.state.IsDrawingPrompt, t.state.Quality = e.At, false, t.state.MaxQuality
		t.setPhase(PhasePrompt, e)
		return append(changes, Change{Kind: ChangePrompt})
	case t.state.MaxQuality == Full:
		if t.state.PossibleEnd == nil {
			t.state.PossibleEnd = &possibleEnd{At: e.At, Time: e.Time, Exit: clonePtr(e.Mark.Exit)}
		}
		return t.setUnknown(e)
	}
	return nil
}

// handleOutput handles mark C.
func (t *Tracker) handleOutput(e Event) []Change {
	m := &e.Mark
	if t.continuesCommand(m) {
		t.state.InContinuation, t.state.PossibleEnd = false, nil
		t.setPhase(PhaseRunning, e)
		return nil
	}
	changes := t.abandonCommand(e)
	line := pendingLine{Text: m.Text, At: e.At, Time: e.Time}
	source := TextShell
	switch typed := t.state.PendingLine; {
	case typed != nil && (m.Literal || !m.HasText || m.IsGuess || t.state.Sentinel != "" || isSameCommand(typed.Text, m.Text)): // a wrapped line has a different text
		line.Text, source = typed.Text, TextTyped
	case m.IsGuess:
		source = TextGuess
	case !m.HasText:
		source = TextNone
	}
	t.state.PendingLine = nil
	started := t.startCommand(e, line)
	t.state.Running.TextSource = source
	t.state.Running.TextCut = m.IsCut && source != TextTyped
	started[0].Command = *t.state.Running
	changes = append(changes, started...)
	if replacesShell(line.Text) {
		changes = append(changes, t.setUnknown(e)...)
	}
	return changes
}

// continuesCommand reports whether a mark belongs to a further statement of the submitted line that runs. Bash sends a
// mark for each of its statements, and no prompt between them. All statements are one command, with the submitted text.
// A line that runs the hook itself, or expands PS0, sends a mark too.
func (t *Tracker) continuesCommand(m *Mark) bool {
	r := t.state.Running
	return r != nil && !t.state.HasEnded && t.state.PendingLine == nil && r.TextSource == TextTyped &&
		(t.state.PossibleEnd == nil || strings.Contains(r.Text, "\n") && (m.Literal || m.IsGuess || !m.HasText))
}

// isSameCommand reports whether typed text equals the shell's report of its command. Bash reports "; " for line ends,
// and joins lines that end in a backslash.
func isSameCommand(typed, reported string) bool {
	squeeze := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == ';' || r == '\\' || unicode.IsSpace(r) {
				return -1
			}
			return r
		}, s)
	}
	return typed == reported || squeeze(typed) == squeeze(reported)
}

// replacesShell reports whether a line replaces the shell by another program. "exec" with redirections only does not; a
// prompt will follow.
func replacesShell(text string) bool {
	fields := strings.Fields(text)
	return len(fields) > 1 && fields[0] == "exec" && !strings.ContainsAny(fields[1][:1], "<>&0123456789{")
}

// handleDone handles mark D.
func (t *Tracker) handleDone(e Event) []Change {
	if t.state.Running == nil || t.state.HasEnded {
		return nil
	}
	t.endCommand(e, e.Mark.Exit, t.state.Running.Quality)
	t.state.PossibleEnd = nil
	if t.state.Quality != t.state.MaxQuality || t.state.Phase != PhaseRunning {
		t.state.Quality = t.state.MaxQuality
		t.setPhase(PhaseRunning, e)
	}
	return []Change{{Kind: ChangeOutputEnded, Command: *t.state.Running}}
}

// handleTyped handles a line that was typed into the shell.
func (t *Tracker) handleTyped(e Event) []Change {
	line := pendingLine{Text: e.Text, At: cmp.Or(e.TypedAt, e.At), Time: e.Time, Prompt: t.state.Prompt}
	if !t.state.IsDrawingPrompt && (t.state.Running != nil || t.state.Phase != PhasePrompt) {
		line.Prompt++
	}
	t.state.PendingLine = &line
	t.state.InContinuation = false
	if t.state.MaxQuality == Basic && t.state.Phase == PhasePrompt && t.state.Sentinel == "" { // otherwise its mark follows
		changes := t.startCommand(e, t.takePendingLine())
		if e.Text == "" {
			t.state.Running.TextSource, changes[0].Command.TextSource = TextNone, TextNone
		}
		return changes
	}
	return nil
}

// takePendingLine removes and returns the pending line.
func (t *Tracker) takePendingLine() pendingLine {
	line := *t.state.PendingLine
	t.state.PendingLine = nil
	return line
}

// startCommand starts a command with the given line.
func (t *Tracker) startCommand(e Event, line pendingLine) []Change {
	t.state.CommandCount++
	t.state.Running = &Command{
		Number: t.state.CommandCount, Text: line.Text, TextSource: TextTyped,
		Start: line.At, Began: line.Time, CwdBefore: t.state.Cwd.Path, Quality: t.state.MaxQuality,
	}
	t.state.HasEnded, t.state.PossibleEnd, t.state.InContinuation, t.state.IsDrawingPrompt, t.state.HasKeptLine = false, nil, false, false, false
	t.state.Quality = t.state.MaxQuality
	t.setPhase(PhaseRunning, e)
	return []Change{{Kind: ChangeStarted, Command: *t.state.Running}}
}

// endCommand records how the running command ended.
func (t *Tracker) endCommand(e Event, exit *int, q Quality) {
	r := t.state.Running
	r.Ended, r.Exit, r.Quality = e.Time, clonePtr(exit), q
	r.End = max(e.At-min(e.Mark.Length, e.At), r.Start)
	t.state.HasEnded = true
}

// finishCommand removes the running command and returns its record, with the directory of the prompt.
func (t *Tracker) finishCommand() []Change {
	r := *t.state.Running
	r.CwdAfter = t.state.Cwd.Path
	t.state.Running, t.state.HasEnded = nil, false
	return []Change{{Kind: ChangeFinished, Command: r}}
}

// abandonCommand ends a running command whose end no mark reported.
func (t *Tracker) abandonCommand(e Event) []Change {
	if t.state.Running == nil {
		return nil
	}
	if !t.state.HasEnded {
		var exit *int
		if d := t.state.PossibleEnd; d != nil {
			e.At, e.Time, e.Mark, exit = d.At, d.Time, Mark{}, d.Exit
		}
		t.endCommand(e, exit, t.reducedQuality())
	}
	changes := t.finishCommand()
	if !t.state.IsDrawingPrompt { // no prompt reported it
		changes[0].Command.CwdAfter = ""
	}
	return changes
}

// setUnknown sets the unknown phase: the shell may have been replaced or lost its hooks.
func (t *Tracker) setUnknown(e Event) []Change {
	t.state.Quality = None
	t.setPhase(PhaseUnknown, e)
	return []Change{{Kind: ChangePhase}}
}

// handleDropped handles dropped events.
func (t *Tracker) handleDropped(e Event) []Change {
	t.state.PendingLine, t.state.InContinuation, t.state.IsDrawingPrompt = nil, false, false
	return append(t.abandonCommand(e), t.setUnknown(e)...)
}

// handleForeground handles a change of the terminal's foreground program. An executable other than the shell's has
// replaced it. Without marks this is the only evidence.
func (t *Tracker) handleForeground(e Event) []Change {
	if e.On && e.Text != "" {
		if t.state.Executable == "" {
			t.state.Executable = e.Text
		}
		if t.state.Executable != e.Text && t.state.Phase != PhaseUnknown {
			return t.setUnknown(e)
		}
	}
	if t.state.MaxQuality != None {
		return nil
	}
	phase := PhaseRunning
	if e.On && t.state.Running == nil {
		phase = PhaseUnknown
	}
	if phase == t.state.Phase {
		return nil
	}
	t.setPhase(phase, e)
	return []Change{{Kind: ChangePhase}}
}

// handleExit handles the end of the shell's process.
func (t *Tracker) handleExit(e Event) []Change {
	var changes []Change
	if t.state.Running != nil {
		if !t.state.HasEnded {
			t.endCommand(e, e.Exit, t.reducedQuality())
		}
		changes = t.finishCommand()
		changes[0].Command.CwdAfter = ""
	}
	t.state.PendingLine = nil
	t.setPhase(PhaseEnded, e)
	return append(changes, Change{Kind: ChangePhase})
}

// handleSentinel handles the marks of a wrapped line (Wrap). The token is valid for one line.
func (t *Tracker) handleSentinel(e Event) []Change {
	switch e.Mark.Kind {
	case MarkOutput:
		if r := t.state.Running; r != nil && !t.state.HasEnded && r.TextSource == TextTyped { // the shell has marked the wrapped line as its own
			r.Start, r.Began, r.Quality = e.At, e.Time, Basic
			return nil
		}
		changes := t.handleOutput(e)
		t.state.Running.Quality = Basic
		return changes
	case MarkDone:
		t.state.Sentinel = ""
		if t.state.Running == nil {
			return nil
		}
		t.endCommand(e, e.Mark.Exit, Basic)
		done := Change{Kind: ChangeOutputEnded, Command: *t.state.Running}
		if t.state.MaxQuality != None { // the prompt that follows reports the directory and the environment
			return []Change{done}
		}
		changes := append([]Change{done}, t.finishCommand()...)
		t.state.Quality = t.state.MaxQuality
		t.setPhase(PhaseUnknown, e)
		return append(changes, Change{Kind: ChangePhase})
	}
	return nil
}

// setPhase sets the phase and the time of its change.
func (t *Tracker) setPhase(p Phase, e Event) {
	if t.state.Phase != p {
		t.state.Phase, t.state.Since = p, e.Time
	}
}
