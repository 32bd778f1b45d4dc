package wait

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/vterm"
)

// Spec describes a wait. Waits are level-triggered: a match between Since and the call counts.
type Spec struct {
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
	RedactLine(line string, whole bool) string
	RedactFrame(f *vterm.Frame, above []vterm.Line)
}

// ConditionMatch is a condition that matched.
type ConditionMatch struct {
	Cond  int    // index in Spec.Conds
	Match string // the text that matched
}

// Result is the result of a wait. Ended reports that the remaining conditions can never match: the session has ended,
// or was closed, or the command that may have an anomaly has ended.
type Result struct {
	Matches []ConditionMatch
	Ended   bool
	Version uint64 // of the screen at that moment
	Cursor  uint64 // offset of the output at that moment: the next Since
}

// Waiter is a wait in progress.
type Waiter struct {
	Spec
	from           Anchor // where the wait starts to match
	matches        []ConditionMatch
	open           []bool // conditions that have not fired
	remaining      int    // conditions that have not fired
	started        time.Time
	lines          *lines              // nil if no condition matches output
	fedTo          uint64              // output offset up to which lines was fed
	expected       uint64              // offset + 1 of the last text in echo; 0: none
	echo           echodetect.Stripper // removes typed input
	inEditor       bool                // fedTo is within output of a line editor
	matchedVersion uint64              // screen version at which rows were last matched
	matchedTo      uint64              // output offset at which the screen was last matched
	unsettled      time.Time           // when output after matchedTo was first seen; zero: none was
}

// New returns a wait that starts at a time.
func New(f Spec, now time.Time) *Waiter {
	w := &Waiter{Spec: f, remaining: len(f.Conds), started: now, open: make([]bool, len(f.Conds))}
	for i, c := range f.Conds {
		w.open[i] = true
		if c.matchesOutput() && w.lines == nil {
			w.lines = newLines()
		}
	}
	return w
}

// Set is the set of a session's waits.
type Set struct {
	host     Host
	editor   *echodetect.EditorRegion // the owner's, like typed; only read here
	typed    *echodetect.TypedTexts
	waiters  map[*Waiter]struct{}
	activity activity
}

// NewSet returns a set without waits. editor is the output of the shell's line editor, typed the recent input.
func NewSet(h Host, editor *echodetect.EditorRegion, typed *echodetect.TypedTexts) *Set {
	return &Set{host: h, editor: editor, typed: typed, waiters: map[*Waiter]struct{}{}}
}

// Len returns the number of waits.
func (s *Set) Len() int { return len(s.waiters) }

// Add starts a wait with the output since its anchor. Call Check after it.
func (s *Set) Add(w *Waiter) error {
	v := s.host.View()
	w.from = v.LastInput
	if w.Since != nil {
		w.from = Anchor{*w.Since, v.Version}
	}
	w.matchedVersion = w.from.Version
	s.waiters[w] = struct{}{}
	if w.lines != nil {
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
		p = p[:min(uint64(len(p)), end-at)] // after lost output a read may pass the end, and Output matches the rest
		s.feed(w, p, at)
		from = at + uint64(len(p))
	}
	return nil
}

// Output matches new output, the bytes at an offset.
func (s *Set) Output(p []byte, at uint64) {
	for w := range s.waiters {
		if w.lines != nil {
			s.feed(w, p, at)
		}
	}
}

// feed matches output line by line. It skips output of the line editor, and expects input where it will be echoed.
func (s *Set) feed(w *Waiter, p []byte, at uint64) {
	for len(p) > 0 {
		editors, until := s.editor.EditorOutputAt(at)
		if !editors {
			until = min(until, s.expectEcho(w, at))
		}
		n := len(p)
		if until-at < uint64(n) {
			n = int(until - at)
		}
		switch {
		case editors:
			w.inEditor = true
		case w.inEditor: // the line editor's output has ended
			w.inEditor = false
			w.write([]byte("\r\n"))
			fallthrough
		default:
			w.write(p[:n])
		}
		p, at = p[n:], at+uint64(n)
	}
	w.fedTo = at
}

// write matches the lines that p completes.
func (w *Waiter) write(p []byte) {
	w.lines.write(p, func(line string) { w.match(w.redactLine(w.echo.Strip(line, true), true)) })
}

// expectEcho starts to expect the echo of input that was typed at an output offset, and returns the next such offset.
func (s *Set) expectEcho(w *Waiter, at uint64) (next uint64) {
	for i := range *s.typed {
		switch t := &(*s.typed)[i]; {
		case t.At > at:
			return t.At
		case t.At == at && (w.expected != at+1):
			w.expected = at + 1
			unfinished := ""
			w.lines.current(func(line string) { unfinished = line })
			w.echo.Expect(t, unfinished)
		}
	}
	return 1<<64 - 1
}

