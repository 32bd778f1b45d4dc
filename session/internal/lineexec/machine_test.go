package lineexec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/shell"
)

// fakeHost is a host whose shell and clock the test controls.
type fakeHost struct {
	m           *Machine
	view        View
	probe       Probe
	log         []string        // actions
	wake        time.Time       // zero: none
	repairFails bool            // a repair line cannot be typed
	errs        map[*Line]error // by ended line
}

// newFakeHost returns a host with bash at its prompt.
func newFakeHost() *fakeHost {
	s := &fakeHost{errs: map[*Line]error{}}
	s.view = View{Now: time.Unix(1000, 0), Kind: shell.Bash, State: shell.State{MaxQuality: shell.Full, Quality: shell.Full, Phase: shell.PhasePrompt, Prompt: 1}}
	s.view.LastOutput, s.view.Since = s.view.Now.Add(-time.Second), s.view.Now.Add(-time.Second)
	s.m = New(s)
	return s
}

func (s *fakeHost) View() View   { return s.view }
func (s *fakeHost) Probe() Probe { return s.probe }

func (s *fakeHost) Do(a Action) error {
	switch a.Kind {
	case ActKeys:
		s.log = append(s.log, fmt.Sprintf("keys %q", a.Keys))
	case ActType:
		s.log = append(s.log, "line")
	case ActSetTimer:
		s.wake = s.view.Now.Add(a.After)
	case ActFoundRunning:
		s.log = append(s.log, "found")
		s.startCommand()
	case ActFlush:
		s.log = append(s.log, "flush")
	case ActEnded:
		s.errs[a.Line] = a.Err
		s.log = append(s.log, "over")
	case ActAtPrompt, ActMarksLost:
		s.log = append(s.log, "reads")
		s.view.Phase, s.view.Running, s.view.IsDrawingPrompt, s.view.PossibleEnd = shell.PhasePrompt, nil, false, nil
		s.m.HandleChange(shell.ChangeFinished)
		s.m.HandleChange(shell.ChangePrompt)
	case ActRepair:
		s.log = append(s.log, "repair")
		if s.repairFails {
			return errors.New("none")
		}
	case ActFollow:
		s.log = append(s.log, "follow "+a.Program)
		if !a.Replaced || !a.MayPrepare || s.repairFails {
			return errors.New("not followed")
		}
		s.view.Phase, s.view.Prompt, s.view.Running = shell.PhaseUnknown, 0, nil
		s.probe.Replaced = false
	}
	return nil
}

// advance lets time pass, up to a bound, and calls OnTimer when due.
func (s *fakeHost) advance(d time.Duration) {
	end := s.view.Now.Add(d)
	for n := 0; !s.wake.IsZero() && !s.wake.After(end) && n < 1000; n++ {
		if s.wake.After(s.view.Now) {
			s.view.Now = s.wake
		}
		s.wake = time.Time{}
		s.m.OnTimer()
	}
	s.view.Now = end
}

// startCommand makes the shell start the typed line.
func (s *fakeHost) startCommand() {
	s.view.Phase, s.view.Running, s.view.HasEnded, s.view.Since = shell.PhaseRunning, &shell.Command{Number: 1}, false, s.view.Now
	s.m.HandleChange(shell.ChangeStarted)
}

// showPrompt makes the shell print its prompt.
func (s *fakeHost) showPrompt() {
	s.view.Phase, s.view.Running, s.view.Since, s.view.InContinuation = shell.PhasePrompt, nil, s.view.Now, false
	s.view.Prompt++
	s.m.HandleChange(shell.ChangePrompt)
}

// endCommand makes the running command end.
func (s *fakeHost) endCommand() {
	s.view.Running = nil
	s.m.HandleChange(shell.ChangeFinished)
	s.showPrompt()
}

// submit queues a line and fails the test if it is rejected.
func (s *fakeHost) submit(t *testing.T, l *Line) *Line {
	t.Helper()
	if err := s.m.Submit(l, func() string { return "something" }); err != nil {
		t.Fatal(err)
	}
	return l
}

// wantLog checks the actions since the last call.
func (s *fakeHost) wantLog(t *testing.T, log string) {
	t.Helper()
	if got := strings.Join(s.log, ", "); got != log {
		t.Errorf("%s\nwant %s", got, log)
	}
}

