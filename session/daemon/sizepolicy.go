//go:build unix

package daemon

import "sync"

// SizePolicy says whose size a session takes (R96).
type SizePolicy string

// Size policies, by name.
const (
	SizeLatest   SizePolicy = "latest"   // of the client that was active last
	SizeLargest  SizePolicy = "largest"  // the most columns and rows of any client
	SizeSmallest SizePolicy = "smallest" // the fewest of any client
	SizeFixed    SizePolicy = "fixed"    // clients have no say
	SizeNone     SizePolicy = "none"     // this client has no say
)

// sizePolicies are those a client can ask for.
var sizePolicies = []SizePolicy{"", SizeLatest, SizeLargest, SizeSmallest, SizeFixed, SizeNone}

// seating is the set of clients that look at a session. It is a pure machine behind a
// lock: it says which size the session should have, and sets none. Of several policies
// asked for, that of the client that came last counts, as long as it is there; then the
// session's own.
type seating struct {
	mu     sync.Mutex
	policy SizePolicy // the session's; empty: latest
	seats  map[*seat]struct{}
	turn   uint64
}

// seat is one client's place. A seat without a size (0×0) only watches.
type seat struct {
	cols, rows int
	policy     SizePolicy // asked for; empty: any
	silent     bool       // has no say, whatever its size
	inside     string     // id of the session the client runs in, if any
	came       uint64     // turn
	last       uint64     // turn of its last activity
}

// setPolicy changes whose size counts when no client asks for anything.
func (st *seating) setPolicy(p SizePolicy) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.policy = p
}

// sizePolicy is whose size counts.
func (st *seating) sizePolicy() SizePolicy {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.policyLocked()
}

func (st *seating) sit(s *seat) *seat {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.seats == nil {
		st.seats = map[*seat]struct{}{}
	}
	if s.policy == SizeNone {
		s.cols, s.rows, s.policy, s.silent = 0, 0, "", true
	}
	st.turn++
	s.came, s.last = st.turn, st.turn
	st.seats[s] = struct{}{}
	return s
}

// shownIn lists the sessions that clients of this one run in.
func (st *seating) shownIn() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	var ids []string
	for s := range st.seats {
		if s.inside != "" {
			ids = append(ids, s.inside)
		}
	}
	return ids
}

func (st *seating) policyLocked() SizePolicy {
	var newest *seat
	for s := range st.seats {
		if s.policy != "" && (newest == nil || s.came > newest.came) {
			newest = s
		}
	}
	switch {
	case newest != nil:
		return newest.policy
	case st.policy != "":
		return st.policy
	}
	return SizeLatest
}

func (st *seating) leave(s *seat) (empty bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.seats, s)
	return len(st.seats) == 0
}

// active notes that a client typed or changed its size (cols and rows, unless 0).
func (st *seating) active(s *seat, cols, rows int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.turn++
	s.last = st.turn
	if !s.silent && cols > 0 && rows > 0 {
		s.cols, s.rows = cols, rows
	}
}

func (st *seating) count() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.seats)
}

// ifEmpty calls f when nobody looks.
func (st *seating) ifEmpty(f func()) {
	if st.count() == 0 {
		f()
	}
}

// size is the size the session should have; ok is false when nobody has a say.
func (st *seating) size() (cols, rows int, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	policy := st.policyLocked()
	if policy == SizeFixed {
		return 0, 0, false
	}
	var latest uint64
	for s := range st.seats {
		if s.cols == 0 || s.rows == 0 {
			continue
		}
		switch {
		case !ok:
			cols, rows = s.cols, s.rows
		case policy == SizeLargest:
			cols, rows = max(cols, s.cols), max(rows, s.rows)
		case policy == SizeSmallest:
			cols, rows = min(cols, s.cols), min(rows, s.rows)
		case s.last > latest:
			cols, rows = s.cols, s.rows
		}
		latest = max(latest, s.last)
		ok = true
	}
	return cols, rows, ok
}
