package session

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/internal/pace"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// Needs is input that the program in the foreground waits for.
type Needs struct {
	Kind       evidence.Kind // empty: none
	Confidence int           // percent
	Reason     string
	Program    string // that asks, when known
	Repl       bool   `json:",omitempty"` // it is the prompt of a program that takes commands, which asks nothing
	Box        bool   `json:",omitempty"` // it is a password box, which shows no key
	Since      time.Time
}

// inputWait is the session as the machine that finds out whether the program waits for input sees it
// (inputwait.Host), with its clock. It belongs to the owner, but for what asks the kernel: that takes as long as there
// are processes to look at, or for ever where one's memory is locked, and the owner waits for neither. The answer
// comes back as an operation, and counts if nothing was printed or typed meanwhile: then it is asked for anew anyway.
type inputWait struct {
	s       *Session
	machine *inputwait.Machine
	timer   *time.Timer
	alarm   *pace.Alarm      // in its place while what was found stays and nobody waits for more; nil: there is none
	at      time.Time        // when it fires; zero: it is not set
	due     atomic.Bool      // it has fired
	asking  bool             // an answer is under way
	missed  bool             // it was time for a look while it was
	since   uint64           // counts what begins the looks anew
	told    *inputwait.Probe // the answer, for the look that it is for
	held    *heldQuestion    // nil: everything was told
	place   place            // where the program asks for what the status says
	resumed bool             // what the status says is of the owner before, and no look was sure of anything yet
	judged  judged           // at the last whole look
	asked   Needs            // what the journal says that is asked for at its end

	probing sync.Mutex // guards prober
	prober  evidence.Prober
}

func newInputWait(s *Session) *inputWait {
	h := &inputWait{s: s}
	h.machine = inputwait.New(h)
	if s.cfg.Pace != nil {
		h.alarm = s.cfg.Pace.Alarm(h.fire)
	}
	return h
}

// isDue says, once, that it is time to look. A clock that fired as it was set anew is not meant, and is set once more: nothing
// else would have the owner look then, if that time is one of the wall's and the wall's clock was set back.
func (h *inputWait) isDue() bool {
	if !h.due.Load() || !h.due.CompareAndSwap(true, false) || h.at.IsZero() {
		return false
	}
	if time.Now().Before(h.at) {
		h.lookAt(h.at)
		return false
	}
	h.at = time.Time{}
	return true
}

// soon says that there will be something to do before a time has passed: a look at what stays as it is is next to
// nothing.
func (h *inputWait) soon(d time.Duration) bool {
	return h.asking || h.due.Load() || !h.at.IsZero() && !h.machine.Stays() && time.Until(h.at) < d
}

// lookAnew sets the clock after output or input.
func (h *inputWait) lookAnew(at time.Time) {
	h.resumed = false
	h.since++
	h.lookAt(at)
}

// lookAt sets the clock.
func (h *inputWait) lookAt(at time.Time) {
	d := max(0, time.Until(at))
	h.at = at
	h.due.Store(false)
	if h.alarm != nil {
		h.alarm.Stop()
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(d, h.fire)
		return
	}
	h.timer.Reset(d)
}

func (h *inputWait) stopTimer() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// fire has the owner look, or looks in its place while it dozes.
func (h *inputWait) fire() {
	h.due.Store(true)
	if !h.s.standIn(h.passes) {
		signal(h.s.output)
		h.s.wake()
	}
}

// passes is a look that is due, where nothing of the program has run since the last one; false: it is the owner's.
func (h *inputWait) passes() bool {
	if h.s.inputwait != h || h.at.IsZero() || time.Now().Before(h.at) || !h.machine.Asks() || !h.still() {
		return false
	}
	h.due.Store(false)
	h.at = time.Time{}
	h.saw(h.machine.Again())
	return true
}

// still says that nothing of the program has run since a look at which all of it slept or waited for input, and
// nothing was printed. It is asked of thousands of programs at rest, and waits for nothing.
func (h *inputWait) still() (still bool) {
	if !h.machine.Stays() || h.unseen() || h.judged != h.judges() || !h.probing.TryLock() {
		return false
	}
	defer h.probing.Unlock()
	_ = h.s.cfg.Device.Control(func(fd int) error {
		still = h.prober.Still(fd)
		return nil
	})
	return still
}

// judged is what a verdict depends on besides the program: how its lines are broken, and what of them is masked.
type judged struct {
	cols, rows int
	known      *secrets.Set
}

func (h *inputWait) judges() judged {
	st := h.s.Status()
	return judged{st.Cols, st.Rows, h.s.cfg.Known.Set()}
}

// View implements inputwait.Host.
func (h *inputWait) View() inputwait.View {
	s := h.s
	st := s.Status()
	v := inputwait.View{
		Now: time.Now(), Live: st.State == Running && s.ring != nil && s.cfg.Device != nil, PID: s.Leader(),
		Offset: s.off, LastOutput: st.LastOutput, Alt: st.Alt, Modes: s.engine.Modes(),
		Followed: s.lines.followed(), Phase: st.Shell.Phase,
	}
	if v.Followed {
		v.Shell = s.lines.shell.State()
		l := s.lines.machine.Current()
		v.Waits = l != nil && !l.Keeps
		r := v.Shell.Running
		v.ReadsBriefly = s.lines.shell.kind.Spec().ReadsBriefly && r != nil && shell.ReadsBriefly(r.Text)
	}
	return v
}

