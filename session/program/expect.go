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

// Pattern is a pattern for Expect. One field is set.
type Pattern struct {
	Text   string // literal, within one line
	Regexp string // RE2, within one line; $ is the end of the line, or of its part so far
	Exit   bool   // the program's end
}

// Text returns a pattern that matches s literally.
func Text(s string) Pattern { return Pattern{Text: s} }

// Regexp returns a pattern in RE2's syntax.
func Regexp(expr string) Pattern { return Pattern{Regexp: expr} }

// Ended matches the program's end.
var Ended = Pattern{Exit: true}

// String returns the pattern for messages.
func (p Pattern) String() string {
	switch {
	case p.Exit:
		return "the program's end"
	case p.Text != "":
		return fmt.Sprintf("%q", p.Text)
	}
	return "/" + p.Regexp + "/"
}

// Match is the result of Expect.
type Match struct {
	Pattern     int // index in the patterns
	Text        string
	Groups      []string          // by number, Groups[0] being Text
	NamedGroups map[string]string // by name (?P<name>…)
}

// ExpectError is the error of Expect without a match. It shows the output and screen at the end of the wait.
type ExpectError struct {
	Patterns []Pattern // of the call
	Unread   string    // end of the unread output, as text
	Screen   string
	Err      error // ErrEnded, ErrStopped or the context's
}

// Unwrap returns the reason: the program ended, or the context did.
func (e *ExpectError) Unwrap() error { return e.Err }

// Error returns the message with the unread output and the screen.
func (e *ExpectError) Error() string {
	var patterns []string
	for _, p := range e.Patterns {
		patterns = append(patterns, p.String())
	}
	why := e.Err.Error()
	if errors.Is(e.Err, context.DeadlineExceeded) {
		why = "time ran out"
	}
	return fmt.Sprintf("%s did not appear: %s\nunread output:%s\nscreen:%s",
		strings.Join(patterns, " or "), why, indent(e.Unread), indent(e.Screen))
}

// indent formats a text for an error.
func indent(s string) string {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return " (nothing)"
	}
	return "\n  | " + strings.ReplaceAll(s, "\n", "\n  | ")
}

// expectReader searches the output for Expect, in order with the input.
type expectReader struct {
	mu       sync.Mutex
	expecter *respond.Expecter
	offset   uint64        // the expecter has processed the output before it
	hasEnded bool          // the program ended and the expecter has all its output
	changed  chan struct{} // closed and replaced at each change
	// expectations are the running calls of Expect, the oldest first. New output is searched for them at once: in a
	// flood they could come too late for the stored part.
	expectations []*expectation
}

// feedOutput passes the output to the expecter until the session ends.
func (p *Program) feedOutput() {
	buf := make([]byte, 64<<10)
	for {
		select {
		case <-p.watch.Output:
		case <-p.watch.Done:
			return
		}
		ended := p.session.Status().State != session.Running // before reading, so that all output is available
		for p.feed(buf) {
		}
		if ended {
			p.expectReader.markEnded()
		}
	}
}

// feed passes the next piece of output. It returns false if no output is pending.
func (p *Program) feed(buf []byte) bool {
	p.expectReader.mu.Lock()
	defer p.expectReader.mu.Unlock()
	return p.feedLocked(buf)
}

// feedLocked is feed for callers that hold expectReader.mu.
func (p *Program) feedLocked(buf []byte) bool {
	r := &p.expectReader
	c, err := p.session.Output(r.offset, buf)
	if err != nil || c.Next == r.offset {
		return false
	}
	r.expecter.SetEcho(p.host.echoState())
	r.expecter.Output(time.Now(), c.From, c.Data)
	r.offset = c.Next
	p.retention.release(r.offset)
	for _, w := range r.expectations {
		r.search(w, false)
	}
	r.signalChange()
	return true
}

// feedPending passes all output so far, so that a call with an ended context still finds it or shows it. A caller that
// waited in another way (for the screen, for example) may be ahead of feedOutput.
func (p *Program) feedPending() {
	r := &p.expectReader
	_, end := p.session.OutputRange()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.offset >= end {
		return
	}
	buf := make([]byte, min(end-r.offset, 64<<10))
	for r.offset < end && p.feedLocked(buf) {
	}
}

// search searches the patterns of an Expect, unless one has matched. settled means that the unfinished line matches
// too.
func (r *expectReader) search(w *expectation, settled bool) {
	if w.found != nil {
		return
	}
	if f, ok := r.expecter.Find(time.Now(), w.compiled, settled); ok {
		w.found = &Match{Pattern: w.patternIndex[f.Pattern], Text: f.Text, Groups: f.Groups, NamedGroups: f.NamedGroups}
	}
}

// add registers a running Expect.
func (r *expectReader) add(w *expectation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expectations = append(r.expectations, w)
}

// remove removes an Expect and returns its match, or nil.
func (r *expectReader) remove(w *expectation) *Match {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expectations = slices.DeleteFunc(r.expectations, func(x *expectation) bool { return x == w })
	return w.found
}

// signalChange notifies the running calls. The caller holds mu.
func (r *expectReader) signalChange() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// markEnded records the end of the output.
func (r *expectReader) markEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hasEnded {
		r.hasEnded = true
		r.signalChange()
	}
}