// readingAtPrompt is the probe of a shell that reads at its prompt.
var readingAtPrompt = Probe{Known: true, Reads: true, Blocked: true, ReaderIsShell: true, Program: "bash", Argv: []string{"bash"}, Pastes: true, Stack: 1}

// FEATURES: R7
func TestLinesRunInOrder(t *testing.T) {
	s := newFakeHost()
	one := s.submit(t, &Line{})
	two := s.submit(t, &Line{Wait: true})
	for name, give := range map[string]func(*Line, func() string) error{"give": s.m.Submit, "try": s.m.CheckQueue} {
		if err := give(&Line{}, func() string { return "it" }); !errors.Is(err, ErrBusy) {
			t.Error(name, err)
		}
	}
	if err := s.m.CheckQueue(&Line{Wait: true}, func() string { return "it" }); err != nil {
		t.Error(err)
	}
	s.wantLog(t, "line")
	s.startCommand()
	if one.Step() != Running || two.Step() != Queued {
		t.Error(one.Step(), two.Step())
	}
	s.endCommand()
	s.advance(time.Millisecond)
	s.wantLog(t, "line, over, line")
}

// FAULT: A10, A21
func TestInterrupt_HoldsLinesUntilPrompt(t *testing.T) {
	s := newFakeHost()
	l := s.submit(t, &Line{})
	s.m.Drop(l)
	if !errors.Is(s.errs[l], context.Canceled) {
		t.Error(s.errs[l])
	}
	s.submit(t, &Line{}) // is not rejected
	s.wantLog(t, `line, keys "\x03", over`)
	s.showPrompt()
	for _, s.probe = range []Probe{{Known: true}, {OutputPending: true}} { // the shell does not read yet; it has printed something
		s.advance(200 * time.Millisecond)
		s.wantLog(t, `line, keys "\x03", over`)
	}
	s.probe = readingAtPrompt
	s.advance(50 * time.Millisecond)
	s.wantLog(t, `line, keys "\x03", over, line`)
}

// FAULT: A21
func TestInterrupt_ReachesOnlyItsLine(t *testing.T) {
	s := newFakeHost()
	s.probe = readingAtPrompt
	l := s.submit(t, &Line{})
	next := s.submit(t, &Line{Wait: true})
	s.startCommand()
	sent := 0
	if !s.m.Interrupt(l, func() { sent++ }) {
		t.Fatal("Interrupt found no running line")
	}
	s.endCommand()
	s.advance(time.Second)
	if next.Step() != Queued {
		t.Error("the next line was typed during the kill ladder")
	}
	s.m.EndInterrupt()
	s.advance(50 * time.Millisecond)
	if next.Step() != Typed || sent != 1 {
		t.Error(next.Step(), sent)
	}
	if s.m.Interrupt(l, func() { sent++ }) || sent != 1 {
		t.Error("an ended line was interrupted")
	}
}

// FAULT: B2
func TestSubmit_ClearsEditor(t *testing.T) {
	for _, tt := range []struct {
		kind   shell.Kind
		phase  shell.Phase
		typed  string
		passes time.Duration
		log    string
	}{
		{shell.Bash, shell.PhasePrompt, "", 0, "line"},
		{shell.Bash, shell.PhasePrompt, "echo left", 0, `keys "\x15", line`},
		{shell.Bash, shell.PhasePrompt, "\x1b[200~echo left\x1b[201~", 0, `keys "\x15", line`},
		{shell.Bash, shell.PhaseRunning, "echo left", 0, `keys " \x15", line`},
		{shell.Zsh, shell.PhaseRunning, "\x1b[A", 0, `keys "\x03"`},
		{shell.Bash, shell.PhaseRunning, "echo left\x1b[D", 0, `keys "\x03"`},
		{shell.Bash, shell.PhasePrompt, "echo left\x1b[D", 0, `keys "\x03"`},
		{shell.Bash, shell.PhaseRunning, "\x04", 0, "line"}, // the program read it, or the shell has exited
		{shell.Bash, shell.PhaseRunning, "echo left\x04", 0, `keys " \x15", line`},
		{shell.Bash, shell.PhasePrompt, "\x04", 0, `keys "\x03"`},
		{shell.Bash, shell.PhasePrompt, "\x1b[D", 2 * silentEditorTime, `keys "\x03"`},
		{shell.Fish, shell.PhasePrompt, "\x1b[D", silentEditorTime - 1, `keys "\x03"`},
		{shell.Fish, shell.PhasePrompt, "\x1b[D", silentEditorTime, `keys "\x03", line`}, // no prompt is printed if the editor was empty
		{shell.Bash, shell.PhasePrompt, "echo left\x03", 0, "line"},
		{shell.Bash, shell.PhasePrompt, "echo goes first\r", 0, ""},
		{shell.Bash, shell.PhasePrompt, "echo goes first\r", EnterTime, `keys "\x15", line`},
	} {
		s := newFakeHost()
		s.view.Kind, s.view.Phase, s.probe = tt.kind, tt.phase, readingAtPrompt
		s.m.NoteTyped([]byte(tt.typed))
		s.view.Phase = shell.PhasePrompt
		s.submit(t, &Line{})
		s.advance(tt.passes)
		if got := strings.Join(s.log, ", "); got != tt.log {
			t.Errorf("%s %s %q: %s, want %s", tt.kind, tt.phase, tt.typed, got, tt.log)
		}
	}
}

