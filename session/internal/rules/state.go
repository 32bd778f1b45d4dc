package rules

import (
	"encoding/json"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/respond"
)

// saveAfter bounds how long what was typed is not written down; firings are at once.
const saveAfter = time.Second

// state is what is written down.
type state struct {
	Rules   []ruleState     `json:"rules"`
	LastID  int             `json:"last_id"`
	Firings int             `json:"firings"`
	TypedAt uint64          `json:"typed_at"`
	Pending []pendingState  `json:"pending,omitempty"`
	Engine  json.RawMessage `json:"engine"`
}

type ruleState struct {
	respond.Rule
	ID     string    `json:"id"`
	Added  time.Time `json:"added"`
	Failed string    `json:"failed,omitempty"`
	Call   bool      `json:"call,omitempty"` // of a call, which a restart ends
}

type pendingState struct {
	respond.Action
	ID string `json:"id"` // of the rule
}

// saveSoon notes that there is something to write down before anything else is done.
func (m *Machine) saveSoon() { m.unsaved = time.Unix(0, 0) }

// saveDirty writes down what saveSoon was told of.
func (m *Machine) saveDirty() {
	if m.unsaved.Equal(time.Unix(0, 0)) {
		m.Save()
	}
}

// Save has rules and engine written down.
func (m *Machine) Save() {
	m.unsaved = time.Time{}
	if len(m.rules) == 0 {
		m.do(Action{Kind: ActSave})
		return
	}
	b, err := m.encode()
	m.do(Action{Kind: ActSave, State: b, Err: err})
}

func (m *Machine) encode() ([]byte, error) {
	st := state{LastID: m.lastID, Firings: m.firings, TypedAt: m.typedAt}
	for _, r := range m.rules {
		st.Rules = append(st.Rules, ruleState{r.Rule, r.ID, r.Added, r.Failed, r.call != nil})
	}
	for _, p := range m.pending {
		st.Pending = append(st.Pending, pendingState{p.Action, p.rule.ID})
	}
	var err error
	if st.Engine, err = m.engine.DurableState(); err != nil {
		return nil, err
	}
	return json.Marshal(st)
}

// Restore goes on with the rules that were written down. The output that is there by now was looked
// at back then; of the line it ends in, what is unread is looked at again, unless something was typed in
// it. Calls are over.
func Restore(h Host, editor *echo.Region, written []byte) (*Machine, error) {
	var st state
	if err := json.Unmarshal(written, &st); err != nil {
		return nil, err
	}
	m, v := New(h, editor), h.View()
	m.lastID, m.firings, m.typedAt = st.LastID, st.Firings, max(st.TypedAt, v.TypedAt)
	set := respond.Set{Rules: make([]respond.Rule, len(st.Rules))}
	ended := &Call{Failed: make(chan struct{})} // stands for calls that are over
	for i, r := range st.Rules {
		set.Rules[i] = r.Rule
		m.rules = append(m.rules, &Rule{Rule: r.Rule, ID: r.ID, Added: r.Added, Failed: r.Failed})
		if r.Call {
			m.rules[i].call = ended
		}
	}
	e, resume, err := respond.Restore(set, st.Engine)
	if err != nil {
		return nil, err
	}
	if e.Exited() && v.Running { // another program runs here now
		if e, err = respond.New(set); err != nil {
			return nil, err
		}
		resume, st.Pending = v.Offset, nil
	}
	e.Through(h.Veil())
	m.engine = e
	for _, p := range st.Pending {
		for _, r := range m.rules {
			if r.ID == p.ID {
				m.pending = append(m.pending, Reply{p.Action, r})
			}
		}
	}
	if !v.Live { // nothing runs: they are only to be listed
		e.Exit(v.Now)
		m.pending = nil
		return m, nil
	}
	m.skip(resume, &v)
	return m, m.dropCalls(ended)
}

// maxSkip is how much output is read to find where its last line begins.
const maxSkip = 1 << 20

// skip brings the engine to the end of the output.
func (m *Machine) skip(from uint64, v *View) {
	if from+maxSkip < v.Offset {
		from = v.Offset - maxSkip/16
	}
	buf := make([]byte, 64<<10)
	m.acting = true // what the engine wants meanwhile waits until it is there
	for from < v.Offset {
		p, at, err := m.host.Read(from, buf[:min(uint64(len(buf)), v.Offset-from)])
		if err != nil || at+uint64(len(p)) == from {
			break
		}
		m.perform(m.engine.Skip(v.Now, at, p))
		from = at + uint64(len(p))
	}
	if m.typedAt > 0 && m.typedAt >= m.engine.LineStart() {
		m.engine.Answered(v.Now)
	}
	m.acting = false
	m.screenChanged(v.Now)
}

// dropCalls ends the rules of calls, and does what is pending.
func (m *Machine) dropCalls(ended *Call) error {
	var own []*Rule
	for _, r := range m.rules {
		if r.call != ended {
			own = append(own, r)
		}
	}
	if err := m.change(own); err != nil {
		return err
	}
	if !m.over {
		m.reply()
	}
	return nil
}
