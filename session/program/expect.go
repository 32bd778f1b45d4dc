package program

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/respond"
)

// Pattern is something that Expect waits for. One field is set.
type Pattern struct {
	Text   string // literal, within one line
	Regexp string // RE2, within one line; $ is the end of the line, or of its part so far
	Exit   bool   // the program's end
}

// Text returns a pattern that matches s literally.
func Text(s string) Pattern { return Pattern{Text: s} }

// Regexp returns a pattern in RE2's syntax.
func Regexp(expr string) Pattern { return Pattern{Regexp: expr} }

// Ended is the pattern of the program's end.
var Ended = Pattern{Exit: true}

func (p Pattern) String() string {
	switch {
	case p.Exit:
		return "the program's end"
	case p.Text != "":
		return fmt.Sprintf("%q", p.Text)
	}
	return "/" + p.Regexp + "/"
}

// Match is what Expect found.
type Match struct {
	Pattern int // index of the pattern
	Text    string
	Groups  []string          // by number, Groups[0] being Text
	NamedGroups   map[string]string // of (?P<name>…)
}

// ExpectError holds the missing patterns, and the output and screen at the end of the wait.
type ExpectError struct {
	Wanted []Pattern
	Unread string // the end of the output that was not read yet, edits done
	Screen string
	Err    error // ErrEnded, ErrStopped or the context's
}

// Unwrap returns the reason: the program ended, or the context did.
func (e *ExpectError) Unwrap() error { return e.Err }

func (e *ExpectError) Error() string {
	var wanted []string
	for _, p := range e.Wanted {
		wanted = append(wanted, p.String())
	}
	why := e.Err.Error()
	if errors.Is(e.Err, context.DeadlineExceeded) {
		why = "time ran out"
	}
	return fmt.Sprintf("%s did not appear: %s\nunread output:%s\nscreen:%s",
		strings.Join(wanted, " or "), why, indent(e.Unread), indent(e.Screen))
}

func indent(s string) string {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return " (nothing)"
	}
	return "\n  | " + strings.ReplaceAll(s, "\n", "\n  | ")
}

// reading is what Expect reads: the output as far as it was taken, in order with what was
// typed.
type reading struct {
	mu     sync.Mutex
	x      *respond.Expecter
	off    uint64        // the expecter has taken the output before it
	over   bool          // the program ended and the expecter has all it printed
	change chan struct{} // closed when anything of this changed
	// waiting are the Expects under way, the oldest first. The output is searched for them as
	// it is taken: in a flood they might come too late to what is kept of it.
	waiting []*wanted
}

// follow feeds the output to the expecter.
func (p *Program) follow() {
	buf := make([]byte, 64<<10)
	for {
		select {
		case <-p.watch.Output:
		case <-p.watch.Done:
			return
		}
		ended := p.s.Status().State != session.Running // before reading: then all is there to read
		for p.feed(buf) {
		}
		if ended {
			p.reading.end()
		}
	}
}

// feed feeds the next piece of output. It returns false if no output is pending.
func (p *Program) feed(buf []byte) bool {
	p.reading.mu.Lock()
	defer p.reading.mu.Unlock()
	return p.feedLocked(buf)
}

func (p *Program) feedLocked(buf []byte) bool {
	r := &p.reading
	c, err := p.s.Output(r.off, buf)
	if err != nil || c.Next == r.off {
		return false
	}
	r.x.SetEcho(p.host.echo())
	r.x.Output(time.Now(), c.From, c.Data)
	r.off = c.Next
	p.keep.release(r.off)
	for _, w := range r.waiting {
		r.search(w, false)
	}
	r.notify()
	return true
}

// catchUp feeds all output so far, so that a call without time left still finds it, or shows it. A caller that waited
// for it in another way (on the screen, for example) may be ahead of follow.
func (p *Program) catchUp() {
	r := &p.reading
	_, end := p.s.OutputRange()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.off >= end {
		return
	}
	buf := make([]byte, min(end-r.off, 64<<10))
	for r.off < end && p.feedLocked(buf) {
	}
}

// search searches the patterns of an Expect, unless one was found. settled means that the unfinished line counts.
func (r *reading) search(w *wanted, settled bool) {
	if w.found != nil {
		return
	}
	if f, ok := r.x.Find(time.Now(), w.ready, settled); ok {
		w.found = &Match{Pattern: w.index[f.Pattern], Text: f.Text, Groups: f.Groups, NamedGroups: f.NamedGroups}
	}
}

func (r *reading) join(w *wanted) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, w)
}

// leave ends an Expect and returns what was found.
func (r *reading) leave(w *wanted) *Match {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = slices.DeleteFunc(r.waiting, func(x *wanted) bool { return x == w })
	return w.found
}

func (r *reading) notify() {
	close(r.change)
	r.change = make(chan struct{})
}

