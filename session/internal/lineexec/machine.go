package lineexec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// promptTime is how long a shell that does not mark the end of its prompt gets to print it: earlier input would be
// echoed before it.
const promptTime = 20 * time.Millisecond

// promptReadTime is how long such a shell may take to read, if the kernel can report whether it does.
const promptReadTime = time.Second

// learnReadTime is how long a shell's first line waits until it is known how the shell reads at its prompt.
const learnReadTime = 100 * time.Millisecond

// Machine runs lines in one shell.
type Machine struct {
	host   Host
	queue  []*Line // oldest first; the first one may be typed already
	editor editor
	hold   hold
	// preparedAt is when a shell that replaced the first one got the integration; zero once it printed marks.
	preparedAt time.Time
	stacks     map[readMode]uint64 // the stack pointers with which the shell reads at its prompt
}

// New returns a machine.
func New(h Host) *Machine { return &Machine{host: h, stacks: map[readMode]uint64{}} }

// CheckQueue returns the error that Submit would return for a line now, without side effects. busy returns the name of
// the running program, for the error.
func (m *Machine) CheckQueue(l *Line, busy func() string) error {
	v := m.host.View()
	if p, _ := m.foreignShell(&v); p != nil {
		return ErrForeignShell
	}
	return m.checkBusy(l, &v, busy)
}

// Submit queues a line. busy returns the name of the running program, for the error.
func (m *Machine) Submit(l *Line, busy func() string) error {
	v := m.host.View()
	if m.followForeignShell(&v) {
		return ErrForeignShell
	}
	if m.runsUnmarkedLine(&v) {
		_ = m.host.Do(Action{Kind: ActFoundRunning})
		v = m.host.View()
	}
	if err := m.checkBusy(l, &v, busy); err != nil {
		return err
	}
	m.queue = append(m.queue, l)
	m.advance(&v)
	return nil
}

// checkBusy returns ErrBusy if the line must not wait and the shell is not ready. with returns the running program.
func (m *Machine) checkBusy(l *Line, v *View, with func() string) error {
	runs := v.Running != nil && !v.HasEnded && !m.hasEndedUnmarked(v) // otherwise the prompt is about to be printed
	unknown := v.Phase == shell.PhaseUnknown && v.Prompt > 0 && v.Quality == shell.None
	if !l.Wait && !m.hold.active && (runs || v.InContinuation || len(m.queue) > 0 || unknown || m.runsUnmarkedLine(v)) {
		return fmt.Errorf("%w: %s", ErrBusy, with())
	}
	return nil
}

// Current returns the line that was typed and has not ended, or nil.
func (m *Machine) Current() *Line {
	if len(m.queue) == 0 || m.queue[0].step == Queued {
		return nil
	}
	return m.queue[0]
}

// Head returns the line at the head of the queue, or nil.
func (m *Machine) Head() *Line {
	if len(m.queue) == 0 {
		return nil
	}
	return m.queue[0]
}

// OnTimer handles the expiry of ActSetTimer's time.
func (m *Machine) OnTimer() {
	v := m.host.View()
	m.advance(&v)
}

// advance does all due work.
func (m *Machine) advance(v *View) {
	switch cur := m.Current(); {
	case m.hold.active:
		m.awaitPrompt(v)
	case cur != nil && cur.step == Refused:
		m.dropRefused(cur, v)
	case cur != nil:
		m.watch(cur, v)
	default:
		m.typeNext(v)
	}
}

// setTimer requests a call of OnTimer after a time.
func (m *Machine) setTimer(after time.Duration) {
	_ = m.host.Do(Action{Kind: ActSetTimer, After: after})
}

