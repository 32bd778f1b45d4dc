package respond

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// Engine watches a session and answers its prompts. Each method processes an event and returns the actions to perform,
// in order; the slice is valid until the next call. Times must not decrease. Events must come in their real order:
// HandleInput before the output that was read after it.
type Engine struct {
	set          *compiledSet
	now          time.Time // time of the newest event
	started      time.Time // time of the first event
	actions      []Action  // actions of the current event
	done         bool      // the program ended, or failures ended all rules
	exited       bool      // the program ended
	text         *lineText
	matchBuffers matchBuffers
	redactor     Redactor // nil if no secrets are known
	echo         EchoState
	echoes       echodetect.Finder
	redraws      redrawTracker
	screen       screenState
	cols         int         // width of the screen
	ruleStates   []ruleState // by rule
	nextOrdered  int         // index of the active rule, if Set.Ordered
	matches      int         // counted against Set.MaxMatches
	queue        []replyQueue
	// dirty is set while the unfinished line has changed since it was last matched.
	dirty       bool
	firstChange time.Time // time of the first such change
	lastChange  time.Time // time of the last such change
	// restoredEnd is the end of the output that a restored engine had processed before. Output before it is replayed.
	restoredEnd uint64
	skipMatches bool // set during Skip
}

// ruleState counts the matches of a rule.
type ruleState struct {
	Matches                int       `json:"count"`
	LastMatch              time.Time `json:"last"`
	WaitingSince           time.Time `json:"since"`           // when the rule became active; Rule.Timeout counts from it
	RecheckedAfterCoolDown bool      `json:"awake,omitempty"` // the prompt was matched again after the last cooldown
	Ended                  bool      `json:"over,omitempty"`  // by a failure of its list
}

// maxSettleDelays bounds how long an unfinished line that keeps changing stays unmatched, in units of Set.Settle.
const maxSettleDelays = 10

// New returns an engine for a session whose output it sees from its first Output on.
func New(set Set) (*Engine, error) {
	c, err := compile(set)
	if err != nil {
		return nil, err
	}
	e := &Engine{set: c, ruleStates: make([]ruleState, len(c.rules)), echo: EchoOn}
	e.matchBuffers.nextMatch = make([][]int, len(c.rules))
	return e, nil
}

// Output processes output of the program. It skips output that was processed before.
func (e *Engine) Output(now time.Time, off uint64, data []byte) []Action {
	e.advance(now)
	data = e.trimProcessed(off, data)
	for len(data) > 0 && !e.done {
		n := min(len(data), maxChunkBytes)
		e.text.write(data[:n], e.matchComplete)
		data = data[n:]
		if !e.isReplaying(1) && e.text.isUnfinished() {
			e.noteUnfinishedChange(now)
		}
	}
	return e.runReplies()
}

// noteUnfinishedChange records that the unfinished line changed, which restarts the settle delay.
func (e *Engine) noteUnfinishedChange(now time.Time) {
	if !e.dirty {
		e.dirty, e.firstChange = true, now
	}
	e.lastChange = now
}

// isReplaying reports whether a restored engine still lacks output that it had processed before, apart from n bytes
// more.
func (e *Engine) isReplaying(n uint64) bool {
	return e.restoredEnd > 0 && e.text.end < e.restoredEnd+n
}

// maxChunkBytes bounds the output processed at once, and so the memory for its lines.
const maxChunkBytes = 32 << 10

// trimProcessed returns the part of data that was not processed before. If output before off is missing, it starts a
// new line.
func (e *Engine) trimProcessed(off uint64, data []byte) []byte {
	switch {
	case e.text == nil:
		e.text = newLineText(off)
	case off > e.text.end: // output is missing, including the rest of the line
		number := e.text.lineNumber
		e.text = newLineText(off)
		e.text.lineNumber = number + 1
		e.redraws.endLine()
	case off < e.text.end:
		data = data[min(e.text.end-off, uint64(len(data))):]
	}
	return data
}

// matchComplete matches a complete line, or a window of a long line. It returns the answered length of the window.
func (e *Engine) matchComplete(w *window, m cursorMove) int {
	if e.done {
		return 0
	}
	e.redraws.moveCursor(m)
	e.redact(w)
	read := len(w.text)
	if !e.skipMatches {
		read = e.matchWindow(w)
	} else if e.echoes.HasPending() {
		e.echoes.EchoSpans(w.echoLine(e.cols, e.echo))
	}
	if w.isComplete {
		e.redraws.endLine()
		e.dirty = false
	}
	return read
}

