package respond

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
)

// Engine watches a session and answers it. Its methods take an event each and return
// what to do now, in order; the slice is theirs until the next call. Times must not go
// back. Events must come in the order things happened: what was typed is told before
// the output that was read afterwards.
type Engine struct {
	set     *compiled
	now     time.Time
	began   time.Time
	out     []Action
	done    bool
	exited  bool // the program ended
	text    *text
	match   matcher
	veil    Veil // nil: there are no secrets
	echo    EchoState
	echoes  echo.Finder
	redraws redraws
	screen  screens
	cols    int
	uses    []use
	turn    int // index of the rule waited for, if Ordered
	firings int
	queue   []job
	// dirty is set while the unfinished line changed since it was matched.
	dirty    bool
	changed  time.Time // when it first did
	lastRead time.Time // when it last did
	replay   uint64    // of a restored engine: output up to here was taken before
	skipping bool
}

// use is what became of a rule so far.
type use struct {
	Count int       `json:"count"`
	Last  time.Time `json:"last"`
	Since time.Time `json:"since"`           // waited for
	Awake bool      `json:"awake,omitempty"` // cooled down, and looked again since
	Over  bool      `json:"over,omitempty"`  // ended by a failure
}

// maxUnsettled is how many times Set.Settle an unfinished line that keeps changing may
// go unmatched.
const maxUnsettled = 10

// New makes an engine for a session whose output it sees from its first Output on.
func New(set Set) (*Engine, error) {
	c, err := compile(set)
	if err != nil {
		return nil, err
	}
	e := &Engine{set: c, uses: make([]use, len(c.rules)), echo: EchoOn}
	e.match.next = make([][]int, len(c.rules))
	return e, nil
}

// Output takes what the program wrote. What was taken before is skipped.
func (e *Engine) Output(now time.Time, off uint64, data []byte) []Action {
	e.advance(now)
	data = e.seek(off, data)
	for len(data) > 0 && !e.done {
		n := min(len(data), writeBytes)
		e.text.write(data[:n], e.completed)
		data = data[n:]
		if !e.behind(1) && e.text.unfinished() {
			e.touch(now)
		}
	}
	return e.pump()
}

// touch notes that the unfinished line changed.
func (e *Engine) touch(now time.Time) {
	if !e.dirty {
		e.dirty, e.changed = true, now
	}
	e.lastRead = now
}

// behind reports whether less than n bytes came since a restored engine has again what
// it had when its state was taken.
func (e *Engine) behind(n uint64) bool {
	return e.replay > 0 && e.text.end < e.replay+n
}

// writeBytes bounds what is taken at one go, and with it the memory for its lines.
const writeBytes = 32 << 10

// seek makes the text begin or go on at off, and returns what of data is new.
func (e *Engine) seek(off uint64, data []byte) []byte {
	switch {
	case e.text == nil:
		e.text = newText(off)
	case off > e.text.end: // output is missing: whatever line that was, it is gone
		number := e.text.number
		e.text = newText(off)
		e.text.number = number + 1
		e.redraws.newline()
	case off < e.text.end:
		data = data[min(e.text.end-off, uint64(len(data))):]
	}
	return data
}

// completed matches a complete line, or a window of a long one.
func (e *Engine) completed(w *window, m move) int {
	if e.done {
		return 0
	}
	e.redraws.move(m)
	e.hide(w)
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

// settle matches the unfinished line.
func (e *Engine) settle() {
	e.dirty = false
	if e.text == nil {
		return
	}
	e.redraws.move(e.text.moves.before(e.text.end))
	w := e.text.current()
	e.hide(&w)
	if read := e.matchWindow(&w); read > w.from {
		e.text.answered(w.text, read)
	}
}

// settleAt is when the unfinished line will be matched.
func (e *Engine) settleAt() time.Time {
	at := e.lastRead.Add(e.set.Settle)
	if most := e.changed.Add(maxUnsettled * e.set.Settle); most.Before(at) {
		return most
	}
	return at
}

// Input is something that was typed.
type Input struct {
	Data []byte
	// Reply is set if an action of the engine typed it. Otherwise, if it has an Enter,
	// what stood there was answered.
	Reply bool
	// Secret is set if it must not be written down.
	Secret bool
}

// Typed takes note of what was typed.
func (e *Engine) Typed(now time.Time, in Input) []Action {
	e.advance(now)
	if e.text == nil {
		e.text = newText(0)
	}
	w := e.text.current()
	if e.echo != EchoOff {
		e.echoes.Follow(w.text)
		e.echoes.Type(in.Data, e.echo.shown(), len(w.text), w.number, e.text.end, in.Secret)
		e.screen.echo.typed(in, e.echo, e.screen.last)
	}
	if !in.Reply && hasEnter(in.Data) {
		e.text.answered(w.text, len(w.text))
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

// Echo takes note of who shows what is typed from now on.
func (e *Engine) Echo(now time.Time, s EchoState) []Action {
	e.advance(now)
	e.echo = s
	return e.pump()
}

// Tick takes note of the time.
func (e *Engine) Tick(now time.Time) []Action {
	e.advance(now)
	return e.pump()
}

// Exit takes note of the program's end. Nothing is answered from then on.
func (e *Engine) Exit(now time.Time) []Action {
	e.advance(now)
	e.done, e.exited, e.queue = true, true, nil
	return e.pump()
}

// Done reports whether it is over: the program ended, or failures ended all rules.
func (e *Engine) Done() bool { return e.done }

// Uses is how many times a rule has fired.
func (e *Engine) Uses(rule int) int { return e.uses[rule].Count }

// advance begins an event: everything that was due before it happens first.
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
	if e.dirty && !e.behind(0) && !e.now.Before(e.settleAt()) {
		e.settle()
	}
	e.timeOut()
}

// fail ends the rules of a rule's list, or with -1 everything.
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
