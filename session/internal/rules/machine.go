package rules

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/session/internal/echo"
	"github.com/longterm-dev/longterm/session/respond"
)

// Rule is a rule of a session.
type Rule struct {
	respond.Rule
	ID     string
	Added  time.Time
	Uses   int
	Failed string // why it does not answer any more; empty: it does

	call *Call // the call it belongs to; nil: none
}

// OfCall reports whether the rule ends with a line that it was given for.
func (r *Rule) OfCall() bool { return r.call != nil }

// Firing is what a rule did, or could not do.
type Firing struct {
	respond.Record
	ID    string `json:"id"`              // of the rule
	Error string `json:"error,omitempty"` // why it failed, or a reply was not sent
}

// Call is a line with rules of its own, and what became of them.
type Call struct {
	IDs     []string // of its rules, in order; set when they are added
	Firings []Firing
	Failed  chan struct{} // closed when a rule has failed
	Reason  string        // why; to be read once Failed is closed
}

// fail takes note that a rule says the line has failed.
func (c *Call) fail(why string) {
	if c.Reason == "" {
		c.Reason = why
		close(c.Failed)
	}
}

// Errors of rules.
var (
	ErrNoRule   = errors.New("no such rule")
	ErrRuleName = errors.New("a rule has this name")
)

// Poll is how often the terminal's settings are looked at while a secret waits for the
// echo to go off: that makes no output.
const Poll = 5 * time.Millisecond

// Machine is a session's rules. Once the last one is taken away it is over, and another one is made
// for those that come later.
type Machine struct {
	host    Host
	editor  *echo.Region // the owner's; the machine only reads it
	engine  *respond.Engine
	rules   []*Rule // of the engine, in its order
	lastID  int
	firings int
	pending []Reply // to be done, in order
	busy    bool    // the first of them is being done
	acting  bool
	over    bool
	typedAt uint64 // offset of the output when another one typed last
	screen  screenWatch
	unsaved time.Time // since when what is known is not written down; zero: it is
}

// New makes a machine without rules. editor is the output of the shell's line editor.
func New(h Host, editor *echo.Region) *Machine { return &Machine{host: h, editor: editor} }

// Over says that there are no rules any more.
func (m *Machine) Over() bool { return m.over }

// Add attaches rules, after those there are; those of a call stand before all others.
func (m *Machine) Add(rules []respond.Rule, call *Call) ([]Rule, error) {
	all, now := slices.Clone(m.rules), m.host.View().Now
	if call != nil {
		call.IDs = nil // it may be tried again
	}
	first := len(all)
	if call != nil {
		first = 0
	}
	for i, r := range rules {
		if slices.ContainsFunc(all, func(x *Rule) bool { return r.Name != "" && x.Name == r.Name && x.call == call }) {
			return nil, fmt.Errorf("%w: %s", ErrRuleName, r.Name)
		}
		m.lastID++
		x := &Rule{Rule: r, ID: strconv.Itoa(m.lastID), Added: now, call: call}
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

// Remove takes rules away, by id or name; with none named, all of the session's own.
func (m *Machine) Remove(names ...string) (removed []Rule, err error) {
	found := make(map[string]bool)
	gone := func(r *Rule) bool {
		if r.call != nil {
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

// EndCall takes a call's rules away: its line is over.
func (m *Machine) EndCall(c *Call) error {
	rest := slices.DeleteFunc(slices.Clone(m.rules), func(x *Rule) bool { return x.call == c })
	if len(rest) == len(m.rules) {
		return nil
	}
	return m.change(rest)
}

// List are the rules, in the order they are looked at.
func (m *Machine) List() (list []Rule) {
	for i, r := range m.rules {
		r.Uses = m.engine.Uses(i)
		list = append(list, *r)
	}
	return list
}

// change gives the engine other rules.
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
		e.Through(m.host.Veil())
		m.engine, m.rules = e, rules
		m.sense(&v)
		m.perform(m.lookBack(&v))
	} else {
		m.sense(&v)
		acts, err := m.engine.Change(v.Now, set, from)
		if err != nil {
			return err
		}
		// What was to be done for rules that are gone is not done.
		m.pending = slices.DeleteFunc(m.pending, func(p Reply) bool { return !slices.Contains(rules, p.rule) })
		m.rules = rules
		m.perform(acts)
	}
	m.screenChanged(v.Now)
	m.Save()
	m.over = len(rules) == 0
	return nil
}

// lookBack gives a new engine the line that is not complete, unless something was typed in it:
// a prompt that stands there is to be answered.
func (m *Machine) lookBack(v *View) []respond.Action {
	const reach = 4 << 10
	from := max(max(v.Offset, reach)-reach, v.Start)
	tail, err := m.read(from, v.Offset)
	at := bytes.LastIndexByte(tail, '\n') + 1
	line := from + uint64(at)
	typed := v.Typed && v.TypedAt >= line
	if editors, _ := m.editor.Editors(line); err != nil || typed || editors || m.editor.Open() || from > 0 && at == 0 {
		return m.engine.Output(v.Now, v.Offset, nil)
	}
	return m.engine.Output(v.Now, line, tail[at:])
}

// read is the output between two offsets, if all of it is there.
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

// sense tells the engine who shows what is typed.
func (m *Machine) sense(v *View) { m.perform(m.engine.Echo(v.Now, v.Echo)) }

// Output gives the engine new output, the bytes at an offset. What a shell's line editor prints is
// not for rules.
func (m *Machine) Output(p []byte, at uint64) {
	v := m.host.View()
	m.sense(&v)
	for len(p) > 0 {
		editors, until := m.editor.Editors(at)
		n := min(uint64(len(p)), until-at)
		if editors {
			m.perform(m.engine.Pass(v.Now, at, p[:n]))
		} else {
			m.perform(m.engine.Output(v.Now, at, p[:n]))
		}
		p, at = p[n:], at+n
	}
	m.screenChanged(v.Now)
}

// Typed tells the engine of what was typed.
func (m *Machine) Typed(data []byte, secret bool) {
	v := m.host.View()
	m.typedAt = v.Offset
	if m.unsaved.IsZero() {
		m.unsaved = v.Now
	}
	m.sense(&v)
	m.perform(m.engine.Typed(v.Now, respond.Input{Data: data, Secret: secret}))
}

// Ended tells the engine that the program has ended.
func (m *Machine) Ended() {
	m.pending = nil
	m.perform(m.engine.Exit(m.host.View().Now))
	m.Save()
}

// Next is when Due has to be called.
func (m *Machine) Next(now time.Time) (at time.Time, ok bool) {
	at, ok = m.engine.Next()
	earliest := func(t time.Time, is bool) {
		if is && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	earliest(now.Add(Poll), m.engine.WaitsForSilence())
	earliest(m.screen.at(), !m.screen.changed.IsZero())
	earliest(m.unsaved.Add(saveAfter), !m.unsaved.IsZero())
	return at, ok
}

// Due does what Next named the time of.
func (m *Machine) Due() {
	v := m.host.View()
	m.sense(&v)
	m.perform(m.engine.Tick(v.Now))
	m.screenDue(v.Now)
	if !m.unsaved.IsZero() && v.Now.Sub(m.unsaved) >= saveAfter {
		m.Save()
	}
}
