package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echodetect"
	"github.com/longterm-dev/longterm/session/respond"
)

// Rule is a rule of a session.
type Rule struct {
	respond.Rule
	ID         string
	Added      time.Time
	MatchCount int
	Failed     string // why it no longer answers, or ""

	line *LineRules // line that it belongs to, or nil
}

// IsOfLine reports whether the rule belongs to a line and ends with it.
func (r *Rule) IsOfLine() bool { return r.line != nil }

// MatchRecord records a match of a rule, the failure of a rule, or a reply that was not sent.
type MatchRecord struct {
	respond.Record
	ID    string `json:"id"`              // of the rule
	Error string `json:"error,omitempty"` // why it failed, or a reply was not sent
}

// LineRules holds the rules of a submitted line and their results.
type LineRules struct {
	IDs     []string // ids of the rules, in order; set when they are added
	Matches []MatchRecord
	Failed  chan struct{} // closed when a rule has failed
	Reason  string        // why it failed; valid once Failed is closed
}

// fail records that a rule declared the line failed.
func (c *LineRules) fail(why string) {
	if c.Reason == "" {
		c.Reason = why
		close(c.Failed)
	}
}

// Errors of rules.
var (
	ErrNoRule     = errors.New("no such rule")
	ErrRuleExists = errors.New("a rule has this name")
)

// EchoPollInterval is the interval at which the terminal's settings are read while a secret waits for echo to be disabled: that
// causes no output.
const EchoPollInterval = 5 * time.Millisecond

// Machine runs a session's rules. After the last rule is removed it is finished; later rules need a new machine.
type Machine struct {
	host       Host
	editor     *echodetect.EditorRegion // the owner's; the machine only reads it
	engine     *respond.Engine
	rules      []*Rule // in the engine's order
	lastID     int     // number of the newest rule
	matchCount int     // number so far
	pending    []Reply // replies to type, in order
	replying   bool    // the first pending reply is being looked up
	performing bool    // the engine's actions are being performed
	finished   bool    // the last rule was removed
	typedAt    uint64  // output offset at the newest input other than replies
	screen     screenWatch
	unsaved    time.Time // time of the oldest unsaved change; zero: none
}

// New returns a machine without rules. editor is the output of the shell's line editor.
func New(h Host, editor *echodetect.EditorRegion) *Machine { return &Machine{host: h, editor: editor} }

// IsFinished reports whether the last rule was removed.
func (m *Machine) IsFinished() bool { return m.finished }

// Add appends rules. Those of a line come before all others. call is nil for the session's own rules, which stay until they are
// removed.
func (m *Machine) Add(rules []respond.Rule, call *LineRules) ([]Rule, error) {
	all, now := slices.Clone(m.rules), m.host.View().Now
	if call != nil {
		call.IDs = nil // the caller may retry
	}
	first := len(all)
	if call != nil {
		first = 0
	}
	for i, r := range rules {
		if slices.ContainsFunc(all, func(x *Rule) bool { return r.Name != "" && x.Name == r.Name && x.line == call }) {
			return nil, fmt.Errorf("%w: %s", ErrRuleExists, r.Name)
		}
		m.lastID++
		x := &Rule{Rule: r, ID: strconv.Itoa(m.lastID), Added: now, line: call}
		if call != nil {
			x.List = "call " + strconv.Itoa(m.lastID-i)
		}
		all = slices.Insert(all, first+i, x)
	}
	if err := m.change(all); err != nil {
		return nil, err
	}
	var added []Rule
	for _, r := range all[first : first+len(rules)] {
		added = append(added, *r)
		if call != nil {
			call.IDs = append(call.IDs, r.ID)
		}
	}
	return added, nil
}

