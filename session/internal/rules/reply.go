package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session/internal/inputqueue"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Reply is a pending action of a rule that fired.
type Reply struct {
	respond.Action
	rule *Rule
}

// Hook returns the hook to run for a reply of that kind.
func (p *Reply) Hook() Hook { return Hook{Command: p.Value, Rule: p.rule.ID, Captures: p.Captures} }

// IsOfAgent reports whether an agent attached the rule.
func (p *Reply) IsOfAgent() bool { return p.rule.Redacted }

const (
	// maxPending bounds the replies that wait behind a slow one.
	maxPending = 1000
	// maxReplyBytes bounds the bytes typed for a hook or a secret.
	maxReplyBytes = 64 << 10
)

// hiddenText replaces text that was typed without echo in records.
const hiddenText = "[hidden]"

// perform runs the engine's actions: all bookkeeping first, then the replies.
func (m *Machine) perform(acts []respond.Action) {
	if len(acts) == 0 {
		return
	}
	for i := range acts {
		m.noteAction(&acts[i])
	}
	if !m.performing && !m.replying {
		m.runPending()
	}
}

// noteAction updates the machine's records for an action of the engine.
func (m *Machine) noteAction(act *respond.Action) {
	var r *Rule
	if act.Rule >= 0 && act.Rule < len(m.rules) {
		r = m.rules[act.Rule]
	}
	switch act.Kind {
	case respond.ActMatched:
		m.recordMatch(r, MatchRecord{Record: *act.Record})
	case respond.ActRefused:
		m.recordMatch(r, MatchRecord{Error: act.Value})
	case respond.ActFail:
		m.failRule(r, act.Value)
	default:
		if r == nil || len(m.pending) >= maxPending {
			m.recordMatch(r, MatchRecord{Error: fmt.Sprintf("more than %d replies wait; this one is not sent", maxPending)})
			return
		}
		m.pending = append(m.pending, Reply{*act, r})
	}
}

// recordMatch logs and publishes a firing.
func (m *Machine) recordMatch(r *Rule, f MatchRecord) {
	v := m.host.View()
	if f.Time.IsZero() {
		f.Time, f.Offset = v.Now, v.Offset
	}
	if r != nil {
		f.ID, f.Name = r.ID, r.Name
		if f.On == "" {
			f.On = r.On
		}
	}
	if v.Echo == respond.EchoOff {
		f.Reply = maskReplies(f.Reply)
	}
	m.matchCount++
	if r != nil && r.line != nil {
		r.line.Matches = append(r.line.Matches, f)
	}
	m.do(Action{Kind: ActMatched, Match: f})
	m.saveSoon()
}

// do carries out an action and ignores its error, which the host reports itself.
func (m *Machine) do(a Action) { _ = m.host.Do(a) }

// maskReplies returns replies without the typed text.
func maskReplies(list []respond.Reply) []respond.Reply {
	out := make([]respond.Reply, len(list))
	for i, r := range list {
		if r.Kind == respond.ReplyText || r.Kind == respond.ReplyKeys && r.Value != "<Enter>" {
			r.Value = hiddenText
		}
		out[i] = r
	}
	return out
}

// failRule records that a rule ended the rules of its list.
func (m *Machine) failRule(r *Rule, why string) {
	if r == nil {
		return
	}
	m.pending = slices.DeleteFunc(m.pending, func(p Reply) bool { return p.rule.List == r.List })
	for _, x := range m.rules {
		if x.List == r.List {
			x.Failed = why
		}
	}
	m.recordMatch(r, MatchRecord{Error: why})
	if r.line != nil {
		r.line.fail(why)
	}
}

// runPending types pending replies, until one needs a look-up.
func (m *Machine) runPending() {
	m.performing = true
	defer func() { m.performing = false }()
	for len(m.pending) > 0 && !m.replying {
		p := m.pending[0]
		if p.Kind == respond.ActSecret || p.Kind == respond.ActHook {
			m.lookUp(p)
			continue
		}
		m.typeWhole(p)
	}
	m.saveDirty()
}

