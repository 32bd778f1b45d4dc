package inputwait

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/shell"
)

// basicStartTime is how long a shell without start marks may take to start a command, if nothing else shows that it has
// read its line.
const basicStartTime = 150 * time.Millisecond

// Machine probes silent programs.
type Machine struct {
	host    Host
	silence inputdetect.SilenceTracker
	Schedule
	shellReads         bool         // at the last probe the shell itself was reading
	blank              bool         // at the last probe no text was before the cursor
	relayWaits         bool         // at the last probe a relay process was waiting
	isOwnProgram       bool         // at the last probe it was the session's own program
	outputPending      bool         // at the last probe output was in transit
	inputUnread        bool         // at the last probe input was unread
	noOutputSinceInput bool         // nothing was printed since the last input
	unchanged          bool         // the last probe found a stable wait: see IsUnchanged
	lastFinding        Finding      // of the last probe
	wait               readWait     // of the last probe
	lastWait           answeredWait // wait found at the last probe
	probedAt           time.Time    // when the kernel was last probed
	answered           answeredWait // wait in which the last input came
}

// New returns a machine that has not probed yet.
func New(h Host) *Machine { return &Machine{host: h} }

// Finding is the result of a probe.
type Finding struct {
	// AtPrompt reports that the shell waits for a command. No probe is needed before further output or input.
	AtPrompt bool
	// Verdict is what the program waits for, as far as it counts.
	Verdict inputdetect.Verdict
	// Unconfirmed reports that the result must be found again. FollowUp reports that it is not the first probe since
	// the last output or input.
	Unconfirmed, FollowUp bool
}

// NoteOutput handles output and returns the time of the first probe.
func (m *Machine) NoteOutput(now time.Time) time.Time {
	m.silence.Output(now)
	return m.restartSchedule(now)
}

// NoteEcho works like NoteOutput for a likely echo of a key within a line. The next key comes at the time of the usual
// first probe, which must not compete with it for the processor.
func (m *Machine) NoteEcho(now time.Time) time.Time {
	m.NoteOutput(now)
	return now.Add(SecondProbe)
}

// restartSchedule restarts the schedule of probes after output or input.
func (m *Machine) restartSchedule(now time.Time) time.Time {
	m.shellReads, m.noOutputSinceInput, m.unchanged = false, false, false
	return m.Restart(now)
}

// NoteInput handles input, which may answer any prompt. It returns the time of the first probe.
func (m *Machine) NoteInput() time.Time {
	v := m.host.View()
	first := m.restartSchedule(v.Now)
	m.answered = answeredWait{m.lastWait.tid, m.lastWait.waits, v.Now.Add(maxInputReadTime)}
	if v.atPrompt() && v.Shell.MaxQuality == shell.Basic { // such a shell does not mark a command's start
		m.answered = m.probeShellWait(&v)
	}
	m.noOutputSinceInput, m.wait = true, readWait{}
	return first
}

// probeShellWait probes the session once and returns the wait that the shell itself is in at its prompt.
func (m *Machine) probeShellWait(v *View) (w answeredWait) {
	if !v.CanProbe {
		return w
	}
	if p := m.host.Probe(); !p.Failed {
		w.set(&p.Result)
		w.until = v.Now.Add(maxShellReadTime)
	}
	return w
}

// NeedsProbe reports whether the next call of Probe probes the kernel.
func (m *Machine) NeedsProbe() bool {
	v := m.host.View()
	return v.CanProbe && !v.atPrompt()
}

// Probe decides whether the program waits for input. ok is false if the program cannot be probed.
func (m *Machine) Probe() (f Finding, ok bool) {
	v := m.host.View()
	m.unchanged, m.lastFinding = false, Finding{}
	if !v.CanProbe {
		return f, false
	}
	if v.atPrompt() {
		return Finding{AtPrompt: true}, true
	}
	verdict, pid := m.classify(&v)
	if verdict.Kind == inputdetect.Prompt && pid == v.PID && v.RunsLine {
		// the marks are missing: package lineexec finds out how the line ended
		verdict, m.unchanged = inputdetect.Verdict{}, false
	}
	doubt := false
	if verdict.NeedsInput && pid == v.PID && v.Phase == shell.PhaseRunning {
		// A builtin that reads, or a prompt in transit: only the former continues to read.
		doubt = !m.shellReads
		m.shellReads = true
	}
	doubt = doubt || verdict.NeedsInput && !m.isCredible(m.probedAt) || verdict.Kind != inputdetect.None && m.inputUnread
	if doubt {
		verdict, m.unchanged = inputdetect.Verdict{}, false
	}
	if verdict.Kind != inputdetect.None {
		m.lastFinding.Verdict = verdict
	}
	return Finding{Verdict: verdict, Unconfirmed: doubt, FollowUp: m.Probes() >= 2}, true
}

