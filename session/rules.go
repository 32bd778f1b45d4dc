package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/internal/admit"
	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Types of package rules, under the session's name.
type (
	// Rule is a rule of a session.
	Rule = rules.Rule
	// RuleMatch records an action of a rule, or its failure.
	RuleMatch = rules.MatchRecord
	// Hook is a command that a rule runs.
	Hook = rules.Hook
	// ReplyResolver looks up secrets and runs hooks, on separate goroutines.
	ReplyResolver = rules.ReplyResolver
)

// Errors of rules.
var (
	ErrNoRule     = rules.ErrNoRule
	ErrRuleExists = rules.ErrRuleExists
	ErrEcho       = inputqueue.ErrEcho
	ErrMayEcho    = inputqueue.ErrMayEcho
)

// rulesFile, in the session's directory, holds its rules and their state. firingsFile holds a record of their actions.
const (
	rulesFile   = "respond.json"
	firingsFile = "respond.log"
)

// AddRules attaches rules to the session, after those it has.
func (s *Session) AddRules(ctx context.Context, list []respond.Rule) (added []Rule, err error) {
	opErr := s.do(ctx, func() {
		if st := s.Status(); st.State != Running || s.ring == nil {
			err = fmt.Errorf("%w (%s)", ErrEnded, st.State)
			return
		}
		added, err = s.addRules(list, nil)
	})
	return added, errors.Join(opErr, err)
}

// addRules attaches rules to the session, or to a line.
func (s *Session) addRules(list []respond.Rule, call *rules.LineRules) ([]Rule, error) {
	h := s.rules
	if h == nil {
		h = s.newRules()
		h.machine = rules.New(h, &s.typing.editor)
	}
	added, err := h.machine.Add(list, call)
	if err != nil {
		if s.rules == nil {
			h.cancel()
		}
		return nil, err
	}
	s.rules = h
	s.rulesChanged()
	return added, nil
}

// rulesChanged drops a machine whose last rule was removed.
func (s *Session) rulesChanged() {
	if s.rules.machine.IsFinished() {
		s.rules.end()
		s.rules = nil
	}
}

// RemoveRules removes rules, by id or name, or all of the session's own without arguments.
func (s *Session) RemoveRules(ctx context.Context, names ...string) (removed []Rule, err error) {
	opErr := s.do(ctx, func() {
		switch {
		case s.rules != nil:
			removed, err = s.rules.machine.Remove(names...)
			s.rulesChanged()
		case len(names) > 0:
			err = fmt.Errorf("%w: %s", ErrNoRule, names[0])
		}
	})
	return removed, errors.Join(opErr, err)
}

// Rules returns the session's rules, in the order in which they are matched.
func (s *Session) Rules(ctx context.Context) (list []Rule, err error) {
	err = s.do(ctx, func() {
		if s.rules != nil {
			list = s.rules.machine.List()
		}
	})
	return list, err
}

// MatchesOfRun returns the firings of a line's rules so far.
func (s *Session) MatchesOfRun(ctx context.Context, r *Run) (list []RuleMatch) {
	if len(r.Rules) > 0 && s.do(ctx, func() { list = slices.Clone(r.Matches) }) != nil {
		return r.Matches // the owner has exited
	}
	return list
}

// UnusedRules returns those of a line's rules that have not fired so far.
func (s *Session) UnusedRules(ctx context.Context, r *Run) (unused []respond.Rule) {
	find := func() {
		for i, id := range r.IDs {
			if !slices.ContainsFunc(r.Matches, func(f RuleMatch) bool { return f.ID == id }) {
				unused = append(unused, r.Rules[i])
			}
		}
	}
	if len(r.Rules) > 0 && s.do(ctx, find) != nil {
		find() // the owner has exited
	}
	return unused
}

// RuleMatches returns the retained firings of the session's rules, oldest first.
func (s *Session) RuleMatches() ([]RuleMatch, error) {
	return rules.Log(filepath.Join(s.cfg.Dir, firingsFile)).Matches()
}

// endRules removes a line's rules at its end.
func (s *Session) endRules(r *Run) {
	if len(r.Rules) == 0 || s.rules == nil {
		return
	}
	if err := s.rules.machine.EndLine(&r.LineRules); err != nil {
		s.log.Error("end a line's rules", "session", s.cfg.ID, "err", err)
	}
	s.rulesChanged()
}