// Probe implements inputwait.Host.
func (h *inputWait) Probe() inputwait.Probe {
	if h.told == nil {
		return h.askNow()
	}
	p := *h.told
	p.Pending = p.Pending || h.unseen()
	return p
}

// askNow is ask for who cannot wait.
func (h *inputWait) askNow() (p inputwait.Probe) {
	h.ask(&p)
	p.Pending = p.Pending || h.unseen()
	return p
}

// unseen says that something was printed that nobody has looked at.
func (h *inputWait) unseen() bool { return h.s.ring.Head() != h.s.off }

// ask asks the kernel, on any goroutine; one that comes while it is being asked is told nothing.
func (h *inputWait) ask(p *inputwait.Probe) {
	if p.Failed = !h.probing.TryLock(); p.Failed {
		return
	}
	defer h.probing.Unlock()
	s := h.s
	err := s.cfg.Device.Control(func(fd int) error {
		if m, err := sys.ReadModes(fd); err == nil {
			p.Modes = &m
		}
		t, err := evidence.TargetOf(fd)
		if err == nil {
			t.Leader, t.NoEcho = s.leader.look(&t, s.Status().PID), p.Modes != nil && !p.Modes.Echo
			p.Result = h.prober.Probe(t)
		}
		p.Pending = sys.OutputPending(fd)
		return err
	})
	p.Failed = err != nil
	p.Now = time.Now()
}

// Screen implements inputwait.Host.
func (h *inputWait) Screen() inputwait.Screen {
	s := h.s
	sc := inputwait.Screen{History: s.engine.Recent(inputwait.NearHistory), Typed: s.typing.texts, Editor: &s.typing.editor, Half: s.typing.half.known()}
	s.engine.Frame(&sc.Frame, vterm.Query{})
	return sc
}

// Shown implements inputwait.Host.
func (h *inputWait) Shown(line string) string { return h.s.cfg.Known.Set().Text(line) }

// output notes that something was printed.
func (h *inputWait) output(now time.Time) {
	h.leaveRow()
	if h.held != nil { // on the row where it asked
		h.lookAnew(h.machine.Echo(now))
		return
	}
	h.lookAnew(h.machine.Output(now))
}

// typedSomething says that whatever was asked for has been answered, perhaps.
func (h *inputWait) typedSomething() {
	h.lookAt(h.typed())
	h.answered(nil, false)
}

// typed has no look count any more that is under way, as something is about to be typed; at is when the next one is for lookAt
// to come. To set a clock can wake another thread, for which a key need not wait.
func (h *inputWait) typed() (at time.Time) {
	h.resumed = false
	h.s.typing.replies.Unread = false
	h.since++
	return h.machine.Typed()
}

// answered says that data may have answered what was asked for. What a person types within a line is not told of yet.
func (h *inputWait) answered(data []byte, person bool) {
	if person && withinLine(data) {
		h.hold()
		return
	}
	s := h.s
	h.tellHeld()
	if s.Status().Needs.Kind != evidence.None {
		s.update(ChangeInput, func(st *Status) { st.Needs = Needs{} })
	}
	h.guessPrompt(false)
}

// guessPrompt notes whether a program that tells nothing of itself seems to be a shell at
// its prompt.
func (h *inputWait) guessPrompt(is bool) {
	s := h.s
	if s.lines.followed() || is == (s.Status().Shell.Phase == shell.PhasePrompt) {
		return
	}
	v := h.noPrompt()
	if is {
		v = ShellStatus{Phase: shell.PhasePrompt, Quality: shell.None, Since: time.Now(), Program: s.lines.otherProgram()}
	}
	s.update(ChangeShell, func(st *Status) { st.Shell = v })
}

// noPrompt is what is known of a program that tells nothing of itself, while it seems to be at no prompt.
func (h *inputWait) noPrompt() (v ShellStatus) {
	if other := h.s.lines.otherProgram(); other != "" {
		v = ShellStatus{Phase: shell.PhaseRunning, Quality: shell.None, Since: time.Now(), Program: other}
	}
	return v
}

// probes are what looks ask for, given back when they were judged: thousands of sessions at rest are looked at every now and
// then, and what that leaves behind keeps the process from being calm.
var probes = sync.Pool{New: func() any { return new(inputwait.Probe) }}

// look has it found out whether the program waits for input.
func (h *inputWait) look() {
	if h.missed = h.asking; h.missed {
		return // the answer comes first
	}
	switch {
	case !h.machine.Asks():
		h.judge()
		return
	case h.still():
		h.saw(h.machine.Again())
		return
	}
	h.asking = true
	s, since := h.s, h.since
	s.aside.Go(func() {
		p := probes.Get().(*inputwait.Probe)
		why := h.askSafely(p)
		op := func() {
			if why != nil {
				panic(why) // the owner's to deal with
			}
			h.answer(p, since)
		}
		s.give(func() { _ = s.guard(op) }, s.stop, nil)
	})
}

