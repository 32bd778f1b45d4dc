package rules

import (
	"encoding/json"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/respond"
)

// saveAfter bounds the time until input is saved. Matches are saved at once.
const saveAfter = time.Second

// state is the content of the saved file.
type state struct {
	Rules      []ruleState     `json:"rules"`
	LastID     int             `json:"last_id"`
	MatchCount int             `json:"firings"`
	TypedAt    uint64          `json:"typed_at"`
	Pending    []pendingState  `json:"pending,omitempty"`
	Engine     json.RawMessage `json:"engine"`
}

// ruleState is a saved rule.
type ruleState struct {
	respond.Rule
	ID       string    `json:"id"`
	Added    time.Time `json:"added"`
	Failed   string    `json:"failed,omitempty"`
	IsOfLine bool      `json:"call,omitempty"` // of a line, which a restart ends
}

// pendingState is a saved pending reply.
type pendingState struct {
	respond.Action
	ID string `json:"id"` // of the rule
}

// saveSoon requests a save before the next action.
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

// encode returns the saved form of rules and engine.
func (m *Machine) encode() ([]byte, error) {
	st := state{LastID: m.lastID, MatchCount: m.matchCount, TypedAt: m.typedAt}
	for _, r := range m.rules {
		st.Rules = append(st.Rules, ruleState{r.Rule, r.ID, r.Added, r.Failed, r.line != nil})
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

// Restore restores saved rules. Output up to now was matched before. Only the unread part of the last line is matched again,
// unless input came within it. Rules of lines are dropped, as a restart ends their lines.
func Restore(h Host, editor *echodetect.EditorRegion, written []byte) (*Machine, error) {
	var st state
	if err := json.Unmarshal(written, &st); err != nil {
		return nil, err
	}
	m, v := New(h, editor), h.View()
	m.lastID, m.matchCount, m.typedAt = st.LastID, st.MatchCount, max(st.TypedAt, v.TypedAt)
	set := respond.Set{Rules: make([]respond.Rule, len(st.Rules))}
	ended := &LineRules{Failed: make(chan struct{})} // represents the ended lines
	for i, r := range st.Rules {
		set.Rules[i] = r.Rule
		m.rules = append(m.rules, &Rule{Rule: r.Rule, ID: r.ID, Added: r.Added, Failed: r.Failed})
		if r.IsOfLine {
			m.rules[i].line = ended
		}
	}
	e, resume, err := respond.Restore(set, st.Engine)
	if err != nil {
		return nil, err
	}
	if e.Exited() && v.Running { // another program runs now
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
	if !v.Live { // no program runs: the rules are only listed
		e.Exit(v.Now)
		m.pending = nil
		return m, nil
	}
	m.skipToEnd(resume, &v)
	return m, m.dropLineRules(ended)
}

// maxSkip bounds the output that is read to find the start of its last line.
const maxSkip = 1 << 20

// skipToEnd moves the engine to the end of the output.
func (m *Machine) skipToEnd(from uint64, v *View) {
	if from+maxSkip < v.Offset {
		from = v.Offset - maxSkip/16
	}
	buf := make([]byte, 64<<10)
	m.performing = true // the engine's actions wait
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
	m.performing = false
	m.noteScreenChange(v.Now)
}

// dropLineRules ends the rules of lines, and runs pending replies.
func (m *Machine) dropLineRules(ended *LineRules) error {
	var own []*Rule
	for _, r := range m.rules {
		if r.line != ended {
			own = append(own, r)
		}
	}
	if err := m.change(own); err != nil {
		return err
	}
	if !m.finished {
		m.runPending()
	}
	return nil
}
