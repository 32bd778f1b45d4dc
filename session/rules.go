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

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/internal/rules"
	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/internal/wait"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/secrets"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store/atomicfile"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// What the machine of rules tells is told under the session's name.
type (
	// Rule is a rule of a session.
	Rule = rules.Rule
	// Firing is what a rule did, or could not do.
	Firing = rules.Firing
	// Hook is a command that a rule has run.
	Hook = rules.Hook
	// SecretResolver looks secrets up and runs hooks, on goroutines of its own.
	SecretResolver = rules.SecretResolver
)

// Errors of rules.
var (
	ErrNoRule   = rules.ErrNoRule
	ErrRuleName = rules.ErrRuleName
	ErrEcho     = typing.ErrEcho
	ErrMayEcho  = typing.ErrMayEcho
)

// rulesFile holds a session's rules and what became of them, in its directory; firingsFile holds what
// they did.
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

func (s *Session) addRules(list []respond.Rule, call *rules.Call) ([]Rule, error) {
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

// rulesChanged gives up a machine that has no rules any more.
func (s *Session) rulesChanged() {
	if s.rules.machine.Over() {
		s.rules.end()
		s.rules = nil
	}
}

// RemoveRules takes rules away, by id or name; with none named, all of the session's own.
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

// Rules lists the session's rules, in the order they are looked at.
func (s *Session) Rules(ctx context.Context) (list []Rule, err error) {
	err = s.do(ctx, func() {
		if s.rules != nil {
			list = s.rules.machine.List()
		}
	})
	return list, err
}

// FiringsOf are the firings of a line's rules so far.
func (s *Session) FiringsOf(ctx context.Context, r *Run) (list []Firing) {
	if len(r.Rules) > 0 && s.do(ctx, func() { list = slices.Clone(r.Firings) }) != nil {
		return r.Firings // the owner is gone
	}
	return list
}

// UnusedRules returns those of a line's rules that have done nothing so far.
func (s *Session) UnusedRules(ctx context.Context, r *Run) (unused []respond.Rule) {
	find := func() {
		for i, id := range r.IDs {
			if !slices.ContainsFunc(r.Firings, func(f Firing) bool { return f.ID == id }) {
				unused = append(unused, r.Rules[i])
			}
		}
	}
	if len(r.Rules) > 0 && s.do(ctx, find) != nil {
		find() // the owner has exited
	}
	return unused
}

// Firings are what the session's rules did, oldest first, as far as it is kept.
func (s *Session) Firings() ([]Firing, error) {
	return rules.Log(filepath.Join(s.cfg.Dir, firingsFile)).Firings()
}

// endRules takes a line's rules away: it is over.
func (s *Session) endRules(r *Run) {
	if len(r.Rules) == 0 || s.rules == nil {
		return
	}
	if err := s.rules.machine.EndCall(&r.Call); err != nil {
		s.log.Error("end a line's rules", "session", s.cfg.ID, "err", err)
	}
	s.rulesChanged()
}

// resumeRules goes on with the rules that were written down.
func (s *Session) resumeRules() {
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

// echoState returns what echoes input, by the terminal's settings: terminal, program or nothing. A password box echoes nothing.
func (s *Session) echoState() respond.EchoState {
	if s.cfg.Device == nil {
		return respond.EchoOn
	}
	state := EchoOf(s.cfg.Device)
	if state == respond.EchoApp && s.Status().Needs.Box && s.ring != nil && !s.inputwait.unseen() {
		return respond.EchoOff
	}
	return state
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

// rulesHost is the session as its rules see it (rules.Host), with their clock and what takes time. It
// belongs to the owner; nil stands for a session without rules.
type rulesHost struct {
	s       *Session
	machine *rules.Machine
	alarm   alarm
	aside   sync.WaitGroup // secrets and hooks
	ctx     context.Context
	cancel  context.CancelFunc
}

func (s *Session) newRules() *rulesHost {
	h := &rulesHost{s: s}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// output gives the rules new output, the last bytes that the emulator has seen.
func (h *rulesHost) output(p []byte) {
	if h != nil {
		h.machine.Output(p, h.s.off-uint64(len(p)))
	}
}

// typed tells the rules of what was typed.
func (h *rulesHost) typed(data []byte, secret bool) {
	if h != nil {
		h.machine.Typed(data, secret)
	}
}

// ended tells the rules that the program has ended.
func (h *rulesHost) ended() {
	if h != nil {
		h.machine.Ended()
	}
}

// schedule sets the clock for what is due next.
func (h *rulesHost) schedule() {
	if h != nil {
		h.alarm.set(h.machine.Next(time.Now()))
	}
}

// C fires when due has to be called.
func (h *rulesHost) C() <-chan time.Time {
	if h == nil {
		return nil
	}
	return h.alarm.C()
}

// rests says that the clock is not set.
func (h *rulesHost) rests() bool { return h == nil || h.alarm.due.IsZero() }

// due does what the clock was set for.
func (h *rulesHost) due() {
	if h != nil {
		h.alarm.fired()
		h.machine.Due()
	}
}

// save writes down what is known.
func (h *rulesHost) save() {
	if h != nil {
		h.machine.Save()
	}
}

// end ends what is being done aside.
func (h *rulesHost) end() {
	if h != nil {
		h.alarm.stop()
		h.cancel()
		h.aside.Wait()
	}
}

// View implements rules.Host.
func (h *rulesHost) View() rules.View {
	s := h.s
	v := rules.View{
		Now: time.Now(), Start: s.cfg.Journal.Start(), Offset: s.off, Running: s.Status().State == Running, Live: s.ring != nil,
		Echo: s.echoState(), Typed: s.typing.at != wait.Anchor{}, TypedAt: s.typing.at.Off,
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
	if veiled && h.s.cfg.Known != nil {
		above := secrets.Above(h.s.engine)
		veil = func(f *vterm.Frame) { h.s.cfg.Known.Veil().Frame(f, above) }
	}
	h.s.engine.Frame(&f, vterm.Query{})
	return rules.ScreenOf(&f, veil, &h.s.typing.editor, h.s.off, h.s.topRow())
}

// Veil implements rules.Host.
func (h *rulesHost) Veil() respond.Veil {
	if h.s.cfg.Known == nil {
		return nil
	}
	return h.s.cfg.Known.Veil()
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
	case rules.ActFired:
		h.fired(&a.Firing)
	case rules.ActLookUp:
		h.aside.Go(func() {
			data, err := h.lookUp(a.Reply)
			h.resolved(a.Reply, data, err, time.Now().Add(typing.UnreadTime))
		})
	case rules.ActAgain:
		time.AfterFunc(rules.Poll, func() { h.resolved(a.Reply, a.Data, nil, a.Until) })
	case rules.ActUnread:
		if s.typing.typedAhead() {
			return typing.ErrAhead
		}
	case rules.ActType:
		return h.typeReply(&a)
	}
	return nil
}

// resolved tells the machine, if it is still the session's, what came of a look-up.
func (h *rulesHost) resolved(p *rules.Reply, data []byte, err error, until time.Time) {
	h.s.post(func() {
		if h.s.rules == h {
			h.machine.Resolved(p, data, err, until)
		}
	})
}

// lookUpTime bounds looking a secret up or running a hook.
const lookUpTime = time.Minute

// lookUp is resolve with a bound: a look-up that asks a person, or reads what is never written, is left
// to itself when its time has passed or the session goes on without it.
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

func (h *rulesHost) resolve(ctx context.Context, p *rules.Reply) ([]byte, error) {
	r := h.s.cfg.Secrets
	if p.OfAgent() {
		ctx = actor.With(ctx, actor.Actor{UID: os.Getuid(), Agent: "unknown"})
	}
	switch {
	case r == nil:
		return nil, fmt.Errorf("%s: nobody here can look that up", p.Value)
	case p.Kind == respond.ActSecret:
		return r.Secret(ctx, p.Value)
	}
	return r.Hook(ctx, p.Hook())
}

// fired records a firing and tells of it.
func (h *rulesHost) fired(f *Firing) {
	s := h.s
	if err := rules.Log(filepath.Join(s.cfg.Dir, firingsFile)).Append(f); err != nil {
		s.log.Error("record what a rule did", "session", s.cfg.ID, "err", err)
	}
	if s.cfg.Fired != nil && !s.quiet {
		s.cfg.Fired(*f)
	}
}

// saveRules writes rules and engine down, whole or not at all.
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
		// Not synced: no reply waits for a disk, and what was typed is lost with the power, too.
		err = atomicfile.Write(path, atomicfile.Options{}, state)
	}
	if err != nil {
		s.log.Error("write down what rules did; after a restart they may do it again", "session", s.cfg.ID, "err", err)
	}
}

// typeReply types what a rule replies and tells everybody who has to know.
func (h *rulesHost) typeReply(a *rules.Action) (err error) {
	s := h.s
	if err := s.typing.checkLine(a.Data); err != nil {
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
		s.cfg.Known.Learn(strings.TrimRight(string(a.Data), "\r\n"))
		length = 0 // nor is its length anybody's business
	} else {
		s.typing.rememberTyped(a.Data)
	}
	s.inputwait.typedSomething()
	s.history.noteInput(journal.InputTyped, length)
	return err
}