// askSafely is ask; why is what it panicked with.
func (h *inputWait) askSafely(p *inputwait.Probe) (why any) {
	defer func() { why = recover() }()
	h.ask(p)
	return nil
}

// answer takes what the kernel said when it was asked.
func (h *inputWait) answer(p *inputwait.Probe, since uint64) {
	defer func() {
		*p = inputwait.Probe{}
		probes.Put(p)
	}()
	h.asking = false
	if h.s.inputwait != h {
		return
	}
	if h.since != since {
		if h.missed {
			h.look()
		}
		return
	}
	h.told = p
	defer func() { h.told = nil }()
	h.judge()
}

// judge does what is to be done after a look.
func (h *inputWait) judge() {
	s := h.s
	m := h.machine
	h.judged = h.judges()
	f, ok := m.Look()
	switch {
	case !ok:
	case f.AtPrompt:
		h.tellHeld()
		h.needs(evidence.Verdict{})
		s.lines.machine.Drawn() // what it prints next, or what is typed, begins anew
	default:
		h.saw(f)
	}
}

// saw takes what was found, and sets the clock for the next look.
func (h *inputWait) saw(f inputwait.Finding) {
	s := h.s
	h.found(&f)
	if s.lines.followed() && f.Later {
		s.lines.machine.Look()
	}
	now := time.Now()
	awaited := s.waits.set.AwaitsInput(s.lines.followed())
	at := h.machine.Next(now, f.Doubt, awaited)
	if h.machine.Stays() {
		if f.Verdict.Kind != evidence.None && !awaited {
			at = h.machine.Asked(now, at)
		}
		at = inputwait.Together(now, at)
		if h.alarm != nil && !awaited && s.nothingElseDue() {
			h.stopTimer()
			h.at = at
			h.due.Store(false)
			h.alarm.Set(at)
			return
		}
	}
	h.lookAt(at)
}

// found has the status say what a look found. A read without words has to last before it counts, for an owner that goes on
// too; meanwhile it is what it was.
func (h *inputWait) found(f *inputwait.Finding) {
	if h.resumed = h.resumed && f.Doubt; h.resumed || h.stillHeld(f) {
		return
	}
	h.guessPrompt(f.Verdict.Kind == evidence.Prompt)
	h.needs(f.Verdict)
}

// needs puts a verdict into the status. A prompt of a shell that is not the one followed is no question,
// but waits for a person: it has a kind of its own.
func (h *inputWait) needs(v evidence.Verdict) {
	s := h.s
	if nested := v.Kind == evidence.Prompt && s.lines.followed(); !v.Needs && !nested {
		v = evidence.Verdict{}
	}
	was := s.Status().Needs
	if v.Kind == was.Kind && !v.Needs {
		return
	}
	before := h.place
	h.place = h.here()
	if v.Kind == was.Kind && v.Repl == was.Repl && v.Box == was.Box && !h.place.another(before, evidence.Words(was.Reason), evidence.Words(v.Reason)) {
		return
	}
	n := newNeeds(v)
	s.history.noteAsks(n)
	s.cfg.Pace.Stir()
	s.update(ChangeInput, func(st *Status) { st.Needs = n })
}

// resume goes on where the owner before this one was: what the program asked then it asks still, until a look finds otherwise.
func (h *inputWait) resume() {
	s, n := h.s, h.asked
	h.asked = Needs{}
	if n.Kind != evidence.None && !h.unseen() {
		h.guessPrompt(n.Kind == evidence.Prompt)
		s.update(ChangeInput, func(st *Status) { st.Needs = n })
		h.place, h.resumed = h.here(), true
	}
	h.lookAt(h.machine.Resume(time.Now(), s.silentSince()))
}

// newNeeds is what a verdict says, as of now.
func newNeeds(v evidence.Verdict) (n Needs) {
	if v.Kind != evidence.None {
		n = Needs{Kind: v.Kind, Confidence: v.Confidence, Reason: v.Reason, Repl: v.Repl, Box: v.Box, Since: time.Now()}
	}
	return n
}

// place is where the cursor is, on a screen of some size.
type place struct {
	row        uint64
	cols, rows int
}

func (h *inputWait) here() place {
	st := h.s.Status()
	return place{h.cursorRow(), st.Cols, st.Rows}
}

// another says that words at a place ask something else than others did before. Where the row is the same they do not if
// some were added or taken back, which a person may have typed, or if they count down. After a change of size rows are
// others, and a line can be broken elsewhere.
func (p place) another(before place, was, words string) bool {
	resized := p.cols != before.cols || p.rows != before.rows
	switch {
	case words == was:
		return words != "" && !resized && p.row != before.row
	case words == "" || was == "":
		return true
	case resized:
		return !strings.HasSuffix(words, was) && !strings.HasSuffix(was, words)
	case p.row != before.row:
		return true
	}
	return !strings.HasPrefix(words, was) && !strings.HasPrefix(was, words) && withoutDigits(words) != withoutDigits(was)
}

// withoutDigits is a text that is the same however far it has counted.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}