// TestEnteredLine_GoesFirst_OnASlowMachine types a line that the shell reads late, before and at its prompt. A submitted line is
// rejected once that line runs, and typed if the shell waits for input again without having started it.
//
// FAULT: A13
// FEATURES: R7
func TestEnteredLine_GoesFirst_OnASlowMachine(t *testing.T) {
	python := Probe{Known: true, Reads: true, Program: "python3"}
	for _, ahead := range []bool{true, false} {
		for name, busy := range map[string]Probe{
			"reads":  {Known: true, ReaderIsShell: true, Program: "bash"},
			"unread": {Known: true, ReaderIsShell: true, Reads: true, Unread: 3},
			"prints": {OutputPending: true},
			"runs":   python,
		} {
			for _, starts := range []bool{true, false} {
				s := newFakeHost()
				if ahead {
					s.view.Phase = shell.PhaseUnknown
				}
				s.m.NoteTyped([]byte("python3\r"))
				if s.probe = busy; ahead {
					s.showPrompt()
				}
				l := s.submit(t, &Line{})
				s.advance(maxEnteredTime / 2)
				s.wantLog(t, "")
				if starts {
					s.startCommand()
					if !errors.Is(s.errs[l], ErrBusy) {
						t.Errorf("ahead %v, %s: %q, %v", ahead, name, s.log, s.errs[l])
					}
					continue
				}
				s.probe = readingAtPrompt
				s.advance(EnterTime)
				if len(s.log) < 2 || s.log[1] != "line" {
					t.Errorf("ahead %v, %s: %q", ahead, name, s.log)
				}
			}
		}
	}
}

// FAULT: A13, E3
func TestReplies_FlushedAfterCommand(t *testing.T) {
	for _, tt := range []struct {
		name      string
		canonical bool
		typed     string
		log       string
	}{
		{"before the editor reads", true, "", "flush, line"},
		{"the editor may have read", false, "", `flush, keys "\a\x15", line`},
		{"a user's keys are among them", true, "ls", `keys " \x15", line`},
	} {
		s := newFakeHost()
		s.view.Phase, s.view.Running = shell.PhaseRunning, &shell.Command{}
		s.m.NoteReply()
		s.m.NoteTyped([]byte(tt.typed))
		s.probe = Probe{Known: true, Canonical: tt.canonical}
		s.view.Running = nil
		s.m.HandleChange(shell.ChangeOutputEnded)
		s.showPrompt()
		s.submit(t, &Line{})
		s.advance(promptReadTime)
		if got := strings.Join(s.log, ", "); got != tt.log {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.log)
		}
	}
}

// FAULT: B1, E5
func TestLine_NeverStarts(t *testing.T) {
	s := newFakeHost()
	l := s.submit(t, &Line{})
	s.advance(time.Second)
	s.wantLog(t, "line") // the shell does not read: the line is in transit
	s.probe = readingAtPrompt
	for len(s.log) < 2 {
		s.advance(100 * time.Millisecond)
	}
	s.wantLog(t, `line, keys "\x03"`)
	s.showPrompt()
	s.advance(time.Millisecond)
	if !errors.Is(s.errs[l], ErrRefused) {
		t.Error(s.errs[l])
	}
	s.submit(t, &Line{})
	s.advance(100 * time.Millisecond)
	s.wantLog(t, `line, keys "\x03", over, line`)
}

