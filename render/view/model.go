package view

import (
	"slices"
	"time"
)

// mode is what the keyboard does.
type mode uint8

const (
	modeInput   mode = iota // keys go to the focused session
	modePrefix              // the next key is a command
	modeConfirm             // y kills the focused session
	modeHelp                // any key closes the help
)

// model is everything that is shown. The viewer's goroutine owns it.
type model struct {
	sessions []Session
	loaded   bool            // sessions were heard of
	away     string          // why the source is away
	only     []string        // ids to show; empty: all
	seen     map[string]bool // sessions that ran while the viewer was there: they stay when they end
	panes    []*pane         // on the screen, in reading order
	focus    string          // session id
	expected string          // a session just made: gets the focus when it appears
	zoomed   bool
	mode     mode
	message  string // shown until the next key
}

// update takes a list of sessions.
func (m *model) update(u Update) {
	m.away = u.Away
	if u.Away != "" {
		return // what was known stays on the screen
	}
	m.sessions, m.loaded = u.Sessions, true
	for i := range m.sessions {
		if s := &m.sessions[i]; s.State == StateRunning {
			m.seen[s.ID] = true
		}
	}
	m.welcome()
	m.refocus()
}

// welcome gives the focus to a session that was just made, once it is in the list.
func (m *model) welcome() {
	if m.session(m.expected) == nil {
		return
	}
	m.seen[m.expected] = true // it may have ended already
	m.focus, m.expected = m.expected, ""
}

// number is a session's number for people, from 1.
func (m *model) number(id string) int { return slices.Index(m.visible(), id) + 1 }

func (m *model) session(id string) *Session {
	for i := range m.sessions {
		if m.sessions[i].ID == id {
			return &m.sessions[i]
		}
	}
	return nil
}

// visible are the ids to show, in order: the sessions asked for, or those that run and
// those that were seen ending.
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

// dismiss takes an ended session off the screen.
func (m *model) dismiss(id string) {
	m.seen[id] = false
	m.refocus()
}

func (m *model) pane(id string) *pane {
	for _, p := range m.panes {
		if p.id == id {
			return p
		}
	}
	return nil
}

func (m *model) focused() *pane { return m.pane(m.focus) }

// running reports whether a session takes input.
func (m *model) running(id string) bool {
	s := m.session(id)
	return s != nil && s.State == StateRunning
}

// refocus keeps the focus on something that is shown.
func (m *model) refocus() {
	ids := m.visible()
	if slices.Contains(ids, m.focus) {
		return
	}
	m.focus, m.zoomed = "", false
	if len(ids) > 0 {
		m.focus = ids[len(ids)-1]
	}
	if m.mode == modeConfirm { // the question was about the session that went
		m.mode = modeInput
	}
}

// step moves the focus by n sessions, round and round.
func (m *model) step(n int) {
	ids := m.visible()
	if i := slices.Index(ids, m.focus); i >= 0 {
		m.focus = ids[(i+n+len(ids))%len(ids)]
	}
}

// pick moves the focus to the n-th session, from 0.
func (m *model) pick(n int) {
	if ids := m.visible(); n < len(ids) {
		m.focus = ids[n]
	}
}

// toward moves the focus to the nearest pane in a direction.
func (m *model) toward(dx, dy int) {
	from := m.focused()
	if from == nil {
		return
	}
	cx, cy := from.area.center()
	var best *pane
	bestDistance := 0
	for _, p := range m.panes {
		x, y := p.area.center()
		along := (x-cx)*dx + (y-cy)*dy*cellAspect
		across := (x-cx)*dy + (y-cy)*dx*cellAspect
		if p == from || along <= 0 {
			continue
		}
		if d := along + 2*max(across, -across); best == nil || d < bestDistance {
			best, bestDistance = p, d
		}
	}
	if best != nil {
		m.focus = best.id
	}
}

// at is the pane at a position.
func (m *model) at(x, y int) *pane {
	for _, p := range m.panes {
		if p.area.contains(x, y) {
			return p
		}
	}
	return nil
}

// ran is how long a session ran or has been running.
func (s *Session) ran(now time.Time) time.Duration {
	if !s.Ended.IsZero() {
		now = s.Ended
	}
	return max(0, now.Sub(s.Started))
}

// failed reports an end that people should look at.
func (s *Session) failed() bool {
	return s.State != StateRunning && (s.ExitCode == nil || *s.ExitCode != 0)
}
