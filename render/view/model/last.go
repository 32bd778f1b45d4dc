package model

import "slices"

// visited holds the current and the previous tab.
type visited struct{ current, previous *Tab }

// Visit records the focus. It is called for every frame.
func (m *Model) Visit() {
	t := m.Tab()
	if t != m.visits.current {
		m.visits = visited{current: t, previous: m.visits.current}
	}
	if m.Focus != t.focusNow {
		t.focusNow, t.focusBefore = m.Focus, t.focusNow
	}
}

// Last moves the focus to the previously focused pane of this tab. It returns false if none exists.
func (m *Model) Last() bool {
	if last := m.Tab().focusBefore; last != "" && slices.Contains(m.ShownPanes(), last) {
		m.Focus = last
		return true
	}
	return false
}

// LastTab shows the previously shown tab. It returns false if none exists.
func (m *Model) LastTab() bool {
	i := slices.Index(m.Tabs, m.visits.previous)
	m.Show(i)
	return i >= 0
}
