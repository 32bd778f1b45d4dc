//go:build unix

package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// watcher publishes changes of subscribed resources. It listens to daemon events only while subscriptions exist. After
// a daemon restart it reconnects and treats everything as changed, so that nothing is missed.
type watcher struct {
	c      *client.Client
	log    *slog.Logger
	update func(uri string) // called with a changed resource

	tailing sync.WaitGroup // running tailCompletions

	mu     sync.Mutex
	uris   map[string]*subscription
	cancel context.CancelFunc // nil: not listening
	done   chan struct{}
	closed bool
}

// subscription is a resource that clients subscribed to.
type subscription struct {
	count         int    // number of subscribers
	session       string // id; empty for any
	part          string // part of the session: output, screen, command
	noticePending bool   // a notice is scheduled

	tailed string             // a daemon subscription whose completions are published; "": none
	stop   context.CancelFunc // ends tailCompletions
}

// newWatcher returns a watcher without subscriptions. It calls update with each changed URI.
func newWatcher(c *client.Client, log *slog.Logger, update func(uri string)) *watcher {
	return &watcher{c: c, log: log, update: update, uris: map[string]*subscription{}}
}

// maxSubscriptions bounds the concurrent subscriptions.
const maxSubscriptions = 10_000

// add adds a subscription.
func (w *watcher) add(uri string, s subscription) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	if old := w.uris[uri]; old != nil {
		old.count++
		return nil
	}
	if len(w.uris) >= maxSubscriptions {
		return invalidParams("there are %d subscriptions; end some of them", len(w.uris))
	}
	s.count = 1
	w.uris[uri] = &s
	if s.tailed != "" {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		w.tailing.Go(func() { w.tailCompletions(ctx, uri, s.tailed) })
		return nil
	}
	if w.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel, w.done = cancel, make(chan struct{})
		go w.listen(ctx, w.done)
	}
	return nil
}

// unsubscribe removes one subscription of a resource. The last one ends its watch.
func (w *watcher) unsubscribe(uri string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.uris[uri]
	if s == nil {
		return
	}
	if s.count--; s.count > 0 {
		return
	}
	delete(w.uris, uri)
	if s.stop != nil {
		s.stop()
	}
	if len(w.uris) == 0 && w.cancel != nil {
		w.cancel()
		w.cancel = nil
	}
}

// close ends listening, and waits for the goroutines.
func (w *watcher) close() {
	w.mu.Lock()
	w.closed = true
	cancel, done := w.cancel, w.done
	w.cancel = nil
	for _, s := range w.uris {
		if s.stop != nil {
			s.stop()
		}
	}
	w.mu.Unlock()
	defer w.tailing.Wait()
	if cancel != nil {
		cancel()
		<-done
	}
}

// reconnectDelay is the pause before reconnecting to the daemon.
const reconnectDelay = 200 * time.Millisecond

// listen receives daemon events until ctx ends.
func (w *watcher) listen(ctx context.Context, done chan struct{}) {
	defer close(done)
	first := true
	for ctx.Err() == nil {
		err := w.c.EventsWithOutput(ctx, func(e api.Event) error {
			switch {
			case e.Kind == "listening" && !first, e.Kind == "lost":
				w.markChanged("", "")
			case e.Session != nil:
				w.markChanged(e.Session.ID, e.Kind)
			}
			first = false
			return nil
		})
		if ctx.Err() == nil {
			w.log.Debug("events ended", "err", err)
			select {
			case <-ctx.Done():
			case <-time.After(reconnectDelay):
			}
		}
	}
}

// minNoticeInterval is the shortest interval of notices for one resource.
const minNoticeInterval = 200 * time.Millisecond

// outputKinds maps output events to the part of a session that they change.
var outputKinds = map[string]string{"data": "output", "binary": "output", "screen": "screen"}

// markChanged records that a session (empty: any) changed, by an event of a kind.
func (w *watcher) markChanged(session, kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for uri, s := range w.uris {
		part, printed := outputKinds[kind]
		switch {
		case s.tailed != "", s.noticePending, session != "" && s.session != "" && s.session != session:
			continue
		case session != "" && printed && s.part != part && s.part != "recording":
			continue
		case session != "" && s.session == "" && kind != "command":
			continue
		}
		s.noticePending = true
		time.AfterFunc(minNoticeInterval, func() {
			w.mu.Lock()
			still := w.uris[uri] == s && !w.closed
			s.noticePending = false
			w.mu.Unlock()
			if still {
				w.update(uri)
			}
		})
	}
}

// publish notifies the subscribers of a resource.
func (s *Server) publish(uri string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for _, server := range s.levels {
		if err := server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}); err != nil {
			s.options.Log.Debug("publish a change", "uri", uri, "err", err)
		}
	}
}

// subscribe starts notices for a resource.
func (s *Server) subscribe(ctx context.Context, req *sdk.SubscribeRequest, l Level) error {
	uri := req.Params.URI
	if uri == contextURI {
		return s.watch.add(uri, subscription{})
	}
	if name, _, ours, err := parseCompletions(uri); ours {
		if err == nil { // create it first, so that it starts now
			_, err = completions(ctx, s.client(ctx), l, name, api.ReadCompletions{Limit: 1})
		}
		if err != nil {
			return invalidParams("%v", err)
		}
		return s.watch.add(uri, subscription{tailed: name})
	}
	a, err := parseURI(uri)
	if err != nil {
		return invalidParams("%v", err)
	}
	v, err := s.client(ctx).Session(a.session).Info(ctx)
	switch {
	case isNotFound(err):
		return invalidParams("session %s not found; see the tool list", quoteName(a.session))
	case err != nil:
		return invalidParams("%v", err)
	}
	return s.watch.add(uri, subscription{session: v.ID, part: a.part})
}

// unsubscribe ends notices for a resource.
func (s *Server) unsubscribe(_ context.Context, req *sdk.UnsubscribeRequest) error {
	s.watch.unsubscribe(req.Params.URI)
	return nil
}