// FAULT: E5
func TestLine_EndNotReported(t *testing.T) {
	canonical := Probe{Known: true, Reads: true, ReaderIsShell: true, Program: "dash", Argv: []string{"dash"}, Canonical: true}
	at := func(p Probe, bytes int) Probe { p.ReadSize = bytes; return p }
	elsewhere, unknown := readingAtPrompt, readingAtPrompt
	elsewhere.Stack, unknown.Stack = 2, 0
	for _, tt := range []struct {
		name string
		kind shell.Kind
		line Line
		p    Probe
		ends bool
	}{
		{"prompt", shell.Bash, Line{}, readingAtPrompt, true},
		{"read -e", shell.Bash, Line{}, elsewhere, false},
		{"a read that the kernel does not show", shell.Bash, Line{}, unknown, false},
		{"read in an editor", shell.Ksh, Line{}, elsewhere, false},
		{"read", shell.Bash, Line{}, Probe{Known: true, Reads: true, ReaderIsShell: true, Program: "bash", Argv: []string{"bash"}, Canonical: true, ReadSize: 4096}, false},
		{"prompt", shell.Dash, Line{}, at(canonical, 8191), true},
		{"read", shell.Dash, Line{}, at(canonical, 1), false},
		{"a program", shell.Bash, Line{}, Probe{Known: true, Reads: true, Program: "cat", Argv: []string{"cat"}}, false},
		{"a script", shell.Bash, Line{}, Probe{Known: true, Reads: true, Program: "bash", Argv: []string{"bash", "ask.sh"}, Pastes: true}, false},
		{"not known", shell.Bash, Line{}, Probe{}, false},
	} {
		s := newFakeHost()
		s.view.Kind, s.repairFails, s.probe = tt.kind, true, readingAtPrompt
		l := s.submit(t, &tt.line)
		s.startCommand()
		s.probe = tt.p
		s.advance(5 * time.Second)
		if ended := l.Step() == Done; ended != tt.ends {
			t.Errorf("%s in %s: ended %v: %s", tt.name, tt.kind, ended, s.log)
		}
	}
}

// TestRepairLine_NotTyped_WhileShellReadsInput lets builtins read with the shell's own line editor, in states in which
// marks may be missing. Nothing is typed, and the line counts as one that needs input, until the shell is at its prompt
// again.
//
// FAULT: H3
func TestRepairLine_NotTyped_WhileShellReadsInput(t *testing.T) {
	for name, state := range map[string]func(*View){
		"it runs":   func(*View) {},
		"hooks run": func(v *View) { v.HasEnded = true },
	} {
		for _, kind := range []shell.Kind{shell.Bash, shell.Zsh, shell.Fish, shell.Ksh, shell.Mksh} {
			s := newFakeHost()
			s.view.Kind, s.probe = kind, readingAtPrompt
			l := s.submit(t, &Line{})
			s.startCommand()
			state(&s.view)
			s.probe.Stack = 2
			s.advance(20 * time.Second)
			s.wantLog(t, "line")
			if !l.IsReadingInput() || l.Step() != Running {
				t.Errorf("%s, %s: step %v, needs input %v", kind, name, l.Step(), l.IsReadingInput())
			}
			s.probe.Stack = 1
			s.advance(5 * time.Second)
			if len(s.log) < 2 || l.IsReadingInput() {
				t.Errorf("%s, %s: at the prompt: %q, needs input %v", kind, name, s.log, l.IsReadingInput())
			}
		}
	}
}

