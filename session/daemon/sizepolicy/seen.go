//go:build unix

package sizepolicy

import (
	"cmp"
	"slices"
	"time"
)

// Typed notes that a client wants to type now, and says whether it may; at the zero time nothing is noted.
func (st *Clients) Typed(s *Client, now time.Time) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s.held || s.Is.Looks {
		return false
	}
	if !now.IsZero() {
		s.typed = now
	}
	return true
}

// Seen lists the clients in the order in which they came.
func (st *Clients) Seen() []Seen {
	st.mu.Lock()
	defer st.mu.Unlock()
	list := make([]Seen, 0, len(st.clients))
	for s := range st.clients {
		list = append(list, Seen{Identity: s.Is, N: s.n, Cols: s.Cols, Rows: s.Rows, Held: s.held, Typed: s.typed, Inside: s.Inside})
	}
	slices.SortFunc(list, func(a, b Seen) int { return cmp.Compare(a.N, b.N) })
	return list
}

// Hold has the client of a number look only, or type again, and says who it is. What it asked for itself stays.
func (st *Clients) Hold(n int, looks bool) (is Identity, known bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.byNumberLocked(n)
	if s == nil {
		return Identity{}, false
	}
	s.held = looks
	return s.Is, true
}

// Detach has the client of a number leave. known: there is one; asked: it can be asked to.
func (st *Clients) Detach(n int) (known, asked bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.byNumberLocked(n)
	if s == nil {
		return false, false
	}
	if s.detach != nil {
		s.detach()
	}
	return true, s.detach != nil
}

func (st *Clients) byNumberLocked(n int) *Client {
	for s := range st.clients {
		if s.n == n {
			return s
		}
	}
	return nil
}