// restoreRules restores the rules from their file.
func (s *Session) restoreRules() {
	b, err := os.ReadFile(filepath.Join(s.cfg.Dir, rulesFile))
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	h := s.newRules()
	s.rules = h
	if err == nil {
		h.machine, err = rules.Restore(h, &s.typing.editor, b)
	}
	if err != nil {
		s.log.Error("the session's rules are lost", "session", s.cfg.ID, "err", err)
		h.cancel()
		s.rules = nil
		return
	}
	s.rulesChanged()
}

// echoState returns what echoes input, by the terminal's settings: terminal, program or nothing. A password box echoes
// nothing.
func (s *Session) echoState() respond.EchoState {
	if s.cfg.Device == nil {
		return respond.EchoOn
	}
	state := EchoOf(s.cfg.Device)
	if state == respond.EchoApp && s.Status().Needs.Box && s.ring != nil && !s.inputwait.hasUnprobedOutput() {
		return respond.EchoOff
	}
	return state
}

// EchoOf reports which side echoes input. For pipes or a closed terminal it returns EchoOn, the safe answer.
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

// rulesHost is the host of the rules' machine (rules.Host), with its timer and slow tasks. It belongs to the owner. A
// nil rulesHost is a session without rules.
type rulesHost struct {
	s       *Session
	machine *rules.Machine
	alarm   alarm
	tasks   sync.WaitGroup // secrets and hooks
	ctx     context.Context
	cancel  context.CancelFunc
}

