package respond

import (
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
)

// Expecter searches a session's output for a script, which repeatedly requests the next match of some patterns. Text
// before the end of a match is read and never matches again. Neither do the echo of input and a matched prompt that is
// only redrawn. Like the Engine it has no clock and does no I/O, and processes the same events.
type Expecter struct {
	now          time.Time
	settle       time.Duration // pause after which the unfinished line is matched
	text         *lineText
	echo         EchoState
	echoes       echodetect.Finder
	redraws      redrawTracker
	lines        []unreadLine // unread complete lines, or windows of them
	searchedTo   int          // index in lines: lastPatterns do not match before it
	lastPatterns Patterns     // of the last Find
	unreadBytes  int          // size of lines
	dropped      bool         // unread output was dropped
	dirty        bool         // the unfinished line has changed since it was last matched
	firstChange  time.Time    // time of the first such change
	lastChange   time.Time    // time of the last such change
	cols         int          // width of the screen
}

// unreadLine is a window that is stored until it is read.
type unreadLine struct {
	window
	echoes     []echodetect.Span // echo of input: not matched
	moveBefore cursorMove        // movement of the cursor since the line before
	endCounted bool              // the redraw tracker has counted its line end
}

// maxUnread bounds the complete lines that are stored for later patterns, in bytes. Older ones are dropped.
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

// Match is a match of Expecter.Find.
type Match struct {
	Pattern     int // index in the patterns
	Text        string
	Groups      []string          // by number; Groups[0] is Text
	NamedGroups map[string]string // by name
}

// SetWidth sets the width of the screen in cells.
func (x *Expecter) SetWidth(cols int) { x.cols = cols }

// Output processes output of the program. It skips output that was processed before.
func (x *Expecter) Output(now time.Time, off uint64, data []byte) {
	x.now = now
	switch {
	case x.text == nil:
		x.text = newLineText(off)
	case off > x.text.end: // output is missing
		number := x.text.lineNumber
		x.text = newLineText(off)
		x.text.lineNumber = number + 1
	default:
		data = data[min(x.text.end-off, uint64(len(data))):]
	}
	for len(data) > 0 {
		n := min(len(data), maxChunkBytes)
		x.text.write(data[:n], x.addUnread)
		data = data[n:]
		if !x.text.isUnfinished() {
			continue
		}
		if !x.dirty {
			x.dirty, x.firstChange = true, now
		}
		x.lastChange = now
	}
}

// addUnread stores a complete line, or its unread part.
func (x *Expecter) addUnread(w *window, m cursorMove) int {
	x.dirty = x.dirty && !w.isComplete
	u := unreadLine{window: *w, moveBefore: m, echoes: x.findEchoes(w)}
	u.text = append([]byte(nil), w.text...)
	x.lines = append(x.lines, u)
	for x.unreadBytes += len(u.text); x.unreadBytes > maxUnread; {
		x.dropped = x.dropped || x.searchedTo == 0
		x.dropOldest(1)
	}
	return w.unread
}

// dropOldest removes the n oldest lines.
func (x *Expecter) dropOldest(n int) {
	for i := range x.lines[:n] {
		x.unreadBytes -= len(x.lines[i].text)
	}
	x.lines = x.lines[n:]
	x.searchedTo = max(0, x.searchedTo-n)
}

// findEchoes returns the parts of a window that are echo of input.
func (x *Expecter) findEchoes(w *window) []echodetect.Span {
	if !x.echoes.HasPending() {
		return nil
	}
	return x.echoes.EchoSpans(w.echoLine(x.cols, x.echo))
}

// HandleInput processes input, whose echo must not match.
func (x *Expecter) HandleInput(in Input) {
	if x.text == nil {
		x.text = newLineText(0)
	}
	if x.echo == EchoOff {
		return
	}
	w := x.text.unfinished()
	x.echoes.SplitIfInterrupted(w.text)
	x.echoes.RecordTyped(in.Data, x.echo.echoSides(), len(w.text), w.number, x.text.end, in.Secret)
}

// SetEcho sets the side that echoes input from now on.
func (x *Expecter) SetEcho(s EchoState) { x.echo = s }

// Skip marks all output so far as read.
func (x *Expecter) Skip() {
	x.lines, x.unreadBytes, x.searchedTo = nil, 0, 0
	if x.text != nil {
		w := x.text.unfinished()
		x.text.markAnswered(w.text, len(w.text))
	}
}

// TakeDropped reports whether unread output was dropped since the last call.
func (x *Expecter) TakeDropped() bool {
	d := x.dropped
	x.dropped = false
	return d
}

