package lineexec

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

const (
	// againTime is after how long Ctrl-C is typed again: an editor that is just about to read
	// loses it.
	againTime = 250 * time.Millisecond
	// muteTime is how long an editor has to show another prompt where it shows none if it was empty (shell.Spec).
	muteTime = 60 * time.Millisecond
	// maxAgain bounds how often.
	maxAgain = 8
	// settleTime is how long a shell that was interrupted is looked at, and how often, until it
	// reads its terminal: before that the signal may still be on its way, and the terminal
	// throws away what was typed.
	settleTime = 15 * time.Millisecond
	maxSettle  = 100
)

// hold keeps lines back after an interrupt, until the shell is at its prompt and reads.
type hold struct {
	on      bool
	typed   bool   // by us as a key: it is typed again when no prompt comes
	prompt  uint64 // the newest one when it was interrupted
	repair  bool   // no interrupt, but a line of the host's own
	back    bool   // a prompt came since
	mute    bool   // perhaps none comes
	tries   int
	looks   int
	ladders int // kill ladders under way: see Interrupt
	at      time.Time
}

// holdTime is how long what was interrupted may take to end before it counts as something
// that goes on.
const holdTime = time.Second

// interrupt types Ctrl-C and holds lines back.
func (m *Machine) interrupt(v *View) {
	if !m.after.on {
		m.after = hold{on: true, prompt: v.Prompt, ladders: m.after.ladders}
	}
	m.after.at = v.Now
	m.after.typed, m.after.back = true, false
	m.after.tries++
	_ = m.host.Do(Action{Kind: ActKeys, Keys: []byte{'C' - '@'}})
	m.wake(againTime)
}

// interruptEditor clears the shell's editor of keys whose effect is not known. There may be nothing to interrupt: an editor that
// says nothing of that has had it once the time for a prompt is over, if it was reading.
func (m *Machine) interruptEditor(v *View) {
	m.editor = editor{}
	p := m.host.Probe()
	m.interrupt(v)
	if m.after.mute = v.Kind.Spec().MuteInterrupt && p.Known && p.Shell && p.Reads; m.after.mute {
		m.wake(muteTime)
	}
}

// Interrupt begins a kill ladder for a line, and reports whether it is the one that runs:
// else it has ended, and the signal would be another's. signal is sent before anything else
// can be typed; no line is typed until Interrupted.
func (m *Machine) Interrupt(l *Line, signal func()) bool {
	if l.step != Runs || m.First() != l {
		return false
	}
	m.HoldFor(signal)
	return true
}

// HoldFor is Interrupt for a line that the machine was not given, by its host's word.
func (m *Machine) HoldFor(signal func()) {
	v := m.host.View()
	m.after = hold{on: true, prompt: v.Prompt, ladders: m.after.ladders + 1, at: v.Now}
	signal()
}

// Interrupted ends a kill ladder.
func (m *Machine) Interrupted() {
	v := m.host.View()
	m.after.ladders, m.after.at = max(0, m.after.ladders-1), v.Now
	m.wake(0)
}

// changed notes that the prompt is back.
func (h *hold) changed(kind shell.ChangeKind, v *View) {
	if h.on && (kind == shell.ChangePrompt && v.Prompt > h.prompt || kind == shell.ChangeStarted) {
		h.back = h.back || kind == shell.ChangePrompt
		h.tries, h.looks, h.at = 0, 0, v.Now
	}
}

// awaitPrompt ends the hold once the shell is at a prompt and reads it.
func (m *Machine) awaitPrompt(v *View) {
	h := &m.after
	switch {
	case h.ladders > 0:
		return // Interrupted wakes
	case h.repair && !h.back && v.Now.Sub(h.at) < holdTime:
		m.wake(holdTime - v.Now.Sub(h.at))
	case v.atPrompt() && (h.back || !h.typed || h.mute && v.Now.Sub(h.at) >= muteTime), v.Offered == shell.None, h.tries > maxAgain:
		if h.looks++; !m.settled(v) && h.looks < maxSettle {
			m.wake(settleTime)
			return
		}
		*h = hold{}
		m.wake(0)
	case h.typed && (v.Phase == shell.PhasePrompt || v.Phase == shell.PhaseUnknown || v.Continuation || m.dropped()):
		if wait := againTime - v.Now.Sub(h.at); wait > 0 {
			m.wake(wait)
			return
		}
		h.tries++
		h.at = v.Now
		_ = m.host.Do(Action{Kind: ActKeys, Keys: []byte{'C' - '@'}})
		m.wake(againTime)
	case m.Current() == nil && v.Phase == shell.PhaseRunning:
		if wait := holdTime - v.Now.Sub(h.at); wait > 0 {
			m.wake(wait)
			return
		}
		*h = hold{} // it goes on; the prompt after it is any line's, with marks or without
		m.wake(0)
	default:
		if cur := m.Current(); cur != nil {
			m.watch(cur, v)
			return
		}
		m.doubtPrompt(v)
	}
}

func (m *Machine) dropped() bool { return m.First() != nil && m.First().step == Dropped }

// settled says that the shell has dealt with the interrupt.
func (m *Machine) settled(v *View) bool {
	p := m.host.Probe()
	switch {
	case p.Prints: // however long before that nothing was: what the interrupt led to may be among it
		return false
	case !p.Known:
		return v.quiet() > 4*settleTime
	}
	return p.Reads && p.Unread == 0 && v.quiet() >= settleTime/2
}

// Repairs says that the host types a line of its own: the next one waits for the prompt
// after it, for a while.
func (m *Machine) Repairs() {
	v := m.host.View()
	m.after = hold{on: true, repair: true, prompt: v.Prompt, at: v.Now}
	m.wake(holdTime)
}