// typeNext types the first queued line, if the shell is at its prompt and the editor is empty.
func (m *Machine) typeNext(v *View) {
	if len(m.queue) == 0 {
		switch {
		case v.IsDrawingPrompt:
			m.checkUnmarkedPrompt(v)
		case v.atPrompt() && len(m.stacks) == 0 && !m.editor.hasEnteredLine():
			if wait := m.timeUntilReady(v); wait > 0 {
				m.setTimer(wait)
			}
		case m.hasUnmarkedLine(v):
			m.detectUnmarkedLine(v)
		}
		return
	}
	if !v.atPrompt() {
		m.checkUnmarkedPrompt(v)
		return
	}
	if wait := m.timeUntilReady(v); wait > 0 {
		m.setTimer(wait)
		return
	}
	if m.runsUnmarkedLine(v) {
		if !m.followForeignShell(v) {
			_ = m.host.Do(Action{Kind: ActFoundRunning})
			m.rejectNonWaiting()
		}
		return
	}
	if m.editor.repliesLeaked {
		p := m.host.Probe()
		m.editor.repliesLeaked = !p.Known || !p.Canonical // otherwise the editor has not started, and took no reply
	}
	clear, keys := m.editor.clear(v.Kind)
	if clear == clearByInterrupt {
		m.interruptEditor(v)
		return
	}
	if m.editor.repliesTyped {
		_ = m.host.Do(Action{Kind: ActFlush})
	}
	if v.Kind.Spec().NeedsSaneTerminal {
		_ = m.host.Do(Action{Kind: ActSane})
	}
	if len(keys) > 0 {
		_ = m.host.Do(Action{Kind: ActKeys, Keys: keys})
	}
	m.editor = editor{}
	m.typeLine(m.queue[0], v)
}

// timeUntilReady returns how much longer the line must wait: for the prompt's end, for the start of a line that the
// user typed, and for the editor to enable pastes.
func (m *Machine) timeUntilReady(v *View) time.Duration {
	if wait := m.editor.enterTimeLeft(v); wait > 0 {
		return wait
	}
	if m.isReadingEntered(v) {
		return promptTime
	}
	full := v.MaxQuality == shell.Full
	if full && len(m.stacks) > 0 {
		return 0
	}
	p := m.host.Probe()
	m.learnPromptRead(&p)
	if since := v.Now.Sub(v.Since); (p.Known || p.OutputPending) && since < promptReadTime {
		if p.ReaderIsShell && p.Reads && (len(m.stacks) > 0 || since >= learnReadTime) {
			return 0
		}
		return promptTime / 4
	}
	if full {
		return 0
	}
	last := v.LastOutput
	if v.Since.After(last) {
		last = v.Since
	}
	return promptTime - v.Now.Sub(last)
}

// typeLine types a line.
func (m *Machine) typeLine(l *Line, v *View) {
	l.step, l.prompt, l.typed, l.basic = Typed, v.Prompt, v.Now, v.MaxQuality != shell.Full
	if err := m.host.Do(Action{Kind: ActType, Line: l}); err != nil {
		var later *RetryAfterError
		if errors.As(err, &later) {
			l.step = Queued
			m.setTimer(later.After)
			return
		}
		m.end(Action{Line: l, Err: err})
		return
	}
	m.setTimer(l.suspicion.restart(v))
}

// rejectNonWaiting ends the lines that do not wait for a free shell, and schedules a probe for the others.
func (m *Machine) rejectNonWaiting() {
	for _, l := range slices.Clone(m.queue) {
		if l.step == Queued && !l.Wait {
			m.end(Action{Line: l, Err: ErrBusy})
		}
	}
	if len(m.queue) > 0 {
		m.setTimer(firstProbeTime)
	}
}

// RetryAfterError is the host's answer to ActType if the line cannot be typed yet. The machine retries after After.
type RetryAfterError struct{ After time.Duration }

func (e *RetryAfterError) Error() string { return fmt.Sprintf("not before %s", e.After) }

// MarkRefused records that the current line, which ends next, was read but not run. An editor that still holds the line
// must drop it first: any later input would be appended to it. An editor that holds none read a syntax error (bash), or ran the
// line without its marks: after an interrupt, fish may skip the functions that print them.
func (m *Machine) MarkRefused() {
	if l := m.Current(); l != nil && m.host.View().HasKeptLine {
		l.refused = true
	}
}

