//go:build unix

package httpapi

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

const (
	// maxProof bounds how long it is looked whether input was taken.
	maxProof = 10 * time.Second
	// drawnWithin is how long a program gets to show a text before it is submitted, drawnSettles how
	// long the screen rests then: programs take an Enter within a burst for a part of the text.
	drawnWithin  = 3 * time.Second
	drawnSettles = 80 * time.Millisecond
	// submittedWithin is how long it gets to show that it took it.
	submittedWithin = 3 * time.Second
	// takenSettles is how long the screen of a program that is no agent rests before what it shows is its answer:
	// one that took the text may tell so before it empties the line.
	takenSettles = 500 * time.Millisecond
	submitPoll   = 20 * time.Millisecond
)

// proven types, and looks whether the program took it.
func (s *Server) proven(ctx context.Context, e *registry.Handle, in api.Input) (api.Typed, error) {
	before, err := e.Session.Shown(ctx)
	if err != nil {
		return api.Typed{}, err
	}
	r, err := s.typeInput(ctx, e, in)
	t := typedOf(&r)
	if err != nil || e.OnPipes() || r.Again { // what it did is done
		return t, err
	}
	text := in.Text
	if in.Paste != nil {
		text = *in.Paste
	}
	if in.Secret {
		text = ""
	}
	t.Taken = taken(e.Session.Prove(ctx, before, session.Tail(text), r.Echo, min(maxProof, time.Duration(in.ProveMS)*time.Millisecond), false))
	return t, nil
}

func taken(t session.Taken) *api.Taken {
	return &api.Taken{Written: true, Read: string(t.Read), Echoed: string(t.Echoed), Drawn: string(t.Drawn)}
}

// submit has a program with an editor of its own (an agent) take a text as one message: the text as a
// paste, Enter once it is drawn, once. A program that does not draw it gets no Enter.
func (s *Server) submit(ctx context.Context, e *registry.Handle, in api.Input) (api.Typed, error) {
	if in.Text == "" || len(in.Keys) > 0 || in.Paste != nil || len(in.Data) > 0 || in.Secret {
		return api.Typed{}, api.Errorf(api.CodeInvalid, "only a text can be submitted").WithHint("give text alone")
	}
	if len(in.ID) > 60 {
		return api.Typed{}, api.Errorf(api.CodeInvalid, "the id of what is submitted has %d bytes, more than 60", len(in.ID))
	}
	if agent := asksLeave(e); agent != "" && !in.Force {
		return api.Typed{}, api.Errorf(api.CodeNeedsInput, "%s in session %s asks whether it may do something: the Enter behind a message would answer that", agent, e.Record().Name).
			WithHint("answer it by keys, as its screen says (`longterm keys`), then give it the message; --force types it all the same")
	}
	before, err := e.Session.Shown(ctx)
	if err != nil {
		return api.Typed{}, err
	}
	text := strings.TrimRight(in.Text, "\r\n")
	paste := api.Input{Paste: &text, ExpectVersion: in.ExpectVersion, Force: in.Force, FreshLine: in.FreshLine, OnApproval: in.OnApproval}
	enter := api.Input{Enter: true, Force: true, OnApproval: in.OnApproval}
	if in.ID != "" {
		paste.ID, enter.ID = in.ID, in.ID+"-e"
	}
	if !before.Pasting { // what is pasted there is typed, and its ends of lines are Enters
		if strings.ContainsAny(text, "\r\n") {
			return api.Typed{}, api.Errorf(api.CodeInvalid, "the program takes no pastes, and the text has several lines: each would be submitted by itself").
				WithHint("wait until the program is ready, or submit the lines one by one")
		}
		paste.Paste, paste.Text = nil, text
	}
	r, err := s.typeInput(ctx, e, paste)
	t := typedOf(&r)
	if err != nil {
		return t, err
	}
	tail := session.Tail(text)
	drawn := e.Session.Prove(ctx, before, tail, r.Echo, drawnWithin, true) // editors may draw a paste late
	if t.Taken = taken(drawn); drawn.Drawn != session.Yes {
		t.Taken.Submitted = string(session.No)
		return t, nil
	}
	full := settle(ctx, e)
	if !in.Force && asksLeave(e) != "" { // since the text was typed
		t.Taken.Submitted = string(session.No)
		return t, nil
	}
	pressed := time.Now()
	if _, err := s.typeInput(ctx, e, enter); err != nil {
		return t, err
	}
	t.Taken.Submitted = string(submitted(ctx, e, full, tail, pressed))
	return t, ctx.Err()
}

// asksLeave is the agent that asks whether it may do something; empty: none. There, Enter mostly means yes.
func asksLeave(e *registry.Handle) string {
	if st := e.AgentState(); st != nil && st.State == string(agentstate.NeedsApproval) {
		return st.Agent
	}
	return ""
}

// settle waits until the screen rests for a moment, and returns it.
func settle(ctx context.Context, e *registry.Handle) session.Screenful {
	rests := drawnSettles
	if _, after, ok := e.AgentWorked(); ok {
		rests = max(rests, after)
	}
	rested := time.Now()
	now, _ := e.Session.Shown(ctx)
	for end := time.Now().Add(drawnWithin / 2); ctx.Err() == nil && time.Now().Before(end) && time.Since(rested) < rests; {
		pause(ctx, submitPoll)
		next, err := e.Session.Shown(ctx)
		if err != nil {
			break
		}
		if next.Version != now.Version {
			rested = time.Now()
		}
		now = next
	}
	return now
}

// submitted looks whether a text went from the line that it was typed in: an agent works then; of other
// programs it is known only where the text is not below its place any more.
func submitted(ctx context.Context, e *registry.Handle, full session.Screenful, tail string, pressed time.Time) session.Answer {
	line := lastWith(full.Rows, tail)
	answer, version, rested := session.No, full.Version, pressed
	for end := time.Now().Add(submittedWithin); ctx.Err() == nil && time.Now().Before(end); pause(ctx, submitPoll) {
		worked, _, agent := e.AgentWorked()
		if agent && worked.After(pressed) {
			return session.Yes
		}
		now, err := e.Session.Shown(ctx)
		switch {
		case err != nil:
			return session.NotKnow
		case now.Version == full.Version:
		case !agent && line >= 0 && len(now.Rows) == len(full.Rows) && lastWith(now.Rows, tail) < line:
			return session.Yes
		case now.Version != version:
			answer, version, rested = session.NotKnow, now.Version, time.Now()
		case !agent && time.Since(rested) >= takenSettles:
			return answer
		}
	}
	return answer
}

// lastWith is the last row that has a text; -1: none.
func lastWith(rows []string, text string) int {
	if text == "" {
		return -1
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if strings.Contains(rows[i], text) {
			return i
		}
	}
	return -1
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// submits says whether input is a message for an agent: text with Enter, where an agent runs.
func submits(e *registry.Handle, in *api.Input) bool {
	switch in.Submit {
	case "always":
		return true
	case "agent":
		return in.Text != "" && in.Enter && !in.Secret && cmp.Or(e.AgentState(), &api.AgentState{}).Agent != ""
	}
	return false
}
