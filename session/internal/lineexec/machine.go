package lineexec

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// promptTime is how long a shell that does not tell where its prompt ends gets to print it:
// what is typed before that is echoed before it.
const promptTime = 20 * time.Millisecond

// readsTime is how long such a shell gets to read, when the kernel tells whether it does.
const readsTime = time.Second

// Machine runs lines in one shell.
type Machine struct {
	host   Host
	queue  []*Line // oldest first; the first one may be under way
	editor editor
	after  hold
	// prepared is when another shell, in the place of the first, was told how to tell of itself;
	// zero once it has.
	prepared time.Time
}

// New makes a machine.
func New(h Host) *Machine { return &Machine{host: h} }

// Try says why a line would not be queued now, and changes nothing. busy says what the shell is busy with, for the error.
func (m *Machine) Try(l *Line, busy func() string) error {
	v := m.host.View()
	if p, _ := m.foreign(&v); p != nil {
		return ErrForeign
	}
	return m.busy(l, &v, busy)
}

// Give queues a line.
func (m *Machine) Give(l *Line, busy func() string) error {
	v := m.host.View()
	if m.follow(&v) {
		return ErrForeign
	}
	if err := m.busy(l, &v, busy); err != nil {
		return err
	}
	m.queue = append(m.queue, l)
	m.advance(&v)
	return nil
}

func (m *Machine) busy(l *Line, v *View, with func() string) error {
	runs := v.Running != nil && !v.Done // else the prompt is on its way
	unknown := v.Phase == shell.PhaseUnknown && v.Prompt > 0 && v.Quality == shell.None
	if !l.Wait && !m.after.on && (runs || v.Continuation || len(m.queue) > 0 || unknown || m.untold(v)) {
		return fmt.Errorf("%w: %s", ErrBusy, with())
	}
	return nil
}

// Current is the line that was typed and has not ended; nil: none.
func (m *Machine) Current() *Line {
	if len(m.queue) == 0 || m.queue[0].step == Waits {
		return nil
	}
	return m.queue[0]
}

// First is the line whose turn it is; nil: none.
func (m *Machine) First() *Line {
	if len(m.queue) == 0 {
		return nil
	}
	return m.queue[0]
}

// Due is called when the time of ActWake has come.
func (m *Machine) Due() {
	v := m.host.View()
	m.advance(&v)
}

// advance does what is due.
func (m *Machine) advance(v *View) {
	switch cur := m.Current(); {
	case m.after.on:
		m.awaitPrompt(v)
	case cur != nil && cur.step == Refused:
		m.dropRefused(cur, v)
	case cur != nil:
		m.watch(cur, v)
	default:
		m.next(v)
	}
}

func (m *Machine) wake(after time.Duration) { _ = m.host.Do(Action{Kind: ActWake, After: after}) }

// next types the first line that waits, if the shell is at its prompt and the editor is empty.
func (m *Machine) next(v *View) {
	if len(m.queue) == 0 {
		if v.Drawing {
			m.doubtPrompt(v)
		}
		return
	}
	if !v.atPrompt() {
		m.doubtPrompt(v)
		return
	}
	if wait := m.notYet(v); wait > 0 {
		m.wake(wait)
		return
	}
	if m.untold(v) {
		if !m.follow(v) {
			m.refuseBusy()
		}
		return
	}
	if m.editor.leaked {
		p := m.host.Probe()
		m.editor.leaked = !p.Known || !p.Canonical // else the editor has not begun, and took nothing
	}
	clear, keys := m.editor.clear(v.Kind)
	if clear == clearByInterrupt {
		m.interruptEditor(v)
		return
	}
	if m.editor.replied {
		_ = m.host.Do(Action{Kind: ActFlush})
	}
	if v.Kind.Spec().NeedsSane {
		_ = m.host.Do(Action{Kind: ActSane})
	}
	if len(keys) > 0 {
		_ = m.host.Do(Action{Kind: ActKeys, Keys: keys})
	}
	m.editor = editor{}
	m.typeLine(m.queue[0], v)
}

// notYet is how much longer the line has to wait: for the prompt's end, for what a person has
// just typed to begin, and for the editor to ask for pastes.
func (m *Machine) notYet(v *View) time.Duration {
	if wait := m.editor.entersFor(v); wait > 0 {
		return wait
	}
	if v.Offered == shell.Full {
		return 0
	}
	if p := m.host.Probe(); (p.Known || p.Prints) && v.Now.Sub(v.Since) < readsTime {
		if p.Shell && p.Reads {
			return 0
		}
		return promptTime / 4
	}
	last := v.LastOutput
	if v.Since.After(last) {
		last = v.Since
	}
	return promptTime - v.Now.Sub(last)
}

func (m *Machine) typeLine(l *Line, v *View) {
	l.step, l.prompt, l.typed, l.basic = Typed, v.Prompt, v.Now, v.Offered != shell.Full
	if err := m.host.Do(Action{Kind: ActType, Line: l}); err != nil {
		var later *Later
		if asLater(err, &later) {
			l.step = Waits
			m.wake(later.After)
			return
		}
		m.end(Action{Line: l, Err: err})
		return
	}
	m.wake(l.doubt.begin(v))
}