// IsUnchanged reports whether the last probe found all of the program asleep or in a known wait. Until it runs, prints
// or gets input, ReuseLastProbe returns what Probe would.
func (m *Machine) IsUnchanged() bool { return m.unchanged }

// ReuseLastProbe returns the finding of the last probe, see IsUnchanged.
func (m *Machine) ReuseLastProbe() Finding {
	f := m.lastFinding
	f.FollowUp = m.Probes() >= 2
	return f
}

// A wait without text before the cursor must last: its prompt may still be in transit, longer through a relay. A wait
// of the shell itself may be the one at its prompt, whose marks are in transit.
const (
	blankConfirmTime      = 25 * time.Millisecond
	blankShellConfirmTime = 90 * time.Millisecond
	blankRelayConfirmTime = 200 * time.Millisecond
)

// isCredible reports whether a finding counts, or must be found again.
func (m *Machine) isCredible(now time.Time) bool {
	switch {
	case m.outputPending:
		return false
	case !m.blank:
		return true
	case m.wait.tid == 0: // the wait is unknown
		return m.Probes() > 0
	case m.relayWaits:
		return now.Sub(m.wait.since) >= blankRelayConfirmTime
	case m.isOwnProgram:
		return now.Sub(m.wait.since) >= blankShellConfirmTime
	}
	return now.Sub(m.wait.since) >= blankConfirmTime
}

// classify collects the evidence and classifies it. pid is the process that decided.
func (m *Machine) classify(v *View) (verdict inputdetect.Verdict, pid int) {
	f := inputdetect.Evidence{AltScreen: v.Alt, Silence: v.Now.Sub(v.LastOutput), UsualSilence: m.silence.Usual(), Answered: m.noOutputSinceInput, Leader: v.PID, Redact: m.host.RedactLine}
	if v.HasIntegration {
		switch sh := &v.Shell; {
		case sh.Phase == shell.PhaseRunning && sh.MaxQuality == shell.Basic && m.answered.waits <= 0 && v.Now.Sub(sh.Since) < basicStartTime:
			return inputdetect.Verdict{}, 0 // it may not have read its line yet; its wait at the prompt is unknown
		case sh.Phase == shell.PhaseRunning:
			f.Shell = inputdetect.ShellRunning
			f.HasNewPrompt = sh.Running != nil && shell.SetsPrompt(sh.Running.Text)
		}
	}
	p := m.host.Probe()
	f.Modes, f.Probe, m.outputPending = p.Modes, p.Result, p.OutputPending
	if p.Failed && f.Modes == nil {
		return inputdetect.Verdict{}, 0 // pipes, or a closed terminal
	}
	if r := &f.Probe; r.PID == v.PID && f.Shell == inputdetect.ShellRunning && v.ReadsBriefly {
		if r.Timeout < 0 && (r.State == inputdetect.Reading || r.State == inputdetect.Polling) {
			r.State, r.Timeout = inputdetect.Polling, time.Second
		}
	}
	now := p.Now
	m.probedAt = now
	m.relayWaits, m.isOwnProgram = len(f.Probe.Relayed) > 0, f.Probe.PID == v.PID && v.HasIntegration
	f.PrintedByOther = m.wait.update(&f.Probe, v.Offset, now)
	m.inputUnread = m.answered.isSame(&f.Probe, now)
	m.lastWait.set(&f.Probe)
	if (f.Probe.State == inputdetect.Busy || f.Probe.State == inputdetect.Sleeping) && len(f.Probe.Relayed) == 0 {
		m.blank, m.unchanged = false, f.Probe.State == inputdetect.Sleeping && !p.Failed
		return inputdetect.Classify(f), f.Probe.PID // independent of the screen
	}
	f.BracketedPaste, f.AppCursor, f.Mouse = v.Modes.BracketedPaste, v.Modes.AppCursor, v.Modes.Mouse != 0
	m.screenEvidence(&f, v)
	m.blank = strings.TrimSpace(f.Line) == ""
	verdict = inputdetect.Classify(f)
	sure := verdict.Kind != inputdetect.None || f.Silence >= inputdetect.MaxUsefulSilence
	m.unchanged = sure && !p.Failed && !m.outputPending && f.Probe.State != inputdetect.Busy
	return verdict, f.Probe.PID
}

// CursorLine returns the text before the cursor, without a partial line. partial reports whether one was removed.
func (m *Machine) CursorLine() (line string, partial bool) {
	var f inputdetect.Evidence
	v := m.host.View()
	partial = m.screenEvidence(&f, &v)
	return f.Line, partial
}
