package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/sys"
)

// Rules of package respond answer what a session's program asks. One engine has all rules
// of a session: those of calls first, then the session's own. What its program prints
// reaches the engine after the emulator, in the owner's loop; what the engine wants done
// is done in answer_reply.go, and written down before it is done (answer_state.go).

// Answerer does for rules what takes time. Its methods are called on goroutines of their
// own.
type Answerer interface {
	// Secret is what a reference stands for (respond.CheckSecret).
	Secret(ctx context.Context, ref string) ([]byte, error)
	// Hook runs a hook and returns what is to be typed.
	Hook(ctx context.Context, h Hook) ([]byte, error)
}

// Hook is a command that a rule has run.
type Hook struct {
	Command  string
	Rule     string            // id
	Captures map[string]string // by number and name; "0" is the match
}

// Rule is a rule of a session.
type Rule struct {
	respond.Rule
	ID     string
	Added  time.Time
	Uses   int
	Failed string // why it does not answer any more; empty: it does

	run *Run // the call it belongs to; nil: none
}

// Firing is what a rule did, or could not do.
type Firing struct {
	respond.Record
	ID    string `json:"id"`              // of the rule
	Error string `json:"error,omitempty"` // why it failed, or a reply was not sent
}

// Errors of rules.
var (
	ErrNoRule   = errors.New("no such rule")
	ErrRuleName = errors.New("a rule has this name")
	ErrEcho     = errors.New("the terminal shows what is typed")
)

// answering is a session's rules at work. It belongs to the owner.
type answering struct {
	engine  *respond.Engine
	rules   []*Rule // of the engine, in its order
	lastID  int
	firings int
	pending []reply // to be done, in order
	busy    bool    // the first of them is being done
	acting  bool
	typedAt uint64 // offset of the output when somebody else typed last
	screen  screenWatch

	timer   *time.Timer
	due     time.Time // of timer
	unsaved time.Time // since when what is known is not written down; zero: it is
	aside   sync.WaitGroup
	cancel  context.CancelFunc
	ctx     context.Context
}

// AddRules attaches rules to the session, after those it has.
func (s *Session) AddRules(ctx context.Context, rules []respond.Rule) (added []Rule, err error) {
	opErr := s.do(ctx, func() {
		if st := s.Status(); st.State != Running || s.ring == nil {
			err = fmt.Errorf("%w (%s)", ErrEnded, st.State)
			return
		}
		added, err = s.addRules(rules, nil)
	})
	return added, errors.Join(opErr, err)
}

func (s *Session) addRules(rules []respond.Rule, run *Run) ([]Rule, error) {
	a := s.answers
	if a == nil {
		a = s.newAnswering()
	}
	all, now := slices.Clone(a.rules), time.Now()
	first := len(all)
	if run != nil {
		first = 0
	}
	for i, r := range rules {
		if slices.ContainsFunc(all, func(x *Rule) bool { return r.Name != "" && x.Name == r.Name && x.run == run }) {
			return nil, fmt.Errorf("%w: %s", ErrRuleName, r.Name)
		}
		a.lastID++
		x := &Rule{Rule: r, ID: strconv.Itoa(a.lastID), Added: now, run: run}
		if run != nil {
			x.List = "call " + strconv.Itoa(a.lastID-i)
		}
		all = slices.Insert(all, first+i, x)
	}
	if err := s.changeRules(a, all); err != nil {
		return nil, err
	}
	var added []Rule
	for _, r := range all[first : first+len(rules)] {
		added = append(added, *r)
	}
	return added, nil
}

// RemoveRules takes rules away, by id or name; with none named, all of the session's own.
func (s *Session) RemoveRules(ctx context.Context, names ...string) (removed []Rule, err error) {
	opErr := s.do(ctx, func() {
		found := make(map[string]bool)
		gone := func(r *Rule) bool {
			if r.run != nil {
				return false
			}
			for _, n := range names {
				if n == r.ID || n == r.Name {
					found[n] = true
					return true
				}
			}
			return len(names) == 0
		}
		var rest []*Rule
		for _, r := range s.rules() {
			if gone(r) {
				removed = append(removed, *r)
			} else {
				rest = append(rest, r)
			}
		}
		for _, n := range names {
			if !found[n] {
				removed, err = nil, fmt.Errorf("%w: %s", ErrNoRule, n)
				return
			}
		}
		if len(removed) > 0 {
			err = s.changeRules(s.answers, rest)
		}
	})
	return removed, errors.Join(opErr, err)
}