// Expect waits for the first match of the patterns. Output before the end of a match is read and never matches again;
// unread output from before the call counts. The echo of input never matches, nor does a redrawn prompt. The error, an
// *ExpectError, shows the output instead. It is ErrEnded if the program has ended without a match, and no pattern
// matches its end.
func (p *Program) Expect(ctx context.Context, patterns ...Pattern) (Match, error) {
	w, err := newExpectation(patterns)
	if err != nil {
		return Match{}, err
	}
	p.expectReader.add(w)
	p.feedPending()
	err = p.awaitMatch(ctx, w)
	if m := p.expectReader.remove(w); m != nil { // even if the context ended at that moment
		return *m, nil
	}
	return Match{}, p.newExpectError(w, err)
}

// awaitMatch waits until an expectation has matched or cannot match. It returns the reason for no match.
func (p *Program) awaitMatch(ctx context.Context, w *expectation) error {
	var probes probeClock
	for {
		next := p.searchOnce(w, false)
		if !next.isOver && next.hasUnsettledLine && probes.startIfDue() && p.host.isIdle() {
			next = p.searchOnce(w, true)
		}
		if next.isOver {
			return next.err
		}
		select {
		case <-next.changed:
			probes.reset()
		case <-probes.timer(next):
		case <-ctx.Done():
			return ctx.Err()
		case <-p.watch.Done:
			return session.ErrStopped
		}
	}
}

// expectation has the compiled patterns of an Expect.
type expectation struct {
	patterns     []Pattern
	compiled     respond.Patterns
	patternIndex []int  // index in patterns, by index in compiled
	exitIndex    int    // index of the pattern for the program's end; -1: none
	found        *Match // guarded by expectReader.mu
}

// newExpectation checks and compiles patterns.
func newExpectation(list []Pattern) (*expectation, error) {
	w := &expectation{patterns: list, exitIndex: -1}
	var texts []respond.Pattern
	for i, p := range list {
		switch {
		case p.Exit && p.Text == "" && p.Regexp == "":
			w.exitIndex = i
		case p.Exit || (p.Text == "") == (p.Regexp == ""):
			return nil, fmt.Errorf("expect: pattern %d: one of Text, Regexp and Exit must be set", i+1)
		default:
			texts = append(texts, respond.Pattern{Text: p.Text, Regexp: p.Regexp})
			w.patternIndex = append(w.patternIndex, i)
		}
	}
	if len(list) == 0 {
		return nil, errors.New("expect: no pattern")
	}
	var err error
	if w.compiled, err = respond.Compile(texts...); err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	return w, nil
}

// searchState is the result of a search, and what to wait for before the next one.
type searchState struct {
	changed          <-chan struct{} // closed at more output, or the end
	settleTime       time.Time       // when the unfinished line matches anyway
	hasUnsettledLine bool            // settleTime is set
	isOver           bool            // a pattern matched, or err is the reason for no match
	err              error
}

// searchOnce searches once. settled means that the unfinished line matches too, if no output came since.
func (p *Program) searchOnce(w *expectation, settled bool) (next searchState) {
	r := &p.expectReader
	r.mu.Lock()
	defer r.mu.Unlock()
	_, end := p.session.OutputRange()
	r.search(w, r.hasEnded || settled && r.offset == end)
	if w.found == nil && r.hasEnded && w.exitIndex >= 0 {
		w.found = &Match{Pattern: w.exitIndex}
	}
	next.isOver = w.found != nil || r.hasEnded
	if next.isOver && w.found == nil {
		next.err = session.ErrEnded
	}
	next.changed = r.changed
	next.settleTime, next.hasUnsettledLine = r.expecter.Next()
	return next
}

// newExpectError returns the error of an Expect without a match.
func (p *Program) newExpectError(w *expectation, why error) error {
	r := &p.expectReader
	r.mu.Lock()
	unread := r.expecter.UnreadTail(maxShownUnread)
	r.mu.Unlock()
	screen := p.Screen()
	return &ExpectError{Patterns: w.patterns, Unread: unread, Screen: screen.Text(), Err: why}
}

// maxShownUnread bounds the unread output in an error, in bytes.
const maxShownUnread = 2 << 10

// probeClock schedules probes for a wait for input: immediately after output, and then at increasing intervals, so that
// probes take a small part of the wait. In a flood of output it waits for a pause first.
type probeClock struct {
	interval  time.Duration // last interval; 0: no probe yet
	nextProbe time.Time
	outputs   int // since the start of the wait
}

const (
	minProbeInterval = time.Millisecond // no timer is finer
	// maxEagerOutputs bounds the outputs that are each followed by a probe.
	maxEagerOutputs = 4
)

// reset restarts the clock after output.
func (c *probeClock) reset() { *c = probeClock{outputs: c.outputs + 1} }

// startIfDue reports whether a probe is due, and schedules the next one.
func (c *probeClock) startIfDue() bool {
	now := time.Now()
	if now.Before(c.nextProbe) {
		return false
	}
	isFirst := c.interval == 0
	c.interval = max(2*c.interval, minProbeInterval)
	c.nextProbe = now.Add(c.interval)
	return !isFirst || c.outputs <= maxEagerOutputs
}

// timer returns a channel that receives when a search may match without more output, or nil.
func (c *probeClock) timer(p searchState) <-chan time.Time {
	if !p.hasUnsettledLine {
		return nil
	}
	at := p.settleTime
	if c.interval > 0 && c.nextProbe.Before(at) {
		at = c.nextProbe
	}
	return time.After(time.Until(at))
}