// refuseBusy ends the lines that do not wait for the shell to be free, and has the others look again.
func (m *Machine) refuseBusy() {
	for _, l := range slices.Clone(m.queue) {
		if l.step == Waits && !l.Wait {
			m.end(Action{Line: l, Err: ErrBusy})
		}
	}
	if len(m.queue) > 0 {
		m.wake(lookFirst)
	}
}

// Later is the host's answer to ActType that the line cannot be typed yet.
type Later struct{ After time.Duration }

func (e *Later) Error() string { return fmt.Sprintf("not before %s", e.After) }

func asLater(err error, to **Later) bool {
	l, ok := err.(*Later)
	*to = l
	return ok
}

// NeverRan says that the line under way, which ends next, was read and refused. An editor that keeps it has to drop it first: what
// anybody types would be put behind it.
func (m *Machine) NeverRan() {
	if l := m.Current(); l != nil && m.host.View().Kind.Spec().KeepsIncomplete {
		l.refused = true
	}
}

// dropRefused has the editor drop a line that it refused, once it reads: an interrupt before that is lost.
func (m *Machine) dropRefused(l *Line, v *View) {
	p := m.host.Probe()
	if !v.atPrompt() || p.Known && !(p.Shell && p.Reads) && v.Now.Sub(v.Since) < readsTime {
		m.wake(promptTime / 4)
		return
	}
	l.step = Dropped
	m.interrupt(v)
}

// HandleChange handles a change of the shell. Its owner calls it for every change, in order.
func (m *Machine) HandleChange(kind shell.ChangeKind) {
	v := m.host.View()
	if kind == shell.ChangePrompt {
		m.prepared = time.Time{}
	}
	if kind == shell.ChangeDone || kind == shell.ChangePrompt {
		m.editor.commandEnded(m.host)
	}
	m.after.changed(kind, &v)
	if l := m.First(); l != nil {
		m.handleChange(l, kind, &v)
	}
	if kind == shell.ChangePrompt || kind == shell.ChangePhase || kind == shell.ChangeFinished || kind == shell.ChangeStarted && m.after.on {
		m.wake(0) // once all changes of this moment have been told
	}
}

func (m *Machine) handleChange(l *Line, kind shell.ChangeKind, v *View) {
	switch {
	case kind == shell.ChangeStarted && l.step == Waits && !l.Wait && m.editor.entered():
		m.end(Action{Line: l, Err: ErrBusy}) // with a line that had just been typed
	case kind == shell.ChangeStarted && l.step == Typed:
		l.step, l.begun = Runs, true
		l.doubt = doubt{}
		_ = m.host.Do(Action{Kind: ActBegun, Line: l})
		m.wake(l.doubt.begin(v))
	case kind == shell.ChangeFinished && l.step == Runs && l.refused:
		l.step = Refused
	case kind == shell.ChangeFinished && l.step == Runs:
		m.end(Action{Line: l})
	case kind == shell.ChangeInput && l.Wrapped > 1: // the lines within the quotes
	case kind == shell.ChangeInput && (l.step == Typed || l.step == Runs && (l.basic || l.Parts)):
		m.drop(l, ErrIncomplete)
	case kind == shell.ChangePrompt && l.step == Dropped:
		m.end(Action{Line: l, Err: l.cause})
	case kind == shell.ChangePrompt && l.step == Typed && v.Prompt > l.prompt:
		m.end(Action{Line: l, Nothing: true}) // a comment, say: read, and nothing to run
	}
}

// drop has the shell drop what it has of a line.
func (m *Machine) drop(l *Line, cause error) {
	v := m.host.View()
	l.step, l.cause = Dropped, cause
	m.interrupt(&v)
}

// Stuck looks at a line that was typed and has not begun: a shell whose editor keeps lines
// that are incomplete, without a word (fish), has to be told to drop it.
func (m *Machine) Stuck(l *Line) {
	if l.step == Typed && m.host.View().Kind.Spec().KeepsIncomplete {
		m.drop(l, ErrIncomplete)
	}
}

// Drop takes a line back that has not begun, and leaves one that has to itself. The shell
// is given Ctrl-C if it has the line; the next line waits for its prompt.
func (m *Machine) Drop(l *Line) {
	if l.step == Typed {
		v := m.host.View()
		l.step = Dropped
		m.interrupt(&v)
	}
	if l.step != Over {
		m.end(Action{Line: l, Err: context.Canceled})
	}
}

// end takes a line off the queue.
func (m *Machine) end(a Action) {
	m.queue = slices.DeleteFunc(m.queue, func(x *Line) bool { return x == a.Line })
	a.Kind, a.Line.step = ActOver, Over
	_ = m.host.Do(a)
}

// EndAll ends all lines: no more is coming.
func (m *Machine) EndAll(err error) {
	m.after = hold{}
	for len(m.queue) > 0 {
		m.end(Action{Line: m.queue[0], Err: err})
	}
}
