package inputwait

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/shell"
)

// basicStart is how long a shell without start marks may take to start a command, if nothing else shows that it has
// read its line.
const basicStart = 150 * time.Millisecond

// Machine probes silent programs.
type Machine struct {
	host   Host
	rhythm inputdetect.SilenceTracker
	Schedule
	shell     bool // at the last look the shell itself was reading
	blank     bool // at the last look nothing stood before the cursor
	behind    bool // at the last look it was a relay that waits
	own       bool // at the last look it was the session's own program
	pending   bool // at the last look output was on its way to us
	unread    bool // at the last look what was typed had not been read
	answered  bool // nothing was printed since something was typed
	unchanged bool // what the last look found: see Stays
	found     Finding
	wait      readWait
	reader    spentWait // at the last look
	probedAt  time.Time // when the kernel was last probed
	spent     spentWait
}

// New returns a machine that has not probed yet.
func New(h Host) *Machine { return &Machine{host: h} }

// Finding is the result of a probe.
type Finding struct {
	// AtPrompt reports that the shell waits for a command. No probe is needed before further output or input.
	AtPrompt bool
	// Verdict is what the program waits for, as far as it counts.
	Verdict inputdetect.Verdict
	// Doubt reports that the result must be found again, Later that it is not the first probe.
	Doubt, Later bool
}

// Output handles output and returns the time of the first probe.
func (m *Machine) Output(now time.Time) time.Time {
	m.rhythm.Output(now)
	return m.onActivity(now)
}

// Echo works like Output for a likely echo of a key within a line. The next key comes at the time of the usual first
// probe, which must not compete with it for the processor.
func (m *Machine) Echo(now time.Time) time.Time {
	m.Output(now)
	return now.Add(Second)
}

// onActivity restarts the schedule of probes after output or input.
func (m *Machine) onActivity(now time.Time) time.Time {
	m.shell, m.answered, m.unchanged = false, false, false
	return m.Restart(now)
}

// OnInput handles input, which may answer any prompt. It returns the time of the first probe.
func (m *Machine) OnInput() time.Time {
	v := m.host.View()
	first := m.onActivity(v.Now)
	m.spent = spentWait{m.reader.tid, m.reader.waits, v.Now.Add(spentFor)}
	if v.atPrompt() && v.Shell.MaxQuality == shell.Basic { // such a shell does not mark a command's start
		m.spent = m.probeShellWait(&v)
	}
	m.answered, m.wait = true, readWait{}
	return first
}

// probeShellWait probes the session once and returns the wait that the shell itself is in at its prompt.
func (m *Machine) probeShellWait(v *View) (w spentWait) {
	if !v.Live {
		return w
	}
	if p := m.host.Probe(); !p.Failed {
		w.sees(&p.Result)
		w.until = v.Now.Add(shellSpentFor)
	}
	return w
}

// NeedsProbe reports whether the next Look probes the kernel.
func (m *Machine) NeedsProbe() bool {
	v := m.host.View()
	return v.Live && !v.atPrompt()
}

// Look decides whether the program waits for input. ok is false if the program cannot be probed.
func (m *Machine) Look() (f Finding, ok bool) {
	v := m.host.View()
	m.unchanged, m.found = false, Finding{}
	if !v.Live {
		return f, false
	}
	if v.atPrompt() {
		return Finding{AtPrompt: true}, true
	}
	verdict, pid := m.judge(&v)
	if verdict.Kind == inputdetect.Prompt && pid == v.PID && v.Waits {
		// its marks are missing: package lineexec finds out how the line ended
		verdict, m.unchanged = inputdetect.Verdict{}, false
	}
	doubt := false
	if verdict.NeedsInput && pid == v.PID && v.Phase == shell.PhaseRunning {
		// A builtin that reads, or a prompt in transit: only the former continues to read.
		doubt = !m.shell
		m.shell = true
	}
	doubt = doubt || verdict.NeedsInput && !m.counts(m.probedAt) || verdict.Kind != inputdetect.None && m.unread
	if doubt {
		verdict, m.unchanged = inputdetect.Verdict{}, false
	}
	if verdict.Kind != inputdetect.None {
		m.found.Verdict = verdict
	}
	return Finding{Verdict: verdict, Doubt: doubt, Later: m.Looks() >= 2}, true
}

