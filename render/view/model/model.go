package model

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Model is everything that is shown. The viewer's goroutine owns it.
type Model struct {
	Sessions  []Session
	Loaded    bool       // sessions were heard of
	Approvals []Approval // that wait, the oldest first
	Ended     []Ended
	Away      string // why the source is away
	AwaySince time.Time
	CutOff    []CutOff           // hosts that cannot be reached
	awaited   map[string]Session // of a layout, on hosts that nothing was ever heard of
	Only      []string           // ids to show; empty: all
	seen      map[string]bool    // sessions that ran while the viewer was there: they stay when they end
	shells    map[string]bool    // sessions that are known to be a person's shell
	gone      map[string]time.Time
	Alerts    map[string]Alert
	Tabs      []*Tab
	Current   int            // tab
	Places    []layout.Place // on the screen, in reading order; those that lie over others last, the topmost at the end
	Pinned    []layout.Float // over all tabs
	Gap       int            // columns between two panes
	Side      layout.Rect    // where the sessions are listed beside one pane; without a width: nowhere
	alone     bool           // one pane is shown of several, for which there is no room
	TabsLast  bool           // new tabs go behind all others, as tmux's windows do
	Focus     string         // session id
	Zoomed    bool
	expected  map[string]bool // sessions just made: they are not in the list yet
	ReadOnly  bool
	Follow    bool
	Quiet     Alerts // what is no alert
	visits    visited
	closed    []closing
	raised    int       // how often a floating pane was put on top
	now       time.Time // when it was told something last
}

// New is a model of these sessions; of all that run when there are none.
func New(only []string) Model {
	return Model{
		Only: only, seen: map[string]bool{}, shells: map[string]bool{}, gone: map[string]time.Time{},
		Alerts: map[string]Alert{}, awaited: map[string]Session{}, expected: map[string]bool{}, Tabs: []*Tab{{Auto: true}}, Gap: 1,
	}
}

// Update takes a list of sessions.
func (m *Model) Update(u Update, now time.Time) {
	m.now = now
	if u.Away != "" && m.Away == "" {
		m.AwaySince = now
	}
	m.Away = u.Away
	if u.Away != "" {
		return // what was known stays on the screen
	}
	if m.Loaded {
		m.notice(u.Sessions, now)
	} else {
		m.noticeAsking(u.Sessions, now)
	}
	m.Sessions, m.Loaded, m.CutOff = m.withAwaited(&u), true, u.CutOff
	m.Approvals, m.Ended = u.Approvals, u.Ended
	for i := range m.Sessions {
		s := &m.Sessions[i]
		if s.State == StateRunning {
			m.seen[s.ID] = true
		}
		if s.Phase != PhaseUnknown {
			m.shells[s.ID] = true
		}
		if m.expected[s.ID] {
			m.seen[s.ID] = true // it may have ended already
			delete(m.expected, s.ID)
		}
	}
	m.prune(now)
	m.refocus()
}

// Expect notes a session that was just started: it is shown before it is listed.
func (m *Model) Expect(id string) {
	if len(m.Only) > 0 {
		m.Only = append(m.Only, id)
	}
	m.seen[id] = true
	if m.Session(id) == nil {
		m.expected[id] = true
	}
}

// IsExpected reports whether a session was started and is not in the list yet.
func (m *Model) IsExpected(id string) bool { return m.expected[id] }

// Unexpect ends the wait for a session that was started.
func (m *Model) Unexpect(id string) {
	delete(m.expected, id)
	m.refocus()
}

// NeverHeard reports whether a host has not answered since the viewer began.
func (m *Model) NeverHeard() bool {
	return slices.ContainsFunc(m.CutOff, func(c CutOff) bool { return c.Never })
}

// Tick lets time pass: what has not been listed for long is given up.
func (m *Model) Tick(now time.Time) {
	m.now = now
	if len(m.gone) > 0 {
		m.prune(now)
		m.refocus()
	}
}

// IsShell reports whether a session is known to be a person's shell.
func (m *Model) IsShell(id string) bool { return m.shells[id] }