// maxUnsettled bounds how long the screen stays unmatched while a program prints all the time.
const maxUnsettled = 10 * redact.SettleTime

// isSettled reports whether the screen and the unfinished line can be matched now. While they change, they may contain
// an incomplete secret, which is not masked.
func (w *Waiter) isSettled(v *View) bool {
	if w.Redactor == nil || v.Offset == w.matchedTo {
		return true
	}
	if w.unsettled.IsZero() {
		w.unsettled = v.Now
	}
	if !v.Drained && w.untilSettled(v) > 0 {
		return false
	}
	w.matchedTo, w.unsettled = v.Offset, time.Time{}
	return true
}

// untilSettled returns how long it takes until the screen and the unfinished line can be matched.
func (w *Waiter) untilSettled(v *View) time.Duration {
	return min(redact.SettleTime-v.Now.Sub(v.LastOutput), maxUnsettled-v.Now.Sub(w.unsettled))
}

// redactLine returns a line as the caller may see it.
func (w *Waiter) redactLine(line string, whole bool) string {
	if w.Redactor == nil {
		return line
	}
	return w.Redactor.RedactLine(line, whole)
}

// redactedFrame returns the rows that changed after a version, as the caller may see them.
func (s *Set) redactedFrame(w *Waiter, since uint64) (f vterm.Frame) {
	if w.Redactor == nil {
		s.host.Frame(&f, vterm.Query{Since: since})
		return f
	}
	above := s.host.Above()
	s.host.Frame(&f, vterm.Query{}) // a secret may continue in an unchanged row
	w.Redactor.RedactFrame(&f, above)
	f.Lines = slices.DeleteFunc(f.Lines, func(l vterm.Line) bool { return l.Version <= since })
	return f
}

// match matches a line of output.
func (w *Waiter) match(line string) {
	for i, c := range w.Conds {
		if !w.open[i] || !c.matchesOutput() {
			continue
		}
		if m, ok := c.matchText(line); ok {
			w.recordMatch(i, m)
		}
	}
}

// recordMatch records that a condition matched.
func (w *Waiter) recordMatch(i int, match string) {
	if w.open[i] {
		w.open[i] = false
		w.remaining--
		w.matches = append(w.matches, ConditionMatch{i, match})
	}
}

// Check evaluates everything that can match without new output, and ends the waits that are satisfied.
func (s *Set) Check() {
	if len(s.waiters) == 0 {
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		s.matchConditions(w, &v)
		if v.Drained || w.isSatisfied() || w.cannotMatchAnomaly(&v) {
			r := w.result(&v)
			r.Ended = !w.isSatisfied()
			s.end(w, r)
		}
	}
}

// isSatisfied reports whether enough conditions have matched.
func (w *Waiter) isSatisfied() bool { return w.remaining == 0 || !w.All && len(w.matches) > 0 }

// matchRows matches the rows of the screen that changed since the wait's last check: text that was drawn in pieces is
// complete only there.
func (s *Set) matchRows(w *Waiter, v *View) {
	f := s.redactedFrame(w, w.matchedVersion)
	typed := s.typed.Since(w.from.Off)
	for i := range f.Lines {
		l := &f.Lines[i]
		id := v.Top + uint64(l.Row)
		switch {
		case v.Alt:
			w.match(echodetect.StripRow(&f, l, id, nil))
		case !s.editor.HasRow(id):
			w.match(echodetect.StripRow(&f, l, id, typed))
		}
	}
}

// result returns the result of a wait now.
func (w *Waiter) result(v *View) Result {
	return Result{Matches: w.matches, Version: v.Version, Cursor: v.Offset}
}

// end removes a wait and reports its result.
func (s *Set) end(w *Waiter, r Result) {
	delete(s.waiters, w)
	s.host.WaitEnded(w, r)
}

// End ends all waits, as no output or change will follow.
func (s *Set) End() {
	s.Check()
	if len(s.waiters) == 0 { // the host may have no screen in that case
		return
	}
	v := s.host.View()
	for w := range s.waiters {
		r := w.result(&v)
		r.Ended = true
		s.end(w, r)
	}
}

// EndOutputWaits ends the waits that match output, after the session has stopped matching it. With all it ends the other waits too.
func (s *Set) EndOutputWaits(all bool) {
	s.activity = activity{}
	v := s.host.View()
	for w := range s.waiters {
		if w.lines != nil || all {
			s.end(w, w.result(&v))
		}
	}
}
