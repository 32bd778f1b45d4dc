package model

import "slices"

// visited is where the person was before.
type visited struct{ now, before *Tab }

// Visit notes where the focus is; it is called for every frame.
func (m *Model) Visit() {
	t := m.Tab()
	if t != m.visits.now {
		m.visits = visited{now: t, before: m.visits.now}
	}
	if m.Focus != t.at {
		t.at, t.last = m.Focus, t.at
	}
}

// Last moves the focus to the pane of this tab that had it before; false: there is none.
func (m *Model) Last() bool {
	if last := m.Tab().last; last != "" && slices.Contains(m.Shown(), last) {
		m.Focus = last
		return true
	}
	return false
}

// LastTab shows the tab that was shown before; false: there is none.
func (m *Model) LastTab() bool {
	i := slices.Index(m.Tabs, m.visits.before)
	m.Show(i)
	return i >= 0
}
