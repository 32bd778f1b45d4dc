//go:build unix

package sizepolicy

import (
	"cmp"
	"slices"
	"time"
)

// MayType reports whether client s may type, and records the time of its input. A zero now records nothing.
func (st *Clients) MayType(s *Client, now time.Time) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s.madeViewOnly || s.Identity.ViewOnly {
		return false
	}
	if !now.IsZero() {
		s.typed = now
	}
	return true
}

// List returns the clients in order of arrival.
func (st *Clients) List() []Info {
	st.mu.Lock()
	defer st.mu.Unlock()
	list := make([]Info, 0, len(st.clients))
	for s := range st.clients {
		list = append(list, Info{Identity: s.Identity, N: s.n, Cols: s.Cols, Rows: s.Rows, MadeViewOnly: s.madeViewOnly, Typed: s.typed, Inside: s.Inside})
	}
	slices.SortFunc(list, func(a, b Info) int { return cmp.Compare(a.N, b.N) })
	return list
}

// SetViewOnly makes client n view-only, or lets it type again, and returns its identity; known is false if no client
// has that number. A client that attached as view-only stays so.
func (st *Clients) SetViewOnly(n int, viewOnly bool) (is Identity, known bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.byNumberLocked(n)
	if s == nil {
		return Identity{}, false
	}
	s.madeViewOnly = viewOnly
	return s.Identity, true
}

// Detach asks client n to leave. known reports whether the client exists, supported whether it handles the request.
func (st *Clients) Detach(n int) (known, supported bool) {
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

// byNumberLocked returns the client with a number, or nil.
func (st *Clients) byNumberLocked(n int) *Client {
	for s := range st.clients {
		if s.n == n {
			return s
		}
	}
	return nil
}