// IsUnchanged reports whether the last probe found all of the program asleep or in a known wait. Until it runs, prints
// or gets input, ReuseLastProbe returns what Look would.
func (m *Machine) IsUnchanged() bool { return m.unchanged }

// ReuseLastProbe returns the finding of the last probe, see IsUnchanged.
func (m *Machine) ReuseLastProbe() Finding {
	f := m.found
	f.Later = m.Looks() >= 2
	return f
}

// A wait without text before the cursor must last: its prompt may still be in transit, longer through a relay. A wait
// of the shell itself may be the one at its prompt, whose marks are in transit.
const (
	blankLasts       = 25 * time.Millisecond
	blankShellLasts  = 90 * time.Millisecond
	blankBehindLasts = 200 * time.Millisecond
)

// counts reports whether a finding counts.
func (m *Machine) counts(now time.Time) bool {
	switch {
	case m.pending:
		return false
	case !m.blank:
		return true
	case m.wait.tid == 0: // what it waits in is not known
		return m.Looks() > 0
	case m.behind:
		return now.Sub(m.wait.since) >= blankBehindLasts
	case m.own:
		return now.Sub(m.wait.since) >= blankShellLasts
	}
	return now.Sub(m.wait.since) >= blankLasts
}

// judge collects the facts and classifies them; pid is the process that decided.
func (m *Machine) judge(v *View) (verdict inputdetect.Verdict, pid int) {
	f := inputdetect.Facts{AltScreen: v.Alt, Silence: v.Now.Sub(v.LastOutput), UsualSilence: m.rhythm.Usual(), Answered: m.answered, Leader: v.PID, Redact: m.host.RedactLine}
	if v.Followed {
		switch sh := &v.Shell; {
		case sh.Phase == shell.PhaseRunning && sh.MaxQuality == shell.Basic && m.spent.waits <= 0 && v.Now.Sub(sh.Since) < basicStart:
			return inputdetect.Verdict{}, 0 // it may not have read its line yet, and its wait at the prompt is not known
		case sh.Phase == shell.PhaseRunning:
			f.Shell = inputdetect.ShellRunning
			f.HasNewPrompt = sh.Running != nil && shell.SetsPrompt(sh.Running.Text)
		}
	}
	p := m.host.Probe()
	f.Modes, f.Probe, m.pending = p.Modes, p.Result, p.Pending
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
	m.behind, m.own = len(f.Probe.Relayed) > 0, f.Probe.PID == v.PID && v.Followed
	f.PrintedByOther = m.wait.sees(&f.Probe, v.Offset, now)
	m.unread = m.spent.same(&f.Probe, now)
	m.reader.sees(&f.Probe)
	if (f.Probe.State == inputdetect.Busy || f.Probe.State == inputdetect.Sleeping) && len(f.Probe.Relayed) == 0 {
		m.blank, m.unchanged = false, f.Probe.State == inputdetect.Sleeping && !p.Failed
		return inputdetect.Classify(f), f.Probe.PID // independent of the screen
	}
	f.BracketedPaste, f.AppCursor, f.Mouse = v.Modes.BracketedPaste, v.Modes.AppCursor, v.Modes.Mouse != 0
	m.screenFacts(&f, v)
	m.blank = strings.TrimSpace(f.Line) == ""
	verdict = inputdetect.Classify(f)
	sure := verdict.Kind != inputdetect.None || f.Silence >= inputdetect.MaxUsefulSilence
	m.unchanged = sure && !p.Failed && !m.pending && f.Probe.State != inputdetect.Busy
	return verdict, f.Probe.PID
}

// CursorLine returns the text before the cursor, without a partial line. half reports whether a partial line was
// removed.
func (m *Machine) CursorLine() (line string, half bool) {
	var f inputdetect.Facts
	v := m.host.View()
	half = m.screenFacts(&f, &v)
	return f.Line, half
}
