//go:build unix

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/session/fairsched"
	"github.com/longterm-dev/longterm/session/sys"
)

// scheduling schedules requests by client and tool, and within that by protocol session. Read-only tools have their own
// slots, so that others never block them. A call waits for limitCalls or the daemon without a slot.
type scheduling struct {
	reads, others *fairsched.Scheduler // schedulers of read-only tools, and of all others

	mu         sync.Mutex
	lastNumber uint64                     // number of the newest slot
	slots      map[uint64]*fairsched.Slot // by the number in slotHeader
}

// newScheduling returns the schedulers without requests.
func newScheduling() *scheduling {
	n := runtime.GOMAXPROCS(0)
	return &scheduling{reads: fairsched.New(max(2, n)).Crowds(max(1, n/2)), others: fairsched.New(max(1, n/2)), slots: map[uint64]*fairsched.Slot{}}
}

// Listener makes a server, before it serves, schedule the requests of a listener.
func (s *Server) Listener(server *http.Server, l net.Listener) net.Listener {
	most, _, err := sys.DescriptorLimit()
	if err != nil {
		most = 256 // default if the limit is unknown
	}
	return fairsched.Listen(server, l, func(request []byte) (in *fairsched.Scheduler, who, lane, line string) {
		name := fairsched.Header(request, "Mcp-Name")
		if name == "" {
			name = toolInMessage(request)
		}
		in, lane = s.scheduling.schedulerFor(name)
		return in, fairsched.Header(request, "Authorization"), lane, ""
	}, fairsched.Refusal("text/plain; charset=utf-8", fairsched.TooMany+"\n"), most)
}

// slotTimeout is how long a request waits for a slot before it fails. The call itself also takes time, and the sum must
// stay below client timeouts.
const slotTimeout = 20 * time.Second

// slotHeader passes a slot's number to the middleware, which sees a request's header, not its context. A header of the
// client is overwritten.
const slotHeader = "Longterm-Slot"

// handler wraps h to answer requests when they have a slot.
func (l *scheduling) handler(client func(*http.Request) string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parsed := fairsched.SlotOf(r.Context())
		parsed.End()                     // the caller is known now: wait in its own queue
		if r.Method != http.MethodPost { // a stream, or the end of a session: nothing to decode
			r.Header.Del(slotHeader)
			if r.Method == http.MethodGet {
				fairsched.Listens(r.Context())
			}
			h.ServeHTTP(w, r)
			return
		}
		name := r.Header.Get("Mcp-Name")
		if name == "" {
			name = toolOf(r)
		}
		came := parsed.ArrivedAt()
		if came.IsZero() {
			came = time.Now()
		}
		ctx, cancel := context.WithDeadline(r.Context(), came.Add(slotTimeout))
		s, err := l.begin(ctx, client(r), r.Header.Get("Mcp-Session-Id"), name)
		cancel()
		if err != nil {
			w.Header().Set("Retry-After", "5")
			why := "the request ended before its turn"
			if r.Context().Err() == nil {
				why = "request rejected: too many concurrent requests of this client (waited " + slotTimeout.String() + ")"
			}
			http.Error(w, why+"; not started. Let other calls finish, and use one wait for several jobs", http.StatusServiceUnavailable)
			return
		}
		defer s.End()
		s.ArrivedBefore(came)
		if r.Header.Get("Mcp-Protocol-Version") >= modernVersion && r.Header.Get("Mcp-Method") == "subscriptions/listen" { // without that header it is rejected
			fairsched.Listens(r.Context())
		}
		l.mu.Lock()
		l.lastNumber++
		n := l.lastNumber
		l.slots[n] = s
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.slots, n)
		}()
		r.Header.Set(slotHeader, strconv.FormatUint(n, 10))
		h.ServeHTTP(w, r)
	})
}

// peekBytes is how much of a request's body is searched for the name of its tool.
const peekBytes = 1 << 10

// toolOf returns the tool named in a request body, for older revisions without a header, or "". The body can still be
// read.
func toolOf(r *http.Request) string {
	n := int64(peekBytes)
	if r.ContentLength >= 0 {
		n = min(n, r.ContentLength)
	}
	b := bufio.NewReaderSize(r.Body, peekBytes)
	r.Body = struct {
		io.Reader
		io.Closer
	}{b, r.Body}
	start, _ := b.Peek(int(n)) // the reader of the body gets the same error
	return toolInMessage(start)
}

// toolInMessage returns the first tool named at the start of a message, or "". It only chooses a scheduler: the message
// may mean another tool.
func toolInMessage(message []byte) string {
	for {
		_, rest, is := bytes.Cut(message, []byte(`"name"`))
		if !is {
			return ""
		}
		message = rest
		rest, is = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":"))
		if !is {
			continue
		}
		if rest, is = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`)); !is {
			continue
		}
		name, _, _ := bytes.Cut(rest[:min(len(rest), 32)], []byte(`"`))
		if slices.ContainsFunc(tools, byName(string(name))) {
			return string(name)
		}
	}
}

// schedulerFor returns the scheduler of a tool's calls, and the tool's name. Unknown names, which clients choose
// freely, get none.
func (l *scheduling) schedulerFor(name string) (in *fairsched.Scheduler, lane string) {
	i := slices.IndexFunc(tools, byName(name))
	switch {
	case i < 0:
		return l.others, ""
	case tools[i].mayWait:
		return l.others, name
	}
	return l.reads, name
}

// begin waits for a slot for a request.
func (l *scheduling) begin(ctx context.Context, client, session, tool string) (*fairsched.Slot, error) {
	in, lane := l.schedulerFor(tool)
	return in.Begin(ctx, client+"\x00"+lane, session)
}

// slot returns the slot of a request by its header, or nil.
func (l *scheduling) slot(header http.Header) *fairsched.Slot {
	n, err := strconv.ParseUint(header.Get(slotHeader), 10, 64)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slots[n]
}