// Rules lists the session's rules, in the order they are looked at.
func (s *Session) Rules(ctx context.Context) (list []Rule, err error) {
	err = s.do(ctx, func() {
		for i, r := range s.rules() {
			r.Uses = s.answers.engine.Uses(i)
			list = append(list, *r)
		}
	})
	return list, err
}

func (s *Session) rules() []*Rule {
	if s.answers == nil {
		return nil
	}
	return s.answers.rules
}

func (s *Session) newAnswering() *answering {
	a := &answering{}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

// changeRules gives the engine other rules.
func (s *Session) changeRules(a *answering, rules []*Rule) error {
	set := respond.Set{Rules: make([]respond.Rule, len(rules))}
	from := make([]int, len(rules))
	for i, r := range rules {
		set.Rules[i] = r.Rule
		from[i] = slices.Index(a.rules, r)
	}
	now := time.Now()
	if a.engine == nil {
		e, err := respond.New(set)
		if err != nil {
			a.cancel()
			return err
		}
		a.engine, a.rules, s.answers = e, rules, a
		s.sense()
		s.perform(s.lookBack(e, now))
	} else {
		s.sense()
		acts, err := a.engine.Change(now, set, from)
		if err != nil {
			return err
		}
		// What was to be done for rules that are gone is not done.
		a.pending = slices.DeleteFunc(a.pending, func(p reply) bool { return !slices.Contains(rules, p.rule) })
		a.rules = rules
		s.perform(acts)
	}
	s.screenStirred(now)
	s.saveAnswers()
	if len(rules) == 0 {
		s.endAnswers()
		s.answers = nil
	}
	return nil
}

// lookBack gives a new engine the line that is not complete, unless somebody typed in it:
// a prompt that stands there is to be answered.
func (s *Session) lookBack(e *respond.Engine, now time.Time) []respond.Action {
	const reach = 4 << 10
	from := max(s.off, reach) - reach
	if start, _ := s.OutputRange(); from < start {
		from = start
	}
	tail, err := s.readAll(from, s.off)
	at := bytes.LastIndexByte(tail, '\n') + 1
	line := from + uint64(at)
	typed := s.typedAt != anchor{} && s.typedAt.off >= line
	if editors, _ := s.input.Editors(line); err != nil || typed || editors || s.input.Open() || from > 0 && at == 0 {
		return e.Output(now, s.off, nil)
	}
	return e.Output(now, line, tail[at:])
}

// readAll is the output between two offsets, if all of it is there.
func (s *Session) readAll(from, to uint64) ([]byte, error) {
	b := make([]byte, 0, to-from)
	for from < to {
		c, err := s.Output(from, b[len(b):cap(b)])
		if err != nil || c.Gap > 0 || len(c.Data) == 0 {
			return nil, fmt.Errorf("output from %d to %d is not all there (%v)", from, to, err)
		}
		b, from = b[:len(b)+len(c.Data)], c.Next
	}
	return b, nil
}

// sense tells the engine who shows what is typed.
func (s *Session) sense() {
	s.perform(s.answers.engine.Echo(time.Now(), s.echoState()))
}

// echoState is who shows what is typed, as the terminal's settings tell.
func (s *Session) echoState() respond.EchoState {
	if s.cfg.Device == nil {
		return respond.EchoOn
	}
	return EchoOf(s.cfg.Device)
}

// EchoOf asks a terminal who shows what is typed. Where that cannot be told (pipes, or it is
// gone) the terminal does: the safe answer.
func EchoOf(d Device) respond.EchoState {
	state := respond.EchoOn
	_ = d.Control(func(fd int) error {
		m, err := sys.ReadModes(fd)
		switch {
		case err != nil || m.Echo:
		case m.Canonical:
			state = respond.EchoOff
		default:
			state = respond.EchoApp
		}
		return err
	})
	return state
}

// feedAnswers gives the engine new output, the last bytes that the emulator has seen. What
// a shell's line editor prints is not for rules.
func (s *Session) feedAnswers(p []byte) {
	if s.answers == nil {
		return
	}
	s.sense()
	now, at := time.Now(), s.off-uint64(len(p))
	for len(p) > 0 && s.answers != nil {
		editors, until := s.input.Editors(at)
		n := min(uint64(len(p)), until-at)
		if editors {
			s.perform(s.answers.engine.Pass(now, at, p[:n]))
		} else {
			s.perform(s.answers.engine.Output(now, at, p[:n]))
		}
		p, at = p[n:], at+n
	}
	s.screenStirred(now)
}

// answersTyped tells the engine of what somebody typed.
func (s *Session) answersTyped(data []byte, secret bool) {
	a := s.answers
	if a == nil {
		return
	}
	a.typedAt = s.off
	s.unsaved()
	s.sense()
	s.perform(a.engine.Typed(time.Now(), respond.Input{Data: data, Secret: secret}))
}

// answersEnded tells the engine that the program has ended.
func (s *Session) answersEnded() {
	if s.answers == nil {
		return
	}
	s.answers.pending = nil
	s.perform(s.answers.engine.Exit(time.Now()))
	s.saveAnswers()
}

// poll is how often the terminal's settings are looked at while a secret waits for the
// echo to go off: that makes no output.
const poll = 5 * time.Millisecond

// scheduleAnswers sets the clock for what is due next.
func (s *Session) scheduleAnswers() {
	a := s.answers
	if a == nil {
		return
	}
	at, ok := a.engine.Next()
	earliest := func(t time.Time, is bool) {
		if is && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	earliest(time.Now().Add(poll), a.engine.WaitsForSilence())
	earliest(a.screen.at(), !a.screen.changed.IsZero())
	earliest(a.unsaved.Add(saveAfter), !a.unsaved.IsZero())
	switch {
	case !ok:
		a.due = time.Time{}
		if a.timer != nil {
			a.timer.Stop()
		}
	case a.timer == nil:
		a.timer, a.due = time.NewTimer(time.Until(at)), at
	case !at.Equal(a.due):
		a.timer.Reset(time.Until(at))
		a.due = at
	}
}

func (s *Session) answersClock() <-chan time.Time {
	if s.answers == nil || s.answers.timer == nil {
		return nil
	}
	return s.answers.timer.C
}

// answersDue does what the clock was set for.
func (s *Session) answersDue() {
	a := s.answers
	if a == nil {
		return
	}
	a.due = time.Time{}
	now := time.Now()
	s.sense()
	s.perform(a.engine.Tick(now))
	s.screenDue(now)
	if !a.unsaved.IsZero() && now.Sub(a.unsaved) >= saveAfter {
		s.saveAnswers()
	}
}

// endAnswers ends what is being done aside.
func (s *Session) endAnswers() {
	if s.answers == nil {
		return
	}
	if s.answers.timer != nil {
		s.answers.timer.Stop()
	}
	s.answers.cancel()
	s.answers.aside.Wait()
}

// beginRules puts a line's own rules before all others.
func (s *Session) beginRules(r *Run) error {
	if len(r.Rules) == 0 {
		return nil
	}
	_, err := s.addRules(r.Rules, r)
	return err
}

// endRules takes a line's rules away: it is over.
func (s *Session) endRules(r *Run) {
	if len(r.Rules) == 0 || s.answers == nil {
		return
	}
	rest := slices.DeleteFunc(slices.Clone(s.answers.rules), func(x *Rule) bool { return x.run == r })
	if len(rest) == len(s.answers.rules) {
		return
	}
	if err := s.changeRules(s.answers, rest); err != nil {
		s.log.Error("end a line's rules", "session", s.cfg.ID, "err", err)
	}
}

// fail takes note that a rule says the line has failed.
func (r *Run) fail(why string) {
	if r.Reason == "" {
		r.Reason = why
		close(r.Failed)
	}
}

// FiringsOf are the firings of a line's rules so far.
func (s *Session) FiringsOf(ctx context.Context, r *Run) (list []Firing) {
	if len(r.Rules) > 0 && s.do(ctx, func() { list = slices.Clone(r.Firings) }) != nil {
		return r.Firings // the owner is gone
	}
	return list
}

// OfCall reports whether the rule ends with a line that it was given for.
func (r *Rule) OfCall() bool { return r.run != nil }
