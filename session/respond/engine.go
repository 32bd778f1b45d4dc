package respond

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// Engine watches a session and answers its prompts. Each method processes an event and returns the actions to perform,
// in order; the slice is valid until the next call. Times must not decrease. Events must come in their real order:
// Typed before the output that was read after it.
type Engine struct {
	set      *compiled
	now      time.Time
	began    time.Time
	out      []Action
	done     bool
	exited   bool // the program ended
	text     *text
	match    matcher
	redactor Redactor // nil if no secrets are known
	echo     EchoState
	echoes   echodetect.Finder
	redraws  redraws
	screen   screens
	cols     int
	uses     []use
	turn     int // index of the rule waited for, if Ordered
	firings  int
	queue    []job
	// dirty is set while the unfinished line changed since it was matched.
	dirty    bool
	changed  time.Time // when it first did
	lastRead time.Time // when it last did
	replay   uint64    // of a restored engine: output up to here was taken before
	skipping bool
}

// use is the state of a rule.
type use struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
	Since time.Time `json:"since"`           // waited for
	Awake bool      `json:"awake,omitempty"` // cooled down, and looked again since
	Over  bool      `json:"over,omitempty"`  // ended by a failure
}

// maxUnsettled is how many times Set.Settle an unfinished line may stay unmatched while it keeps changing.
const maxUnsettled = 10

// New returns an engine for a session whose output it sees from its first Output on.
func New(set Set) (*Engine, error) {
	c, err := compile(set)
	if err != nil {
		return nil, err
	}
	e := &Engine{set: c, uses: make([]use, len(c.rules)), echo: EchoOn}
	e.match.next = make([][]int, len(c.rules))
	return e, nil
}

// Output processes output of the program. It skips output that was processed before.
func (e *Engine) Output(now time.Time, off uint64, data []byte) []Action {
	e.advance(now)
	data = e.seek(off, data)
	for len(data) > 0 && !e.done {
		n := min(len(data), writeBytes)
		e.text.write(data[:n], e.matchComplete)
		data = data[n:]
		if !e.isBehind(1) && e.text.isUnfinished() {
			e.touch(now)
		}
	}
	return e.pump()
}

// touch records a change of the unfinished line.
func (e *Engine) touch(now time.Time) {
	if !e.dirty {
		e.dirty, e.changed = true, now
	}
	e.lastRead = now
}

// isBehind reports whether a restored engine still lacks output that its state included, except for n bytes.
func (e *Engine) isBehind(n uint64) bool {
	return e.replay > 0 && e.text.end < e.replay+n
}

// writeBytes bounds the output processed at once, and so the memory for its lines.
const writeBytes = 32 << 10

// seek continues the text at off, and returns the new part of data.
func (e *Engine) seek(off uint64, data []byte) []byte {
	switch {
	case e.text == nil:
		e.text = newText(off)
	case off > e.text.end: // output is missing, and with it the rest of the line
		number := e.text.number
		e.text = newText(off)
		e.text.number = number + 1
		e.redraws.newline()
	case off < e.text.end:
		data = data[min(e.text.end-off, uint64(len(data))):]
	}
	return data
}

// matchComplete matches a complete line, or a window of a long one.
func (e *Engine) matchComplete(w *window, m move) int {
	if e.done {
		return 0
	}
	e.redraws.move(m)
	e.redact(w)
	read := len(w.text)
	if !e.skipping {
		read = e.matchWindow(w)
	} else if e.echoes.Pending() {
		e.echoes.Mask(w.line(e.cols, e.echo))
	}
	if w.complete {
		e.redraws.newline()
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
	e.redraws.move(e.text.moves.takeBefore(e.text.end))
	w := e.text.current()
	e.redact(&w)
	if read := e.matchWindow(&w); read > w.from {
		e.text.markAnswered(w.text, read)
	}
}

// settleAt returns when the unfinished line will be matched.
func (e *Engine) settleAt() time.Time {
	at := e.lastRead.Add(e.set.Settle)
	if most := e.changed.Add(maxUnsettled * e.set.Settle); most.Before(at) {
		return most
	}
	return at
}

// Input is typed input.
type Input struct {
	Data []byte
	// Reply is set for input of an action of the engine. Other input with an Enter answers the current prompt.
	Reply bool
	// Secret is set if it must not be stored.
	Secret bool
}

// HandleInput processes input.
func (e *Engine) HandleInput(now time.Time, in Input) []Action {
	e.advance(now)
	if e.text == nil {
		e.text = newText(0)
	}
	w := e.text.current()
	if e.echo != EchoOff {
		e.echoes.Follow(w.text)
		e.echoes.RecordTyped(in.Data, e.echo.echoSides(), len(w.text), w.number, e.text.end, in.Secret)
		e.screen.echo.noteTyped(in, e.echo, e.screen.last)
	}
	if !in.Reply && hasEnter(in.Data) {
		e.text.markAnswered(w.text, len(w.text))
	}
	return e.pump()
}

func hasEnter(p []byte) bool {
	for _, b := range p {
		if b == '\r' || b == '\n' {
			return true
		}
	}
	return false
}

// Echo sets the side that shows input from now on.
func (e *Engine) Echo(now time.Time, s EchoState) []Action {
	e.advance(now)
	e.echo = s
	return e.pump()
}

// Tick processes the time.
func (e *Engine) Tick(now time.Time) []Action {
	e.advance(now)
	return e.pump()
}

// Exit processes the program's end. No prompt is answered after it.
func (e *Engine) Exit(now time.Time) []Action {
	e.advance(now)
	e.done, e.exited, e.queue = true, true, nil
	return e.pump()
}

// Done reports whether the engine has finished: the program ended, or failures ended all rules.
func (e *Engine) Done() bool { return e.done }

// Uses returns how many times a rule has fired.
func (e *Engine) Uses(rule int) int { return e.uses[rule].Count }

// advance starts an event: first it handles everything that was due before.
func (e *Engine) advance(now time.Time) {
	e.out = e.out[:0]
	if e.began.IsZero() {
		e.began = now
		for i := range e.uses {
			e.uses[i].Since = now
		}
	}
	if now.After(e.now) {
		e.now = now
	}
	if e.done {
		return
	}
	if e.dirty && !e.isBehind(0) && !e.now.Before(e.settleAt()) {
		e.matchUnfinishedLine()
	}
	e.timeOut()
}

// fail ends the rules of a rule's list, or all rules for -1.
func (e *Engine) fail(rule int, reason string) {
	if e.done {
		return
	}
	e.out = append(e.out, Action{Kind: ActFail, Rule: rule, Value: reason})
	if rule < 0 {
		e.done, e.queue = true, nil
		return
	}
	e.done = true
	for i := range e.uses {
		u := &e.uses[i]
		u.Over = u.Over || e.set.rules[i].List == e.set.rules[rule].List
		e.done = e.done && u.Over
	}
	e.queue = slices.DeleteFunc(e.queue, func(j job) bool { return e.uses[j.Rule].Over })
}

// Exited reports whether the program ended.
func (e *Engine) Exited() bool { return e.exited }
