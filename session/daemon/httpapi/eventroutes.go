//go:build unix

package httpapi

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/pipeoutput"
)

// eventsQuery selects events.
type eventsQuery struct {
	Output bool   `query:"output" doc:"include output: data, screen and binary events, each at most ten times a second per session"`
	After  uint64 `query:"after" doc:"seq of the last received event; later events follow first, or a lost event if they are no longer kept"`
	LastID string `header:"Last-Event-ID" doc:"same as after, sent by browsers on reconnect"`
}

// position returns the number of the client's last event, 0 if it sent none.
func (q *eventsQuery) position() uint64 {
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
		t := time.NewTicker(outputInterval)
		defer t.Stop()
		looks = t.C
		o.poll(time.Now(), func(api.Event) bool { return true })
	}
	tell := func(e api.Event) bool {
		if !s.showsEvent(ctx, &e) {
			return true
		}
		s.prepareAnswer(ctx, &e) // titles, lines, questions
		// Output events have no number, so a client cannot resume from them.
		return send(sse.Message{ID: int(e.Seq), Data: e}) == nil
	}
	begin := api.Event{Kind: "listening"}
	l, newest := s.reg.Bus.ListenWithSeq()
	var missed []api.Event
	if begin.Seq = newest; in.After > 0 || in.LastID != "" {
		s.reg.Bus.Unsubscribe(l)
		begin.Seq = in.position()
		l, missed, _ = s.reg.Bus.Resume(begin.Seq)
	}
	defer s.reg.Bus.Unsubscribe(l)
	// From here on no event is missed: new listeners read the full state once now.
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
			if !o.poll(now, tell) {
				return
			}
		}
	}
}

// showsEvent reports whether the caller may see an event. A token for one session shows that session's events only.
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

// postAgentEvent handles an event that an agent's program reports.
func (s *Server) postAgentEvent(_ context.Context, in *sessionBody[api.AgentEvent]) (api.AgentHeard, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.AgentHeard{}, err
	}
	hook, err := agentstate.ReadHook(in.Body.Agent, in.Body.Event, in.Body.Data)
	if err != nil {
		return api.AgentHeard{}, api.Errorf(api.CodeInvalid, "%v", err).WithHint("pass the JSON that the agent gave its hook")
	}
	was, err := s.reg.AgentHook(e, hook)
	return api.AgentHeard{State: was}, err
}

// SubscriptionPath names a subscription. It is exported because huma fills embedded fields only then.
type SubscriptionPath struct {
	Subscription string `path:"subscription" doc:"name of the subscription"`
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

// permitHook rejects callers other than the local user, because a hook runs with the user's rights.
func permitHook(ctx context.Context) error {
	if err := requireUser(ctx, "creating a hook"); err != nil {
		return err
	}
	if a := identity.Of(ctx); a.IsAgent() || a.Token != "" {
		return api.Errorf(api.CodeDenied, "hooks run as the user; %s may not create one", a).
			WithHint("create a subscription without a hook and read it")
	}
	return nil
}

func (s *Server) deleteSubscription(ctx context.Context, in *SubscriptionPath) (noContent, error) {
	return noContent{true}, s.daemon.Subscriptions().Remove(ctx, in.Subscription)
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
	// outputInterval is the shortest interval between output events.
	outputInterval = 100 * time.Millisecond
	// binaryInterval is outputInterval for data that is not text.
	binaryInterval = time.Second
	// gateBytes bounds the output of a session that is checked per poll.
	gateBytes = 64 << 10
)

// outputEvents holds a listener's position in the sessions' output. It polls all sessions, so listeners cost the
// sessions nothing.
type outputEvents struct {
	reg    *registry.Registry
	seen   map[string]*seenOutput
	polled bool // false before the first poll
	buf    []byte
}

// seenOutput is a listener's position in one session's output.
type seenOutput struct {
	end, version, binary uint64
	gate                 pipeoutput.Gate
	binarySent           time.Time // when an event about binary data was sent
}

func newOutputEvents(h *registry.Registry) *outputEvents {
	return &outputEvents{reg: h, seen: map[string]*seenOutput{}}
}

// poll sends new output events; false means that the listener has left.
func (o *outputEvents) poll(now time.Time, send func(api.Event) bool) bool {
	there := map[string]*seenOutput{}
	for _, e := range o.reg.All() {
		id := e.ID()
		seen, st := o.seen[id], e.Session.Status()
		_, end := e.Session.OutputRange()
		if seen == nil {
			seen = &seenOutput{end: end, version: st.Version, gate: pipeoutput.Gate{W: io.Discard}}
			if !o.polled { // existing output is not an event
				there[id] = seen
				continue
			}
			seen.end, _ = e.Session.OutputRange()
		}
		there[id] = seen
		if !o.sendSession(e, seen, &st, end, now, send) {
			return false
		}
	}
	o.seen, o.polled = there, true
	return true
}

// sendSession sends the event about one session's new output, if one is due; false means that the listener has left.
func (o *outputEvents) sendSession(e *registry.Handle, seen *seenOutput, st *session.Status, end uint64, now time.Time, send func(api.Event) bool) bool {
	var events []api.Event
	if end > seen.end {
		events = append(events, api.Event{Kind: "data", Printed: &api.Range{Start: seen.end, End: end}})
		o.detectText(e, seen, end)
		seen.end = end
	}
	if st.Version != seen.version {
		events = append(events, api.Event{Kind: "screen", Version: st.Version})
		seen.version = st.Version
	}
	if held := seen.gate.HeldBytes(); held > seen.binary && now.Sub(seen.binarySent) >= binaryInterval {
		events = append(events, api.Event{Kind: "binary", Binary: held})
		seen.binary, seen.binarySent = held, now
	}
	if len(events) == 0 {
		return true
	}
	view := o.reg.Describe(e, *st)
	for i := range events {
		events[i].Session = &view
		if !send(events[i]) {
			return false
		}
	}
	return true
}

// detectText checks whether new output is text.
func (o *outputEvents) detectText(e *registry.Handle, seen *seenOutput, end uint64) {
	if o.buf == nil {
		o.buf = make([]byte, gateBytes)
	}
	from := max(seen.end, end-min(end, gateBytes)) // of a flood the newest
	c, err := e.Session.Output(from, o.buf[:min(gateBytes, end-from)])
	if err == nil {
		_, _ = seen.gate.Write(c.Data)
	}
}
