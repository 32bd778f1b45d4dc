package view

import (
	"slices"
	"time"

	"github.com/longterm-dev/longterm/render/view/layout"
)

// model is everything that is shown. The viewer's goroutine owns it.
type model struct {
	sessions  []Session
	loaded    bool   // sessions were heard of
	away      string // why the source is away
	awaySince time.Time
	only      []string        // ids to show; empty: all
	seen      map[string]bool // sessions that ran while the viewer was there: they stay when they end
	shells    map[string]bool // sessions that are known to be a person's shell
	gone      map[string]time.Time
	alerts    map[string]alert
	tabs      []*tab
	current   int            // tab
	places    []layout.Place // on the screen, in reading order
	focus     string         // session id
	zoomed    bool
	expected  map[string]bool // sessions just made: they are not in the list yet
	readOnly  bool
	follow    bool
	quiet     Alerts // what is no alert
}

func newModel(only []string) model {
	return model{
		only: only, seen: map[string]bool{}, shells: map[string]bool{}, gone: map[string]time.Time{},
		alerts: map[string]alert{}, expected: map[string]bool{}, tabs: []*tab{{auto: true}},
	}
}

// update takes a list of sessions.
func (m *model) update(u Update, now time.Time) {
	if u.Away != "" && m.away == "" {
		m.awaySince = now
	}
	m.away = u.Away
	if u.Away != "" {
		return // what was known stays on the screen
	}
	if m.loaded {
		m.notice(u.Sessions, now)
	}
	m.sessions, m.loaded = u.Sessions, true
	for i := range m.sessions {
		s := &m.sessions[i]
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

// expect notes a session that was just started: it is shown before it is listed.
func (m *model) expect(id string) {
	if len(m.only) > 0 {
		m.only = append(m.only, id)
	}
	m.seen[id] = true
	if m.session(id) == nil {
		m.expected[id] = true
	}
}

// tick lets time pass: what has not been listed for long is given up.
func (m *model) tick(now time.Time) {
	if len(m.gone) > 0 {
		m.prune(now)
		m.refocus()
	}
}

// isShell reports whether a session is known to be a person's shell.
func (m *model) isShell(id string) bool { return m.shells[id] }

// number is a session's number for people, from 1.
func (m *model) number(id string) int { return slices.Index(m.shown(), id) + 1 }

func (m *model) session(id string) *Session {
	for i := range m.sessions {
		if m.sessions[i].ID == id {
			return &m.sessions[i]
		}
	}
	return nil
}

// visible are the ids that a tab of all sessions shows, in order: the sessions asked for,
// or those that run and those that were seen ending.
func (m *model) visible() []string {
	var ids []string
	for i := range m.sessions {
		id := m.sessions[i].ID
		shown, known := m.seen[id]
		if len(m.only) > 0 {
			shown = slices.Contains(m.only, id) && (shown || !known)
		}
		if shown {
			ids = append(ids, id)
		}
	}
	return ids
}

// shown are the ids of the current tab, in order.
func (m *model) shown() []string {
	if t := m.tab(); !t.auto {
		return t.tree.Sessions()
	}
	return m.visible()
}

// onScreen reports whether a session is on the screen.
func (m *model) onScreen(id string) bool {
	return slices.ContainsFunc(m.places, func(p layout.Place) bool { return p.Session == id })
}

// running reports whether a session takes input.
func (m *model) running(id string) bool {
	s := m.session(id)
	return s != nil && s.State == StateRunning
}

// refocus keeps the focus on something that is shown.
func (m *model) refocus() {
	ids := m.shown()
	if slices.Contains(ids, m.focus) || m.expected[m.focus] {
		return
	}
	m.focus, m.zoomed = "", false
	if len(ids) > 0 {
		m.focus = ids[len(ids)-1]
	}
}

// step moves the focus by n sessions, round and round.
func (m *model) step(n int) {
	ids := m.shown()
	if i := slices.Index(ids, m.focus); i >= 0 {
		m.focus = ids[(i+n+len(ids))%len(ids)]
	}
}

// pick moves the focus to the n-th session, from 0.
func (m *model) pick(n int) {
	if ids := m.shown(); n < len(ids) {
		m.focus = ids[n]
	}
}

// toward moves the focus to the nearest session on the screen in a direction.
func (m *model) toward(dx, dy int) {
	from := slices.IndexFunc(m.places, func(p layout.Place) bool { return p.Session == m.focus })
	if from < 0 {
		return
	}
	cx, cy := m.places[from].Area.Center()
	best, bestDistance := -1, 0
	for i := range m.places {
		x, y := m.places[i].Area.Center()
		along := (x-cx)*dx + (y-cy)*dy*layout.CellAspect
		across := (x-cx)*dy + (y-cy)*dx*layout.CellAspect
		if i == from || along <= 0 {
			continue
		}
		if d := along + 2*max(across, -across); best < 0 || d < bestDistance {
			best, bestDistance = i, d
		}
	}
	if best >= 0 {
		m.focus = m.places[best].Session
	}
}