// Remove removes rules, by id or name, or all of the session's own without arguments.
func (m *Machine) Remove(names ...string) (removed []Rule, err error) {
	found := make(map[string]bool)
	gone := func(r *Rule) bool {
		if r.line != nil {
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
	for _, r := range m.rules {
		if gone(r) {
			removed = append(removed, *r)
		} else {
			rest = append(rest, r)
		}
	}
	for _, n := range names {
		if !found[n] {
			return nil, fmt.Errorf("%w: %s", ErrNoRule, n)
		}
	}
	if len(removed) > 0 {
		err = m.change(rest)
	}
	return removed, err
}

// EndLine removes a line's rules when it has ended.
func (m *Machine) EndLine(c *LineRules) error {
	rest := slices.DeleteFunc(slices.Clone(m.rules), func(x *Rule) bool { return x.line == c })
	if len(rest) == len(m.rules) {
		return nil
	}
	return m.change(rest)
}

// List returns the rules, in the order in which they are matched.
func (m *Machine) List() (list []Rule) {
	for i, r := range m.rules {
		r.MatchCount = m.engine.MatchCount(i)
		list = append(list, *r)
	}
	return list
}

// change replaces the engine's rules, and saves them.
func (m *Machine) change(rules []*Rule) error {
	set := respond.Set{Rules: make([]respond.Rule, len(rules))}
	from := make([]int, len(rules))
	for i, r := range rules {
		set.Rules[i] = r.Rule
		from[i] = slices.Index(m.rules, r)
	}
	v := m.host.View()
	if m.engine == nil {
		e, err := respond.New(set)
		if err != nil {
			return err
		}
		e.SetRedactor(m.host.Redactor())
		m.engine, m.rules = e, rules
		m.updateEcho(&v)
		m.perform(m.matchUnfinishedLine(&v))
	} else {
		m.updateEcho(&v)
		acts, err := m.engine.Change(v.Now, set, from)
		if err != nil {
			return err
		}
		// pending replies of removed rules are dropped
		m.pending = slices.DeleteFunc(m.pending, func(p Reply) bool { return !slices.Contains(rules, p.rule) })
		m.rules = rules
		m.perform(acts)
	}
	m.noteScreenChange(v.Now)
	m.Save()
	m.finished = len(rules) == 0
	return nil
}

// matchUnfinishedLine passes the current unfinished line to a new engine, unless input came within it. So a prompt that
// is already open can be answered.
func (m *Machine) matchUnfinishedLine(v *View) []respond.Action {
	const reach = 4 << 10
	from := max(max(v.Offset, reach)-reach, v.Start)
	tail, err := m.read(from, v.Offset)
	at := bytes.LastIndexByte(tail, '\n') + 1
	line := from + uint64(at)
	typed := v.Typed && v.TypedAt >= line
	if editors, _ := m.editor.EditorOutputAt(line); err != nil || typed || editors || m.editor.IsOpen() || from > 0 && at == 0 {
		return m.engine.Output(v.Now, v.Offset, nil)
	}
	return m.engine.Output(v.Now, line, tail[at:])
}

// read returns the output between two offsets, or an error if a part is missing.
func (m *Machine) read(from, to uint64) ([]byte, error) {
	b := make([]byte, 0, to-from)
	for from < to {
		p, at, err := m.host.Read(from, b[len(b):cap(b)])
		if err != nil || at > from || len(p) == 0 {
			return nil, fmt.Errorf("output from %d to %d is not all there (%v)", from, to, err)
		}
		b, from = b[:len(b)+len(p)], at+uint64(len(p))
	}
	return b, nil
}

// updateEcho passes the terminal's echo state to the engine.
func (m *Machine) updateEcho(v *View) { m.perform(m.engine.SetEcho(v.Now, v.Echo)) }

// Output passes new output to the engine, the bytes at an offset. It skips output of a shell's line editor.
func (m *Machine) Output(p []byte, at uint64) {
	v := m.host.View()
	m.updateEcho(&v)
	for len(p) > 0 {
		editors, until := m.editor.EditorOutputAt(at)
		n := min(uint64(len(p)), until-at)
		if editors {
			m.perform(m.engine.SkipAll(v.Now, at, p[:n]))
		} else {
			m.perform(m.engine.Output(v.Now, at, p[:n]))
		}
		p, at = p[n:], at+n
	}
	m.noteScreenChange(v.Now)
}

// OnInput passes input to the engine.
func (m *Machine) OnInput(data []byte, secret bool) {
	v := m.host.View()
	m.typedAt = v.Offset
	if m.unsaved.IsZero() {
		m.unsaved = v.Now
	}
	m.updateEcho(&v)
	m.perform(m.engine.HandleInput(v.Now, respond.Input{Data: data, Secret: secret}))
}

// OnExit reports the program's end to the engine.
func (m *Machine) OnExit() {
	m.pending = nil
	m.perform(m.engine.Exit(m.host.View().Now))
	m.Save()
}

// Next returns when Due must be called.
func (m *Machine) Next(now time.Time) (at time.Time, ok bool) {
	at, ok = m.engine.Next()
	earliest := func(t time.Time, is bool) {
		if is && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	earliest(now.Add(EchoPollInterval), m.engine.WaitsForEchoOff())
	earliest(m.screen.dueAt(), !m.screen.changed.IsZero())
	earliest(m.unsaved.Add(saveAfter), !m.unsaved.IsZero())
	return at, ok
}

// Tick handles the time that Next returned.
func (m *Machine) Tick() {
	v := m.host.View()
	m.updateEcho(&v)
	m.perform(m.engine.Tick(v.Now))
	m.matchScreenIfDue(v.Now)
	if !m.unsaved.IsZero() && v.Now.Sub(m.unsaved) >= saveAfter {
		m.Save()
	}
}
