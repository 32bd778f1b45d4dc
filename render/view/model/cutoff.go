package model

import (
	"cmp"
	"slices"
	"strings"
)

// AwaitHosts keeps the places of a layout's sessions on hosts that were not reached yet. A viewer that starts while a host
// is unreachable must not lose the arrangement of its sessions.
func (m *Model) AwaitHosts(f *Layout) {
	sessions := sessionsOf(f.Pinned)
	for i := range f.Tabs {
		sessions = append(append(sessions, f.Tabs[i].Tree.Sessions()...), sessionsOf(f.Tabs[i].Floats)...)
	}
	for _, id := range sessions {
		host, _, ok := strings.Cut(id, "/")
		i := slices.IndexFunc(m.Unreachable, func(c Unreachable) bool { return c.NeverReached && c.Host == host })
		if !ok || i < 0 || m.Session(id) != nil {
			continue
		}
		s := Session{ID: id, Name: cmp.Or(f.Names[id], id), Host: host, State: StateRunning, Started: m.Unreachable[i].Since, UnreachableSince: m.Unreachable[i].Since}
		m.awaited[id] = s
		m.Sessions = append(m.Sessions, s)
	}
}

// withAwaited returns the update's sessions with the awaited ones of hosts that were never reached. It drops awaited
// sessions of all other hosts.
func (m *Model) withAwaited(u *Update) []Session {
	list := u.Sessions
	for i := range u.Unreachable {
		c := &u.Unreachable[i]
		if !c.NeverReached {
			continue
		}
		list = append(list, m.awaitedOf(c.Host)...)
	}
	for id, s := range m.awaited {
		if !slices.ContainsFunc(u.Unreachable, func(c Unreachable) bool { return c.NeverReached && c.Host == s.Host }) {
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
