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

// completionsQuery says from where on a subscription's completions are streamed.
type completionsQuery struct {
	SubscriptionPath
	After  uint64 `query:"after" doc:"cursor of the last message that was seen; those after it come, or all that were not acknowledged, if that is later"`
	LastID string `header:"Last-Event-ID" doc:"the same, as browsers and other readers of event streams send it"`
	Reader string `query:"reader" doc:"who reads: another one is refused meanwhile" maxLength:"64"`
	Take   bool   `query:"take" doc:"become the reader, whoever was it"`
}

// seen is the cursor that the client has; what is no number is of no subscription. A browser that comes again sends what
// it saw, and the address that it began with.
func (q *completionsQuery) seen() uint64 {
	n, _ := strconv.ParseUint(q.LastID, 10, 64)
	return max(q.After, n)
}

const (
	// quietTime is how long a stream has nothing to tell until it says that it is there.
	quietTime = 20 * time.Second
	// streamWrite bounds the writing of a message: who reads no more has its stream ended.
	streamWrite = 10 * time.Second
)

// streamCompletions is readCompletions as server-sent events (WHATWG HTML §9.2): a message has what came since the one
// before, and its cursor as id, which is where a reader that comes again goes on. The first comes at once, also with
// nothing in it. Nothing is acknowledged by it. The stream ends when the subscription is removed or taken by another, or
// the daemon is replaced; who asks again is told which.
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
	ask := api.ReadCompletions{Reader: in.Reader, Take: in.Take, After: in.seen()}
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
		ask.Take, ask.WaitMS = false, int(quietTime.Milliseconds())
		for first := true; err == nil; first = false {
			message := []byte(":\n\n") // a comment
			if first || len(c.Completions) > 0 || c.Lost > 0 {
				s.hand(ctx, &c)
				data, err := json.Marshal(c)
				if err != nil {
					return
				}
				message = fmt.Appendf(nil, "id: %d\ndata: %s\n\n", c.Cursor, data)
			}
			out := http.NewResponseController(w)
			_ = out.SetWriteDeadline(time.Now().Add(streamWrite)) // what has none is a test's
			if _, err := w.Write(message); err != nil || out.Flush() != nil {
				return
			}
			ask.After = c.Cursor
			c, err = subs.Read(ctx, in.Subscription, ask)
		}
	}}, nil
}
