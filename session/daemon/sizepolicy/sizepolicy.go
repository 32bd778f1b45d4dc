//go:build unix

// Package sizepolicy says which size a session should have, of the clients that look at it (R96), who those are and
// which of them may type. It is a pure machine behind a lock: it knows sizes and turns, and sets none. Sizes are in cells.
package sizepolicy

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/actor"
)

// Policy says whose size a session takes (R96).
type Policy string

// Size policies, by name.
const (
	Latest   Policy = "latest"   // of the client that was active last
	Largest  Policy = "largest"  // the most columns and rows of any client
	Smallest Policy = "smallest" // the fewest of any client
	Fixed    Policy = "fixed"    // clients have no say
	None     Policy = "none"     // this client has no say
)

// Policies are those a client can ask for.
var Policies = []Policy{"", Latest, Largest, Smallest, Fixed, None}

// Clients is the set of clients that look at a session. It is a pure machine behind a
// lock: it says which size the session should have, and sets none. Of several policies
// asked for, that of the client that came last counts, as long as it is there; then the
// session's own.
type Clients struct {
	mu      sync.Mutex
	policy  Policy // the session's; empty: latest
	clients map[*Client]struct{}
	turn    uint64
	numbers int // that clients were given
}

// Client is one client's place. A seat without a size (0×0) only watches.
type Client struct {
	Cols, Rows int
	Policy     Policy   // asked for; empty: any
	silent     bool     // has no say, whatever its size
	Inside     []string // ids of the session the client runs in, if any, and of those known to show that one
	Is         Identity
	n          int       // its number, of those that were ever here
	held       bool      // a person has it look only
	typed      time.Time // when it typed last
	detach     func()    // has it leave; nil: it cannot be asked to
	came       uint64    // turn
	last       uint64    // turn of its last activity
}

// Identity is who a client is, for people.
type Identity struct {
	Kind     string // terminal, viewer or page
	By       actor.Actor
	Terminal string // that it runs on, as in pts/3; empty: none that is known
	Since    time.Time
	Looks    bool // it cannot type, whoever allows it
}

// Seen is a client as it is told of.
type Seen struct {
	Identity
	N          int
	Cols, Rows int // 0×0: it has no say
	Held       bool
	Typed      time.Time // zero: it has not
	Inside     []string
}

// SetPolicy changes whose size counts when no client asks for anything.
func (st *Clients) SetPolicy(p Policy) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.policy = p
}

// Policy is whose size counts.
func (st *Clients) Policy() Policy {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.policyLocked()
}

// Join adds a client, which is the newest.
func (st *Clients) Join(s *Client) *Client {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.clients == nil {
		st.clients = map[*Client]struct{}{}
	}
	if s.Policy == None {
		s.Cols, s.Rows, s.Policy, s.silent = 0, 0, "", true
	}
	st.turn++
	st.numbers++
	s.came, s.last, s.n = st.turn, st.turn, st.numbers
	st.clients[s] = struct{}{}
	return s
}

// ShownIn lists the sessions that clients of this one run in, or are shown in.
func (st *Clients) ShownIn() []string {
	st.mu.Lock()
	defer st.mu.Unlock()
	var ids []string
	for s := range st.clients {
		ids = append(ids, s.Inside...)
	}
	return ids
}

func (st *Clients) policyLocked() Policy {
	var newest *Client
	for s := range st.clients {
		if s.Policy != "" && !s.held && (newest == nil || s.came > newest.came) {
			newest = s
		}
	}
	switch {
	case newest != nil:
		return newest.Policy
	case st.policy != "":
		return st.policy
	}
	return Latest
}

// MayDetach says how a client is had leave. detach does not wait.
func (st *Clients) MayDetach(c *Client, detach func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	c.detach = detach
}

// DetachOthers has every other client leave that can be asked to, and says how many those are.
func (st *Clients) DetachOthers(own *Client) (n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for c := range st.clients {
		if c != own && c.detach != nil {
			c.detach()
			n++
		}
	}
	return n
}

// Leave takes a client away, and says whether it was the last.
func (st *Clients) Leave(s *Client) (empty bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.clients, s)
	return len(st.clients) == 0
}

// Active notes that a client typed or changed its size (cols and rows, unless 0).
func (st *Clients) Active(s *Client, cols, rows int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.turn++
	s.last = st.turn
	if !s.silent && cols > 0 && rows > 0 {
		s.Cols, s.Rows = cols, rows
	}
}

// Count is how many clients there are.
func (st *Clients) Count() int {
	st.mu.Lock()
	defer st.mu.Unlock()
	return len(st.clients)
}

// IfEmpty calls f when no client shows the session.
func (st *Clients) IfEmpty(f func()) {
	if st.Count() == 0 {
		f()
	}
}

// Size is the size the session should have; ok is false when no client has a say.
func (st *Clients) Size() (cols, rows int, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	policy := st.policyLocked()
	if policy == Fixed {
		return 0, 0, false
	}
	var latest uint64
	for s := range st.clients {
		if s.Cols == 0 || s.Rows == 0 || s.held {
			continue
		}
		switch {
		case !ok:
			cols, rows = s.Cols, s.Rows
		case policy == Largest:
			cols, rows = max(cols, s.Cols), max(rows, s.Rows)
		case policy == Smallest:
			cols, rows = min(cols, s.Cols), min(rows, s.Rows)
		case s.last > latest:
			cols, rows = s.Cols, s.Rows
		}
		latest = max(latest, s.last)
		ok = true
	}
	return cols, rows, ok
}
