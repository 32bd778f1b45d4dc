//go:build unix

package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/longterm-dev/longterm/session/api"
)

// completionsQuery selects where a stream of completions starts.
type completionsQuery struct {
	SubscriptionPath
	After  uint64 `query:"after" doc:"cursor of the last received message; later completions follow, starting with the first unacknowledged one"`
	LastID string `header:"Last-Event-ID" doc:"same as after, sent by browsers on reconnect"`
	Reader string `query:"reader" doc:"name of the reader; other readers are rejected while it reads" maxLength:"64"`
	Take   bool   `query:"take" doc:"replace the current reader"`
}

// position returns the client's cursor, 0 if it sent none. A reconnecting browser sends both its last event and the
// original address.
func (q *completionsQuery) position() uint64 {
	n, _ := strconv.ParseUint(q.LastID, 10, 64)
	return max(q.After, n)
}

const (
	// keepAliveInterval is the interval of keep-alive messages.
	keepAliveInterval = 20 * time.Second
	// streamWriteTimeout limits the write of a message; a slow reader's stream ends.
	streamWriteTimeout = 10 * time.Second
)

// streamCompletions is readCompletions as server-sent events (WHATWG HTML §9.2). Each message holds the completions
// since the previous one; its id is the cursor at which a reconnecting reader continues. The first message is sent at
// once, even if empty. It acknowledges nothing. The stream ends when the subscription is removed, another reader takes
// it, or the daemon is replaced.
func (s *Server) streamCompletions(ctx context.Context, in *completionsQuery) (*huma.StreamResponse, error) {
	if in.Reader != "" || in.Take { // as a request that reads does it: another reader is refused by it
		none := func(string) string { return "" }
		err := s.permit(ctx, routeOf["read-completions"], none, none)
		noteCall(ctx, routeOf["stream-completions"], none) // which it still is
		if err != nil {
			return nil, err
		}
	}
	subs := s.daemon.Subscriptions()
	ask := api.ReadCompletions{Reader: in.Reader, Take: in.Take, After: in.position()}
	c, err := subs.Read(ctx, in.Subscription, ask)
	if err != nil {
		return nil, err
	}
	return &huma.StreamResponse{Body: func(h huma.Context) {
		ctx := h.Context()
		h.SetHeader("Content-Type", "text/event-stream")
		h.SetHeader("Cache-Control", "no-store")
		w, ok := h.BodyWriter().(http.ResponseWriter)
		if !ok {
			return // every server of ours has one
		}
		ask.Take, ask.WaitMS = false, int(keepAliveInterval.Milliseconds())
		for first := true; err == nil; first = false {
			message := []byte(":\n\n") // a comment
			if first || len(c.Completions) > 0 || c.Lost > 0 {
				s.prepareAnswer(ctx, &c)
				data, err := json.Marshal(c)
				if err != nil {
					return
				}
				message = fmt.Appendf(nil, "id: %d\ndata: %s\n\n", c.Cursor, data)
			}
			out := http.NewResponseController(w)
			_ = out.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // only tests have none
			if _, err := w.Write(message); err != nil || out.Flush() != nil {
				return
			}
			ask.After = c.Cursor
			c, err = subs.Read(ctx, in.Subscription, ask)
		}
	}}, nil
}