// matchUnfinishedLine matches the unfinished line.
func (e *Engine) matchUnfinishedLine() {
	e.dirty = false
	if e.text == nil {
		return
	}
	e.redraws.moveCursor(e.text.moves.takeBefore(e.text.end))
	w := e.text.unfinished()
	e.redact(&w)
	if read := e.matchWindow(&w); read > w.unread {
		e.text.markAnswered(w.text, read)
	}
}

// settleTime returns when the unfinished line will be matched without further output.
func (e *Engine) settleTime() time.Time {
	at := e.lastChange.Add(e.set.Settle)
	if most := e.firstChange.Add(maxSettleDelays * e.set.Settle); most.Before(at) {
		return most
	}
	return at
}

// Input is input written to the program.
type Input struct {
	Data []byte
	// Reply is set for input of an engine's action. Other input that contains Enter answers the current prompt.
	Reply bool
	// Secret is set if the data must not be stored.
	Secret bool
}

// HandleInput processes input, whose echo must not match.
func (e *Engine) HandleInput(now time.Time, in Input) []Action {
	e.advance(now)
	if e.text == nil {
		e.text = newLineText(0)
	}
	w := e.text.unfinished()
	if e.echo != EchoOff {
		e.echoes.SplitIfInterrupted(w.text)
		e.echoes.RecordTyped(in.Data, e.echo.echoSides(), len(w.text), w.number, e.text.end, in.Secret)
		e.screen.echo.recordTyped(in, e.echo, e.screen.last)
	}
	if !in.Reply && hasEnter(in.Data) {
		e.text.markAnswered(w.text, len(w.text))
	}
	return e.runReplies()
}

// hasEnter reports whether p contains a CR or LF.
func hasEnter(p []byte) bool {
	for _, b := range p {
		if b == '\r' || b == '\n' {
			return true
		}
	}
	return false
}

// SetEcho sets the side that echoes input from now on.
func (e *Engine) SetEcho(now time.Time, s EchoState) []Action {
	e.advance(now)
	e.echo = s
	return e.runReplies()
}

// Tick processes expired timers. Call it at the time that Next returned.
func (e *Engine) Tick(now time.Time) []Action {
	e.advance(now)
	return e.runReplies()
}

// Exit processes the program's end. No prompt is answered after it.
func (e *Engine) Exit(now time.Time) []Action {
	e.advance(now)
	e.done, e.exited, e.queue = true, true, nil
	return e.runReplies()
}

// Done reports whether the engine has finished: the program ended, or failures ended all rules.
func (e *Engine) Done() bool { return e.done }

// MatchCount returns how many times a rule has matched.
func (e *Engine) MatchCount(rule int) int { return e.ruleStates[rule].Matches }

// advance starts an event: it sets the clock and handles everything that was due before.
func (e *Engine) advance(now time.Time) {
	e.actions = e.actions[:0]
	if e.started.IsZero() {
		e.started = now
		for i := range e.ruleStates {
			e.ruleStates[i].WaitingSince = now
		}
	}
	if now.After(e.now) {
		e.now = now
	}
	if e.done {
		return
	}
	if e.dirty && !e.isReplaying(0) && !e.now.Before(e.settleTime()) {
		e.matchUnfinishedLine()
	}
	e.expireTimers()
}

// failList ends the rules of a rule's list, or all rules for -1.
func (e *Engine) failList(rule int, reason string) {
	if e.done {
		return
	}
	e.actions = append(e.actions, Action{Kind: ActFail, Rule: rule, Value: reason})
	if rule < 0 {
		e.done, e.queue = true, nil
		return
	}
	e.done = true
	for i := range e.ruleStates {
		u := &e.ruleStates[i]
		u.Ended = u.Ended || e.set.rules[i].List == e.set.rules[rule].List
		e.done = e.done && u.Ended
	}
	e.queue = slices.DeleteFunc(e.queue, func(j replyQueue) bool { return e.ruleStates[j.Rule].Ended })
}

// Exited reports whether the program ended.
func (e *Engine) Exited() bool { return e.exited }
