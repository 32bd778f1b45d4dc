package lineexec

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

const (
	// againTime is the interval of repeated Ctrl-C: an editor that is about to read loses the first one.
	againTime = 250 * time.Millisecond
	// muteTime is how long an editor may take to show another prompt if it shows none for an empty line (shell.Spec).
	muteTime = 60 * time.Millisecond
	// maxAgain bounds the repetitions.
	maxAgain = 8
	// settleTime is the interval of probes of an interrupted shell, until it reads its terminal. Before that the signal
	// may still be in transit, and the terminal discards input.
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

// holdTime is how long an interrupted command may take to end before it counts as one that continues.
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

// interruptEditor clears the shell's editor after keys of unknown effect. An empty editor may show no new prompt. If it
// was reading, the interrupt counts as done after the time limit for a prompt.
func (m *Machine) interruptEditor(v *View) {
	m.editor = editor{}
	p := m.host.Probe()
	m.interrupt(v)
	if m.after.mute = v.Kind.Spec().InterruptIsSilent && p.Known && p.Shell && p.Reads; m.after.mute {
		m.wake(muteTime)
	}
}

// Interrupt starts a kill ladder for a line, and reports whether the line runs. Otherwise it has ended, and the signal
// would reach another line. signal is sent before anything else can be typed; no line is typed until EndInterrupt.
func (m *Machine) Interrupt(l *Line, signal func()) bool {
	if l.step != Runs || m.First() != l {
		return false
	}
	m.HoldFor(signal)
	return true
}

// HoldFor works like Interrupt for a line that was not submitted to the machine.
func (m *Machine) HoldFor(signal func()) {
	v := m.host.View()
	m.after = hold{on: true, prompt: v.Prompt, ladders: m.after.ladders + 1, at: v.Now}
	signal()
}

// EndInterrupt ends a kill ladder.
func (m *Machine) EndInterrupt() {
	v := m.host.View()
	m.after.ladders, m.after.at = max(0, m.after.ladders-1), v.Now
	m.wake(0)
}

// update records that the prompt is back.
func (h *hold) update(kind shell.ChangeKind, v *View) {
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
	case v.atPrompt() && (h.back || !h.typed || h.mute && v.Now.Sub(h.at) >= muteTime), v.MaxQuality == shell.None, h.tries > maxAgain:
		if h.looks++; !m.isSettled(v) && h.looks < maxSettle {
			m.wake(settleTime)
			return
		}
		*h = hold{}
		m.wake(0)
	case h.typed && (v.Phase == shell.PhasePrompt || v.Phase == shell.PhaseUnknown || v.InContinuation || m.isDropped()):
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
		*h = hold{} // the command continues; the prompt after it may belong to any line, with or without marks
		m.wake(0)
	default:
		if cur := m.Current(); cur != nil {
			m.watch(cur, v)
			return
		}
		m.doubtPrompt(v)
	}
}

func (m *Machine) isDropped() bool { return m.First() != nil && m.First().step == Dropped }

// isSettled reports whether the shell has handled the interrupt.
func (m *Machine) isSettled(v *View) bool {
	p := m.host.Probe()
	switch {
	case p.Prints: // however long it was silent before: the interrupt's effects may be in it
		return false
	case !p.Known:
		return v.sinceOutput() > 4*settleTime
	}
	return p.Reads && p.Unread == 0 && v.sinceOutput() >= settleTime/2
}

// HoldForRepair holds lines back after the host has typed a repair line, until its prompt or a time limit.
func (m *Machine) HoldForRepair() {
	v := m.host.View()
	m.after = hold{on: true, repair: true, prompt: v.Prompt, at: v.Now}
	m.wake(holdTime)
}
