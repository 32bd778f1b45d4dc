package model

import (
	"cmp"
	"slices"
	"strings"
)

// Await has sessions of a layout stand where they stood although nothing was heard of their hosts yet: a viewer that
// begins while a host cannot be reached must not forget how its sessions were arranged.
func (m *Model) Await(f *Layout) {
	sessions := sessionsOf(f.Pinned)
	for i := range f.Tabs {
		sessions = append(append(sessions, f.Tabs[i].Tree.Sessions()...), sessionsOf(f.Tabs[i].Floats)...)
	}
	for _, id := range sessions {
		host, _, ok := strings.Cut(id, "/")
		i := slices.IndexFunc(m.CutOff, func(c CutOff) bool { return c.Never && c.Host == host })
		if !ok || i < 0 || m.Session(id) != nil {
			continue
		}
		s := Session{ID: id, Name: cmp.Or(f.Names[id], id), Host: host, State: StateRunning, Started: m.CutOff[i].Since, CutOff: m.CutOff[i].Since}
		m.awaited[id] = s
		m.Sessions = append(m.Sessions, s)
	}
}

// withAwaited is the list with what is awaited of hosts that nothing was heard of yet. Of others it is known by now.
func (m *Model) withAwaited(u *Update) []Session {
	list := u.Sessions
	for i := range u.CutOff {
		c := &u.CutOff[i]
		if !c.Never {
			continue
		}
		list = append(list, m.awaitedOf(c.Host)...)
	}
	for id, s := range m.awaited {
		if !slices.ContainsFunc(u.CutOff, func(c CutOff) bool { return c.Never && c.Host == s.Host }) {
			delete(m.awaited, id)
		}
	}
	return list
}

func (m *Model) awaitedOf(host string) (list []Session) {
	for _, s := range m.awaited {
		if s.Host == host {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b Session) int { return cmp.Compare(a.ID, b.ID) })
	return list
}
