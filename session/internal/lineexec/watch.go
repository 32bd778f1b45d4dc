package lineexec

import (
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// How often a line under way is looked at, and for how long everything has to stand still
// before the kernel's word counts instead of the shell's.
const (
	lookFirst = 300 * time.Millisecond
	lookMost  = 3 * time.Second
	standTime = 200 * time.Millisecond
	// preparedTime is how long another shell may take to tell of itself once it was told how.
	preparedTime = 2 * time.Second
	// repairTime is how long marks that were put back may take to come.
	repairTime = time.Second
)

// doubt is what earlier looks at a line found: the same thing twice counts.
type doubt struct {
	looks   int
	finding finding
	offset  uint64
	at      time.Time
}

func (d *doubt) begin(v *View) time.Duration {
	*d = doubt{at: v.Now}
	return lookFirst
}

// again is when to look next.
func (d *doubt) again() time.Duration {
	d.looks++
	if d.finding != nothing {
		return standTime
	}
	return min(lookMost, lookFirst*time.Duration(d.looks))
}

// finding is what a look says.
type finding uint8

const (
	nothing   finding = iota
	backAgain         // the shell reads its terminal, and said as much but for one mark
	lost              // it reads its terminal in its line editor, and said nothing
	kept              // likewise, and has not begun with the line
	replaced          // its process is another shell now
	nestedOne         // a shell that it started reads the terminal
)

// watch looks whether a line has ended, or will never begin, without a mark of it.
func (m *Machine) watch(l *Line, v *View) {
	d := &l.doubt
	if v.quiet() < standTime/2 || v.Now.Sub(l.typed) < standTime {
		m.wake(max(standTime/2-v.quiet(), standTime/4))
		return
	}
	p := m.host.Probe()
	f := judge(l, v, &p)
	if f == nothing || f != d.finding || d.offset != v.Offset {
		d.finding, d.offset, d.at = f, v.Offset, v.Now
		m.wake(d.again())
		return
	}
	if since := v.Now.Sub(d.at); since < standTime {
		m.wake(standTime - since)
		return
	}
	*d = doubt{}
	m.act(l, f, &p)
}

// judge says what a look at the terminal's reader means for a line.
func judge(l *Line, v *View, p *Probe) finding {
	if !p.Known || !p.Reads || p.Unread > 0 {
		return nothing
	}
	kind := shell.Detect(p.Argv)
	if len(p.Argv) == 0 {
		kind = shell.Detect([]string{p.Program})
	}
	switch {
	case p.Replaced && kind != shell.Unknown && prompts(kind, p):
		return replaced
	case p.Replaced:
		return nothing
	case p.Shell && (v.Drawing || v.Done || v.Doubt != nil):
		return backAgain
	case p.Shell && !prompts(v.Kind, p):
		return nothing
	case p.Shell && l.step == Typed && !l.basic:
		return kept
	case p.Shell && l.Keeps:
		return nothing
	case p.Shell:
		return lost
	case kind != shell.Unknown && Interactive(p.Argv) && prompts(kind, p):
		return nestedOne
	}
	return nothing
}

// prompts says that a shell that reads the terminal does so for a line to run, and not in its
// own "read": by the terminal's mode, or by how much it asks for ("read" must not take more
// than its line).
func prompts(k shell.Kind, p *Probe) bool {
	if !p.Canonical {
		return k.Spec().RawAtPrompt || p.Pastes
	}
	return !k.Spec().Pastes && p.Bytes > 1
}

// Interactive says that a shell was started without a command or script.
func Interactive(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	return !slices.ContainsFunc(argv[1:], func(a string) bool {
		return a == "" || a[0] != '-' && a[0] != '+' || a[0] == '-' && !strings.HasPrefix(a, "--") && strings.Contains(a, "c")
	})
}

// act does what follows from a finding that stood.
func (m *Machine) act(l *Line, f finding, p *Probe) {
	switch f {
	case backAgain:
		_ = m.host.Do(Action{Kind: ActReads})
	case kept:
		err := ErrRefused
		if m.host.View().Kind.Spec().KeepsIncomplete {
			err = ErrIncomplete
		}
		m.drop(l, err)
		return
	case lost:
		if !l.repair {
			l.repair = true
			if m.host.Do(Action{Kind: ActRepair, Line: l}) == nil {
				m.wake(repairTime)
				return
			}
		}
		_ = m.host.Do(Action{Kind: ActLost, Reason: "the shell is at its prompt and its marks are gone (PS1 or its hooks were changed): how the line ended is not known"})
	case replaced, nestedOne:
		m.followTo(l, f, p)
	}
	if l.step == Runs || l.step == Typed { // the tracker had nothing to say
		m.end(Action{Line: l})
	}
	m.wake(0)
}

// doubtPrompt looks whether a shell that does not say that it is at its prompt is.
func (m *Machine) doubtPrompt(v *View) {
	switch {
	case v.Phase == shell.PhaseEnded, v.Running != nil && !v.Done && v.Doubt == nil:
		return
	case v.Prompt == 0 && !m.prepared.IsZero() && v.Now.Sub(m.prepared) > preparedTime:
		p := m.host.Probe()
		m.followTo(nil, replaced, &p)
		return
	case v.Prompt == 0 && !v.Drawing: // it is starting, or its own files have replaced it
		if p := m.host.Probe(); v.quiet() >= standTime && judge(&Line{step: Runs}, v, &p) == replaced {
			m.followTo(nil, replaced, &p)
			return
		}
		m.wake(lookFirst)
		return
	}
	if v.quiet() < standTime || v.Now.Sub(v.Since) < standTime {
		m.wake(max(standTime-v.quiet(), standTime/4))
		return
	}
	p := m.host.Probe()
	if p.Known && p.Shell && !p.Replaced && p.Reads && p.Unread == 0 &&
		(v.Drawing || v.Done || v.Doubt != nil || prompts(v.Kind, &p)) {
		_ = m.host.Do(Action{Kind: ActReads})
		return
	}
	m.wake(lookFirst)
}

// Drawn looks whether a shell that draws its prompt is at it, without having said so: zsh prints no
// prompt, and no mark in it, on a terminal that is narrower.
func (m *Machine) Drawn() {
	if v := m.host.View(); v.Drawing && !m.after.on && len(m.queue) == 0 {
		m.doubtPrompt(&v)
	}
}

// Look looks whether another shell has taken the terminal: by a line that a person typed, say.
func (m *Machine) Look() {
	v := m.host.View()
	if m.follow(&v) {
		if l := m.Current(); l != nil {
			m.end(Action{Line: l})
		}
		m.wake(0)
	}
}

func (m *Machine) follow(v *View) bool {
	p, f := m.foreign(v)
	if p == nil {
		return false
	}
	m.followTo(m.Current(), f, p)
	return true
}

// foreign is the program that reads lines in the shell's place; nil: none does.
func (m *Machine) foreign(v *View) (*Probe, finding) {
	runs := v.Phase == shell.PhaseRunning && !v.Done || v.Phase == shell.PhaseUnknown && v.Prompt > 0 || m.mayRun(v)
	if m.after.on || !runs || v.quiet() < standTime/2 || v.Now.Sub(v.Since) < standTime {
		return nil, nothing
	}
	p := m.host.Probe()
	f := judge(&Line{step: Runs}, v, &p)
	if f != replaced && f != nestedOne {
		return nil, f
	}
	return &p, f
}

// mayRun says that a person ended a line at this prompt, in a shell that does not say when it begins with one (dash): it
// still runs, or the prompt that came behind it had no mark.
func (m *Machine) mayRun(v *View) bool {
	return v.Offered != shell.Full && v.atPrompt() && m.editor.entered() && v.Prompt == m.editor.prompt && m.editor.entersFor(v) <= 0
}

// untold says that such a line runs, by the kernel's word: it might read what is typed now. Where the kernel does not say
// how the shell reads, its reading counts as being at the prompt.
func (m *Machine) untold(v *View) bool {
	if m.after.on || !m.mayRun(v) {
		return false
	}
	p := m.host.Probe()
	if unclear := p.Shell && p.Reads && p.Canonical && p.Bytes == 0; !p.Known || unclear {
		return false
	}
	f := judge(&Line{step: Runs}, v, &p)
	return f != lost && f != backAgain
}

func (m *Machine) followTo(l *Line, f finding, p *Probe) {
	a := Action{Kind: ActFollow, Line: l, Program: p.Program, Argv: p.Argv, Replaced: f == replaced, Again: m.prepared.IsZero()}
	if a.Reason = p.Program + " runs in the shell and waits for lines"; a.Replaced {
		a.Reason = "the shell was replaced by " + p.Program
	}
	if m.host.Do(a) == nil { // it is being prepared: lines wait for its first prompt
		m.prepared = m.host.View().Now
		m.wake(preparedTime)
		return
	}
	for _, waiting := range slices.Clone(m.queue) {
		if waiting.step == Waits {
			m.end(Action{Line: waiting, Err: ErrForeign})
		}
	}
}
