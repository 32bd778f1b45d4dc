package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/typing"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm/input"
)

// reply is something to do for a rule that fired.
type reply struct {
	respond.Action
	rule *Rule
}

const (
	// maxPending bounds the replies that wait behind a slow one.
	maxPending = 1000
	// maxReplyBytes bounds what a hook or a secret types.
	maxReplyBytes = 64 << 10
)

// hidden stands in records for what was typed while the terminal did not echo.
const hidden = "[hidden]"

// perform does what the engine says: takes note of it first, then replies.
func (s *Session) perform(acts []respond.Action) {
	a := s.answers
	if len(acts) == 0 || a == nil {
		return
	}
	for i := range acts {
		s.noteAction(&acts[i])
	}
	if !a.acting && !a.busy {
		s.reply()
	}
}

func (s *Session) noteAction(act *respond.Action) {
	a := s.answers
	var r *Rule
	if act.Rule >= 0 && act.Rule < len(a.rules) {
		r = a.rules[act.Rule]
	}
	switch act.Kind {
	case respond.ActFired:
		s.fired(r, Firing{Record: *act.Record})
	case respond.ActRefused:
		s.fired(r, Firing{Error: act.Value})
	case respond.ActFail:
		s.rulesFailed(r, act.Value)
	default:
		if r == nil || len(a.pending) >= maxPending {
			s.fired(r, Firing{Error: fmt.Sprintf("more than %d replies wait; this one is not sent", maxPending)})
			return
		}
		a.pending = append(a.pending, reply{*act, r})
	}
}

// fired records a firing and tells of it.
func (s *Session) fired(r *Rule, f Firing) {
	a := s.answers
	if f.Time.IsZero() {
		f.Time, f.Offset = time.Now(), s.off
	}
	if r != nil {
		f.ID, f.Name = r.ID, r.Name
		if f.On == "" {
			f.On = r.On
		}
	}
	if s.echoState() == respond.EchoOff {
		f.Reply = masked(f.Reply)
	}
	a.firings++
	if r != nil && r.run != nil {
		r.run.Firings = append(r.run.Firings, f)
	}
	s.logFiring(&f)
	if s.cfg.Fired != nil && !s.quiet {
		s.cfg.Fired(f)
	}
	s.saveSoon()
}

// masked are replies without what is typed.
func masked(list []respond.Reply) []respond.Reply {
	out := make([]respond.Reply, len(list))
	for i, r := range list {
		if r.Kind == respond.ReplyText || r.Kind == respond.ReplyKeys && r.Value != "<Enter>" {
			r.Value = hidden
		}
		out[i] = r
	}
	return out
}

// rulesFailed takes note that a rule ended those of its list.
func (s *Session) rulesFailed(r *Rule, why string) {
	if r == nil {
		return
	}
	a := s.answers
	kept := a.pending[:0]
	for _, p := range a.pending {
		if p.rule.List != r.List {
			kept = append(kept, p)
		}
	}
	a.pending = kept
	for _, x := range a.rules {
		if x.List == r.List {
			x.Failed = why
		}
	}
	s.fired(r, Firing{Error: why})
	if r.run != nil {
		r.run.fail(why)
	}
}

// reply does what is pending, until something takes time.
func (s *Session) reply() {
	a := s.answers
	a.acting = true
	defer func() { a.acting = false }()
	for len(a.pending) > 0 && !a.busy && s.answers == a {
		p := a.pending[0]
		if p.Kind == respond.ActSecret || p.Kind == respond.ActHook {
			s.replyAside(p)
			continue
		}
		s.replyWhole(p)
	}
	if s.answers == a {
		s.saveDirty()
	}
}

// replyWhole types a reply with the parts that follow it, as one write: a daemon that is
// killed on the way leaves all of it or nothing, never the Enter without its line.
func (s *Session) replyWhole(p reply) {
	a := s.answers
	var data []byte
	var err error
	n := 0
	for n < len(a.pending) && a.pending[n].rule == p.rule && (a.pending[n].Kind == respond.ActText || a.pending[n].Kind == respond.ActKeys) {
		part, partErr := s.encodeReply(&a.pending[n])
		data, err = append(data, part...), errors.Join(err, partErr)
		n++
	}
	a.pending = a.pending[n:]
	s.saveAnswers() // first: what is typed must not be typed again after a restart
	s.typeReply(&p, data, err)
}

// encodeReply makes bytes of text and keys.
func (s *Session) encodeReply(p *reply) ([]byte, error) {
	if p.Kind == respond.ActText {
		return []byte(p.Value), nil
	}
	keys, err := input.ParseKeys(p.Value)
	if err != nil {
		return nil, err
	}
	var data []byte
	m := s.engine.Modes()
	for _, k := range keys {
		data = input.AppendKey(data, k, &m)
	}
	return data, nil
}