// Number is a session's number for people, from 1.
func (m *Model) Number(id string) int { return slices.Index(m.Shown(), id) + 1 }

// Session is a session by its id; nil: there is none.
func (m *Model) Session(id string) *Session {
	for i := range m.Sessions {
		if m.Sessions[i].ID == id {
			return &m.Sessions[i]
		}
	}
	return nil
}

// Visible are the ids that a tab of all sessions shows, in order: the sessions asked for,
// or those that run and those that were seen ending.
func (m *Model) Visible() []string {
	var ids []string
	for i := range m.Sessions {
		id := m.Sessions[i].ID
		shown, known := m.seen[id]
		if len(m.Only) > 0 {
			shown = slices.Contains(m.Only, id) && (shown || !known)
		}
		if shown {
			ids = append(ids, id)
		}
	}
	return ids
}

// Shown are the ids of the current tab, in order; floating ones last, also while they are hidden.
func (m *Model) Shown() []string { return m.withFloats(m.Of(m.Tab()), m.Pinned) }

// Of are the ids of a tab, in order, but for those that are over all tabs.
func (m *Model) Of(t *Tab) []string { return m.withFloats(m.Tiled(t), t.Floats) }

func (m *Model) withFloats(ids []string, list []layout.Float) []string {
	for i := range list {
		if id := list[i].Session; m.known(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// known reports whether there is such a session, or will be.
func (m *Model) known(id string) bool { return m.expected[id] || m.Session(id) != nil }

// onScreen reports whether a session is on the screen.
func (m *Model) onScreen(id string) bool {
	return slices.ContainsFunc(m.Places, func(p layout.Place) bool { return p.Session == id })
}

// SessionAt is the session at a position on the screen; empty: none.
func (m *Model) SessionAt(x, y int) string {
	for i := len(m.Places) - 1; i >= 0; i-- { // the topmost
		if m.Places[i].Area.Contains(x, y) {
			return m.Places[i].Session
		}
	}
	return ""
}

// Running reports whether a session takes input.
func (m *Model) Running(id string) bool {
	s := m.Session(id)
	return s != nil && s.State == StateRunning
}

// refocus keeps the focus on something that is shown.
func (m *Model) refocus() {
	ids := m.Shown()
	if slices.Contains(ids, m.Focus) || m.expected[m.Focus] {
		return
	}
	m.Focus, m.Zoomed = "", false
	if tiled := m.Tiled(m.Tab()); len(tiled) > 0 {
		m.Focus = tiled[len(tiled)-1]
	}
}

// Step moves the focus by n sessions, round and round.
func (m *Model) Step(n int) {
	ids := m.Shown()
	if i := slices.Index(ids, m.Focus); i >= 0 {
		m.Focus = ids[(i+n+len(ids))%len(ids)]
	}
}

// Pick moves the focus to the n-th session, from 0.
func (m *Model) Pick(n int) {
	if ids := m.Shown(); n < len(ids) {
		m.Focus = ids[n]
	}
}

// Toward moves the focus to the nearest session on the screen in a direction.
func (m *Model) Toward(dx, dy int) {
	switch {
	case m.Side.W > 0:
		m.Step(dy)
		return
	case m.alone:
		m.Step(dx + dy)
		return
	}
	from := slices.IndexFunc(m.Places, func(p layout.Place) bool { return p.Session == m.Focus })
	if from < 0 {
		return
	}
	cx, cy := m.Places[from].Area.Center()
	best, bestDistance := -1, 0
	for i := range m.Places {
		x, y := m.Places[i].Area.Center()
		along := (x-cx)*dx + (y-cy)*dy*layout.CellAspect
		across := (x-cx)*dy + (y-cy)*dx*layout.CellAspect
		if i == from || along <= 0 || m.Places[i].Float != m.Places[from].Float {
			continue
		}
		if d := along + 2*max(across, -across); best < 0 || d < bestDistance {
			best, bestDistance = i, d
		}
	}
	if best >= 0 {
		m.Focus = m.Places[best].Session
	}
}