// dropRefused makes the editor drop a line that it refused, once it reads: an earlier interrupt would be lost.
func (m *Machine) dropRefused(l *Line, v *View) {
	p := m.host.Probe()
	if !v.atPrompt() || p.Known && !(p.ReaderIsShell && p.Reads) && v.Now.Sub(v.Since) < promptReadTime {
		m.setTimer(promptTime / 4)
		return
	}
	l.step = Dropped
	m.interrupt(v)
}

// HandleChange handles a change of the shell. Its owner calls it for every change, in order.
func (m *Machine) HandleChange(kind shell.ChangeKind) {
	v := m.host.View()
	if kind == shell.ChangePrompt {
		m.preparedAt = time.Time{}
	}
	if kind == shell.ChangeOutputEnded || kind == shell.ChangePrompt {
		m.editor.flushReplies(m.host)
	}
	m.hold.handleChange(kind, &v)
	if l := m.Head(); l != nil {
		m.handleChange(l, kind, &v)
	}
	if kind == shell.ChangePrompt || kind == shell.ChangePhase || kind == shell.ChangeFinished || kind == shell.ChangeStarted && m.hold.active {
		m.setTimer(0) // after all changes of this moment are handled
	}
}

// handleChange applies a change of the shell to the current line.
func (m *Machine) handleChange(l *Line, kind shell.ChangeKind, v *View) {
	switch {
	case kind == shell.ChangeStarted && l.step == Queued && !l.Wait && m.editor.hasEnteredLine():
		m.end(Action{Line: l, Err: ErrBusy}) // for a line that was just typed
	case kind == shell.ChangeStarted && l.step == Typed:
		l.step, l.started = Running, true
		l.suspicion = suspicion{}
		_ = m.host.Do(Action{Kind: ActStarted, Line: l})
		m.setTimer(l.suspicion.restart(v))
	case kind == shell.ChangeFinished && l.step == Running && l.refused:
		l.step = Refused
	case kind == shell.ChangeFinished && l.step == Running:
		m.end(Action{Line: l})
	case kind == shell.ChangeInput && l.MarkedLines > 1: // of the lines within the quotes
	case kind == shell.ChangeInput && (l.step == Typed || l.step == Running && (l.basic || l.Multiline)):
		m.drop(l, ErrIncomplete)
	case kind == shell.ChangePrompt && l.step == Dropped:
		m.end(Action{Line: l, Err: l.cause})
	case kind == shell.ChangePrompt && l.step == Typed && v.Prompt > l.prompt:
		m.end(Action{Line: l, NoCommand: true}) // for example a comment: read, but without a command
	}
}

// drop makes the shell drop its part of a line.
func (m *Machine) drop(l *Line, cause error) {
	v := m.host.View()
	l.step, l.cause = Dropped, cause
	m.interrupt(&v)
}

// DropIncomplete drops a line that was typed and has not started. It handles shells whose editor silently keeps
// incomplete lines (fish).
func (m *Machine) DropIncomplete(l *Line) {
	if l.step == Typed && m.host.View().Kind.Spec().KeepsIncompleteLine {
		m.drop(l, ErrIncomplete)
	}
}

// Drop removes a line that has not started, and lets a started one continue without supervision. If the shell has the
// line, Ctrl-C is typed; the next line waits for its prompt.
func (m *Machine) Drop(l *Line) {
	if l.step == Typed {
		v := m.host.View()
		l.step = Dropped
		m.interrupt(&v)
	}
	if l.step != Done {
		m.end(Action{Line: l, Err: context.Canceled})
	}
}

// end removes a line from the queue.
func (m *Machine) end(a Action) {
	m.queue = slices.DeleteFunc(m.queue, func(x *Line) bool { return x == a.Line })
	a.Kind, a.Line.step = ActEnded, Done
	_ = m.host.Do(a)
}

// EndAll ends all lines with an error.
func (m *Machine) EndAll(err error) {
	m.hold = hold{}
	for len(m.queue) > 0 {
		m.end(Action{Line: m.queue[0], Err: err})
	}
}