// replyAside has a secret looked up or a hook run on a goroutine of its own; later
// replies wait for it.
func (s *Session) replyAside(p reply) {
	a := s.answers
	if p.Kind == respond.ActHook { // it is not run again after a restart
		a.pending = a.pending[1:]
		s.saveAnswers()
	}
	a.busy = true
	a.aside.Go(func() {
		data, err := s.lookUp(a.ctx, &p)
		s.post(func() {
			if s.answers == a {
				s.replied(&p, data, err, time.Now().Add(typing.UnreadTime))
			}
		})
	})
}

// lookUpTime bounds looking a secret up or running a hook.
const lookUpTime = time.Minute

// lookUp is resolve for who cannot wait for it: what asks somebody, or reads what nobody
// writes, is left to itself when its time has passed or the session goes on without it.
func (s *Session) lookUp(ctx context.Context, p *reply) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	type answer struct {
		data []byte
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		data, err := s.resolve(ctx, p)
		got <- answer{data, err}
	}()
	select {
	case a := <-got:
		return a.data, a.err
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: no answer: %w", p.Value, ctx.Err())
	}
}

func (s *Session) resolve(ctx context.Context, p *reply) ([]byte, error) {
	switch {
	case s.cfg.Answerer == nil:
		return nil, fmt.Errorf("%s: nobody here can look that up", p.Value)
	case p.Kind == respond.ActSecret:
		return s.cfg.Answerer.Secret(ctx, p.Value)
	}
	return s.cfg.Answerer.Hook(ctx, Hook{Command: p.Value, Rule: p.rule.ID, Captures: p.Captures})
}

// repliedAgain is replied after a moment.
func (s *Session) repliedAgain(p *reply, data []byte, until time.Time) {
	a := s.answers
	time.AfterFunc(poll, func() {
		s.post(func() {
			if s.answers == a {
				s.replied(p, data, nil, until)
			}
		})
	})
}

// replied types what came of a secret or a hook. A secret waits for what was typed before
// it, at most until a moment.
func (s *Session) replied(p *reply, data []byte, err error, until time.Time) {
	a := s.answers
	if p.Kind == respond.ActSecret && err == nil && !p.rule.Force && s.echoState() == respond.EchoOff && s.typedAhead() {
		if time.Now().Before(until) {
			s.repliedAgain(p, data, until)
			return
		}
		err = fmt.Errorf("%s not sent: %w", p.Value, ErrTypedAhead)
	}
	a.busy, a.acting = false, true
	if p.Kind == respond.ActSecret {
		if len(a.pending) == 0 || a.pending[0].rule != p.rule || a.pending[0].Kind != p.Kind {
			err = fmt.Errorf("%s not sent: it is over", p.Value) // ended meanwhile
		} else {
			a.pending = a.pending[1:]
		}
		s.sense()
		if err == nil && !p.rule.Force && s.echoState() != respond.EchoOff {
			err = fmt.Errorf("%s not sent: %w", p.Value, ErrEcho)
		}
		if err != nil { // nor is what was to follow it
			a.dropRest(p.rule)
		}
	} else {
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r"))
		if !slices.Contains(a.rules, p.rule) {
			data = nil // it is over
		}
	}
	if len(data) > maxReplyBytes {
		data, err = nil, fmt.Errorf("%s gives more than %d bytes", p.Value, maxReplyBytes)
	}
	s.saveAnswers()
	s.typeReply(p, data, err)
	a.acting = false
	s.reply()
}

// dropRest takes back the replies of a firing that come after one that was not sent.
func (a *answering) dropRest(r *Rule) {
	for len(a.pending) > 0 && a.pending[0].rule == r {
		a.pending = a.pending[1:]
	}
}

// typeReply types a reply and tells everybody who has to know.
func (s *Session) typeReply(p *reply, data []byte, err error) {
	if err != nil {
		s.fired(p.rule, Firing{Error: err.Error()})
		return
	}
	if len(data) == 0 {
		return
	}
	secret := p.Kind != respond.ActText && p.Kind != respond.ActKeys
	s.sense()
	now := time.Now()
	acts := s.answers.engine.Typed(now, respond.Input{Data: data, Reply: true, Secret: secret})
	if p.Kind == respond.ActSecret && !p.rule.Force {
		err = s.inputs.AddNow(data, nil)
	} else {
		_, err = s.inputs.Add(context.Background(), data)
	}
	if err != nil {
		s.fired(p.rule, Firing{Error: err.Error()})
	}
	length := len(data)
	if secret {
		length = 0 // nor is its length anybody's business
	} else {
		s.rememberTyped(data)
	}
	s.typedSomething()
	s.noteInput(journal.InputTyped, length)
	s.perform(acts)
}
