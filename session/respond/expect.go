package respond

import (
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// Expecter reads a session's output for a script, which repeatedly requests the next match of some patterns. Text
// before the end of a match is read and never matches again. Neither do the echo of input and a found prompt that is
// only redrawn. Like the Engine it is a machine without clock or I/O, and processes the same events.
type Expecter struct {
	now        time.Time
	settle     time.Duration
	text       *text
	echo       EchoState
	echoes     echodetect.Finder
	redraws    redraws
	lines      []unread // complete lines, or windows of them, with something to read
	searchedTo int      // how many of them the patterns last looked for are not in
	sought     Patterns // those patterns
	bytes      int      // in them
	dropped    bool
	dirty      bool // the unfinished line changed since the last pause
	changed    time.Time
	lastRead   time.Time
	cols       int
}

// unread is a window that is kept until it is read.
type unread struct {
	window
	masked []echodetect.Span
	move   move
	passed bool // its end was made known
}

// maxUnread bounds the complete output that is kept for later patterns; older output is dropped.
const maxUnread = 4 << 20

// NewExpecter returns an Expecter for a session whose output it sees from its first Output on. settle is as in Set; 0
// selects the default.
func NewExpecter(settle time.Duration) *Expecter {
	if settle <= 0 {
		settle = defaultSettle
	}
	return &Expecter{settle: settle, echo: EchoOn}
}

// Pattern is a text, or a regular expression if Text is empty.
type Pattern struct {
	Text   string `json:"text,omitempty"`
	Regexp string `json:"regexp,omitempty"`
}

// Patterns are compiled patterns.
type Patterns []*pattern

// Compile compiles patterns.
func Compile(list ...Pattern) (Patterns, error) {
	var ps Patterns
	for i, p := range list {
		c, err := newPattern(p.Text, p.Regexp)
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		ps = append(ps, c)
	}
	return ps, nil
}

// Found is a match.
type Found struct {
	Pattern int // index in the patterns
	Text    string
	Groups  []string          // by number, Groups[0] being Text
	Names   map[string]string // by name
}

// Size sets the width of the screen.
func (x *Expecter) Size(cols int) { x.cols = cols }

// Output processes output of the program. It skips output that was processed before.
func (x *Expecter) Output(now time.Time, off uint64, data []byte) {
	x.now = now
	switch {
	case x.text == nil:
		x.text = newText(off)
	case off > x.text.end: // output is missing
		number := x.text.number
		x.text = newText(off)
		x.text.number = number + 1
	default:
		data = data[min(x.text.end-off, uint64(len(data))):]
	}
	for len(data) > 0 {
		n := min(len(data), writeBytes)
		x.text.write(data[:n], x.keep)
		data = data[n:]
		if !x.text.isUnfinished() {
			continue
		}
		if !x.dirty {
			x.dirty, x.changed = true, now
		}
		x.lastRead = now
	}
}

// keep keeps a complete line, or its unread part.
func (x *Expecter) keep(w *window, m move) int {
	x.dirty = x.dirty && !w.complete
	u := unread{window: *w, move: m, masked: x.mask(w)}
	u.text = append([]byte(nil), w.text...)
	x.lines = append(x.lines, u)
	for x.bytes += len(u.text); x.bytes > maxUnread; {
		x.dropped = x.dropped || x.searchedTo == 0
		x.pop(1)
	}
	return w.from
}

// pop drops the oldest lines.
func (x *Expecter) pop(n int) {
	for i := range x.lines[:n] {
		x.bytes -= len(x.lines[i].text)
	}
	x.lines = x.lines[n:]
	x.searchedTo = max(0, x.searchedTo-n)
}

func (x *Expecter) mask(w *window) []echodetect.Span {
	if !x.echoes.Pending() {
		return nil
	}
	return x.echoes.Mask(w.line(x.cols, x.echo))
}

// HandleInput processes input.
func (x *Expecter) HandleInput(in Input) {
	if x.text == nil {
		x.text = newText(0)
	}
	if x.echo == EchoOff {
		return
	}
	w := x.text.current()
	x.echoes.Follow(w.text)
	x.echoes.RecordTyped(in.Data, x.echo.echoSides(), len(w.text), w.number, x.text.end, in.Secret)
}

// Echo sets the side that shows input from now on.
func (x *Expecter) Echo(s EchoState) { x.echo = s }

// Skip marks all output so far as read.
func (x *Expecter) Skip() {
	x.lines, x.bytes, x.searchedTo = nil, 0, 0
	if x.text != nil {
		w := x.text.current()
		x.text.markAnswered(w.text, len(w.text))
	}
}

// TakeDropped reports whether unread output was dropped since the last call.
func (x *Expecter) TakeDropped() bool {
	d := x.dropped
	x.dropped = false
	return d
}

// Next returns when Find may find more without more output: after a pause that makes the unfinished line count.
func (x *Expecter) Next() (at time.Time, ok bool) {
	if !x.dirty {
		return time.Time{}, false
	}
	at = x.lastRead.Add(x.settle)
	if most := x.changed.Add(maxUnsettled * x.settle); most.Before(at) {
		at = most
	}
	return at, true
}

// Find searches the first match, and reads up to its end. Without a match the text stays unread, for other patterns.
// final is set if no output will follow.
func (x *Expecter) Find(now time.Time, ps Patterns, final bool) (Found, bool) {
	if !slices.Equal(ps, x.sought) {
		x.sought, x.searchedTo = ps, 0
	}
	for ; x.searchedTo < len(x.lines); x.searchedTo++ {
		u := &x.lines[x.searchedTo]
		x.redraws.move(u.move)
		u.move = move{}
		if f, end, ok := x.findIn(&u.window, u.masked, ps); ok {
			x.pop(x.searchedTo)
			x.searchedTo, x.lines[0].from = 0, end
			x.passOn(&x.lines[0], end)
			return f, true
		}
		if u.complete && !u.passed {
			u.passed = true
			x.redraws.newline()
		}
	}
	f, ok := x.findCurrent(now, ps, final)
	if ok { // the text before it is read with it
		x.pop(len(x.lines))
	}
	return f, ok
}

// passOn updates the window after one that is a piece of a longer line: it records how much of their common text was
// read.
func (x *Expecter) passOn(u *unread, end int) {
	read := end - max(len(u.text)-carryBytes, 0)
	switch {
	case u.complete || read <= 0:
	case len(x.lines) > 1:
		x.lines[1].from = max(x.lines[1].from, read)
	case x.text.number == u.number && read <= len(x.text.carry):
		x.text.markAnswered(x.text.carry, max(read, len(x.text.read)))
	}
}

// findCurrent searches the unfinished line, if output pauses.
func (x *Expecter) findCurrent(now time.Time, ps Patterns, final bool) (Found, bool) {
	at, waits := x.Next()
	if x.text == nil || waits && now.Before(at) && !final {
		return Found{}, false
	}
	x.dirty = false
	x.redraws.move(x.text.moves.takeBefore(x.text.end))
	w := x.text.current()
	f, end, ok := x.findIn(&w, x.mask(&w), ps)
	if ok {
		x.text.markAnswered(w.text, end)
	}
	return f, ok
}

// findIn searches a window.
func (x *Expecter) findIn(w *window, masked []echodetect.Span, ps Patterns) (found Found, end int, ok bool) {
	eachGap(masked, w.from, len(w.text), func(from, to int) {
		for at := from; !ok && at < to; {
			i, loc := first(ps, w.text[at:to], w.ends(at, to))
			if loc == nil {
				return
			}
			text := w.text[at:to]
			at += loc[1]
			match := string(text[loc[0]:loc[1]])
			if x.redraws.isRedrawn(0, match) {
				continue
			}
			x.redraws.add(0, match)
			found, end, ok = ps[i].newFound(i, text, loc), at, true
		}
	})
	return found, end, ok
}

// ends returns which ends of its line text[from:to] has.
func (w *window) ends(from, to int) int {
	ends := 0
	if from == 0 && w.first {
		ends |= atStart
	}
	if to == len(w.text) && w.last {
		ends |= atEnd
	}
	return ends
}

// first returns the first match of any pattern, and among those at the same place the first in the list.
func first(ps Patterns, text []byte, ends int) (index int, loc []int) {
	for i, p := range ps {
		if l := p.find(text, ends); l != nil && (loc == nil || l[0] < loc[0]) {
			index, loc = i, l
		}
	}
	return index, loc
}

func (p *pattern) newFound(i int, text []byte, loc []int) Found {
	f := Found{Pattern: i, Text: string(text[loc[0]:loc[1]])}
	for g := 0; g < len(loc); g += 2 {
		s := ""
		if loc[g] >= 0 {
			s = string(text[loc[g]:loc[g+1]])
		}
		f.Groups = append(f.Groups, s)
		if name := p.names[g/2]; name != "" {
			if f.Names == nil {
				f.Names = make(map[string]string)
			}
			f.Names[name] = s
		}
	}
	return f
}
