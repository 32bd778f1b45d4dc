package session

import (
	"context"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/vterm"
)

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

// Waited is a wait's result. Ended says that what has not fired never will: the session is
// over, or was closed.
type Waited struct {
	Fired   []Fired
	Ended   bool
	Status  Status
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// anchor is a moment: an output offset and the screen's version then.
type anchor struct{ off, version uint64 }

// waiter is a wait under way. Only the owner touches it, apart from done.
type waiter struct {
	WaitFor
	from     anchor
	fired    []Fired
	open     []bool // conditions that have not fired
	left     int
	began    time.Time
	text     *lines // nil when no condition looks at text
	pos      uint64 // offset text has been fed up to
	expected uint64 // offset + 1 at which text was last expected
	echo     echo.Stripper
	mute     bool   // pos lies in what is a line editor's
	seen     uint64 // screen version the rows were last matched at
	done     chan Waited
}

// Wait waits until the conditions hold or ctx ends.
func (s *Session) Wait(ctx context.Context, f WaitFor) (Waited, error) {
	w := &waiter{WaitFor: f, left: len(f.Conds), done: make(chan Waited, 1), began: time.Now()}
	w.open = make([]bool, len(f.Conds))
	textual := false
	for i, c := range f.Conds {
		w.open[i] = true
		textual = textual || c.textual()
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
	s.watchContent(time.Now())
	if s.awaitsInput() {
		s.attention.schedule(time.Now())
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
		s.feed(w, c.Data, c.From)
		at = c.Next
	}
	return nil
}

func (s *Session) feedWaiters(p []byte) {
	for w := range s.waiters {
		if w.text != nil {
			s.feed(w, p, s.off-uint64(len(p)))
		}
	}
}

// feed matches new output, the bytes at an offset, line by line. What is a line editor's is
// left out, and what was typed is expected where it will be echoed.
func (s *Session) feed(w *waiter, p []byte, at uint64) {
	for len(p) > 0 {
		editors, until := s.input.Editors(at)
		if !editors {
			until = min(until, s.expect(w, at))
		}
		n := len(p)
		if until-at < uint64(n) {
			n = int(until - at)
		}
		switch {
		case editors:
			w.mute = true
		case w.mute: // the editor's line has ended
			w.mute = false
			w.write([]byte("\r\n"))
			fallthrough
		default:
			w.write(p[:n])
		}
		p, at = p[n:], at+uint64(n)
	}
	w.pos = at
}

func (w *waiter) write(p []byte) {
	w.text.write(p, func(line string) { w.match(w.echo.Strip(line, true)) })
}

// expect begins to expect what was typed when the output stood at an offset, and returns
// where the next such place is.
func (s *Session) expect(w *waiter, at uint64) (next uint64) {
	for i := range s.typed {
		switch t := &s.typed[i]; {
		case t.At > at:
			return t.At
		case t.At == at && (w.expected != at+1):
			w.expected = at + 1
			unfinished := ""
			w.text.current(func(line string) { unfinished = line })
			w.echo.Expect(t, unfinished)
		}
	}
	return 1<<64 - 1
}

func (w *waiter) match(line string) {
	for i, c := range w.Conds {
		if !w.open[i] || !c.textual() {
			continue
		}
		if m, ok := c.matchText(line); ok {
			w.fire(i, m)
		}
	}
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
		if over := s.noMoreOutput(); w.satisfied() || over {
			delete(s.waiters, w)
			r := s.waited(w)
			r.Ended = !w.satisfied()
			w.done <- r
		}
	}
}

func (w *waiter) satisfied() bool { return w.left == 0 || !w.All && len(w.fired) > 0 }

// noMoreOutput says that nothing will happen in the session any more: its process has ended, and
// nobody it left can print.
func (s *Session) noMoreOutput() bool {
	return s.Status().State != Running && s.drained() && (s.ring == nil || s.closed)
}

// matchRows matches the rows of the screen that changed since the wait last looked:
// text that was drawn piece by piece is whole only there.
func (s *Session) matchRows(w *waiter) {
	s.engine.Frame(&s.frame, vterm.Query{Since: w.seen})
	h := s.engine.History()
	top := h.FirstID() + uint64(h.Len())
	typed := s.typed.Since(w.from.off)
	alt := s.Status().Alt
	for i := range s.frame.Lines {
		l := &s.frame.Lines[i]
		id := top + uint64(l.Row)
		switch {
		case alt:
			w.match(echo.RowWithout(&s.frame, l, id, nil))
		case !s.input.HasRow(id):
			w.match(echo.RowWithout(&s.frame, l, id, typed))
		}
	}
	s.frame = vterm.Frame{} // a screen's worth of memory is not kept for this
}

func (s *Session) waited(w *waiter) Waited {
	return Waited{Fired: w.fired, Status: s.Status(), Version: s.engine.Version(), Cursor: s.off}
}

// endWaiters ends all waits: nothing more will come.
func (s *Session) endWaiters() {
	why := ErrEnded
	if s.Status().State == Running { // only its owner ends
		why = ErrStopped
	}
	s.endRuns(why)
	s.checkWaiters()
	for w := range s.waiters {
		delete(s.waiters, w)
		r := s.waited(w)
		r.Ended = true
		w.done <- r
	}
}