// TestPromptMark_PrintedByLine_DoesNotEndIt lets a line print the mark of a prompt, in a shell that marks only prompts. The line ends once the
// shell is known to read at its prompt, and soon after that.
//
// FAULT: H26
func TestPromptMark_PrintedByLine_DoesNotEndIt(t *testing.T) {
	tracker := shell.NewTracker(shell.Launch{Quality: shell.Basic, Nonce: "n"})
	tracker.Apply(shell.Event{Kind: shell.EventMark, Mark: shell.Mark{Kind: shell.MarkPrompt, Nonce: "n", Prompt: 1}})
	tracker.Apply(shell.Event{Kind: shell.EventTyped, Text: "x"})
	tracker.Apply(shell.Event{Kind: shell.EventMark, Mark: shell.Mark{Kind: shell.MarkPrompt, Nonce: "n", Prompt: 2, Late: true}})
	atPrompt := Probe{Known: true, Reads: true, Blocked: true, ReaderIsShell: true, Canonical: true, ReadSize: 8191, Stack: 1}
	builtin := atPrompt
	builtin.Stack = 2
	s := newFakeHost()
	s.view.Kind, s.view.MaxQuality, s.view.Quality, s.probe = shell.Dash, shell.Basic, shell.Basic, atPrompt
	s.submit(t, &Line{})
	s.startCommand()
	if !s.m.CanConfirmPrompt() {
		t.Fatal("the prompt is not confirmed")
	}
	s.view.PossibleEnd = tracker.State().PossibleEnd
	for _, s.probe = range []Probe{{Known: true, Program: "sleep"}, {OutputPending: true}, builtin} {
		s.view.LastOutput = s.view.Now
		s.m.HandleChange(shell.ChangePhase)
		s.advance(10 * time.Second)
		s.wantLog(t, "line")
	}
	s.view.LastOutput, s.probe = s.view.Now, atPrompt
	s.m.HandleChange(shell.ChangePhase)
	s.advance(confirmPoll)
	s.wantLog(t, "line, reads, over")
}

// TestTypedLine_WithoutEndMark_DoesNotBlockShell runs a line that the user typed, and that took the marks away. A submitted line is
// rejected while a builtin reads, and typed once the shell is known to be at its prompt.
//
// FAULT: H12
func TestTypedLine_WithoutEndMark_DoesNotBlockShell(t *testing.T) {
	s := newFakeHost()
	s.probe = readingAtPrompt
	s.m.HandleChange(shell.ChangePrompt)
	s.advance(time.Second)
	s.startCommand()
	s.probe.Stack = 2
	s.advance(time.Second)
	busy := func() string { return "something" }
	if err := s.m.Submit(&Line{}, busy); !errors.Is(err, ErrBusy) {
		t.Errorf("in a builtin that reads: %v", err)
	}
	s.probe.Stack = 1
	if err := s.m.Submit(&Line{}, busy); err != nil {
		t.Errorf("at the prompt: %v", err)
	}
	s.advance(stableTime)
	s.wantLog(t, "reads, line")
}

// TestSubmit_WaitsForUsersCommand submits lines in a shell that does not mark starts, such as dash. Only the kernel's
// state shows whether the shell still runs a user's line, which would read a submitted line.
//
// FEATURES: R7
func TestSubmit_WaitsForUsersCommand(t *testing.T) {
	dash := Probe{Known: true, Reads: true, ReaderIsShell: true, Program: "dash", Argv: []string{"dash"}, Canonical: true}
	at := func(p Probe, bytes int) Probe { p.ReadSize = bytes; return p }
	for _, tt := range []struct {
		name  string
		typed string
		p     Probe
		log   string // for a line that waits
		err   error  // for one that does not wait
	}{
		{"nothing was entered", "ls", at(dash, 1), `keys "\x15", line`, nil},
		{"its own read", "read x\r", at(dash, 1), "found", ErrBusy},
		{"a program that reads", "cat\r", Probe{Known: true, Reads: true, Program: "cat", Argv: []string{"cat"}, Canonical: true, ReadSize: 131072}, "found", ErrBusy},
		{"a program that works", "make\r", Probe{Known: true, Program: "make"}, "found", ErrBusy},
		{"a prompt without a mark", "PS1=x\r", at(dash, 8191), `keys "\x15", line`, nil},
		{"the kernel does not say how it reads", "read x\r", dash, `keys "\x15", line`, nil},
		{"the kernel says nothing", "cat\r", Probe{}, `keys "\x15", line`, nil},
		{"another shell", "exec ksh\r", Probe{Known: true, Reads: true, ReaderIsShell: true, Replaced: true, Program: "ksh", Argv: []string{"ksh"}}, "follow ksh, over", ErrForeignShell},
	} {
		for _, wait := range []bool{true, false} {
			s := newFakeHost()
			s.view.Kind, s.view.MaxQuality, s.view.Quality = shell.Dash, shell.Basic, shell.Basic
			s.repairFails = true
			s.m.NoteTyped([]byte(tt.typed))
			s.probe = tt.p
			early := s.submit(t, &Line{Wait: wait})
			s.advance(EnterTime + stableTime/2)
			switch log := strings.Join(s.log, ", "); {
			case wait && log != tt.log:
				t.Errorf("%s: %s, want %s", tt.name, log, tt.log)
			case !wait && !errors.Is(s.errs[early], tt.err):
				t.Errorf("%s: %v, want %v", tt.name, s.errs[early], tt.err)
			}
			if !errors.Is(tt.err, ErrBusy) {
				continue
			}
			if err := s.m.Submit(&Line{}, func() string { return "it runs something" }); !errors.Is(err, ErrBusy) {
				t.Errorf("%s: submitted later: %v", tt.name, err)
			}
			s.probe = at(dash, 8191)
			s.showPrompt()
			s.advance(stableTime / 2)
			if got := strings.Join(s.log, ", "); wait && !strings.HasSuffix(got, "line") {
				t.Errorf("%s: not typed at the next prompt: %s", tt.name, got)
			}
		}
	}
}