// Next returns when Find may match without more output, because the unfinished line settles. ok is false if no such
// time is pending.
func (x *Expecter) Next() (at time.Time, ok bool) {
	if !x.dirty {
		return time.Time{}, false
	}
	at = x.lastChange.Add(x.settle)
	if most := x.firstChange.Add(maxSettleDelays * x.settle); most.Before(at) {
		at = most
	}
	return at, true
}

// Find searches the first match and marks the text up to its end as read. Without a match the text stays unread, for
// other patterns. final is set if no output will follow.
func (x *Expecter) Find(now time.Time, ps Patterns, final bool) (Match, bool) {
	if !slices.Equal(ps, x.lastPatterns) {
		x.lastPatterns, x.searchedTo = ps, 0
	}
	for ; x.searchedTo < len(x.lines); x.searchedTo++ {
		u := &x.lines[x.searchedTo]
		x.redraws.moveCursor(u.moveBefore)
		u.moveBefore = cursorMove{}
		if f, end, ok := x.findInWindow(&u.window, u.echoes, ps); ok {
			x.dropOldest(x.searchedTo)
			x.searchedTo, x.lines[0].unread = 0, end
			x.markReadInNext(&x.lines[0], end)
			return f, true
		}
		if u.isComplete && !u.endCounted {
			u.endCounted = true
			x.redraws.endLine()
		}
	}
	f, ok := x.findUnfinished(now, ps, final)
	if ok { // the text before it is read with it
		x.dropOldest(len(x.lines))
	}
	return f, ok
}

// markReadInNext marks text up to end as read in the window after u, if both are pieces of the same line and overlap.
func (x *Expecter) markReadInNext(u *unreadLine, end int) {
	read := end - max(len(u.text)-carryBytes, 0)
	switch {
	case u.isComplete || read <= 0:
	case len(x.lines) > 1:
		x.lines[1].unread = max(x.lines[1].unread, read)
	case x.text.lineNumber == u.number && read <= len(x.text.carry):
		x.text.markAnswered(x.text.carry, max(read, len(x.text.answered)))
	}
}

// findUnfinished searches the unfinished line, if it has settled.
func (x *Expecter) findUnfinished(now time.Time, ps Patterns, final bool) (Match, bool) {
	at, waits := x.Next()
	if x.text == nil || waits && now.Before(at) && !final {
		return Match{}, false
	}
	x.dirty = false
	x.redraws.moveCursor(x.text.moves.takeBefore(x.text.end))
	w := x.text.unfinished()
	f, end, ok := x.findInWindow(&w, x.findEchoes(&w), ps)
	if ok {
		x.text.markAnswered(w.text, end)
	}
	return f, ok
}

// findInWindow searches a window without its echoes. end is the end of the match.
func (x *Expecter) findInWindow(w *window, masked []echodetect.Span, ps Patterns) (found Match, end int, ok bool) {
	eachGap(masked, w.unread, len(w.text), func(from, to int) {
		for at := from; !ok && at < to; {
			i, loc := firstMatch(ps, w.text[at:to], w.lineEnds(at, to))
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
			found, end, ok = ps[i].newMatch(i, text, loc), at, true
		}
	})
	return found, end, ok
}

// lineEnds returns which ends of its line text[from:to] has (atStart, atEnd).
func (w *window) lineEnds(from, to int) int {
	ends := 0
	if from == 0 && w.hasLineStart {
		ends |= atStart
	}
	if to == len(w.text) && w.hasLineEnd {
		ends |= atEnd
	}
	return ends
}

// firstMatch returns the first match of any pattern, and among those at the same position the first in the list.
func firstMatch(ps Patterns, text []byte, ends int) (index int, loc []int) {
	for i, p := range ps {
		if l := p.find(text, ends); l != nil && (loc == nil || l[0] < loc[0]) {
			index, loc = i, l
		}
	}
	return index, loc
}

// newMatch returns the match of pattern i with its groups.
func (p *pattern) newMatch(i int, text []byte, loc []int) Match {
	f := Match{Pattern: i, Text: string(text[loc[0]:loc[1]])}
	for g := 0; g < len(loc); g += 2 {
		s := ""
		if loc[g] >= 0 {
			s = string(text[loc[g]:loc[g+1]])
		}
		f.Groups = append(f.Groups, s)
		if name := p.names[g/2]; name != "" {
			if f.NamedGroups == nil {
				f.NamedGroups = make(map[string]string)
			}
			f.NamedGroups[name] = s
		}
	}
	return f
}