func (r *reading) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.over = true
		r.notify()
	}
}

// Expect waits for the first match of the patterns. Output before the end of a match is read and never matches again;
// unread output from before the call counts. The echo of input never matches, nor does a redrawn prompt. The error, an
// *ExpectError, shows the output instead. It is ErrEnded if the program has ended without a match, and no pattern
// matches its end.
func (p *Program) Expect(ctx context.Context, patterns ...Pattern) (Match, error) {
	w, err := newWanted(patterns)
	if err != nil {
		return Match{}, err
	}
	p.reading.join(w)
	p.catchUp()
	err = p.await(ctx, w)
	if m := p.reading.leave(w); m != nil { // also if time ran out at that very moment
		return *m, nil
	}
	return Match{}, p.explain(w, err)
}

// await waits until what is wanted was found, or is not to be found.
func (p *Program) await(ctx context.Context, w *wanted) error {
	var probes probeClock
	for {
		next := p.find(w, false)
		if !next.over && next.waits && probes.due() && p.host.idle() {
			next = p.find(w, true)
		}
		if next.over {
			return next.err
		}
		select {
		case <-next.any:
			probes.reset()
		case <-probes.next(next):
		case <-ctx.Done():
			return ctx.Err()
		case <-p.watch.Done:
			return session.ErrStopped
		}
	}
}

// wanted is what one Expect looks for.
type wanted struct {
	list  []Pattern
	ready respond.Patterns
	index []int  // of ready in list
	exit  int    // index of the end; -1: it is not wanted
	found *Match // guarded by reading.mu
}

func newWanted(list []Pattern) (*wanted, error) {
	w := &wanted{list: list, exit: -1}
	var texts []respond.Pattern
	for i, p := range list {
		switch {
		case p.Exit && p.Text == "" && p.Regexp == "":
			w.exit = i
		case p.Exit || (p.Text == "") == (p.Regexp == ""):
			return nil, fmt.Errorf("expect: pattern %d: one of Text, Regexp and Exit must be set", i+1)
		default:
			texts = append(texts, respond.Pattern{Text: p.Text, Regexp: p.Regexp})
			w.index = append(w.index, i)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("expect: no pattern")
	}
	var err error
	if w.ready, err = respond.Compile(texts...); err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	return w, nil
}

// pause is what to wait for before looking again.
type pause struct {
	any   <-chan struct{} // more output, or the end
	at    time.Time       // when the unfinished line will count anyway
	waits bool            // there is such a line
	over  bool            // the wait is over: a match was found, or err is the reason for none
	err   error
}

// find searches once. settled means that the unfinished line counts, if no output came since.
func (p *Program) find(w *wanted, settled bool) (next pause) {
	r := &p.reading
	r.mu.Lock()
	defer r.mu.Unlock()
	_, end := p.s.OutputRange()
	r.search(w, r.over || settled && r.off == end)
	if w.found == nil && r.over && w.exit >= 0 {
		w.found = &Match{Pattern: w.exit}
	}
	next.over = w.found != nil || r.over
	if next.over && w.found == nil {
		next.err = session.ErrEnded
	}
	next.any = r.change
	next.at, next.waits = r.x.Next()
	return next
}

// explain returns the error of an Expect without a match.
func (p *Program) explain(w *wanted, why error) error {
	r := &p.reading
	r.mu.Lock()
	unread := r.x.UnreadTail(shownUnread)
	r.mu.Unlock()
	screen := p.Screen()
	return &ExpectError{Wanted: w.list, Unread: unread, Screen: screen.Text(), Err: why}
}

// shownUnread bounds the unread output in an error, in bytes.
const shownUnread = 2 << 10

// probeClock schedules probes for a wait for input: immediately after output, and then at increasing intervals, so that
// probes cost a small part of the wait. In a flood of output it waits for a pause first.
type probeClock struct {
	wait    time.Duration
	at      time.Time
	changes int // since the wait began
}

const (
	firstProbe  = time.Millisecond // pause after the first look: no timer is finer
	floodPieces = 4
)

// reset restarts the clock after output.
func (c *probeClock) reset() { *c = probeClock{changes: c.changes + 1} }

// due reports that a look is due, and sets when the next one is.
func (c *probeClock) due() bool {
	now := time.Now()
	if now.Before(c.at) {
		return false
	}
	first := c.wait == 0
	c.wait = max(2*c.wait, firstProbe)
	c.at = now.Add(c.wait)
	return !first || c.changes <= floodPieces
}

// next fires when there is something to look at without more output.
func (c *probeClock) next(p pause) <-chan time.Time {
	if !p.waits {
		return nil
	}
	at := p.at
	if c.wait > 0 && c.at.Before(at) {
		at = c.at
	}
	return time.After(time.Until(at))
}
