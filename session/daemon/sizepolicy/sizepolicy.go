//go:build unix

// Package sizepolicy tracks the clients that show a session and derives the size that the session should have (R96).
//
// It knows each client's identity, its size in cells, its size policy and whether it may type. Clients join, report
// their activity and leave; Size returns the resulting size, and the caller resizes the terminal. The package has no
// goroutine: a mutex guards the set.
package sizepolicy

import (
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// Policy selects the client whose size the session takes (R96).
type Policy string

// Size policies, by name.
const (
	Latest   Policy = "latest"   // of the client that was active last
	Largest  Policy = "largest"  // the most columns and rows of any client
	Smallest Policy = "smallest" // the fewest of any client
	Fixed    Policy = "fixed"    // clients do not affect the size
	None     Policy = "none"     // this client does not affect the size
)

// Policies lists the values that a client can request.
var Policies = []Policy{"", Latest, Largest, Smallest, Fixed, None}

// Clients is the set of clients that show a session. It computes the session's size and leaves the resize to its
// caller. If clients request policies, that of the client that joined last counts, for as long as it stays; otherwise
// the session's own policy counts.
type Clients struct {
	mu      sync.Mutex
	policy  Policy // the session's own; latest if empty
	clients map[*Client]struct{}
	clock   uint64    // counts joins and activity
	numbers int       // number of clients so far
	seen    time.Time // when a user's client last joined or left
	onSeen  func(time.Time)
}

// Client is one client of a session. A client without a size (0×0) only watches.
type Client struct {
	Cols, Rows   int
	Policy       Policy   // requested; empty if none
	ignoresSize  bool     // never affects the size
	Inside       []string // ids of the session that the client runs in, if any, and of those that show that session
	Identity     Identity
	n            int       // number among all clients of the session so far
	madeViewOnly bool      // a user made it view-only
	typed        time.Time // time of its last input
	detach       func()    // asks the client to leave; nil if it does not support that
	joined       uint64    // clock value when it joined
	lastActive   uint64    // clock value of its last activity
}

// Identity describes a client to users.
type Identity struct {
	Kind     string // terminal, viewer or page
	By       identity.Actor
	Terminal string // terminal of the client, for example pts/3; empty if unknown
	Since    time.Time
	ViewOnly bool // attached as view-only
}

// Info is one entry of the list of clients.
type Info struct {
	Identity
	N            int
	Cols, Rows   int // 0×0: does not affect the size
	MadeViewOnly bool
	Typed        time.Time // time of its last input; zero: none yet
	Inside       []string
}

// SetPolicy sets the policy that applies if no client requests one.
func (st *Clients) SetPolicy(p Policy) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.policy = p
}

// Policy returns the policy in effect.
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
		s.Cols, s.Rows, s.Policy, s.ignoresSize = 0, 0, "", true
	}
	st.clock++
	st.numbers++
	s.joined, s.lastActive, s.n = st.clock, st.clock, st.numbers
	st.clients[s] = struct{}{}
	st.noteSeen(s)
	return s
}

// OnSeen sets the function that is called when a client of a user comes or leaves. It must not block. Set it before any
// client joins.
func (st *Clients) OnSeen(f func(at time.Time)) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.onSeen = f
}

// noteSeen notes that client c came or left. The caller holds mu.
func (st *Clients) noteSeen(c *Client) {
	if c.Identity.By.IsAgent() {
		return
	}
	st.seen = time.Now()
	if st.onSeen != nil {
		st.onSeen(st.seen)
	}
}

// SeenAt returns when a user's client last showed the session: now if one does, the zero time if none did yet.
func (st *Clients) SeenAt(now time.Time) time.Time {
	st.mu.Lock()
	defer st.mu.Unlock()
	for c := range st.clients {
		if !c.Identity.By.IsAgent() {
			return now
		}
	}
	return st.seen
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

// policyLocked returns the policy in effect. The caller holds mu.
func (st *Clients) policyLocked() Policy {
	var newest *Client
	for s := range st.clients {
		if s.Policy != "" && !s.madeViewOnly && (newest == nil || s.joined > newest.joined) {
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

// OnDetach sets the function that asks client c to leave. It must not block.
func (st *Clients) OnDetach(c *Client, detach func()) {
	st.mu.Lock()
	defer st.mu.Unlock()
	c.detach = detach
}

// DetachOthers asks every client except own to leave and returns how many support that.
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

// Leave removes a client and reports whether it was the last.
func (st *Clients) Leave(s *Client) (empty bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if _, here := st.clients[s]; here {
		st.noteSeen(s)
	}
	delete(st.clients, s)
	return len(st.clients) == 0
}

// NoteActivity notes that a client typed or changed its size (cols and rows, unless 0).
func (st *Clients) NoteActivity(s *Client, cols, rows int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.clock++
	s.lastActive = st.clock
	if !s.ignoresSize && cols > 0 && rows > 0 {
		s.Cols, s.Rows = cols, rows
	}
}

// Count returns the number of clients.
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

// Size returns the size that the session should have. ok is false if no client affects it.
func (st *Clients) Size() (cols, rows int, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	policy := st.policyLocked()
	if policy == Fixed {
		return 0, 0, false
	}
	var latest uint64
	for s := range st.clients {
		if s.Cols == 0 || s.Rows == 0 || s.madeViewOnly {
			continue
		}
		switch {
		case !ok:
			cols, rows = s.Cols, s.Rows
		case policy == Largest:
			cols, rows = max(cols, s.Cols), max(rows, s.Rows)
		case policy == Smallest:
			cols, rows = min(cols, s.Cols), min(rows, s.Rows)
		case s.lastActive > latest:
			cols, rows = s.Cols, s.Rows
		}
		latest = max(latest, s.lastActive)
		ok = true
	}
	return cols, rows, ok
}
