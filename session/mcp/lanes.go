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

	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/session/turns"
)

// lanes has requests worked on in turn by lanes: one of each client and tool, in which those of each session of the
// protocol take turns. Tools that only look have slots of their own, so that they are behind none that do more. What a call
// waits for, a place or the daemon, it waits for without a slot.
type lanes struct {
	looks, others *turns.Turns

	mu   sync.Mutex
	last uint64
	held map[uint64]*turns.Slot // by the number that stands in slotHeader
}

func newLanes() *lanes {
	n := runtime.GOMAXPROCS(0)
	return &lanes{looks: turns.New(max(2, n)).Crowds(max(1, n/2)), others: turns.New(max(1, n/2)), held: map[uint64]*turns.Slot{}}
}

// Listener has a server that is not serving yet take its requests from a listener in turn, too.
func (s *Server) Listener(server *http.Server, l net.Listener) net.Listener {
	most, _, err := sys.DescriptorLimit()
	if err != nil {
		most = 256 // what there is where nobody says
	}
	return turns.Listen(server, l, func(request []byte) (in *turns.Turns, who, lane, line string) {
		name := turns.Header(request, "Mcp-Name")
		if name == "" {
			name = toolIn(request)
		}
		in, lane = s.lanes.of(name)
		return in, turns.Header(request, "Authorization"), lane, ""
	}, turns.Refusal("text/plain; charset=utf-8", turns.TooMany+"\n"), most)
}

// turnTime is how long a request waits for its turn, before it is told so: what it asks for may take a while, too, and the whole
// stays below what clients wait for.
const turnTime = 20 * time.Second

// slotHeader takes a slot's number to the middleware: that sees a request's header, not its context. A client's own is
// overwritten.
const slotHeader = "Longterm-Slot"

// handler has h answer requests in turn.
func (l *lanes) handler(client func(*http.Request) string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		parsed := turns.Taken(r.Context())
		parsed.End()                     // whose it is is known now, and it takes its turn with that one's
		if r.Method != http.MethodPost { // a stream, or the end of a session: nothing to decode
			r.Header.Del(slotHeader)
			if r.Method == http.MethodGet {
				turns.Listens(r.Context())
			}
			h.ServeHTTP(w, r)
			return
		}
		name := r.Header.Get("Mcp-Name")
		if name == "" {
			name = toolOf(r)
		}
		came := parsed.Came()
		if came.IsZero() {
			came = time.Now()
		}
		ctx, cancel := context.WithDeadline(r.Context(), came.Add(turnTime))
		s, err := l.begin(ctx, client(r), r.Header.Get("Mcp-Session-Id"), name)
		cancel()
		if err != nil {
			w.Header().Set("Retry-After", "5")
			why := "the request ended before its turn"
			if r.Context().Err() == nil {
				why = "there are too many requests of this client at once, and for " + turnTime.String() + " it was not this one's turn"
			}
			http.Error(w, why+"; nothing was done for it. Wait for others to be answered, and call wait once for several jobs", http.StatusServiceUnavailable)
			return
		}
		defer s.End()
		s.CameBefore(came)
		if r.Header.Get("Mcp-Protocol-Version") >= modernVersion && r.Header.Get("Mcp-Method") == "subscriptions/listen" { // one that does not mean it is refused
			turns.Listens(r.Context())
		}
		l.mu.Lock()
		l.last++
		n := l.last
		l.held[n] = s
		l.mu.Unlock()
		defer func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			delete(l.held, n)
		}()
		r.Header.Set(slotHeader, strconv.FormatUint(n, 10))
		h.ServeHTTP(w, r)
	})
}

// peeked is how much of a request's body is looked at for the tool that it names.
const peeked = 1 << 10

// toolOf is the tool that a request names which says it in no header, as those of the older revisions; empty: none was found.
// The body is read as before.
func toolOf(r *http.Request) string {
	n := int64(peeked)
	if r.ContentLength >= 0 {
		n = min(n, r.ContentLength)
	}
	b := bufio.NewReaderSize(r.Body, peeked)
	r.Body = struct {
		io.Reader
		io.Closer
	}{b, r.Body}
	start, _ := b.Peek(int(n)) // what fails does so again for who reads it
	return toolIn(start)
}

// toolIn is the first tool that the beginning of a message names; empty: none. It chooses a lane and decides nothing else: the
// message may mean another one.
func toolIn(message []byte) string {
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
		if slices.ContainsFunc(tools, named(string(name))) {
			return string(name)
		}
	}
}

// of are the turns of a tool's calls, and its name. What is no tool has none: names are the client's to make up.
func (l *lanes) of(name string) (in *turns.Turns, lane string) {
	i := slices.IndexFunc(tools, named(name))
	switch {
	case i < 0:
		return l.others, ""
	case tools[i].waits:
		return l.others, name
	}
	return l.looks, name
}

// begin waits for a slot for a request.
func (l *lanes) begin(ctx context.Context, client, session, tool string) (*turns.Slot, error) {
	in, lane := l.of(tool)
	return in.Begin(ctx, client+"\x00"+lane, session)
}

// slot is the slot of a request by its header; nil: it came without.
func (l *lanes) slot(header http.Header) *turns.Slot {
	n, err := strconv.ParseUint(header.Get(slotHeader), 10, 64)
	if err != nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held[n]
}
