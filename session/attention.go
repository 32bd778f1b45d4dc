package session

import (
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// looks are the times after the newest output at which a program that has fallen silent is
// looked at: does it wait for a person?
var looks = []time.Duration{20 * time.Millisecond, 60 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second}

// lookAgain is how often it is looked at after that while somebody waits for it to ask.
const lookAgain = 100 * time.Millisecond

// basicStart is how long a shell that does not tell when a command begins gets to begin it.
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
	step   int
	last   time.Time // of the output the looks count from
	shell  bool      // at the last look the shell itself was reading
	blank  bool      // at the last look nothing stood before the cursor
}

// tells says whether what a look finds counts: where nothing stands before the cursor, the
// program's question may be on its way to us still, and the second look is soon enough.
func (a *attention) tells() bool { return a.step > 0 || !a.blank }

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
	s.attention.step, s.attention.last, s.attention.shell = 0, now, false
	s.attention.schedule(now.Add(looks[0]))
}

// typedSomething says that whatever was asked for has been answered, perhaps.
func (s *Session) typedSomething() {
	if s.Status().Needs.Kind != evidence.None {
		s.update(ChangeInput, func(st *Status) { st.Needs = Needs{} })
	}
	s.guessPrompt(false)
	s.stirred(time.Now())
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
	v, pid := s.judge(&st)
	if v.Needs && pid == st.PID && st.Shell.Phase == shell.PhaseRunning {
		// A builtin that reads, or a prompt that is still on its way to us: it reads on if
		// it is the former.
		if !a.shell {
			v = evidence.Verdict{}
		}
		a.shell = true
	}
	s.guessPrompt(v.Kind == evidence.Prompt)
	if v.Needs && !a.tells() {
		v = evidence.Verdict{}
	}
	if v.Needs != (st.Needs.Kind != evidence.None) || v.Needs && v.Kind != st.Needs.Kind {
		var n Needs
		if v.Needs {
			n = Needs{Kind: v.Kind, Confidence: v.Confidence, Reason: v.Reason, Since: time.Now()}
		}
		s.update(ChangeInput, func(st *Status) { st.Needs = n })
	}
	if s.followed() && a.step >= 2 {
		s.lines().Look()
	}
	if a.step++; a.step < len(looks) {
		a.schedule(a.last.Add(looks[a.step]))
	} else if s.awaitsInput() {
		a.schedule(time.Now().Add(lookAgain))
	}
}

// awaitsInput says that somebody waits for the program to ask.
func (s *Session) awaitsInput() bool {
	for w := range s.waiters {
		for i := range w.Conds {
			if kind := w.Conds[i].Kind; w.open[i] && (kind == CondInput || kind == CondPrompt && !s.followed()) {
				return true
			}
		}
	}
	return false
}

// judge gathers what is known and has it classified; pid is the process that decided.
func (s *Session) judge(st *Status) (v evidence.Verdict, pid int) {
	f := evidence.Facts{AltScreen: st.Alt, Quiet: time.Since(st.LastOutput), Rhythm: s.attention.rhythm.Usual()}
	if s.followed() {
		switch sh := s.shell.State(); {
		case sh.Phase == shell.PhasePrompt, sh.Drawing, sh.Done:
			return evidence.Verdict{Kind: evidence.Prompt}, 0
		case sh.Phase == shell.PhaseRunning && sh.Offered == shell.Basic && time.Since(sh.Since) < basicStart:
			return evidence.Verdict{}, 0 // it may not have read its line yet
		case sh.Phase == shell.PhaseRunning:
			f.Shell = evidence.ShellRunning
		}
	}
	err := s.cfg.Device.Control(func(fd int) error {
		if m, err := evidence.ReadModes(fd); err == nil {
			f.Modes = &m
		}
		t, err := evidence.TargetOf(fd)
		if err == nil {
			t.Leader = st.PID
			f.Probe = s.attention.prober.Probe(t)
		}
		return err
	})
	if err != nil && f.Modes == nil {
		return evidence.Verdict{}, 0 // pipes, or the terminal is gone
	}
	m := s.engine.Modes()
	f.BracketedPaste, f.AppCursor, f.Mouse = m.BracketedPaste, m.AppCursor, m.Mouse != 0
	s.screenFacts(&f)
	s.attention.blank = strings.TrimSpace(f.Line) == ""
	return evidence.Classify(f), f.Probe.PID
}

// screenFacts puts the rows around the cursor into the facts.
func (s *Session) screenFacts(f *evidence.Facts) {
	var frame vterm.Frame
	s.engine.Frame(&frame, vterm.Query{})
	text := func(cells []vterm.Cell) string {
		var b []byte
		for _, c := range cells {
			b = frame.AppendText(b, c)
		}
		return string(b)
	}
	const near = 20
	for i := range frame.Lines {
		l := &frame.Lines[i]
		switch d := l.Row - frame.Cursor.Row; {
		case d == 0:
			at := min(frame.Cursor.Col, len(l.Cells))
			f.Line, f.After = text(l.Cells[:at]), trimRight(text(l.Cells[at:]))
			for n := at; n < frame.Cursor.Col; n++ {
				f.Line += " "
			}
		case d < 0 && d >= -near:
			f.Above = append(f.Above, trimRight(text(l.Cells)))
		case d > 0 && d <= near:
			f.Below = append(f.Below, trimRight(text(l.Cells)))
		}
	}
}

func trimRight(s string) string {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}
