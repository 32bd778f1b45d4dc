package session

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/internal/inputwait"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/vterm"
)

// InputNeed is input that the program in the foreground waits for.
type InputNeed struct {
	Kind       inputdetect.Kind // empty if the program waits for none
	Confidence int              // percent
	Reason     string
	Program    string // the program that waits, if known
	Repl       bool   `json:",omitempty"` // the prompt of an interpreter that waits for commands
	Box        bool   `json:",omitempty"` // a password box, which shows no key
	Since      time.Time
}

// inputWait is the host of the machine that detects whether the program waits for input (inputwait.Host), with its
// timer. It belongs to the owner, except for the kernel probe. A probe takes time in proportion to the processes, and
// can block while a process has its memory locked, so the owner never waits for one. The result arrives as an
// operation. It is dropped if anything was printed or typed since the probe started, as a new probe is scheduled then.
type inputWait struct {
	s                 *Session
	machine           *inputwait.Machine
	timer             *time.Timer
	alarm             *idlepoll.Alarm  // replaces timer while the finding is stable and no wait needs it sooner; may be nil
	dueAt             time.Time        // when the timer fires; zero: not set
	due               atomic.Bool      // the timer has fired
	probeRunning      bool             // a probe is running
	probeAgain        bool             // a probe was due while probeRunning
	generation        uint64           // counts output and input, which invalidate running probes
	currentProbe      *inputwait.Probe // the result that is being evaluated
	pending           *pendingPrompt   // nil: all changes are published
	promptPlace       cursorPlace      // cursor position of the prompt in the status
	isInherited       bool             // the status is from the previous owner, and no probe was conclusive yet
	lastVerdictInputs verdictInputs    // at the last full probe
	journaled         InputNeed        // the newest InputNeed in the journal

	probing sync.Mutex // guards prober
	prober  inputdetect.Prober
}

// newInputWait returns a session's detection of prompts, before its first probe.
func newInputWait(s *Session) *inputWait {
	h := &inputWait{s: s}
	h.machine = inputwait.New(h)
	if s.cfg.Poller != nil {
		h.alarm = s.cfg.Poller.Alarm(h.onTimer)
	}
	return h
}

// isDue reports once that a probe is due. If the timer fired before it was reset, isDue sets it again. Otherwise no
// probe would follow if the wall clock had been set back.
func (h *inputWait) isDue() bool {
	if !h.due.Load() || !h.due.CompareAndSwap(true, false) || h.dueAt.IsZero() {
		return false
	}
	if time.Now().Before(h.dueAt) {
		h.scheduleProbe(h.dueAt)
		return false
	}
	h.dueAt = time.Time{}
	return true
}

// hasWorkBefore reports whether a probe will be due within d. A probe of an unchanged program is cheap and does not
// count.
func (h *inputWait) hasWorkBefore(d time.Duration) bool {
	return h.probeRunning || h.due.Load() || !h.dueAt.IsZero() && !h.machine.IsUnchanged() && time.Until(h.dueAt) < d
}

// rescheduleProbe sets the timer after output or input.
func (h *inputWait) rescheduleProbe(at time.Time) {
	h.isInherited = false
	h.generation++
	h.scheduleProbe(at)
}

// scheduleProbe sets the timer.
func (h *inputWait) scheduleProbe(at time.Time) {
	d := max(0, time.Until(at))
	h.dueAt = at
	h.due.Store(false)
	if h.alarm != nil {
		h.alarm.Stop()
	}
	if h.timer == nil {
		h.timer = time.AfterFunc(d, h.onTimer)
		return
	}
	h.timer.Reset(d)
}

// stopTimer stops the timer and the alarm.
func (h *inputWait) stopTimer() {
	if h.timer != nil {
		h.timer.Stop()
	}
}

// onTimer makes the owner probe, or makes a cheap probe itself while the owner is parked.
func (h *inputWait) onTimer() {
	h.due.Store(true)
	if !h.s.runIfParked(h.probeIfUnchanged) {
		signal(h.s.output)
		h.s.unpark()
	}
}

// probeIfUnchanged handles a due probe if the program has not run since the last one. It returns false if the owner
// must probe.
func (h *inputWait) probeIfUnchanged() bool {
	if h.s.inputwait != h || h.dueAt.IsZero() || time.Now().Before(h.dueAt) || !h.machine.NeedsProbe() || !h.unchangedSinceProbe() {
		return false
	}
	h.due.Store(false)
	h.dueAt = time.Time{}
	h.handleFinding(h.machine.ReuseLastProbe())
	return true
}

