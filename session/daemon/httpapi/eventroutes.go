//go:build unix

package httpapi

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session/api"
)

// eventsQuery says what is listened for.
type eventsQuery struct {
	Output bool `query:"output" doc:"also what is printed: data, screen and binary events, at most ten of each in a second for a session"`
}

func (s *Server) streamEvents(ctx context.Context, in *eventsQuery, send sse.Sender) {
	var looks <-chan time.Time
	o := newOutputEvents(s.reg)
	if in.Output {
		t := time.NewTicker(outputEvery)
		defer t.Stop()
		looks = t.C
		o.look(time.Now(), func(api.Event) bool { return true })
	}
	tell := func(e api.Event) bool {
		s.veil(ctx).Deep(&e) // titles, lines, questions
		return send.Data(e) == nil
	}
	l := s.reg.Bus.Listen()
	defer s.reg.Bus.Leave(l)
	// From here on nothing is missed: listeners look at everything once now.
	if !tell(api.Event{Kind: "listening"}) {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-l.C:
			if !ok || !tell(e) {
				return
			}
		case now := <-looks:
			if !o.look(now, tell) {
				return
			}
		}
	}
}
