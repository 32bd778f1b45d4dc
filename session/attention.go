package session

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
)

// basicStart is how long a shell that does not tell when a command begins gets to begin it, where
// nothing else tells that it has read its line.
const basicStart = 150 * time.Millisecond

// Needs is input that the program in the foreground waits for.
type Needs struct {
	Kind       evidence.Kind // empty: none
	Confidence int           // percent
	Reason     string
	Program    string // that asks, when known
	Since      time.Time
}

// attention looks at silent programs. It belongs to the owner.
type attention struct {
	prober evidence.Prober
	rhythm evidence.Rhythm
	timer  *time.Timer
	inputwait.Schedule
	shell    bool // at the last look the shell itself was reading
	blank    bool // at the last look nothing stood before the cursor
	behind   bool // at the last look it was a relay that waits
	own      bool // at the last look it was the session's own program
	pending  bool // at the last look output was on its way to us
	unread   bool // at the last look what was typed had not been read
	answered bool // nothing was printed since something was typed
	wait     readWait
	reader   spentWait // at the last look
	spent    spentWait
}

// spentWait is the wait that was there when something was typed: what was typed ends it, and as long as
// it is the same the program has only not got round to reading.
type spentWait struct {
	tid   int
	waits int64
	until time.Time // it was no end of a line, say
}

// shellWait is the shell's own wait at its prompt.
func (s *Session) shellWait() (w spentWait) {
	if s.ring == nil || s.cfg.Device == nil {
		return w
	}
	_ = s.cfg.Device.Control(func(fd int) error {
		t, err := evidence.TargetOf(fd)
		if err == nil {
			t.Leader = s.Status().PID
			r := s.attention.prober.Probe(t)
			w.sees(&r)
			w.until = time.Now().Add(shellSpentFor)
		}
		return err
	})
	return w
}

// sees takes the innermost wait that a probe found.
func (w *spentWait) sees(r *evidence.Result) {
	for len(r.Behind) > 0 {
		r = &r.Behind[0].Probe
	}
	w.tid, w.waits = r.TID, r.Waits
}

// How long a program gets to read what was typed.
const (
	spentFor      = 500 * time.Millisecond
	shellSpentFor = 5 * time.Second // to begin with a line
)

func (w *spentWait) same(r *evidence.Result, now time.Time) bool {
	for len(r.Behind) > 0 {
		r = &r.Behind[0].Probe
	}
	return w.waits > 0 && w.tid == r.TID && w.waits == r.Waits && now.Before(w.until)
}

// readWait is one thread's wait for the terminal, as long as it lasts.
type readWait struct {
	tid    int
	waits  int64     // what numbers the thread's waits
	since  time.Time // when it was first seen
	off    uint64    // of the output then
	beside bool      // something was printed meanwhile
}

// readWaitSettles is for how long output may still come that was printed before a wait began.
const readWaitSettles = 250 * time.Millisecond

// sees takes the wait that a probe found, and the output's offset, and reports if others printed
// something while it lasted.
func (w *readWait) sees(r *evidence.Result, off uint64, now time.Time) bool {
	switch {
	case r.Waits < 0 || r.State != evidence.Reading && r.State != evidence.Polling:
		*w = readWait{}
	case w.tid != r.TID || w.waits != r.Waits:
		*w = readWait{tid: r.TID, waits: r.Waits, since: now, off: off}
	case off > w.off && now.Sub(w.since) < readWaitSettles:
		w.off = off
	case off > w.off:
		w.off, w.beside = off, true
	}
	return w.beside
}

// A wait with nothing before the cursor has to last: its question may be on its way to us still, longer
// through a relay. That of the shell itself may be the one at its prompt, whose marks are on their way.
const (
	blankLasts       = 25 * time.Millisecond
	blankShellLasts  = 90 * time.Millisecond
	blankBehindLasts = 200 * time.Millisecond
)

// tells says whether what a look finds counts.
func (a *attention) tells(now time.Time) bool {
	switch {
	case a.pending:
		return false
	case !a.blank:
		return true
	case a.wait.tid == 0: // what it waits in is not known
		return a.Looks() > 0
	case a.behind:
		return now.Sub(a.wait.since) >= blankBehindLasts
	case a.own:
		return now.Sub(a.wait.since) >= blankShellLasts
	}
	return now.Sub(a.wait.since) >= blankLasts
}

func (a *attention) C() <-chan time.Time {
	if a.timer == nil {
		return nil
	}
	return a.timer.C
}

func (a *attention) schedule(at time.Time) {
	d := max(0, time.Until(at))
	if a.timer == nil {
		a.timer = time.NewTimer(d)
		return
	}
	a.timer.Reset(d)
}

// stirred begins anew after output or input.
func (s *Session) stirred(now time.Time) {
	s.attention.shell, s.attention.answered = false, false
	s.attention.schedule(s.attention.Restart(now))
}

// typedSomething says that whatever was asked for has been answered, perhaps.
func (s *Session) typedSomething() {
	s.replies.Unread = false
	if s.Status().Needs.Kind != evidence.None {
		s.update(ChangeInput, func(st *Status) { st.Needs = Needs{} })
	}
	s.guessPrompt(false)
	s.stirred(time.Now())
	a := &s.attention
	a.spent = spentWait{a.reader.tid, a.reader.waits, time.Now().Add(spentFor)}
	if s.atPrompt() && s.shell.State().Offered == shell.Basic { // which does not tell when it begins
		a.spent = s.shellWait()
	}
	a.answered, a.wait = true, readWait{}
}