// FAULT: E1, B10
func TestNestedShell_IsFollowed(t *testing.T) {
	for _, tt := range []struct {
		name string
		p    Probe
	}{
		{"zsh", Probe{Known: true, Reads: true, Program: "zsh", Argv: []string{"-zsh"}, Pastes: true}},
		{"bash", Probe{Known: true, Reads: true, Program: "bash", Argv: []string{"bash", "--norc"}, Pastes: true}},
		{"dash", Probe{Known: true, Reads: true, Program: "dash", Argv: []string{"dash", "-i"}, Canonical: true, ReadSize: 8191}},
		{"bash", Probe{Known: true, Reads: true, ReaderIsShell: true, Replaced: true, Program: "bash", Argv: []string{"bash"}, Pastes: true}},
	} {
		s := newFakeHost()
		l := s.submit(t, &Line{})
		s.startCommand()
		s.probe = tt.p
		s.advance(3 * time.Second)
		if l.Step() != Done || s.errs[l] != nil {
			t.Errorf("%s: %v, %v", tt.name, l.Step(), s.errs[l])
		}
		s.wantLog(t, "line, follow "+tt.name+", over")
	}
}

// TestSubmit_WhenStartFilesRemoveMarks checks that lines do not wait for a mark at the prompt of such a shell.
//
// FAULT: H12
func TestSubmit_WhenStartFilesRemoveMarks(t *testing.T) {
	for _, shadowed := range []bool{true, false} {
		s := newFakeHost()
		s.view.Phase, s.view.Prompt = shell.PhaseUnknown, 0
		s.probe = readingAtPrompt
		s.probe.Shadowed = shadowed
		l := s.submit(t, &Line{})
		s.advance(5 * time.Second)
		if got := errors.Is(s.errs[l], ErrForeignShell); got != shadowed || (l.Step() == Done) != shadowed {
			t.Errorf("shadowed %v: %v, step %v", shadowed, s.errs[l], l.Step())
		}
	}
}

// FuzzMachine checks that under any order of events the machine does not hang, and each line ends once.
func FuzzMachine(f *testing.F) {
	f.Add([]byte("gbeg tdpkxr"))
	f.Add([]byte("gdgpgixeo\x00\x01"))
	f.Fuzz(func(t *testing.T, events []byte) {
		s := newFakeHost()
		var lines []*Line
		for _, e := range events[:min(len(events), 200)] {
			switch e % 16 {
			case 0, 1:
				l := &Line{Wait: e&16 != 0}
				if s.m.Submit(l, func() string { return "" }) == nil {
					lines = append(lines, l)
				}
			case 2:
				s.startCommand()
			case 3:
				s.endCommand()
			case 4:
				s.showPrompt()
			case 5:
				s.view.InContinuation = true
				s.m.HandleChange(shell.ChangeInput)
			case 6:
				s.m.NoteTyped([]byte{e})
			case 7:
				s.m.NoteReply()
			case 8:
				s.probe = readingAtPrompt
			case 9:
				s.probe = Probe{Known: true, Reads: true, Program: "zsh", Argv: []string{"zsh"}, Pastes: true}
			case 10:
				s.probe = Probe{}
			case 11:
				if len(lines) > 0 {
					s.m.Drop(lines[int(e)%len(lines)])
				}
			case 12:
				if len(lines) > 0 && s.m.Interrupt(lines[0], func() {}) {
					s.m.EndInterrupt()
				}
			case 13:
				s.m.CheckForeignShell()
			case 14:
				s.m.HandleChange(shell.ChangeOutputEnded)
			case 15:
				s.advance(time.Duration(e) * 20 * time.Millisecond)
			}
		}
		s.m.EndAll(ErrBusy)
		for _, l := range lines {
			if l.Step() != Done {
				t.Errorf("a line is at step %d", l.Step())
			}
		}
		if over := strings.Count(strings.Join(s.log, " "), "over"); over != len(lines) {
			t.Errorf("%d ends of %d lines", over, len(lines))
		}
	})
}