// unchangedSinceProbe reports whether the program printed nothing and none of its processes ran since a probe that
// found all of them asleep or waiting. It never blocks, and is cheap enough for thousands of idle programs.
func (h *inputWait) unchangedSinceProbe() (still bool) {
	if !h.machine.IsUnchanged() || h.hasUnprobedOutput() || h.lastVerdictInputs != h.verdictInputs() || !h.probing.TryLock() {
		return false
	}
	defer h.probing.Unlock()
	_ = h.s.cfg.Device.Control(func(fd int) error {
		still = h.prober.UnchangedSinceProbe(fd)
		return nil
	})
	return still
}

// verdictInputs holds the inputs of a verdict other than the program: the screen size and the known secrets.
type verdictInputs struct {
	cols, rows int
	known      *redact.Set // secrets to redact
}

// verdictInputs returns the current inputs.
func (h *inputWait) verdictInputs() verdictInputs {
	st := h.s.Status()
	return verdictInputs{st.Cols, st.Rows, h.s.cfg.Vault.Set()}
}

// View implements inputwait.Host.
func (h *inputWait) View() inputwait.View {
	s := h.s
	st := s.Status()
	v := inputwait.View{
		Now: time.Now(), CanProbe: st.State == Running && s.ring != nil && s.cfg.Device != nil, PID: s.Leader(),
		Offset: s.offset, LastOutput: st.LastOutput, Alt: st.Alt, Modes: s.engine.Modes(),
		HasIntegration: s.lines.isFollowed(), Phase: st.Shell.Phase,
	}
	if v.HasIntegration {
		v.Shell = s.lines.shell.State()
		l := s.lines.machine.Current()
		v.RunsLine = l != nil && !l.IsReadingInput()
		r := v.Shell.Running
		v.ReadsBriefly = s.lines.shell.kind.Spec().HidesBriefReads && r != nil && shell.HasBriefRead(r.Text)
	}
	return v
}

// Probe implements inputwait.Host.
func (h *inputWait) Probe() inputwait.Probe {
	if h.currentProbe == nil {
		return h.probeNow()
	}
	p := *h.currentProbe
	p.OutputPending = p.OutputPending || h.hasUnprobedOutput()
	return p
}

// probeNow works like readKernel for callers that cannot wait.
func (h *inputWait) probeNow() (p inputwait.Probe) {
	h.readKernel(&p)
	p.OutputPending = p.OutputPending || h.hasUnprobedOutput()
	return p
}

// hasUnprobedOutput reports whether the ring has output that the owner has not handled.
func (h *inputWait) hasUnprobedOutput() bool { return h.s.ring.Head() != h.s.offset }

// readKernel fills p, on any goroutine. It sets p.Failed if another probe is running.
func (h *inputWait) readKernel(p *inputwait.Probe) {
	if p.Failed = !h.probing.TryLock(); p.Failed {
		return
	}
	defer h.probing.Unlock()
	s := h.s
	err := s.cfg.Device.Control(func(fd int) error {
		if m, err := sys.ReadModes(fd); err == nil {
			p.Modes = &m
		}
		t, err := inputdetect.TargetOf(fd)
		if err == nil {
			t.Leader, t.NoEcho = s.leader.find(&t, s.Status().PID), p.Modes != nil && !p.Modes.Echo
			p.Result = h.prober.Probe(t)
		}
		p.OutputPending = sys.HasPendingOutput(fd)
		return err
	})
	p.Failed = err != nil
	p.Now = time.Now()
}

// Screen implements inputwait.Host.
func (h *inputWait) Screen() inputwait.Screen {
	s := h.s
	sc := inputwait.Screen{History: s.engine.Recent(inputwait.ContextHistory), Typed: s.typing.typedTexts, Editor: &s.typing.editor, PartialLine: s.typing.lineText.Text()}
	s.engine.Frame(&sc.Frame, vterm.Query{})
	return sc
}

// RedactLine implements inputwait.Host.
func (h *inputWait) RedactLine(line string) string { return h.s.cfg.Vault.Set().RedactText(line) }

// onOutput schedules a probe after output.
func (h *inputWait) onOutput(now time.Time) {
	h.publishIfRowLeft()
	if h.pending != nil { // on the row of the prompt
		h.rescheduleProbe(h.machine.NoteEcho(now))
		return
	}
	h.rescheduleProbe(h.machine.NoteOutput(now))
}

