package lineexec

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

const (
	// repeatInterval is the interval of repeated Ctrl-C: an editor that is about to read loses the first one.
	repeatInterval = 250 * time.Millisecond
	// silentEditorTime is how long an editor may take to show another prompt if it shows none for an empty line (shell.Spec).
	silentEditorTime = 60 * time.Millisecond
	// maxRepeats bounds the repetitions of Ctrl-C.
	maxRepeats = 8
	// interruptProbeInterval is the interval of probes of an interrupted shell, until it reads its terminal. Before that the signal
	// may still be in transit, and the terminal discards input.
	interruptProbeInterval = 15 * time.Millisecond
	maxInterruptProbes     = 100
)

// hold keeps lines in the queue after an interrupt, until the shell is at its prompt and reads.
type hold struct {
	active      bool      // lines are held
	ctrlCTyped  bool      // as a key, by longterm: it is typed again if no prompt comes
	prompt      uint64    // number of the newest prompt at the interrupt
	repair      bool      // held for a repair line of the host
	promptSeen  bool      // a prompt was printed since
	mayBeSilent bool      // perhaps no prompt will be printed
	repeats     int       // Ctrl-C was typed this often
	probes      int       // of the shell
	ladders     int       // kill ladders in progress: see Interrupt
	since       time.Time // time of the newest interrupt or prompt
}

// holdTime is how long an interrupted command may take to end before it counts as one that continues.
const holdTime = time.Second

// interrupt types Ctrl-C and holds lines.
func (m *Machine) interrupt(v *View) {
	if !m.hold.active {
		m.hold = hold{active: true, prompt: v.Prompt, ladders: m.hold.ladders}
	}
	m.hold.since = v.Now
	m.hold.ctrlCTyped, m.hold.promptSeen = true, false
	m.hold.repeats++
	_ = m.host.Do(Action{Kind: ActKeys, Keys: []byte{'C' - '@'}})
	m.setTimer(repeatInterval)
}

// interruptEditor clears the shell's editor after keys of unknown effect. An empty editor may show no new prompt. If it
// was reading, the interrupt counts as done after the time limit for a prompt.
func (m *Machine) interruptEditor(v *View) {
	m.editor = editor{}
	p := m.host.Probe()
	m.interrupt(v)
	if m.hold.mayBeSilent = v.Kind.Spec().InterruptIsSilent && p.Known && p.ReaderIsShell && p.Reads; m.hold.mayBeSilent {
		m.setTimer(silentEditorTime)
	}
}

// Interrupt starts a kill ladder for a line, and reports whether the line runs. Otherwise it has ended, and the signal
// would reach another line. signal is sent before anything else can be typed; no line is typed until EndInterrupt.
func (m *Machine) Interrupt(l *Line, signal func()) bool {
	if l.step != Running || m.Head() != l {
		return false
	}
	m.InterruptUnsubmitted(signal)
	return true
}

// InterruptUnsubmitted works like Interrupt for a line that was not submitted to the machine.
func (m *Machine) InterruptUnsubmitted(signal func()) {
	v := m.host.View()
	m.hold = hold{active: true, prompt: v.Prompt, ladders: m.hold.ladders + 1, since: v.Now}
	signal()
}

// EndInterrupt ends a kill ladder.
func (m *Machine) EndInterrupt() {
	v := m.host.View()
	m.hold.ladders, m.hold.since = max(0, m.hold.ladders-1), v.Now
	m.setTimer(0)
}

// handleChange records that a new prompt was printed.
func (h *hold) handleChange(kind shell.ChangeKind, v *View) {
	if h.active && (kind == shell.ChangePrompt && v.Prompt > h.prompt || kind == shell.ChangeStarted) {
		h.promptSeen = h.promptSeen || kind == shell.ChangePrompt
		h.repeats, h.probes, h.since = 0, 0, v.Now
	}
}

// awaitPrompt ends the hold once the shell is at a prompt and reads it.
func (m *Machine) awaitPrompt(v *View) {
	h := &m.hold
	switch {
	case h.ladders > 0:
		return // EndInterrupt sets the timer
	case h.repair && !h.promptSeen && v.Now.Sub(h.since) < holdTime:
		m.setTimer(holdTime - v.Now.Sub(h.since))
	case v.atPrompt() && (h.promptSeen || !h.ctrlCTyped || h.mayBeSilent && v.Now.Sub(h.since) >= silentEditorTime), v.MaxQuality == shell.None, h.repeats > maxRepeats:
		if h.probes++; !m.isSettled(v) && h.probes < maxInterruptProbes {
			m.setTimer(interruptProbeInterval)
			return
		}
		*h = hold{}
		m.setTimer(0)
	case h.ctrlCTyped && (v.Phase == shell.PhasePrompt || v.Phase == shell.PhaseUnknown || v.InContinuation || m.isDropped()):
		if wait := repeatInterval - v.Now.Sub(h.since); wait > 0 {
			m.setTimer(wait)
			return
		}
		h.repeats++
		h.since = v.Now
		_ = m.host.Do(Action{Kind: ActKeys, Keys: []byte{'C' - '@'}})
		m.setTimer(repeatInterval)
	case m.Current() == nil && v.Phase == shell.PhaseRunning:
		if wait := holdTime - v.Now.Sub(h.since); wait > 0 {
			m.setTimer(wait)
			return
		}
		*h = hold{} // the command continues; the prompt after it may belong to any line, with or without marks
		m.setTimer(0)
	default:
		if cur := m.Current(); cur != nil {
			m.watch(cur, v)
			return
		}
		m.checkUnmarkedPrompt(v)
	}
}

// isDropped reports whether the line at the head of the queue was dropped.
func (m *Machine) isDropped() bool { return m.Head() != nil && m.Head().step == Dropped }

// isSettled reports whether the shell has handled the interrupt.
func (m *Machine) isSettled(v *View) bool {
	p := m.host.Probe()
	switch {
	case p.OutputPending: // even after a long silence: the interrupt's effects may be in it
		return false
	case !p.Known:
		return v.sinceOutput() > 4*interruptProbeInterval
	}
	return p.Reads && p.Unread == 0 && v.sinceOutput() >= interruptProbeInterval/2
}

// HoldForRepair holds lines back after the host has typed a repair line, until its prompt or a time limit.
func (m *Machine) HoldForRepair() {
	v := m.host.View()
	m.hold = hold{active: true, repair: true, prompt: v.Prompt, since: v.Now}
	m.setTimer(holdTime)
}
