//go:build unix

package httpapi

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/capture"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// eventsQuery says what is listened for.
type eventsQuery struct {
	Output bool   `query:"output" doc:"also what is printed: data, screen and binary events, at most ten of each in a second for a session"`
	After  uint64 `query:"after" doc:"seq of the last event that was seen: what happened since is told first; where that is not known any more, a lost event comes instead"`
	LastID string `header:"Last-Event-ID" doc:"the same, as browsers and other readers of event streams send it"`
}

// seen is the number of the last event that the client saw; what is no number is of no daemon.
func (q *eventsQuery) seen() uint64 {
	if q.After > 0 {
		return q.After
	}
	n, _ := strconv.ParseUint(q.LastID, 10, 64)
	return n
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
		if !s.showsEvent(ctx, &e) {
			return true
		}
		s.hand(ctx, &e) // titles, lines, questions
		// What is printed has no number, and is no place to go on from.
		return send(sse.Message{ID: int(e.Seq), Data: e}) == nil
	}
	begin := api.Event{Kind: "listening"}
	l, newest := s.reg.Bus.Begin()
	var missed []api.Event
	if begin.Seq = newest; in.After > 0 || in.LastID != "" {
		s.reg.Bus.Leave(l)
		begin.Seq = in.seen()
		l, missed, _ = s.reg.Bus.Resume(begin.Seq)
	}
	defer s.reg.Bus.Leave(l)
	// From here on nothing is missed: listeners look at everything once now, unless they come again.
	if !tell(begin) {
		return
	}
	for _, e := range missed {
		if !tell(e) {
			return
		}
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

// showsEvent says whether whoever listens may see an event: one with a token for a session sees that one's only.
func (s *Server) showsEvent(ctx context.Context, e *api.Event) bool {
	switch {
	case e.Session != nil:
		g := grantOf(ctx)
		return g == nil || g.Shows(e.Session.ID, e.Session.Labels)
	case e.Kind == "listening" || e.Kind == "lost":
		return true
	}
	return s.shows(ctx, "")
}

// postAgentEvent takes what an agent's program tells of itself.
func (s *Server) postAgentEvent(_ context.Context, in *sessionBody[api.AgentEvent]) (api.AgentHeard, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.AgentHeard{}, err
	}
	hook, err := agentstate.ReadHook(in.Body.Agent, in.Body.Event, in.Body.Data)
	if err != nil {
		return api.AgentHeard{}, api.Errorf(api.CodeInvalid, "%v", err).WithHint("give what the agent gave its hook, as JSON")
	}
	was, err := s.reg.AgentHook(e, hook)
	return api.AgentHeard{State: was}, err
}

// SubscriptionPath names a subscription. It is exported because huma fills embedded fields only then.
type SubscriptionPath struct {
	Subscription string `path:"subscription" doc:"its name"`
}

func (s *Server) listSubscriptions(ctx context.Context, _ *struct{}) ([]api.Subscription, error) {
	return s.daemon.Subscriptions().List(ctx)
}

func (s *Server) putSubscription(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.NewSubscription
}) (api.Subscription, error) {
	if in.Body.Hook != "" {
		if err := permitHook(ctx); err != nil {
			return api.Subscription{}, err
		}
	}
	session := ""
	if in.Body.Session != "" {
		e, err := s.reg.Resolve(in.Body.Session)
		if err != nil {
			return api.Subscription{}, err
		}
		session = e.ID()
	}
	return s.daemon.Subscriptions().Put(ctx, in.Subscription, session, in.Body)
}

// permitHook refuses who is no person at our own socket: what a hook runs is run as the person's.
func permitHook(ctx context.Context) error {
	if err := asPerson(ctx, "having a hook run"); err != nil {
		return err
	}
	if a := actor.Of(ctx); a.IsAgent() || a.Token != "" {
		return api.Errorf(api.CodeDenied, "a hook is run as the person's, so it is not for %s to make", a).
			WithHint("make a subscription without a hook, and read it")
	}
	return nil
}

func (s *Server) deleteSubscription(ctx context.Context, in *SubscriptionPath) (none, error) {
	return none{true}, s.daemon.Subscriptions().Remove(ctx, in.Subscription)
}

func (s *Server) readCompletions(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.ReadCompletions
}) (api.Completions, error) {
	return s.daemon.Subscriptions().Read(ctx, in.Subscription, in.Body)
}

func (s *Server) ackCompletions(ctx context.Context, in *struct {
	SubscriptionPath
	Body api.AckCompletions
}) (api.Subscription, error) {
	return s.daemon.Subscriptions().Ack(ctx, in.Subscription, in.Body)
}

const (
	// outputEvery is how often a listener who asked for it is told of output.
	outputEvery = 100 * time.Millisecond
	// binaryEvery is the same for data that is no text.
	binaryEvery = time.Second
	// gateBytes bounds what of a session's output is judged at a look.
	gateBytes = 64 << 10
)

// outputEvents is what a listener knows of the sessions' output. It looks at all of them
// from time to time, so that a session pays nothing for those who listen.
type outputEvents struct {
	reg   *registry.Registry
	seen  map[string]*seenOutput
	begun bool // it has looked before
	buf   []byte
}

type seenOutput struct {
	end, version, binary uint64
	gate                 capture.Gate
	told                 time.Time // of binary data
}

func newOutputEvents(h *registry.Registry) *outputEvents {
	return &outputEvents{reg: h, seen: map[string]*seenOutput{}}
}

// look tells what is new; false: the listener is gone.
func (o *outputEvents) look(now time.Time, tell func(api.Event) bool) bool {
	there := map[string]*seenOutput{}
	for _, e := range o.reg.All() {
		id := e.ID()
		seen, st := o.seen[id], e.Session.Status()
		_, end := e.Session.OutputRange()
		if seen == nil {
			seen = &seenOutput{end: end, version: st.Version, gate: capture.Gate{W: io.Discard}}
			if !o.begun { // what is there is no news
				there[id] = seen
				continue
			}
			seen.end, _ = e.Session.OutputRange()
		}
		there[id] = seen
		if !o.tellOf(e, seen, &st, end, now, tell) {
			return false
		}
	}
	o.seen, o.begun = there, true
	return true
}

func (o *outputEvents) tellOf(e *registry.Handle, seen *seenOutput, st *session.Status, end uint64, now time.Time, tell func(api.Event) bool) bool {
	var events []api.Event
	if end > seen.end {
		events = append(events, api.Event{Kind: "data", Printed: &api.Range{Start: seen.end, End: end}})
		o.judge(e, seen, end)
		seen.end = end
	}
	if st.Version != seen.version {
		events = append(events, api.Event{Kind: "screen", Version: st.Version})
		seen.version = st.Version
	}
	if held := seen.gate.Held(); held > seen.binary && now.Sub(seen.told) >= binaryEvery {
		events = append(events, api.Event{Kind: "binary", Binary: held})
		seen.binary, seen.told = held, now
	}
	if len(events) == 0 {
		return true
	}
	view := o.reg.Describe(e, *st)
	for i := range events {
		events[i].Session = &view
		if !tell(events[i]) {
			return false
		}
	}
	return true
}

// judge has new output judged: is it text?
func (o *outputEvents) judge(e *registry.Handle, seen *seenOutput, end uint64) {
	if o.buf == nil {
		o.buf = make([]byte, gateBytes)
	}
	from := max(seen.end, end-min(end, gateBytes)) // of a flood the newest
	c, err := e.Session.Output(from, o.buf[:min(gateBytes, end-from)])
	if err == nil {
		_, _ = seen.gate.Write(c.Data)
	}
}