// typeWhole types a reply and the parts that follow it in one write: if the daemon is killed, all of it or nothing is
// typed, never the Enter without its line.
func (m *Machine) typeWhole(p Reply) {
	var data []byte
	var err error
	n, modes := 0, m.host.View().Modes
	for n < len(m.pending) && m.pending[n].rule == p.rule && (m.pending[n].Kind == respond.ActText || m.pending[n].Kind == respond.ActKeys) {
		part, partErr := m.pending[n].encode(&modes)
		data, err = append(data, part...), errors.Join(err, partErr)
		n++
	}
	m.pending = m.pending[n:]
	m.Save() // before typing: after a restart the reply must not be typed again
	m.typeReply(&p, data, err)
}

// encode returns the bytes of text and keys.
func (p *Reply) encode(modes *vterm.Modes) ([]byte, error) {
	if p.Kind == respond.ActText {
		return []byte(p.Value), nil
	}
	keys, err := input.ParseKeys(p.Value)
	if err != nil {
		return nil, err
	}
	var data []byte
	for _, k := range keys {
		data = input.AppendKey(data, k, modes)
	}
	return data, nil
}

// lookUp starts the look-up of a secret or a hook; later replies wait for it.
func (m *Machine) lookUp(p Reply) {
	if p.Kind == respond.ActHook { // it must not run again after a restart
		m.pending = m.pending[1:]
		m.Save()
	}
	m.replying = true
	m.do(Action{Kind: ActLookUp, Reply: &p})
}

// HandleLookup types the result of a secret or a hook. A secret waits until earlier input is read, at most until the
// given time.
func (m *Machine) HandleLookup(p *Reply, data []byte, err error, until time.Time) {
	v := m.host.View()
	if p.Kind == respond.ActSecret && err == nil && !p.rule.Force && v.Echo == respond.EchoOff && m.host.Do(Action{Kind: ActUnread}) != nil {
		if v.Now.Before(until) {
			m.do(Action{Kind: ActRetry, Reply: p, Data: data, Deadline: until})
			return
		}
		err = fmt.Errorf("%s not sent: %w", p.Value, inputqueue.ErrUnreadInput)
	}
	m.replying, m.performing = false, true
	if p.Kind == respond.ActSecret {
		err = m.takeSecret(p, err)
	} else {
		data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r"))
		if !slices.Contains(m.rules, p.rule) {
			data = nil // the look-up is finished
		}
	}
	if len(data) > maxReplyBytes {
		data, err = nil, fmt.Errorf("%s gives more than %d bytes", p.Value, maxReplyBytes)
	}
	m.Save()
	m.typeReply(p, data, err)
	m.performing = false
	m.runPending()
}

// takeSecret removes a secret from the pending replies, and returns an error if it must not be typed.
func (m *Machine) takeSecret(p *Reply, err error) error {
	if len(m.pending) == 0 || m.pending[0].rule != p.rule || m.pending[0].Kind != p.Kind {
		err = fmt.Errorf("%s not sent: rule or program ended", p.Value) // ended during the look-up
	} else {
		m.pending = m.pending[1:]
	}
	v := m.host.View()
	m.updateEcho(&v)
	if err == nil && !p.rule.Force && v.Echo != respond.EchoOff {
		why := inputqueue.ErrEcho
		if v.Echo == respond.EchoApp {
			why = inputqueue.ErrMayEcho
		}
		err = fmt.Errorf("%s not sent: %w", p.Value, why)
	}
	if err != nil { // the parts after it must not be typed either
		m.dropLaterReplies(p.rule)
	}
	return err
}

// dropLaterReplies removes the later replies of a firing after one that was not sent.
func (m *Machine) dropLaterReplies(r *Rule) {
	for len(m.pending) > 0 && m.pending[0].rule == r {
		m.pending = m.pending[1:]
	}
}

// typeReply types a reply and reports the result to the engine.
func (m *Machine) typeReply(p *Reply, data []byte, err error) {
	if err != nil {
		m.recordMatch(p.rule, MatchRecord{Error: err.Error()})
		return
	}
	if len(data) == 0 {
		return
	}
	secret := p.Kind != respond.ActText && p.Kind != respond.ActKeys
	v := m.host.View()
	m.updateEcho(&v)
	acts := m.engine.HandleInput(v.Now, respond.Input{Data: data, Reply: true, Secret: secret})
	err = m.host.Do(Action{Kind: ActType, Data: data, Secret: secret, Now: p.Kind == respond.ActSecret && !p.rule.Force})
	if err != nil {
		m.dropLaterReplies(p.rule)
		m.recordMatch(p.rule, MatchRecord{Error: err.Error()})
	}
	m.perform(acts)
}