// FAULT: E10
func TestPrompt_NotPrinted(t *testing.T) {
	s := newFakeHost()
	s.view.Phase, s.view.IsDrawingPrompt, s.probe = shell.PhaseUnknown, true, readingAtPrompt
	s.probe.Reads = false
	s.m.CheckDrawnPrompt()
	s.advance(time.Second)
	s.wantLog(t, "") // the shell is drawing
	s.probe.Reads = true
	s.advance(time.Second)
	s.wantLog(t, "reads")
	s.m.CheckDrawnPrompt()
	s.advance(time.Second)
	s.wantLog(t, "reads")
}

// TestInterrupt_LosesPromptMark drops a line that runs nevertheless. The interrupt prevents the prompt's mark: the next
// line is typed once the shell is found to read.
//
// FAULT: A10
func TestInterrupt_LosesPromptMark(t *testing.T) {
	s := newFakeHost()
	s.probe = Probe{Known: true, ReaderIsShell: true, Reads: true}
	first := s.submit(t, &Line{})
	s.m.Drop(first)
	s.startCommand()
	s.view.HasEnded, s.view.LastOutput = true, s.view.Now // its end was reported, and nothing after that
	s.submit(t, &Line{Wait: true})
	s.advance(holdTime + 5*time.Second)
	if log := strings.Join(s.log, ", "); !strings.HasPrefix(log, `line, keys "\x03", over, reads, line`) {
		t.Errorf("the next line was not typed: %s", log)
	}
}

// TestRefusedLine_StaysInEditor checks that a line which fish read and refused ends only once its editor has dropped it. A line
// that the editor does not hold ends at once.
func TestRefusedLine_StaysInEditor(t *testing.T) {
	for isKept, log := range map[bool]string{false: "line, over", true: `line, keys "\x03", over`} {
		s := newFakeHost()
		s.view.Kind, s.view.HasKeptLine, s.probe = shell.Fish, isKept, Probe{Known: true, ReaderIsShell: true}
		l := s.submit(t, &Line{})
		s.m.HandleChange(shell.ChangeStarted)
		s.m.MarkRefused()
		s.m.HandleChange(shell.ChangeFinished)
		s.showPrompt()
		s.advance(100 * time.Millisecond)
		if n := len(s.log); isKept && n > 1 {
			t.Errorf("interrupted before it reads: %q", s.log)
		}
		s.probe.Reads = true
		s.advance(100 * time.Millisecond)
		if _, over := s.errs[l]; over == isKept {
			t.Errorf("kept %v: done %v", isKept, over)
		}
		s.showPrompt()
		s.advance(time.Second)
		s.wantLog(t, log)
		if s.errs[l] != nil {
			t.Errorf("kept %v: %v", isKept, s.errs[l])
		}
	}
}

// TestLostInterrupt_WaitsForPrompt checks that a prompt is awaited after an interrupt that fish may not have read, as
// its editor may not be empty.
func TestLostInterrupt_WaitsForPrompt(t *testing.T) {
	s := newFakeHost()
	s.view.Kind, s.probe = shell.Fish, Probe{Known: true, ReaderIsShell: true}
	s.m.NoteTyped([]byte("\x1b[D"))
	s.submit(t, &Line{})
	s.probe.Reads = true // reads from now on
	s.advance(repeatInterval - 1)
	s.wantLog(t, `keys "\x03"`)
	s.advance(1)
	s.wantLog(t, `keys "\x03", keys "\x03"`)
}

