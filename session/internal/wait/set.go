package wait

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
)

// For describes a wait. Waits are level-triggered: a match between Since and the call counts.
type For struct {
	Conds []Cond
	All   bool // all of them instead of any
	// Since is the output offset after which text counts, but not its end. If nil, text counts since the last input, or
	// the session's start.
	Since *uint64
	// Redactor masks what the caller must not see: a match would reveal it. It may be nil.
	Redactor Redactor
}

// Redactor masks secrets in consecutive lines, and on screens.
type Redactor interface {
	Line(line string, whole bool) string
	Frame(f *vterm.Frame, above []vterm.Line)
}

// Fired is a condition that matched.
type Fired struct {
	Cond  int    // index in For.Conds
	Match string // the text that matched
}

// Result is the result of a wait. Ended reports that the remaining conditions can never match: the session has ended,
// or was closed.
type Result struct {
	Fired   []Fired
	Ended   bool
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// Waiter is a wait in progress.
type Waiter struct {
	For
	from      Anchor
	fired     []Fired
	open      []bool // conditions that have not fired
	remaining int
	started   time.Time
	text      *lines // nil when no condition looks at text
	pos       uint64 // offset text has been fed up to
	expected  uint64 // offset + 1 at which text was last expected
	echo      echodetect.Stripper
	mute      bool      // pos lies in what is a line editor's
	seen      uint64    // screen version the rows were last matched at
	checked   uint64    // end of the output when the screen was last matched
	unsettled time.Time // when output after checked was first seen; zero if none was
}

// New returns a wait that starts at a time.
func New(f For, now time.Time) *Waiter {
	w := &Waiter{For: f, remaining: len(f.Conds), started: now, open: make([]bool, len(f.Conds))}
	for i, c := range f.Conds {
		w.open[i] = true
		if c.textual() && w.text == nil {
			w.text = newLines()
		}
	}
	return w
}

// Set is the set of a session's waits.
type Set struct {
	host     Host
	editor   *echodetect.Region // the owner's, as is typed; only read here
	typed    *echodetect.Texts
	waiters  map[*Waiter]struct{}
	activity activity
}

// NewSet returns a set without waits. editor is the output of the shell's line editor, typed the recent input.
func NewSet(h Host, editor *echodetect.Region, typed *echodetect.Texts) *Set {
	return &Set{host: h, editor: editor, typed: typed, waiters: map[*Waiter]struct{}{}}
}

// Len returns the number of waits.
func (s *Set) Len() int { return len(s.waiters) }

// Add starts a wait with the output since its anchor. Call Check after it.
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

// Remove ends an abandoned wait, and returns its result so far.
func (s *Set) Remove(w *Waiter) Result {
	delete(s.waiters, w)
	v := s.host.View()
	return w.result(&v)
}

// catchUp matches the output between the wait's anchor and the end.
func (s *Set) catchUp(w *Waiter, end uint64) error {
	buf := make([]byte, 64<<10)
	for from := w.from.Off; from < end && w.remaining > 0; {
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

// feed matches output line by line. It skips output of the line editor, and expects input where it will be echoed.
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
	w.text.write(p, func(line string) { w.match(w.redactLine(w.echo.Strip(line, true), true)) })
}

// expect starts to expect the echo of input that was typed at an output offset, and returns the next such offset.
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

// maxUnsettled bounds how long the screen stays unmatched while a program prints all the time.
const maxUnsettled = 10 * redact.Settle

// isSettled reports whether the screen and the unfinished line can be matched now. While they change, they may contain
// an incomplete secret, which is not masked.
func (w *Waiter) isSettled(v *View) bool {
	if w.Redactor == nil || v.Offset == w.checked {
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
	return min(redact.Settle-v.Now.Sub(v.LastOutput), maxUnsettled-v.Now.Sub(w.unsettled))
}

// redactLine returns a line as the caller may see it.
func (w *Waiter) redactLine(line string, whole bool) string {
	if w.Redactor == nil {
		return line
	}
	return w.Redactor.Line(line, whole)
}

// frame returns the rows that changed after a version, as the caller may see them.
func (s *Set) frame(w *Waiter, since uint64) (f vterm.Frame) {
	if w.Redactor == nil {
		s.host.Frame(&f, vterm.Query{Since: since})
		return f
	}
	above := s.host.Above()
	s.host.Frame(&f, vterm.Query{}) // a secret may continue in a row that did not change
	w.Redactor.Frame(&f, above)
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
		w.remaining--
		w.fired = append(w.fired, Fired{i, match})
	}
}

// Check evaluates everything that can match without new output, and ends the waits that are satisfied.
func (s *Set) Check() {
	if len(s.waiters) == 0 {
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		s.holds(w, &v)
		if v.NoMore || w.isSatisfied() {
			r := w.result(&v)
			r.Ended = !w.isSatisfied()
			s.end(w, r)
		}
	}
}

func (w *Waiter) isSatisfied() bool { return w.remaining == 0 || !w.All && len(w.fired) > 0 }

// matchRows matches the rows of the screen that changed since the wait's last check: text that was drawn in pieces is
// complete only there.
func (s *Set) matchRows(w *Waiter, v *View) {
	f := s.frame(w, w.seen)
	typed := s.typed.Since(w.from.Off)
	for i := range f.Lines {
		l := &f.Lines[i]
		id := v.Top + uint64(l.Row)
		switch {
		case v.Alt:
			w.match(echodetect.RowWithout(&f, l, id, nil))
		case !s.editor.HasRow(id):
			w.match(echodetect.RowWithout(&f, l, id, typed))
		}
	}
}

func (w *Waiter) result(v *View) Result {
	return Result{Fired: w.fired, Version: v.Version, Cursor: v.Offset}
}

func (s *Set) end(w *Waiter, r Result) {
	delete(s.waiters, w)
	s.host.WaitEnded(w, r)
}

// End ends all waits, as nothing more will come.
func (s *Set) End() {
	s.Check()
	if len(s.waiters) == 0 { // the host may have no screen then
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		r := w.result(&v)
		r.Ended = true
		s.end(w, r)
	}
}

// GiveUp ends the waits for output, which is no longer matched, or all waits if exits cannot be waited for either.
func (s *Set) GiveUp(all bool) {
	s.activity = activity{}
	v := s.host.View()
	for w := range s.waiters {
		if w.text != nil || all {
			s.end(w, w.result(&v))
		}
	}
}
