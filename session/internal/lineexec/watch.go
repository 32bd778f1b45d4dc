package lineexec

import (
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// Intervals of probes of a current line, and how long the state must be stable before the kernel's state counts instead
// of the shell's marks.
const (
	firstProbeTime   = 300 * time.Millisecond
	maxProbeInterval = 3 * time.Second
	stableTime       = 200 * time.Millisecond
	// preparedTime is how long another shell may take to print marks after it got the integration.
	preparedTime = 2 * time.Second
	// repairTime is how long restored marks may take to appear.
	repairTime = time.Second
	// confirmPoll is the first interval of probes after the mark of a prompt that must be confirmed, confirmTime how long it is probed
	// more often than other lines.
	confirmPoll = 2 * time.Millisecond
	confirmTime = 2 * time.Second
)

// suspicion holds the result of earlier probes of a line. Two equal results count.
type suspicion struct {
	probes  int
	finding finding
	offset  uint64    // of the output at that probe
	at      time.Time // time of that probe
}

// restart forgets the earlier results, and returns the time until the first probe.
func (d *suspicion) restart(v *View) time.Duration {
	*d = suspicion{at: v.Now}
	return firstProbeTime
}

// nextProbe returns the time until the next probe.
func (d *suspicion) nextProbe() time.Duration {
	d.probes++
	if d.finding != noFinding {
		return stableTime
	}
	return min(maxProbeInterval, firstProbeTime*time.Duration(d.probes))
}

// finding is the result of a probe.
type finding uint8

const (
	noFinding      finding = iota
	promptUnmarked         // the shell reads its terminal; only one of its marks is missing
	marksLost              // the shell reads its terminal in its line editor, without any mark
	lineNotStarted         // likewise, and has not started the line
	shellReplaced          // its process runs another shell now
	shellNested            // a shell that it started reads the terminal
)

// watch checks whether a line has ended, or will never start, without a mark for it.
func (m *Machine) watch(l *Line, v *View) {
	d := &l.suspicion
	if m.confirmPrompt(l, v) {
		return
	}
	if v.sinceOutput() < stableTime/2 || v.Now.Sub(l.typed) < stableTime {
		m.setTimer(max(stableTime/2-v.sinceOutput(), stableTime/4))
		return
	}
	p := m.host.Probe()
	f := m.evaluateProbe(l, v, &p)
	l.readsInput = f == noFinding && p.Known && p.ReaderIsShell && p.Reads && p.Unread == 0
	if f == noFinding || f != d.finding || d.offset != v.Offset {
		d.finding, d.offset, d.at = f, v.Offset, v.Now
		m.setTimer(d.nextProbe())
		return
	}
	if since := v.Now.Sub(d.at); since < stableTime {
		m.setTimer(stableTime - since)
		return
	}
	*d = suspicion{}
	m.applyFinding(l, f, &p)
}

// readMode is how a shell reads. ksh uses its line editor only if the terminal echoes.
type readMode struct{ canonical, blocked bool }

// mode returns how the process reads.
func (p *Probe) mode() readMode { return readMode{p.Canonical, p.Blocked} }

// learnPromptRead records how the shell reads at its prompt.
func (m *Machine) learnPromptRead(p *Probe) {
	if p.Known && p.ReaderIsShell && p.Reads && p.Unread == 0 && p.Stack != 0 {
		m.stacks[p.mode()] = p.Stack
	}
}

// readsAtPrompt reports whether the shell is known to read at its prompt, not in its builtin read. In a shell without an
// editor, a read of more than one byte shows it too: the builtin must not consume more than its line.
func (m *Machine) readsAtPrompt(k shell.Kind, p *Probe) bool {
	if at := m.stacks[p.mode()]; at != 0 && p.Stack != 0 {
		return p.Stack == at
	}
	return p.Shadowed && len(m.stacks) == 0 && readsCommand(k, p) || p.Canonical && readsCommand(k, p)
}

// readsElsewhere reports whether the shell, which reads, is known not to be at its prompt.
func (m *Machine) readsElsewhere(p *Probe) bool {
	at := m.stacks[p.mode()]
	return at != 0 && p.Stack != 0 && p.Stack != at
}

// CanConfirmPrompt reports whether a single probe can prove that the shell reads at its prompt.
func (m *Machine) CanConfirmPrompt() bool {
	l := m.Current()
	return len(m.stacks) > 0 && l != nil && l.step == Running && !m.hold.active
}

// confirmPrompt ends a line of a shell that marks only its prompts, once it is proven that it reads at one: a line that expands the
// prompt prints the mark too. It reports whether the next step is due.
func (m *Machine) confirmPrompt(l *Line, v *View) bool {
	if v.MaxQuality != shell.Basic || v.PossibleEnd == nil || v.PossibleEnd.LatePrompt == nil || v.sinceOutput() >= confirmTime {
		return false
	}
	p := m.host.Probe()
	switch at := m.stacks[p.mode()]; {
	case p.OutputPending || !p.Known || !p.Reads || m.readsElsewhere(&p):
		m.setTimer(confirmPoll + v.sinceOutput()/8)
	case p.ReaderIsShell && at != 0 && p.Stack == at:
		m.applyFinding(l, promptUnmarked, &p)
	default:
		return false
	}
	return true
}

// evaluateProbe returns the finding of a probe for a line.
func (m *Machine) evaluateProbe(l *Line, v *View, p *Probe) finding {
	if !p.Known || !p.Reads || p.Unread > 0 {
		return noFinding
	}
	kind := shell.Detect(p.Argv)
	if len(p.Argv) == 0 {
		kind = shell.Detect([]string{p.Program})
	}
	switch {
	case p.Replaced && kind != shell.Unknown && readsCommand(kind, p):
		return shellReplaced
	case p.Replaced:
		return noFinding
	case p.ReaderIsShell && m.readsElsewhere(p):
		return noFinding
	case p.ReaderIsShell && (v.IsDrawingPrompt || v.HasEnded || v.PossibleEnd != nil):
		return promptUnmarked
	case p.ReaderIsShell && !readsCommand(v.Kind, p):
		return noFinding
	case p.ReaderIsShell && l.step == Typed && !l.basic:
		return lineNotStarted
	case p.ReaderIsShell && m.readsAtPrompt(v.Kind, p):
		return marksLost
	case p.ReaderIsShell:
		return noFinding
	case kind != shell.Unknown && IsInteractive(p.Argv) && readsCommand(kind, p):
		return shellNested
	}
	return noFinding
}

// readsCommand reports whether a shell reads the terminal for a command, and not in its builtin "read". It decides by
// the terminal's mode, or by the size of the read ("read" must not consume more than its line).
func readsCommand(k shell.Kind, p *Probe) bool {
	if !p.Canonical {
		return k.Spec().ReadsKeysAtPrompt || p.Pastes
	}
	return !k.Spec().SupportsPaste && p.ReadSize > 1
}

// IsInteractive reports whether a shell was started without a command or script.
func IsInteractive(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	return !slices.ContainsFunc(argv[1:], func(a string) bool {
		return a == "" || a[0] != '-' && a[0] != '+' || a[0] == '-' && !strings.HasPrefix(a, "--") && strings.Contains(a, "c")
	})
}

// applyFinding performs the actions for a finding, once consecutive probes agree on it.
func (m *Machine) applyFinding(l *Line, f finding, p *Probe) {
	if f == marksLost && p.Shadowed {
		m.followTo(l, f, p)
		f = noFinding
	}
	switch f {
	case promptUnmarked:
		_ = m.host.Do(Action{Kind: ActAtPrompt, AtPrompt: m.readsAtPrompt(m.host.View().Kind, p)})
	case lineNotStarted:
		err := ErrRefused
		if m.host.View().Kind.Spec().KeepsIncompleteLine {
			err = ErrIncomplete
		}
		m.drop(l, err)
		return
	case marksLost:
		if !l.repair {
			l.repair = true
			if m.host.Do(Action{Kind: ActRepair, Line: l}) == nil {
				m.setTimer(repairTime)
				return
			}
		}
		_ = m.host.Do(Action{Kind: ActMarksLost, Reason: "exit status unknown: the shell is at its prompt without marks (PS1 or its hooks were changed)"})
	case shellReplaced, shellNested:
		m.followTo(l, f, p)
	}
	if l.step == Running || l.step == Typed { // the tracker changed nothing
		m.end(Action{Line: l})
	}
	m.setTimer(0)
}

// checkUnmarkedPrompt checks whether a shell without a mark for its prompt is at its prompt.
func (m *Machine) checkUnmarkedPrompt(v *View) {
	switch {
	case v.Phase == shell.PhaseEnded:
		return
	case v.Running != nil && !v.HasEnded && v.PossibleEnd == nil && !m.hasEndedUnmarked(v):
		if v.MaxQuality == shell.Basic && len(m.queue) > 0 { // the end may have no mark, and no output follows it
			m.setTimer(min(max(stableTime, v.Now.Sub(v.Since)/2), maxEnteredTime))
		}
		return
	case v.Prompt == 0 && !m.preparedAt.IsZero() && v.Now.Sub(m.preparedAt) > preparedTime:
		p := m.host.Probe()
		m.followTo(nil, shellReplaced, &p)
		return
	case v.Prompt == 0 && !v.IsDrawingPrompt: // it is starting, or a start file has replaced it
		p := m.host.Probe()
		switch f := m.evaluateProbe(&Line{step: Running}, v, &p); {
		case f == shellReplaced && v.sinceOutput() >= stableTime:
			m.followTo(nil, f, &p)
			return
		case f == marksLost && p.Shadowed && v.sinceOutput() >= stableTime:
			m.followTo(nil, f, &p)
			return
		}
		m.setTimer(firstProbeTime)
		return
	}
	if v.sinceOutput() < stableTime || v.Now.Sub(v.Since) < stableTime {
		m.setTimer(max(stableTime-v.sinceOutput(), stableTime/4))
		return
	}
	p := m.host.Probe()
	if p.Known && p.ReaderIsShell && !p.Replaced && p.Reads && p.Unread == 0 && !m.readsElsewhere(&p) &&
		(v.IsDrawingPrompt || v.HasEnded || v.PossibleEnd != nil || readsCommand(v.Kind, &p)) {
		_ = m.host.Do(Action{Kind: ActAtPrompt, AtPrompt: m.readsAtPrompt(v.Kind, &p)})
		return
	}
	m.setTimer(firstProbeTime)
}

// hasEndedUnmarked reports whether a line that the user typed has ended without a mark: the shell is known to read at its prompt.
func (m *Machine) hasEndedUnmarked(v *View) bool {
	if m.hold.active || v.Running == nil || v.HasEnded || v.sinceOutput() < stableTime || v.Now.Sub(v.Since) < stableTime {
		return false
	}
	p := m.host.Probe()
	return m.Current() == nil && m.evaluateProbe(&Line{step: Running}, v, &p) == marksLost
}

// CheckDrawnPrompt checks whether a shell that draws its prompt is at it without a mark: zsh prints no prompt, and no
// mark in it, on a terminal that became narrower.
func (m *Machine) CheckDrawnPrompt() {
	if v := m.host.View(); v.IsDrawingPrompt && !m.hold.active && len(m.queue) == 0 {
		m.checkUnmarkedPrompt(&v)
	}
}

// CheckForeignShell handles another shell that has taken over the terminal, for example by a line that the user
// typed. It also handles a shell that does not mark starts and has ended such a line at a prompt without a mark.
func (m *Machine) CheckForeignShell() {
	v := m.host.View()
	if v.MaxQuality == shell.Basic && m.hasEndedUnmarked(&v) {
		_ = m.host.Do(Action{Kind: ActAtPrompt}) // no repair: the user may be typing
		return
	}
	if m.followForeignShell(&v) {
		if l := m.Current(); l != nil {
			m.end(Action{Line: l})
		}
		m.setTimer(0)
	}
}

// followForeignShell requests ActFollow if another shell reads the terminal, and reports whether it did.
func (m *Machine) followForeignShell(v *View) bool {
	p, f := m.foreignShell(v)
	if p == nil {
		return false
	}
	m.followTo(m.Current(), f, p)
	return true
}

// foreignShell returns the program that reads lines instead of the shell, or nil.
func (m *Machine) foreignShell(v *View) (*Probe, finding) {
	runs := v.Phase == shell.PhaseRunning && !v.HasEnded || v.Phase == shell.PhaseUnknown && v.Prompt > 0 || m.mayRunUnmarked(v)
	if m.hold.active || !runs || v.sinceOutput() < stableTime/2 || v.Now.Sub(v.Since) < stableTime {
		return nil, noFinding
	}
	p := m.host.Probe()
	f := m.evaluateProbe(&Line{step: Running}, v, &p)
	if f != shellReplaced && f != shellNested {
		return nil, f
	}
	return &p, f
}

// mayRunUnmarked reports whether the user ended a line at this prompt, in a shell that does not mark starts (dash). Either the
// line still runs, or the prompt after it had no mark.
func (m *Machine) mayRunUnmarked(v *View) bool {
	return m.hasUnmarkedLine(v) && m.editor.enterTimeLeft(v) <= 0
}

// hasUnmarkedLine reports whether the user ended a line at this prompt, in a shell that does not mark starts.
func (m *Machine) hasUnmarkedLine(v *View) bool {
	return v.MaxQuality != shell.Full && v.atPrompt() && m.editor.hasEnteredLine() && v.Prompt == m.editor.enteredPrompt
}

// detectUnmarkedLine requests ActFoundRunning once the kernel shows that the user's line runs. It stops after
// maxEnteredTime.
func (m *Machine) detectUnmarkedLine(v *View) {
	since := v.Now.Sub(m.editor.enteredAt)
	if m.editor.enteredAhead {
		since = v.Now.Sub(v.Since)
	}
	switch wait := m.editor.enterTimeLeft(v); {
	case wait > 0:
		m.setTimer(wait)
	case m.runsUnmarkedLine(v):
		_ = m.host.Do(Action{Kind: ActFoundRunning})
	case since < maxEnteredTime:
		m.setTimer(max(stableTime/2, since/2))
	}
}

// runsUnmarkedLine reports whether the line that the user ended still runs, by the kernel's state: it may read later
// input. If the kernel does not know how the shell reads, a read counts as being at the prompt.
func (m *Machine) runsUnmarkedLine(v *View) bool {
	if m.hold.active || !m.mayRunUnmarked(v) || m.editor.enteredAhead && v.Now.Sub(v.Since) < EnterTime { // its prompt may still be computed
		return false
	}
	p := m.host.Probe()
	if unclear := p.ReaderIsShell && p.Reads && p.Canonical && p.ReadSize == 0; !p.Known || unclear {
		return false
	}
	f := m.evaluateProbe(&Line{step: Running}, v, &p)
	return f != marksLost && f != promptUnmarked
}

// ShadowedReason is the reason why the commands of a shell are not followed whose marks will not come (Probe.Shadowed).
const ShadowedReason = "the shell's functions or settings shadow or disable builtins that its marks need (`builtin`, `command`, `printf`, …)"

// followTo requests ActFollow for the shell of a finding. l is the running line, or nil.
func (m *Machine) followTo(l *Line, f finding, p *Probe) {
	a := Action{Kind: ActFollow, Line: l, Program: p.Program, Argv: p.Argv, Replaced: f == shellReplaced, Shadowed: f == marksLost, MayPrepare: m.preparedAt.IsZero()}
	switch f {
	case shellReplaced:
		a.Reason = "shell replaced by " + p.Program
	case marksLost:
		a.Reason = ShadowedReason
	default:
		a.Reason = p.Program + " runs in the shell and waits for lines"
	}
	if m.host.Do(a) == nil { // it is being prepared: lines wait for its first prompt
		m.preparedAt = m.host.View().Now
		clear(m.stacks)
		m.setTimer(preparedTime)
		return
	}
	for _, waiting := range slices.Clone(m.queue) {
		if waiting.step == Queued {
			m.end(Action{Line: waiting, Err: ErrForeignShell})
		}
	}
}
