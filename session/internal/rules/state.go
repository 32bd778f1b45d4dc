package rules

import (
	"encoding/json"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/respond"
)

// saveAfter bounds how long input is unsaved; firings are saved at once.
const saveAfter = time.Second

// state is the content of the saved file.
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

// saveSoon requests a save before any other action.
func (m *Machine) saveSoon() { m.unsaved = time.Unix(0, 0) }

// saveDirty saves if saveSoon requested it.
func (m *Machine) saveDirty() {
	if m.unsaved.Equal(time.Unix(0, 0)) {
		m.Save()
	}
}

// Save saves rules and engine.
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

// Restore restores saved rules. Output up to now was matched before; of the last line, the unread part is matched
// again, unless input came within it. Calls have ended.
func Restore(h Host, editor *echodetect.Region, written []byte) (*Machine, error) {
	var st state
	if err := json.Unmarshal(written, &st); err != nil {
		return nil, err
	}
	m, v := New(h, editor), h.View()
	m.lastID, m.firings, m.typedAt = st.LastID, st.Firings, max(st.TypedAt, v.TypedAt)
	set := respond.Set{Rules: make([]respond.Rule, len(st.Rules))}
	ended := &Call{Failed: make(chan struct{})} // represents all ended calls
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
	e.SetRedactor(h.Redactor())
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

// maxSkip bounds the output that is read to find the start of its last line.
const maxSkip = 1 << 20

// skip moves the engine to the end of the output.
func (m *Machine) skip(from uint64, v *View) {
	if from+maxSkip < v.Offset {
		from = v.Offset - maxSkip/16
	}
	buf := make([]byte, 64<<10)
	m.acting = true // the engine's actions wait
	for from < v.Offset {
		p, at, err := m.host.Read(from, buf[:min(uint64(len(buf)), v.Offset-from)])
		if err != nil || at+uint64(len(p)) == from {
			break
		}
		m.perform(m.engine.Skip(v.Now, at, p))
		from = at + uint64(len(p))
	}
	if m.typedAt > 0 && m.typedAt >= m.engine.LineStart() {
		m.engine.MarkAnswered(v.Now)
	}
	m.acting = false
	m.screenChanged(v.Now)
}

// dropCalls ends the rules of calls, and runs pending replies.
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
	if !m.finished {
		m.reply()
	}
	return nil
}
