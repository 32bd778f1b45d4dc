package model

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// Model is the state of the viewer. The viewer's goroutine owns it.
type Model struct {
	Sessions         []Session
	Loaded           bool       // an update has arrived
	Approvals        []Approval // pending, oldest first
	Ended            []EndedApproval
	Unavailable      string // why the source is unreachable; "": it is reachable
	UnavailableSince time.Time
	Unreachable      []Unreachable        // hosts that cannot be reached
	awaited          map[string]Session   // sessions of a layout on hosts that were never reached
	Only             []string             // ids to show; empty means all sessions
	seen             map[string]bool      // sessions that ran while the viewer was open: they stay visible after their end
	shells           map[string]bool      // sessions known to be a user's shell
	missingSince     map[string]time.Time // times at which sessions disappeared from the list
	Alerts           map[string]Alert
	Tabs             []*Tab
	Current          int            // tab
	Places           []layout.Place // places on the screen in reading order; floating panes last, the topmost at the end
	Pinned           []layout.Float // floating panes shown over all tabs
	Gap              int            // columns between two panes
	Side             layout.Rect    // area of the list of sessions beside a single pane; zero width: none
	single           bool           // only one of several panes is shown, for lack of space
	TabsLast         bool           // new tabs go to the end, like tmux's windows
	Focus            string         // session id
	Zoomed           bool
	expected         map[string]bool // started sessions that are not listed yet
	ReadOnly         bool
	Follow           bool
	DisabledAlerts   Alerts // disabled alerts
	visits           visited
	closed           []closedItem
	raised           int       // number of raises of floating panes so far
	now              time.Time // time of the last update
}

// New returns a model of the given sessions, or of all running ones if only is empty.
func New(only []string) Model {
	return Model{
		Only: only, seen: map[string]bool{}, shells: map[string]bool{}, missingSince: map[string]time.Time{},
		Alerts: map[string]Alert{}, awaited: map[string]Session{}, expected: map[string]bool{}, Tabs: []*Tab{{Auto: true}}, Gap: 1,
	}
}

// Update applies a list of sessions.
func (m *Model) Update(u Update, now time.Time) {
	m.now = now
	if u.Unavailable != "" && m.Unavailable == "" {
		m.UnavailableSince = now
	}
	m.Unavailable = u.Unavailable
	if u.Unavailable != "" {
		return // what was known stays on the screen
	}
	if m.Loaded {
		m.raiseAlerts(u.Sessions, now)
	} else {
		m.raiseInitialAlerts(u.Sessions, now)
	}
	m.Sessions, m.Loaded, m.Unreachable = m.withAwaited(&u), true, u.Unreachable
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

// Expect records a session that was just started, so that it is shown before it is listed.
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

// Unexpect forgets a session that was started.
func (m *Model) Unexpect(id string) {
	delete(m.expected, id)
	m.refocus()
}

// HasUnreachedHost reports whether a host has not answered since the viewer started.
func (m *Model) HasUnreachedHost() bool {
	return slices.ContainsFunc(m.Unreachable, func(c Unreachable) bool { return c.NeverReached })
}

// Tick removes sessions that have not been listed for some time.
func (m *Model) Tick(now time.Time) {
	m.now = now
	if len(m.missingSince) > 0 {
		m.prune(now)
		m.refocus()
	}
}

// IsShell reports whether a session is known to be a user's shell.
func (m *Model) IsShell(id string) bool { return m.shells[id] }

// Number returns a session's displayed number, from 1.
func (m *Model) Number(id string) int { return slices.Index(m.ShownPanes(), id) + 1 }

// Session returns a session by its id, or nil.
func (m *Model) Session(id string) *Session {
	for i := range m.Sessions {
		if m.Sessions[i].ID == id {
			return &m.Sessions[i]
		}
	}
	return nil
}

// Visible returns the ids that a tab of all sessions shows, in order: the configured sessions, or those that run or
// ended while the viewer was open.
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

// ShownPanes returns the ids of the current tab, in order; floating panes come last, even if hidden.
func (m *Model) ShownPanes() []string { return m.withFloats(m.SessionsOf(m.Tab()), m.Pinned) }

// SessionsOf returns the ids of a tab's sessions, in order, without pinned panes.
func (m *Model) SessionsOf(t *Tab) []string { return m.withFloats(m.TiledPanes(t), t.Floats) }

func (m *Model) withFloats(ids []string, list []layout.Float) []string {
	for i := range list {
		if id := list[i].Session; m.known(id) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// known reports whether a session is listed or expected.
func (m *Model) known(id string) bool { return m.expected[id] || m.Session(id) != nil }

// onScreen reports whether a session is on the screen.
func (m *Model) onScreen(id string) bool {
	return slices.ContainsFunc(m.Places, func(p layout.Place) bool { return p.Session == id })
}

// SessionAt returns the session at a position on the screen, or "".
func (m *Model) SessionAt(x, y int) string {
	for i := len(m.Places) - 1; i >= 0; i-- { // the topmost
		if m.Places[i].Area.Contains(x, y) {
			return m.Places[i].Session
		}
	}
	return ""
}

// Running reports whether a session accepts input.
func (m *Model) Running(id string) bool {
	s := m.Session(id)
	return s != nil && s.State == StateRunning
}

// refocus moves the focus to a visible session if needed.
func (m *Model) refocus() {
	ids := m.ShownPanes()
	if slices.Contains(ids, m.Focus) || m.expected[m.Focus] {
		return
	}
	m.Focus, m.Zoomed = "", false
	if tiled := m.TiledPanes(m.Tab()); len(tiled) > 0 {
		m.Focus = tiled[len(tiled)-1]
	}
}

// Step moves the focus by n sessions, cyclically.
func (m *Model) Step(n int) {
	ids := m.ShownPanes()
	if i := slices.Index(ids, m.Focus); i >= 0 {
		m.Focus = ids[(i+n+len(ids))%len(ids)]
	}
}

// Pick moves the focus to the n-th session, from 0.
func (m *Model) Pick(n int) {
	if ids := m.ShownPanes(); n < len(ids) {
		m.Focus = ids[n]
	}
}

// Toward moves the focus to the nearest session on the screen in a direction.
func (m *Model) Toward(dx, dy int) {
	switch {
	case m.Side.W > 0:
		m.Step(dy)
		return
	case m.single:
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