// newRules returns the host of the rules.
func (s *Session) newRules() *rulesHost {
	h := &rulesHost{s: s}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// output passes new output to the rules, the last bytes that the emulator has seen.
func (h *rulesHost) output(p []byte) {
	if h != nil {
		h.machine.Output(p, h.s.offset-uint64(len(p)))
	}
}

// onInput passes input to the rules.
func (h *rulesHost) onInput(data []byte, secret bool) {
	if h != nil {
		h.machine.OnInput(data, secret)
	}
}

// onEnd reports the program's end to the rules.
func (h *rulesHost) onEnd() {
	if h != nil {
		h.machine.OnExit()
	}
}

// schedule sets the timer for the next due time.
func (h *rulesHost) schedule() {
	if h != nil {
		h.alarm.set(h.machine.Next(time.Now()))
	}
}

// C fires when due must be called.
func (h *rulesHost) C() <-chan time.Time {
	if h == nil {
		return nil
	}
	return h.alarm.C()
}

// isIdle reports whether the timer is not set.
func (h *rulesHost) isIdle() bool { return h == nil || h.alarm.due.IsZero() }

// onTimer handles expired times.
func (h *rulesHost) onTimer() {
	if h != nil {
		h.alarm.clear()
		h.machine.Tick()
	}
}

// save writes the rules' state.
func (h *rulesHost) save() {
	if h != nil {
		h.machine.Save()
	}
}

// end cancels running tasks and waits for them.
func (h *rulesHost) end() {
	if h != nil {
		h.alarm.stop()
		h.cancel()
		h.tasks.Wait()
	}
}

// View implements rules.Host.
func (h *rulesHost) View() rules.View {
	s := h.s
	v := rules.View{
		Now: time.Now(), Start: s.cfg.Journal.Start(), Offset: s.offset, Running: s.Status().State == Running, Live: s.ring != nil,
		Echo: s.echoState(), Typed: s.typing.lastInput != wait.Anchor{}, TypedAt: s.typing.lastInput.Off,
	}
	if s.engine != nil {
		v.Modes = s.engine.Modes()
	}
	return v
}

// Screen implements rules.Host.
func (h *rulesHost) Screen(veiled bool) respond.Screen {
	var f vterm.Frame
	var veil func(*vterm.Frame)
	if veiled && h.s.cfg.Vault != nil {
		above := redact.LinesAbove(h.s.engine)
		veil = func(f *vterm.Frame) { h.s.cfg.Vault.StreamRedactor().RedactFrame(f, above) }
	}
	h.s.engine.Frame(&f, vterm.Query{})
	return rules.ScreenOf(&f, veil, &h.s.typing.editor, h.s.offset, h.s.topRow())
}

// Redactor implements rules.Host.
func (h *rulesHost) Redactor() respond.Redactor {
	if h.s.cfg.Vault == nil {
		return nil
	}
	return h.s.cfg.Vault.StreamRedactor()
}

// Read implements rules.Host.
func (h *rulesHost) Read(from uint64, buf []byte) ([]byte, uint64, error) {
	c, err := h.s.Output(from, buf)
	return c.Data, c.From, err
}

// Do implements rules.Host.
func (h *rulesHost) Do(a rules.Action) error {
	s := h.s
	switch a.Kind {
	case rules.ActSave:
		h.saveRules(a.State, a.Err)
	case rules.ActMatched:
		h.recordFiring(&a.Match)
	case rules.ActLookUp:
		h.tasks.Go(func() {
			data, err := h.lookUp(a.Reply)
			h.onResolved(a.Reply, data, err, time.Now().Add(inputqueue.UnreadTimeout))
		})
	case rules.ActRetry:
		time.AfterFunc(rules.EchoPollInterval, func() { h.onResolved(a.Reply, a.Data, nil, a.Deadline) })
	case rules.ActUnread:
		if s.typing.HasUnreadInput() {
			return inputqueue.ErrUnreadInput
		}
	case rules.ActType:
		return h.typeReply(&a)
	}
	return nil
}

// onResolved passes the result of a look-up to the machine, if the session still uses it.
func (h *rulesHost) onResolved(p *rules.Reply, data []byte, err error, until time.Time) {
	h.s.post(func() {
		if h.s.rules == h {
			h.machine.HandleLookup(p, data, err, until)
		}
	})
}

// lookUpTime bounds looking a secret up or running a hook.
const lookUpTime = time.Minute

// lookUp calls resolve with a time limit. A look-up that waits for a user, or for a file that is never written, is
// abandoned at the limit or when the session ends.
func (h *rulesHost) lookUp(p *rules.Reply) ([]byte, error) {
	ctx, cancel := context.WithTimeout(h.ctx, lookUpTime)
	defer cancel()
	type answer struct {
		data []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		data, err := h.resolve(ctx, p)
		got <- answer{data, err}
	}()
	select {
	case a := <-got:
		return a.data, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: no answer: %w", p.Value, ctx.Err())
	}
}

// resolve looks up a secret or runs a hook.
func (h *rulesHost) resolve(ctx context.Context, p *rules.Reply) ([]byte, error) {
	r := h.s.cfg.Secrets
	if p.IsOfAgent() {
		ctx = identity.WithActor(ctx, identity.Actor{UID: os.Getuid(), Agent: "unknown"})
	}
	switch {
	case r == nil:
		return nil, fmt.Errorf("%s: secrets and hooks are not available for this session", p.Value)
	case p.Kind == respond.ActSecret:
		return r.Secret(ctx, p.Value)
	}
	return r.Hook(ctx, p.Hook())
}

// recordMatch logs a match and publishes it.
func (h *rulesHost) recordFiring(f *RuleMatch) {
	s := h.s
	if err := rules.Log(filepath.Join(s.cfg.Dir, firingsFile)).Append(f); err != nil {
		s.log.Error("record what a rule did", "session", s.cfg.ID, "err", err)
	}
	if s.cfg.OnRuleMatch != nil && !s.publishMuted {
		s.cfg.OnRuleMatch(*f)
	}
}

// saveRules writes rules and engine state atomically.
func (h *rulesHost) saveRules(state []byte, err error) {
	s := h.s
	path := filepath.Join(s.cfg.Dir, rulesFile)
	if state == nil && err == nil {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			s.log.Error("forget rules", "session", s.cfg.ID, "err", err)
		}
		return
	}
	if err == nil {
		// Not synced: a reply must not wait for a disk, and a power loss ends the program too.
		err = atomicfile.Write(path, atomicfile.Options{}, state)
	}
	if err != nil {
		s.log.Error("write down what rules did; after a restart they may do it again", "session", s.cfg.ID, "err", err)
	}
}

// typeReply types the reply of a rule, and updates waits, prompts and the journal.
func (h *rulesHost) typeReply(a *rules.Action) (err error) {
	s := h.s
	if err := admit.CheckLength(s.typing.lineLength, a.Data, s.typing); err != nil {
		return err
	}
	s.typing.countLine(a.Data, s.echoState())
	if a.Now {
		err = s.typing.queue.AddNow(a.Data, nil)
	} else {
		_, err = s.typing.queue.Add(context.Background(), a.Data)
	}
	length := len(a.Data)
	if a.Secret {
		s.cfg.Vault.Learn(strings.TrimRight(string(a.Data), "\r\n"))
		length = 0 // its length is secret too
	} else {
		s.typing.rememberTyped(a.Data)
	}
	s.inputwait.noteInput()
	s.history.recordInput(journal.InputTyped, length)
	return err
}