// TestTypedLine_IsFoundRunning checks that a line that the user typed counts as running once another program reads the terminal,
// in a shell that does not mark starts. A line that has ended does not.
//
// FEATURES: R45 R48
func TestTypedLine_IsFoundRunning(t *testing.T) {
	atPrompt := Probe{Known: true, Reads: true, Blocked: true, ReaderIsShell: true, Canonical: true, ReadSize: 8192, Program: "dash", Argv: []string{"dash"}, Stack: 1}
	program := Probe{Known: true, Reads: true, Program: "python3", Argv: []string{"python3"}}
	for _, c := range []struct {
		name  string
		kind  shell.Kind
		typed string
		probe Probe
		log   string
	}{
		{"a program reads", shell.Dash, "python3\r", program, "found"},
		{"the shell reads at its prompt", shell.Dash, "\r", atPrompt, ""},
		{"the shell is busy", shell.Dash, "while :; do :; done\r", Probe{Known: true, ReaderIsShell: true, Program: "dash"}, "found"},
		{"nothing is known", shell.Dash, "python3\r", Probe{}, ""},
		{"no Enter", shell.Dash, "python3", program, ""},
		{"a shell with marks", shell.Bash, "python3\r", program, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newFakeHost()
			if s.view.Kind = c.kind; c.kind == shell.Dash {
				s.view.MaxQuality, s.view.Quality = shell.Basic, shell.Basic
			}
			s.probe = atPrompt
			s.advance(time.Second)
			s.m.NoteTyped([]byte(c.typed))
			s.probe = c.probe
			s.advance(time.Minute)
			s.wantLog(t, c.log)
			if !s.wake.IsZero() {
				t.Errorf("a timer is set: %s", s.wake.Sub(s.view.Now))
			}
			s.m.CheckForeignShell()
			s.wantLog(t, c.log)
			s.probe = atPrompt // after a line that gave the shell another prompt, without marks
			if s.m.CheckForeignShell(); c.log != "" {
				s.wantLog(t, "found, reads")
			}
		})
	}
}

// TestWaitingLine_IsTyped_AfterUnmarkedEnd checks that a line that waits is typed once the kernel shows that the user's line has
// ended, in a shell that does not mark starts, although no mark and no output follow.
//
// FEATURES: R45 R48
func TestWaitingLine_IsTyped_AfterUnmarkedEnd(t *testing.T) {
	atPrompt := Probe{Known: true, Reads: true, Blocked: true, ReaderIsShell: true, Canonical: true, ReadSize: 8192, Program: "dash", Argv: []string{"dash"}, Stack: 1}
	s := newFakeHost()
	s.view.Kind, s.view.MaxQuality, s.view.Quality = shell.Dash, shell.Basic, shell.Basic
	s.probe = atPrompt
	s.advance(time.Second)
	s.m.NoteTyped([]byte("python3\r"))
	s.probe = Probe{Known: true, Reads: true, Program: "python3", Argv: []string{"python3"}}
	s.advance(time.Second)
	s.submit(t, &Line{Wait: true})
	s.advance(time.Minute)
	s.wantLog(t, "found")
	s.probe = atPrompt
	s.advance(time.Minute)
	if log := strings.Join(s.log, ", "); !strings.HasPrefix(log, `found, reads, keys "\x15", line`) {
		t.Error(log)
	}
}

// TestTypeAhead_IsNotFoundRunning_BeforeSlowPrompt checks that input for an earlier command does not count as a line that runs while
// the hooks of the next prompt still work.
//
// FEATURES: R45 R48
func TestTypeAhead_IsNotFoundRunning_BeforeSlowPrompt(t *testing.T) {
	s := newFakeHost()
	s.view.Kind, s.view.MaxQuality, s.view.Quality = shell.Dash, shell.Basic, shell.Basic
	s.startCommand()
	s.m.NoteTyped([]byte("input\r"))
	s.endCommand()
	s.probe = Probe{Known: true, ReaderIsShell: true, Program: "dash"}
	s.advance(aheadTime + time.Millisecond)
	s.submit(t, &Line{Wait: true})
	s.wantLog(t, "")
	s.probe = Probe{Known: true, Reads: true, Blocked: true, ReaderIsShell: true, Canonical: true, ReadSize: 8192, Program: "dash", Argv: []string{"dash"}, Stack: 1}
	s.advance(2 * EnterTime)
	if log := strings.Join(s.log, ", "); !strings.HasPrefix(log, "line") && !strings.HasPrefix(log, `keys "\x15", line`) {
		t.Errorf("got %q", log)
	}
}
