//go:build unix

package mcp

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"sync"
)

// Requests are read, decoded and begun by a few at a time, in turn by lanes: one of each client and tool.
// Ten thousand requests at once, of one agent gone wild, keep the processor busy for a while; a screen
// that another asks for, or that it asks for itself, waits for the few that are begun and not for all.
//
//	request → lane of its client and tool → one of the slots → until its tool begins, or it is answered
//
// A slot is given back when a tool begins: what waits for a program holds none.
type lanes struct {
	mu      sync.Mutex
	free    int
	waiting map[string]*lane
	turn    []*lane // those with requests that wait, the next first
	last    uint64
	held    map[uint64]func() // by the number that stands in slotHeader
}

type lane struct {
	name  string
	queue []chan struct{}
}

func newLanes() *lanes {
	return &lanes{free: max(2, runtime.GOMAXPROCS(0)), waiting: map[string]*lane{}, held: map[uint64]func(){}}
}

// enter waits for a slot; the returned function gives it back, once.
func (l *lanes) enter(ctx context.Context, name string) (leave func(), err error) {
	leave = sync.OnceFunc(l.leave)
	l.mu.Lock()
	if l.free > 0 {
		l.free--
		l.mu.Unlock()
		return leave, nil
	}
	q := l.waiting[name]
	if q == nil {
		q = &lane{name: name}
		l.waiting[name] = q
		l.turn = append(l.turn, q)
	}
	mine := make(chan struct{})
	q.queue = append(q.queue, mine)
	l.mu.Unlock()
	select {
	case <-mine:
		return leave, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	given := true
	for i, c := range q.queue {
		if c == mine {
			q.queue = append(q.queue[:i], q.queue[i+1:]...)
			given = false
			break
		}
	}
	l.mu.Unlock()
	if given {
		leave()
	}
	return nil, ctx.Err()
}

// leave gives a slot to the first request of the lane whose turn it is.
func (l *lanes) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.turn) > 0 {
		q := l.turn[0]
		l.turn = l.turn[1:]
		if len(q.queue) == 0 {
			delete(l.waiting, q.name)
			continue
		}
		next := q.queue[0]
		if q.queue = q.queue[1:]; len(q.queue) > 0 {
			l.turn = append(l.turn, q)
		} else {
			delete(l.waiting, q.name)
		}
		close(next)
		return
	}
	l.free++
}

// slotHeader takes a slot's number to where the tool begins: handlers see a request's header, not its
// context. A client's own is overwritten.
const slotHeader = "Longterm-Slot"

// handler has h answer requests in turn.
func (l *lanes) handler(client func(*http.Request) string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost { // a stream, or the end of a session: nothing to decode
			r.Header.Del(slotHeader)
			h.ServeHTTP(w, r)
			return
		}
		leave, err := l.enter(r.Context(), client(r)+"\x00"+r.Header.Get("Mcp-Session-Id")+"\x00"+r.Header.Get("Mcp-Name"))
		if err != nil {
			return // nobody waits for it any more
		}
		defer leave()
		l.mu.Lock()
		l.last++
		n := l.last
		l.held[n] = leave
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

// begun gives back the slot of the request whose tool begins.
func (l *lanes) begun(header http.Header) {
	n, err := strconv.ParseUint(header.Get(slotHeader), 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	leave := l.held[n]
	l.mu.Unlock()
	if leave != nil {
		leave()
	}
}
