package respond

import (
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
)

// Expecter reads a session's output as a script does: it is asked again and again for
// the next place where one of some patterns matches. What lies before the end of a
// match is read, and never matches again; neither does the echo of what was typed, nor
// a prompt that was found and is only drawn again. Like the Engine it is a machine
// without clock or I/O, and takes the same events.
type Expecter struct {
	now      time.Time
	settle   time.Duration
	text     *text
	echo     EchoState
	echoes   echo.Finder
	redraws  redraws
	lines    []unread // complete lines, or windows of them, with something to read
	looked   int      // how many of them the patterns last looked for are not in
	sought   Patterns // those patterns
	bytes    int      // in them
	dropped  bool
	dirty    bool // the unfinished line changed since the last pause
	changed  time.Time
	lastRead time.Time
	cols     int
}

// unread is a window that is kept until it is read.
type unread struct {
	window
	masked []echo.Span
	move   move
	passed bool // its end was made known
}

// maxUnread is how much complete output is kept for patterns to come; older output is
// let go.
const maxUnread = 4 << 20

// NewExpecter makes one for a session whose output it sees from its first Output on.
// settle is as in Set; 0: the default.
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

// Patterns are ready to be looked for.
type Patterns []*pattern

// Compile makes patterns ready.
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

// Size tells how wide the screen is.
func (x *Expecter) Size(cols int) { x.cols = cols }

// Output takes what the program wrote. What was taken before is skipped.
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
		if !x.text.unfinished() {
			continue
		}
		if !x.dirty {
			x.dirty, x.changed = true, now
		}
		x.lastRead = now
	}
}

// keep keeps a complete line. Of one that was found in before, the rest.
func (x *Expecter) keep(w *window, m move) int {
	x.dirty = x.dirty && !w.complete
	u := unread{window: *w, move: m, masked: x.mask(w)}
	u.text = append([]byte(nil), w.text...)
	x.lines = append(x.lines, u)
	for x.bytes += len(u.text); x.bytes > maxUnread; {
		x.dropped = x.dropped || x.looked == 0
		x.pop(1)
	}
	return w.from
}

// pop lets go of the oldest lines.
func (x *Expecter) pop(n int) {
	for i := range x.lines[:n] {
		x.bytes -= len(x.lines[i].text)
	}
	x.lines = x.lines[n:]
	x.looked = max(0, x.looked-n)
}

func (x *Expecter) mask(w *window) []echo.Span {
	if !x.echoes.Pending() {
		return nil
	}
	return x.echoes.Mask(w.line(x.cols, x.echo))
}

// Typed takes note of what was typed.
func (x *Expecter) Typed(in Input) {
	if x.text == nil {
		x.text = newText(0)
	}
	if x.echo == EchoOff {
		return
	}
	w := x.text.current()
	x.echoes.Follow(w.text)
	x.echoes.Type(in.Data, x.echo.shown(), len(w.text), w.number, x.text.end, in.Secret)
}

// Echo takes note of who shows what is typed from now on.
func (x *Expecter) Echo(s EchoState) { x.echo = s }

// Skip makes everything that was printed so far read.
func (x *Expecter) Skip() {
	x.lines, x.bytes, x.looked = nil, 0, 0
	if x.text != nil {
		w := x.text.current()
		x.text.answered(w.text, len(w.text))
	}
}

// Dropped reports whether output was let go unread, and forgets it.
func (x *Expecter) Dropped() bool {
	d := x.dropped
	x.dropped = false
	return d
}

// Next is when Find may find more without more output: when a pause has lasted long
// enough for the unfinished line to count.
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

// Find looks for the first match, and reads up to its end. What has none stays unread: other
// patterns may be looked for in it. final is set when no output will follow.
func (x *Expecter) Find(now time.Time, ps Patterns, final bool) (Found, bool) {
	if !slices.Equal(ps, x.sought) {
		x.sought, x.looked = ps, 0
	}
	for ; x.looked < len(x.lines); x.looked++ {
		u := &x.lines[x.looked]
		x.redraws.move(u.move)
		u.move = move{}
		if f, end, ok := x.findIn(&u.window, u.masked, ps); ok {
			x.pop(x.looked)
			x.looked, x.lines[0].from = 0, end
			x.passOn(&x.lines[0], end)
			return f, true
		}
		if u.complete && !u.passed {
			u.passed = true
			x.redraws.newline()
		}
	}
	f, ok := x.findCurrent(now, ps, final)
	if ok { // what came before it is read with it
		x.pop(len(x.lines))
	}
	return f, ok
}

// passOn tells the window after one that is a piece of a longer line how much of what
// they have in common was read.
func (x *Expecter) passOn(u *unread, end int) {
	read := end - max(len(u.text)-carryBytes, 0)
	switch {
	case u.complete || read <= 0:
	case len(x.lines) > 1:
		x.lines[1].from = max(x.lines[1].from, read)
	case x.text.number == u.number && read <= len(x.text.carry):
		x.text.answered(x.text.carry, max(read, len(x.text.read)))
	}
}

// findCurrent looks at the unfinished line, if output pauses.
func (x *Expecter) findCurrent(now time.Time, ps Patterns, final bool) (Found, bool) {
	at, waits := x.Next()
	if x.text == nil || waits && now.Before(at) && !final {
		return Found{}, false
	}
	x.dirty = false
	x.redraws.move(x.text.moves.before(x.text.end))
	w := x.text.current()
	f, end, ok := x.findIn(&w, x.mask(&w), ps)
	if ok {
		x.text.answered(w.text, end)
	}
	return f, ok
}

// findIn looks at a window.
func (x *Expecter) findIn(w *window, masked []echo.Span, ps Patterns) (found Found, end int, ok bool) {
	eachGap(masked, w.from, len(w.text), func(from, to int) {
		for at := from; !ok && at < to; {
			i, loc := first(ps, w.text[at:to], w.ends(at, to))
			if loc == nil {
				return
			}
			text := w.text[at:to]
			at += loc[1]
			match := string(text[loc[0]:loc[1]])
			if x.redraws.again(0, match) {
				continue
			}
			x.redraws.add(0, match)
			found, end, ok = ps[i].found(i, text, loc), at, true
		}
	})
	return found, end, ok
}

// ends are the ends of its line that text[from:to] has.
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

// first is the first match of any pattern, and of those at the same place the first
// in the list.
func first(ps Patterns, text []byte, ends int) (index int, loc []int) {
	for i, p := range ps {
		if l := p.find(text, ends); l != nil && (loc == nil || l[0] < loc[0]) {
			index, loc = i, l
		}
	}
	return index, loc
}

func (p *pattern) found(i int, text []byte, loc []int) Found {
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
