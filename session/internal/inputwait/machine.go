package inputwait

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/shell"
)

// basicStart is how long a shell that does not tell when a command begins gets to begin it, where
// nothing else tells that it has read its line.
const basicStart = 150 * time.Millisecond

// Machine looks at silent programs.
type Machine struct {
	host   Host
	rhythm evidence.Rhythm
	Schedule
	shell    bool // at the last look the shell itself was reading
	blank    bool // at the last look nothing stood before the cursor
	behind   bool // at the last look it was a relay that waits
	own      bool // at the last look it was the session's own program
	pending  bool // at the last look output was on its way to us
	unread   bool // at the last look what was typed had not been read
	answered bool // nothing was printed since something was typed
	stays    bool // what the last look found: see Stays
	found    Finding
	wait     readWait
	reader   spentWait // at the last look
	asked    time.Time // when the kernel was asked at the last look
	spent    spentWait
}

// New makes a machine that has not looked yet.
func New(h Host) *Machine { return &Machine{host: h} }

// Finding is what a look found.
type Finding struct {
	// AtPrompt says that the shell waits for a command; nothing is to be looked at before something is
	// printed or typed.
	AtPrompt bool
	// Verdict is what the program waits for, as far as it counts.
	Verdict evidence.Verdict
	// Doubt says that what was found has to be found again, Later that it is not the first look.
	Doubt, Later bool
}

// Output notes that something was printed, and returns when to look first.
func (m *Machine) Output(now time.Time) time.Time {
	m.rhythm.Output(now)
	return m.onActivity(now)
}

// Echo is Output of what a person is likely to have typed just now, within a line: the next key comes as soon as the first look
// would, and must not find the processor taken by it.
func (m *Machine) Echo(now time.Time) time.Time {
	m.Output(now)
	return now.Add(Second)
}

// onActivity begins anew after output or input.
func (m *Machine) onActivity(now time.Time) time.Time {
	m.shell, m.answered, m.stays = false, false, false
	return m.Restart(now)
}

// Typed notes that something was typed, which answers whatever was asked for, perhaps; it returns when
// to look first.
func (m *Machine) Typed() time.Time {
	v := m.host.View()
	first := m.onActivity(v.Now)
	m.spent = spentWait{m.reader.tid, m.reader.waits, v.Now.Add(spentFor)}
	if v.atPrompt() && v.Shell.Offered == shell.Basic { // which does not tell when it begins
		m.spent = m.shellWait(&v)
	}
	m.answered, m.wait = true, readWait{}
	return first
}

// shellWait is the shell's own wait at its prompt.
func (m *Machine) shellWait(v *View) (w spentWait) {
	if !v.Live {
		return w
	}
	if p := m.host.Probe(); !p.Failed {
		w.sees(&p.Result)
		w.until = v.Now.Add(shellSpentFor)
	}
	return w
}

// Asks says that the next look asks the kernel.
func (m *Machine) Asks() bool {
	v := m.host.View()
	return v.Live && !v.atPrompt()
}

// Look finds out whether the program waits for input. not ok: there is nothing to look at.
func (m *Machine) Look() (f Finding, ok bool) {
	v := m.host.View()
	m.stays, m.found = false, Finding{}
	if !v.Live {
		return f, false
	}
	if v.atPrompt() {
		return Finding{AtPrompt: true}, true
	}
	verdict, pid := m.judge(&v)
	if verdict.Kind == evidence.Prompt && pid == v.PID && v.Waits {
		verdict, m.stays = evidence.Verdict{}, false // its marks are gone: what runs the line finds out how it ended
	}
	doubt := false
	if verdict.Needs && pid == v.PID && v.Phase == shell.PhaseRunning {
		// A builtin that reads, or a prompt that is still on its way to us: it reads on if
		// it is the former.
		doubt = !m.shell
		m.shell = true
	}
	doubt = doubt || verdict.Needs && !m.tells(m.asked) || verdict.Kind != evidence.None && m.unread
	if doubt {
		verdict, m.stays = evidence.Verdict{}, false
	}
	if verdict.Kind != evidence.None {
		m.found.Verdict = verdict
	}
	return Finding{Verdict: verdict, Doubt: doubt, Later: m.Looks() >= 2}, true
}