// guessPrompt notes whether a program that tells nothing of itself seems to be a shell at
// its prompt.
func (s *Session) guessPrompt(is bool) {
	if s.followed() || is == (s.Status().Shell.Phase == shell.PhasePrompt) {
		return
	}
	var v ShellStatus
	if is {
		v = ShellStatus{Phase: shell.PhasePrompt, Quality: shell.None, Since: time.Now(), Program: s.otherProgram()}
	}
	if other := s.otherProgram(); other != "" && !is {
		v = ShellStatus{Phase: shell.PhaseRunning, Quality: shell.None, Since: time.Now(), Program: other}
	}
	s.update(ChangeShell, func(st *Status) { st.Shell = v })
}

// look finds out whether the program waits for input.
func (s *Session) look() {
	a := &s.attention
	st := s.Status()
	if st.State != Running || s.ring == nil || s.cfg.Device == nil {
		return
	}
	if s.atPrompt() {
		s.needs(&st, evidence.Verdict{})
		s.lines().Drawn()
		return // what it prints next, or what is typed, begins anew
	}
	v, pid := s.judge(&st)
	if l := s.lines().Current(); v.Kind == evidence.Prompt && pid == st.PID && s.followed() && l != nil && !l.Keeps {
		v = evidence.Verdict{} // its marks are gone: who runs the line finds out how it ended
	}
	doubt := false
	if v.Needs && pid == st.PID && st.Shell.Phase == shell.PhaseRunning {
		// A builtin that reads, or a prompt that is still on its way to us: it reads on if
		// it is the former.
		doubt = !a.shell
		a.shell = true
	}
	doubt = doubt || v.Needs && !a.tells(time.Now()) || v.Kind != evidence.None && a.unread
	if doubt {
		v = evidence.Verdict{}
	}
	s.guessPrompt(v.Kind == evidence.Prompt)
	s.needs(&st, v)
	if s.followed() && a.Looks() >= 2 {
		s.lines().Look()
	}
	a.schedule(a.Next(time.Now(), doubt, s.waits.AwaitsInput(s.followed())))
}

// atPrompt says that the shell that is followed waits for a command, or draws its prompt.
func (s *Session) atPrompt() bool {
	if !s.followed() {
		return false
	}
	sh := s.shell.State()
	return sh.Phase == shell.PhasePrompt || sh.Drawing || sh.Done
}

// needs puts a verdict into the status. A prompt of a shell that is not the one followed is no question,
// but waits for a person: it has a kind of its own.
func (s *Session) needs(st *Status, v evidence.Verdict) {
	if nested := v.Kind == evidence.Prompt && s.followed(); !v.Needs && !nested {
		v = evidence.Verdict{}
	}
	if v.Kind == st.Needs.Kind {
		return
	}
	var n Needs
	if v.Kind != evidence.None {
		n = Needs{Kind: v.Kind, Confidence: v.Confidence, Reason: v.Reason, Since: time.Now()}
	}
	s.update(ChangeInput, func(st *Status) { st.Needs = n })
}

// judge gathers what is known and has it classified; pid is the process that decided.
func (s *Session) judge(st *Status) (v evidence.Verdict, pid int) {
	a := &s.attention
	f := evidence.Facts{AltScreen: st.Alt, Quiet: time.Since(st.LastOutput), Rhythm: a.rhythm.Usual(), Answered: a.answered, Leader: st.PID}
	if s.followed() {
		switch sh := s.shell.State(); {
		case sh.Phase == shell.PhaseRunning && sh.Offered == shell.Basic && a.spent.waits <= 0 && time.Since(sh.Since) < basicStart:
			return evidence.Verdict{}, 0 // it may not have read its line yet, and its wait at the prompt is not known
		case sh.Phase == shell.PhaseRunning:
			f.Shell = evidence.ShellRunning
			f.NewPrompt = sh.Running != nil && shell.SetsPrompt(sh.Running.Text)
		}
	}
	err := s.cfg.Device.Control(func(fd int) error {
		if m, err := sys.ReadModes(fd); err == nil {
			f.Modes = &m
		}
		t, err := evidence.TargetOf(fd)
		if err == nil {
			t.Leader = st.PID
			f.Probe = a.prober.Probe(t)
		}
		a.pending = sys.OutputPending(fd)
		return err
	})
	if err != nil && f.Modes == nil {
		return evidence.Verdict{}, 0 // pipes, or the terminal is gone
	}
	if r := &f.Probe; r.PID == st.PID && f.Shell == evidence.ShellRunning && s.readsBriefly() {
		if r.Timeout < 0 && (r.State == evidence.Reading || r.State == evidence.Polling) {
			r.State, r.Timeout = evidence.Polling, time.Second
		}
	}
	a.pending = a.pending || s.ring.Head() != s.off
	now := time.Now()
	a.behind, a.own = len(f.Probe.Behind) > 0, f.Probe.PID == st.PID && s.followed()
	f.Beside = a.wait.sees(&f.Probe, s.off, now)
	a.unread = a.spent.same(&f.Probe, now)
	a.reader.sees(&f.Probe)
	if (f.Probe.State == evidence.Busy || f.Probe.State == evidence.Sleeping) && len(f.Probe.Behind) == 0 {
		a.blank = false
		return evidence.Classify(f), f.Probe.PID // whatever the screen shows
	}
	m := s.engine.Modes()
	f.BracketedPaste, f.AppCursor, f.Mouse = m.BracketedPaste, m.AppCursor, m.Mouse != 0
	s.screenFacts(&f)
	a.blank = strings.TrimSpace(f.Line) == ""
	return evidence.Classify(f), f.Probe.PID
}

// readsBriefly says that the shell runs a line in which it looks for input for a moment, and that the
// kernel does not tell which of its waits that is.
func (s *Session) readsBriefly() bool {
	r := s.shell.State().Running
	return s.shell.kind == shell.Ksh && r != nil && shell.ReadsBriefly(r.Text)
}