// noteInput assumes that the input answers any prompt.
func (h *inputWait) noteInput() {
	h.scheduleProbe(h.invalidateProbes())
	h.clearPrompt(nil, false)
}

// invalidateProbes drops running probes, as input is about to be typed. It returns the time for scheduleProbe, which
// the caller sets later: to set a timer can wake another thread, and a key must not wait for that.
func (h *inputWait) invalidateProbes() (at time.Time) {
	h.isInherited = false
	h.s.typing.replies.Unread = false
	h.generation++
	return h.machine.NoteInput()
}

// clearPrompt clears the prompt in the status, as data may be its answer. For keys of a user within a line the change is
// not published yet.
func (h *inputWait) clearPrompt(data []byte, person bool) {
	if person && withinLine(data) {
		h.deferCleared()
		return
	}
	s := h.s
	h.publishCleared()
	if s.Status().Needs.Kind != inputdetect.None {
		s.update(ChangeInput, func(st *Status) { st.Needs = InputNeed{} })
	}
	h.setGuessedPrompt(false)
}

// setGuessedPrompt sets whether a program without shell integration seems to be a shell at its prompt.
func (h *inputWait) setGuessedPrompt(is bool) {
	s := h.s
	if s.lines.isFollowed() || is == (s.Status().Shell.Phase == shell.PhasePrompt) {
		return
	}
	v := h.statusWithoutPrompt()
	if is {
		v = ShellStatus{Phase: shell.PhasePrompt, Quality: shell.None, Since: time.Now(), Program: s.lines.foreignProgram(), Reason: s.lines.untrackedReason()}
	}
	s.update(ChangeShell, func(st *Status) { st.Shell = v })
}

// statusWithoutPrompt returns the shell status of a program without shell integration that is not at a prompt.
func (h *inputWait) statusWithoutPrompt() (v ShellStatus) {
	if other := h.s.lines.foreignProgram(); other != "" {
		v = ShellStatus{Phase: shell.PhaseRunning, Quality: shell.None, Since: time.Now(), Program: other, Reason: h.s.lines.untrackedReason()}
	}
	return v
}

// probes recycles the probes' buffers. Thousands of idle sessions are probed from time to time, and garbage from that
// would prevent the release of memory.
var probes = sync.Pool{New: func() any { return new(inputwait.Probe) }}

// probe starts a probe that detects whether the program waits for input.
func (h *inputWait) probe() {
	if h.probeAgain = h.probeRunning; h.probeAgain {
		return // evaluate that result first
	}
	switch {
	case !h.machine.NeedsProbe():
		h.evaluate()
		return
	case h.unchangedSinceProbe():
		h.handleFinding(h.machine.ReuseLastProbe())
		return
	}
	h.probeRunning = true
	s, since := h.s, h.generation
	s.diskTasks.Go(func() {
		p := probes.Get().(*inputwait.Probe)
		why := h.readKernelSafely(p)
		op := func() {
			if why != nil {
				panic(why) // the owner quarantines the session
			}
			h.handleProbe(p, since)
		}
		s.enqueueOp(func() { _ = s.guard(op) }, s.stop, nil)
	})
}

// readKernelSafely calls readKernel and returns the value of a panic.
func (h *inputWait) readKernelSafely(p *inputwait.Probe) (why any) {
	defer func() { why = recover() }()
	h.readKernel(p)
	return nil
}

// handleProbe evaluates a probe's result, unless it is outdated.
func (h *inputWait) handleProbe(p *inputwait.Probe, since uint64) {
	defer func() {
		*p = inputwait.Probe{}
		probes.Put(p)
	}()
	h.probeRunning = false
	if h.s.inputwait != h {
		return
	}
	if h.generation != since {
		if h.probeAgain {
			h.probe()
		}
		return
	}
	h.currentProbe = p
	defer func() { h.currentProbe = nil }()
	h.evaluate()
}

// evaluate evaluates the current probe.
func (h *inputWait) evaluate() {
	s := h.s
	m := h.machine
	h.lastVerdictInputs = h.verdictInputs()
	f, ok := m.Probe()
	switch {
	case !ok:
	case f.AtPrompt:
		h.publishCleared()
		h.setInputNeed(inputdetect.Verdict{})
		s.lines.machine.CheckDrawnPrompt() // later output or input starts a new screen
	default:
		h.handleFinding(f)
	}
}

