package session

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

// CondKind says what a Cond waits for.
type CondKind string

// Conditions.
const (
	CondText   CondKind = "text"   // Text appears in new output or on a changed row
	CondRegexp CondKind = "regexp" // Regexp matches a line of either
	CondExit   CondKind = "exit"   // the process ends
	CondQuiet  CondKind = "quiet"  // nothing is printed for Quiet
)

// Cond is something to wait for.
type Cond struct {
	Kind   CondKind
	Text   string
	Regexp *regexp.Regexp
	Quiet  time.Duration
}

// WaitFor says what to wait for. Waits are level-triggered: what came true between
// Since and the call counts.
type WaitFor struct {
	Conds []Cond
	All   bool // all of them instead of any
	// Since is the output offset after which text counts; nil: since something was
	// last typed, or the session's start.
	Since *uint64
}

// Fired is a condition that came true.
type Fired struct {
	Cond  int    // index in WaitFor.Conds
	Match string // the text that matched
}

// Waited is a wait's result. Fired is empty when the session was closed first.
type Waited struct {
	Fired   []Fired
	Status  Status
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// anchor is a moment: an output offset and the screen's version then.
type anchor struct{ off, version uint64 }

// waiter is a wait under way. Only the owner touches it, apart from done.
type waiter struct {
	WaitFor
	from  anchor
	fired []Fired
	open  []bool // conditions that have not fired
	left  int
	began time.Time
	text  *lines // nil when no condition looks at text
	seen  uint64 // screen version the rows were last matched at
	done  chan Waited
}

// Wait waits until the conditions hold or ctx ends.
func (s *Session) Wait(ctx context.Context, f WaitFor) (Waited, error) {
	w := &waiter{WaitFor: f, left: len(f.Conds), done: make(chan Waited, 1), began: time.Now()}
	w.open = make([]bool, len(f.Conds))
	textual := false
	for i, c := range f.Conds {
		w.open[i] = true
		textual = textual || c.Kind == CondText || c.Kind == CondRegexp
	}
	var err error
	opErr := s.do(ctx, func() { err = s.addWaiter(w, textual) })
	if opErr != nil {
		return Waited{}, opErr
	}
	if err != nil {
		return Waited{}, err
	}
	select {
	case r := <-w.done:
		return r, nil
	case <-ctx.Done():
		var r Waited
		_ = s.do(context.WithoutCancel(ctx), func() {
			delete(s.waiters, w)
			r = s.waited(w)
		})
		return r, ctx.Err()
	}
}

func (s *Session) addWaiter(w *waiter, textual bool) error {
	w.from = s.typedAt
	if w.Since != nil {
		w.from = anchor{*w.Since, s.engine.Version()}
		if *w.Since > s.off {
			return fmt.Errorf("%w: %d, the end is %d", ErrFuture, *w.Since, s.off)
		}
	}
	w.seen = w.from.version
	s.waiters[w] = struct{}{}
	if textual {
		w.text = newLines()
		if err := s.catchUp(w); err != nil {
			delete(s.waiters, w)
			return err
		}
	}
	s.checkWaiters()
	return nil
}

// catchUp matches what was printed between the wait's anchor and now.
func (s *Session) catchUp(w *waiter) error {
	buf := make([]byte, 64<<10)
	for at := w.from.off; at < s.off && w.left > 0; {
		c, err := s.Output(at, buf[:min(uint64(len(buf)), s.off-at)])
		if err != nil {
			return err
		}
		if len(c.Data) == 0 {
			return nil
		}
		w.feed(c.Data)
		at = c.Next
	}
	return nil
}

func (s *Session) feedWaiters(p []byte) {
	for w := range s.waiters {
		if w.text != nil {
			w.feed(p)
		}
	}
}

// feed matches new output, line by line.
func (w *waiter) feed(p []byte) {
	w.text.write(p, func(line string) { w.match(line) })
}

func (w *waiter) match(line string) {
	for i, c := range w.Conds {
		if !w.open[i] {
			continue
		}
		if m, ok := c.matchText(line); ok {
			w.fire(i, m)
		}
	}
}

func (c *Cond) matchText(line string) (string, bool) {
	switch c.Kind {
	case CondText:
		return c.Text, strings.Contains(line, c.Text)
	case CondRegexp:
		if loc := c.Regexp.FindStringIndex(line); loc != nil {
			return line[loc[0]:loc[1]], true
		}
	}
	return "", false
}

func (w *waiter) fire(i int, match string) {
	if w.open[i] {
		w.open[i] = false
		w.left--
		w.fired = append(w.fired, Fired{i, match})
	}
}

// checkWaiters looks at everything that can be true without new output, and ends the
// waits that have what they wait for.
func (s *Session) checkWaiters() {
	for w := range s.waiters {
		s.holds(w)
		if w.left == 0 || !w.All && len(w.fired) > 0 {
			delete(s.waiters, w)
			w.done <- s.waited(w)
		}
	}
}

// holds fires the conditions of a wait that hold now.
func (s *Session) holds(w *waiter) {
	st := s.Status()
	for i := range w.Conds {
		c := &w.Conds[i]
		switch {
		case !w.open[i]:
		case c.Kind == CondExit && st.State != Running:
			w.fire(i, "")
		case c.Kind == CondQuiet && s.quietFor(w) >= c.Quiet:
			w.fire(i, "")
		}
	}
	if w.text == nil {
		return
	}
	w.text.current(func(line string) { w.match(line) })
	if v := s.engine.Version(); v != w.seen {
		s.matchRows(w)
		w.seen = v
	}
}

// matchRows matches the rows of the screen that changed since the wait last looked:
// text that was drawn piece by piece is whole only there.
func (s *Session) matchRows(w *waiter) {
	s.engine.Frame(&s.frame, vterm.Query{Since: w.seen})
	var buf []byte
	for _, l := range s.frame.Lines {
		buf = buf[:0]
		for _, c := range l.Cells {
			buf = s.frame.AppendText(buf, c)
		}
		w.match(string(buf))
	}
	s.frame = vterm.Frame{} // a screen's worth of memory is not kept for this
}

// quietFor is how long nothing was printed, counted from when it could first matter.
func (s *Session) quietFor(w *waiter) time.Duration {
	last := s.Status().LastOutput
	if w.Since == nil && s.typedAt.off == s.off && last.Before(w.began) {
		last = w.began // typed, not answered yet
	}
	if last.IsZero() {
		last = w.began
	}
	return time.Since(last)
}

// nextWait fires when a quiet condition may have come true.
func (s *Session) nextWait() <-chan time.Time {
	next := time.Duration(-1)
	for w := range s.waiters {
		for i, c := range w.Conds {
			if !w.open[i] || c.Kind != CondQuiet {
				continue
			}
			if d := max(0, c.Quiet-s.quietFor(w)); next < 0 || d < next {
				next = d
			}
		}
	}
	if next < 0 {
		return nil
	}
	return time.After(next)
}

func (s *Session) waited(w *waiter) Waited {
	return Waited{Fired: w.fired, Status: s.Status(), Version: s.engine.Version(), Cursor: s.off}
}

// endWaiters ends all waits: nothing more will come.
func (s *Session) endWaiters() {
	s.checkWaiters()
	for w := range s.waiters {
		delete(s.waiters, w)
		w.done <- s.waited(w)
	}
}