// Stays says that at the last look all of the program slept and waited for nothing here, or waited for what it was
// found to wait for: as long as nothing of it has run and nothing was printed or typed, Again is what Look would be.
func (m *Machine) Stays() bool { return m.stays }

// Again is a look that takes what the last one found, see Stays.
func (m *Machine) Again() Finding {
	f := m.found
	f.Later = m.Looks() >= 2
	return f
}

// A wait with nothing before the cursor has to last: its question may be on its way to us still, longer
// through a relay. That of the shell itself may be the one at its prompt, whose marks are on their way.
const (
	blankLasts       = 25 * time.Millisecond
	blankShellLasts  = 90 * time.Millisecond
	blankBehindLasts = 200 * time.Millisecond
)

// tells says whether what a look finds counts.
func (m *Machine) tells(now time.Time) bool {
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

// judge gathers what is known and has it classified; pid is the process that decided.
func (m *Machine) judge(v *View) (verdict evidence.Verdict, pid int) {
	f := evidence.Facts{AltScreen: v.Alt, Quiet: v.Now.Sub(v.LastOutput), Rhythm: m.rhythm.Usual(), Answered: m.answered, Leader: v.PID, Shown: m.host.Shown}
	if v.Followed {
		switch sh := &v.Shell; {
		case sh.Phase == shell.PhaseRunning && sh.Offered == shell.Basic && m.spent.waits <= 0 && v.Now.Sub(sh.Since) < basicStart:
			return evidence.Verdict{}, 0 // it may not have read its line yet, and its wait at the prompt is not known
		case sh.Phase == shell.PhaseRunning:
			f.Shell = evidence.ShellRunning
			f.NewPrompt = sh.Running != nil && shell.SetsPrompt(sh.Running.Text)
		}
	}
	p := m.host.Probe()
	f.Modes, f.Probe, m.pending = p.Modes, p.Result, p.Pending
	if p.Failed && f.Modes == nil {
		return evidence.Verdict{}, 0 // pipes, or the terminal is gone
	}
	if r := &f.Probe; r.PID == v.PID && f.Shell == evidence.ShellRunning && v.ReadsBriefly {
		if r.Timeout < 0 && (r.State == evidence.Reading || r.State == evidence.Polling) {
			r.State, r.Timeout = evidence.Polling, time.Second
		}
	}
	now := p.Now
	m.asked = now
	m.behind, m.own = len(f.Probe.Behind) > 0, f.Probe.PID == v.PID && v.Followed
	f.Beside = m.wait.sees(&f.Probe, v.Offset, now)
	m.unread = m.spent.same(&f.Probe, now)
	m.reader.sees(&f.Probe)
	if (f.Probe.State == evidence.Busy || f.Probe.State == evidence.Sleeping) && len(f.Probe.Behind) == 0 {
		m.blank, m.stays = false, f.Probe.State == evidence.Sleeping && !p.Failed
		return evidence.Classify(f), f.Probe.PID // whatever the screen shows
	}
	f.BracketedPaste, f.AppCursor, f.Mouse = v.Modes.BracketedPaste, v.Modes.AppCursor, v.Modes.Mouse != 0
	m.screenFacts(&f, v)
	m.blank = strings.TrimSpace(f.Line) == ""
	verdict = evidence.Classify(f)
	sure := verdict.Kind != evidence.None || f.Quiet >= evidence.SilenceTells
	m.stays = sure && !p.Failed && !m.pending && f.Probe.State != evidence.Busy
	return verdict, f.Probe.PID
}

// CursorLine is what stands before the cursor, without what is typed in part there; half says that there is such.
func (m *Machine) CursorLine() (line string, half bool) {
	var f evidence.Facts
	v := m.host.View()
	half = m.screenFacts(&f, &v)
	return f.Line, half
}
