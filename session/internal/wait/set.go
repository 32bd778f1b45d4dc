package wait

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/vterm"
)

// For says what to wait for. Waits are level-triggered: what came true between
// Since and the call counts.
type For struct {
	Conds []Cond
	All   bool // all of them instead of any
	// Since is the output offset after which text counts, and not after its end; nil: since
	// something was last typed, or the session's start.
	Since *uint64
	// Veil masks what may not be looked for; nil: everything may. What fires tells what there is.
	Veil Veil
}

// Veil masks secrets in lines that come one after the other, and on screens.
type Veil interface {
	Line(line string, whole bool) string
	Frame(f *vterm.Frame, above []vterm.Line)
}

// Fired is a condition that came true.
type Fired struct {
	Cond  int    // index in For.Conds
	Match string // the text that matched
}

// Result is what came of a wait. Ended says that what has not fired never will: the session is
// over, or was closed.
type Result struct {
	Fired   []Fired
	Ended   bool
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// Waiter is a wait under way.
type Waiter struct {
	For
	from      Anchor
	fired     []Fired
	open      []bool // conditions that have not fired
	left      int
	began     time.Time
	text      *lines // nil when no condition looks at text
	pos       uint64 // offset text has been fed up to
	expected  uint64 // offset + 1 at which text was last expected
	echo      echo.Stripper
	mute      bool      // pos lies in what is a line editor's
	seen      uint64    // screen version the rows were last matched at
	checked   uint64    // end of the output when the screen was last matched
	unsettled time.Time // when output after checked was first seen; zero if none was
}

// New makes a wait that begins at a moment.
func New(f For, now time.Time) *Waiter {
	w := &Waiter{For: f, left: len(f.Conds), began: now, open: make([]bool, len(f.Conds))}
	for i, c := range f.Conds {
		w.open[i] = true
		if c.textual() && w.text == nil {
			w.text = newLines()
		}
	}
	return w
}

// Set is the waits of a session.
type Set struct {
	host     Host
	editor   *echo.Region // the owner's, as is typed; only read here
	typed    *echo.Texts
	waiters  map[*Waiter]struct{}
	activity activity
}

// NewSet makes a set without waits. editor is the output of the shell's line editor, typed what was
// typed.
func NewSet(h Host, editor *echo.Region, typed *echo.Texts) *Set {
	return &Set{host: h, editor: editor, typed: typed, waiters: map[*Waiter]struct{}{}}
}

// Len is how many waits there are.
func (s *Set) Len() int { return len(s.waiters) }

// Add begins a wait with what was printed since its anchor. Check has to be called then.
func (s *Set) Add(w *Waiter) error {
	v := s.host.View()
	w.from = v.Typed
	if w.Since != nil {
		w.from = Anchor{*w.Since, v.Version}
	}
	w.seen = w.from.Version
	s.waiters[w] = struct{}{}
	if w.text != nil {
		if err := s.catchUp(w, v.Offset); err != nil {
			delete(s.waiters, w)
			return err
		}
	}
	s.watchActivity(&v)
	return nil
}

// Remove ends a wait that was given up, and tells what came of it so far.
func (s *Set) Remove(w *Waiter) Result {
	delete(s.waiters, w)
	v := s.host.View()
	return w.result(&v)
}

// catchUp matches what was printed between the wait's anchor and the end.
func (s *Set) catchUp(w *Waiter, end uint64) error {
	buf := make([]byte, 64<<10)
	for from := w.from.Off; from < end && w.left > 0; {
		p, at, err := s.host.Read(from, buf[:min(uint64(len(buf)), end-from)])
		if err != nil {
			return err
		}
		if len(p) == 0 || at >= end {
			return nil
		}
		p = p[:min(uint64(len(p)), end-at)] // after lost output a read may pass the end: Output matches what follows
		s.feed(w, p, at)
		from = at + uint64(len(p))
	}
	return nil
}

// Output matches new output, the bytes at an offset.
func (s *Set) Output(p []byte, at uint64) {
	for w := range s.waiters {
		if w.text != nil {
			s.feed(w, p, at)
		}
	}
}

// feed matches output line by line. What is a line editor's is left out, and what was typed is
// expected where it will be echoed.
func (s *Set) feed(w *Waiter, p []byte, at uint64) {
	for len(p) > 0 {
		editors, until := s.editor.Editors(at)
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

func (w *Waiter) write(p []byte) {
	w.text.write(p, func(line string) { w.match(w.shown(w.echo.Strip(line, true), true)) })
}

// expect begins to expect what was typed when the output stood at an offset, and returns
// where the next such place is.
func (s *Set) expect(w *Waiter, at uint64) (next uint64) {
	for i := range *s.typed {
		switch t := &(*s.typed)[i]; {
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

// maxUnsettled bounds how long the screen goes unmatched while a program prints all the time.
const maxUnsettled = 10 * secrets.Settle

// isSettled reports whether the screen and the unfinished line can be matched now. While they change, they may have a
// secret in them that is not whole yet.
func (w *Waiter) isSettled(v *View) bool {
	if w.Veil == nil || v.Offset == w.checked {
		return true
	}
	if w.unsettled.IsZero() {
		w.unsettled = v.Now
	}
	if !v.NoMore && w.settlesIn(v) > 0 {
		return false
	}
	w.checked, w.unsettled = v.Offset, time.Time{}
	return true
}

// settlesIn returns how long it takes until the screen and the unfinished line can be matched.
func (w *Waiter) settlesIn(v *View) time.Duration {
	return min(secrets.Settle-v.Now.Sub(v.LastOutput), maxUnsettled-v.Now.Sub(w.unsettled))
}

// shown is a line as whoever waits may see it.
func (w *Waiter) shown(line string, whole bool) string {
	if w.Veil == nil {
		return line
	}
	return w.Veil.Line(line, whole)
}

// frame is the rows of the screen that changed after a version, as whoever waits may see them.
func (s *Set) frame(w *Waiter, since uint64) (f vterm.Frame) {
	if w.Veil == nil {
		s.host.Frame(&f, vterm.Query{Since: since})
		return f
	}
	above := s.host.Above()
	s.host.Frame(&f, vterm.Query{}) // a secret may go on in a row that did not change
	w.Veil.Frame(&f, above)
	f.Lines = slices.DeleteFunc(f.Lines, func(l vterm.Line) bool { return l.Version <= since })
	return f
}

func (w *Waiter) match(line string) {
	for i, c := range w.Conds {
		if !w.open[i] || !c.textual() {
			continue
		}
		if m, ok := c.matchText(line); ok {
			w.fire(i, m)
		}
	}
}

func (w *Waiter) fire(i int, match string) {
	if w.open[i] {
		w.open[i] = false
		w.left--
		w.fired = append(w.fired, Fired{i, match})
	}
}

// Check looks at everything that can be true without new output, and ends the
// waits that have what they wait for.
func (s *Set) Check() {
	if len(s.waiters) == 0 {
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		s.holds(w, &v)
		if v.NoMore || w.satisfied() {
			r := w.result(&v)
			r.Ended = !w.satisfied()
			s.over(w, r)
		}
	}
}

func (w *Waiter) satisfied() bool { return w.left == 0 || !w.All && len(w.fired) > 0 }

// matchRows matches the rows of the screen that changed since the wait last looked:
// text that was drawn piece by piece is whole only there.
func (s *Set) matchRows(w *Waiter, v *View) {
	f := s.frame(w, w.seen)
	typed := s.typed.Since(w.from.Off)
	for i := range f.Lines {
		l := &f.Lines[i]
		id := v.Top + uint64(l.Row)
		switch {
		case v.Alt:
			w.match(echo.RowWithout(&f, l, id, nil))
		case !s.editor.HasRow(id):
			w.match(echo.RowWithout(&f, l, id, typed))
		}
	}
}

func (w *Waiter) result(v *View) Result {
	return Result{Fired: w.fired, Version: v.Version, Cursor: v.Offset}
}

func (s *Set) over(w *Waiter, r Result) {
	delete(s.waiters, w)
	s.host.Over(w, r)
}

// End ends all waits: nothing more will come.
func (s *Set) End() {
	s.Check()
	if len(s.waiters) == 0 { // the host may have no screen: nobody waits on one that it gave up
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		r := w.result(&v)
		r.Ended = true
		s.over(w, r)
	}
}

// GiveUp ends the waits that look at output, which is not looked at any more; all of them, if an end
// cannot be waited for either.
func (s *Set) GiveUp(all bool) {
	s.activity = activity{}
	v := s.host.View()
	for w := range s.waiters {
		if w.text != nil || all {
			s.over(w, w.result(&v))
		}
	}
}