// handleFinding publishes a finding and schedules the next probe.
func (h *inputWait) handleFinding(f inputwait.Finding) {
	s := h.s
	h.publishFinding(&f)
	if s.lines.isFollowed() && f.FollowUp {
		s.lines.machine.CheckForeignShell()
	}
	now := time.Now()
	awaited := s.waits.set.AwaitsInput(s.lines.isFollowed())
	at := h.machine.Next(now, f.Unconfirmed, awaited)
	if h.machine.IsUnchanged() {
		if f.Verdict.Kind != inputdetect.None && !awaited {
			at = h.machine.AtStablePrompt(now, at)
		}
		at = inputwait.CommonTime(now, at)
		if h.alarm != nil && !awaited && s.onlyProbeTimerPending() {
			h.stopTimer()
			h.dueAt = at
			h.due.Store(false)
			h.alarm.Set(at)
			return
		}
	}
	h.scheduleProbe(at)
}

// publishFinding puts a finding into the status. A doubtful finding (a read without a prompt text) must last before it
// counts; until that time the status stays. The same applies to the status of a previous owner.
func (h *inputWait) publishFinding(f *inputwait.Finding) {
	if h.isInherited = h.isInherited && f.Unconfirmed; h.isInherited || h.promptUndecided(f) {
		return
	}
	h.setGuessedPrompt(f.Verdict.Kind == inputdetect.Prompt)
	h.setInputNeed(f.Verdict)
}

// setInputNeed puts a verdict into the status. The prompt of a nested shell is no question, but waits for a user: it has
// a separate kind.
func (h *inputWait) setInputNeed(v inputdetect.Verdict) {
	s := h.s
	if nested := v.Kind == inputdetect.Prompt && s.lines.isFollowed(); !v.NeedsInput && !nested {
		v = inputdetect.Verdict{}
	}
	was := s.Status().Needs
	if v.Kind == was.Kind && !v.NeedsInput {
		return
	}
	before := h.promptPlace
	h.promptPlace = h.cursorPlace()
	if v.Kind == was.Kind && v.IsREPL == was.Repl && v.IsPasswordBox == was.Box && !h.promptPlace.isOtherPrompt(before, inputdetect.PromptText(was.Reason), inputdetect.PromptText(v.Reason)) {
		return
	}
	n := newInputNeed(v)
	s.history.recordInputNeed(n)
	s.cfg.Poller.NoteActivity()
	s.update(ChangeInput, func(st *Status) { st.Needs = n })
}

// restore restores the previous owner's finding until a probe finds otherwise.
func (h *inputWait) restore() {
	s, n := h.s, h.journaled
	h.journaled = InputNeed{}
	if n.Kind != inputdetect.None && !h.hasUnprobedOutput() {
		h.setGuessedPrompt(n.Kind == inputdetect.Prompt)
		s.update(ChangeInput, func(st *Status) { st.Needs = n })
		h.promptPlace, h.isInherited = h.cursorPlace(), true
	}
	h.scheduleProbe(h.machine.Resume(time.Now(), s.silentSince()))
}

// newInputNeed returns the status for a verdict, as of now.
func newInputNeed(v inputdetect.Verdict) (n InputNeed) {
	if v.Kind != inputdetect.None {
		n = InputNeed{Kind: v.Kind, Confidence: v.Confidence, Reason: v.Reason, Repl: v.IsREPL, Box: v.IsPasswordBox, Since: time.Now()}
	}
	return n
}

// cursorPlace is the cursor's row, on a screen of some size.
type cursorPlace struct {
	row        uint64 // id of the cursor's row
	cols, rows int
}

// cursorPlace returns the cursor's row and the screen's size.
func (h *inputWait) cursorPlace() cursorPlace {
	st := h.s.Status()
	return cursorPlace{h.cursorRow(), st.Cols, st.Rows}
}

// isOtherPrompt reports whether words at a place differ from the prompt at the place before. On the same row, text that
// the user may have typed or deleted, or a countdown, makes no difference. After a change of size the row numbers
// differ, and a line can be broken elsewhere.
func (p cursorPlace) isOtherPrompt(before cursorPlace, was, words string) bool {
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

// withoutDigits removes digits from s, so that a countdown compares equal.
func withoutDigits(text string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, text)
}
