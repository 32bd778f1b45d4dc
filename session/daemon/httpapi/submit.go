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
	// maxConfirmTime limits the wait for the program to read the input.
	maxConfirmTime = 10 * time.Second
	// drawTimeout is how long a program may take to show a text before Enter is sent; drawSettleTime is how long the
	// screen must be idle then, because programs treat an Enter within a burst as part of the text.
	drawTimeout    = 3 * time.Second
	drawSettleTime = 80 * time.Millisecond
	// submitTimeout is how long a program may take to show that it accepted a text.
	submitTimeout = 3 * time.Second
	// acceptSettleTime is how long the screen of a program other than an agent must be idle before it counts as the
	// answer: a program may acknowledge a text before it clears the line.
	acceptSettleTime = 500 * time.Millisecond
	// submitPoll is the interval at which the screen is compared.
	submitPoll = 20 * time.Millisecond
)

// typeAndConfirm types input and checks whether the program read it.
func (s *Server) typeAndConfirm(ctx context.Context, e *registry.Handle, in api.Input) (api.Typed, error) {
	before, err := e.Session.CaptureScreen(ctx)
	if err != nil {
		return api.Typed{}, err
	}
	r, err := s.typeInput(ctx, e, in)
	t := typedOf(&r)
	if err != nil || e.UsesPipes() || r.Duplicate { // what it did is done
		return t, err
	}
	text := in.Text
	if in.Paste != nil {
		text = *in.Paste
	}
	if in.Secret {
		text = ""
	}
	t.Outcome = outcomeView(e.Session.ConfirmInput(ctx, before, session.LastLine(text), r.Echo, min(maxConfirmTime, time.Duration(in.ConfirmMS)*time.Millisecond), false))
	return t, nil
}

// outcomeView returns an input's outcome in its API form.
func outcomeView(t session.InputOutcome) *api.Taken {
	return &api.Taken{Written: true, Read: string(t.Read), Echoed: string(t.Echoed), Drawn: string(t.Drawn)}
}

// submit sends a text to a program with a line editor, such as an agent, as one message: the text as a paste, then
// Enter once after it is shown. If the program does not show it, no Enter is sent.
func (s *Server) submit(ctx context.Context, e *registry.Handle, in api.Input) (api.Typed, error) {
	if in.Text == "" || len(in.Keys) > 0 || in.Paste != nil || len(in.Data) > 0 || in.Secret {
		return api.Typed{}, api.Errorf(api.CodeInvalid, "only a text can be submitted").WithHint("give text alone")
	}
	if len(in.ID) > 60 {
		return api.Typed{}, api.Errorf(api.CodeInvalid, "id too long (%d bytes, at most 60)", len(in.ID))
	}
	if agent := agentAskingPermission(e); agent != "" && !in.Force {
		return api.Typed{}, api.Errorf(api.CodeNeedsInput, "%s in session %s requests permission: the Enter behind a message would answer that", agent, e.Record().Name).
			WithHint("answer it with keys as its screen shows (`longterm keys`), then send the message, or use --force")
	}
	before, err := e.Session.CaptureScreen(ctx)
	if err != nil {
		return api.Typed{}, err
	}
	text := strings.TrimRight(in.Text, "\r\n")
	paste := api.Input{Paste: &text, ExpectVersion: in.ExpectVersion, Force: in.Force, FreshLine: in.FreshLine, OnApproval: in.OnApproval}
	enter := api.Input{Enter: true, Force: true, OnApproval: in.OnApproval}
	if in.ID != "" {
		paste.ID, enter.ID = in.ID, in.ID+"-e"
	}
	if !before.AcceptsPastes { // what is pasted there is typed, and its ends of lines are Enters
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
	tail := session.LastLine(text)
	drawn := e.Session.ConfirmInput(ctx, before, tail, r.Echo, drawTimeout, true) // editors may draw a paste late
	if t.Outcome = outcomeView(drawn); drawn.Drawn != session.Yes {
		t.Outcome.Submitted = string(session.No)
		return t, nil
	}
	full := awaitSettled(ctx, e)
	if !in.Force && agentAskingPermission(e) != "" { // since the text was typed
		t.Outcome.Submitted = string(session.No)
		return t, nil
	}
	pressed := time.Now()
	if _, err := s.typeInput(ctx, e, enter); err != nil {
		return t, err
	}
	t.Outcome.Submitted = string(isSubmitted(ctx, e, full, tail, pressed))
	return t, ctx.Err()
}

// agentAskingPermission returns the agent whose permission prompt is shown, or "". Enter mostly means yes there.
func agentAskingPermission(e *registry.Handle) string {
	if st := e.AgentState(); st != nil && st.State == string(agentstate.NeedsApproval) {
		return st.Agent
	}
	return ""
}

// awaitSettled waits until the screen is idle briefly, and returns it.
func awaitSettled(ctx context.Context, e *registry.Handle) session.ScreenCopy {
	rests := drawSettleTime
	if _, after, ok := e.AgentWorked(); ok {
		rests = max(rests, after)
	}
	rested := time.Now()
	now, _ := e.Session.CaptureScreen(ctx)
	for end := time.Now().Add(drawTimeout / 2); ctx.Err() == nil && time.Now().Before(end) && time.Since(rested) < rests; {
		pause(ctx, submitPoll)
		next, err := e.Session.CaptureScreen(ctx)
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

// isSubmitted determines whether a text left its input line. An agent starts to work then; for other programs it is
// known only if the text is gone from below its place.
func isSubmitted(ctx context.Context, e *registry.Handle, full session.ScreenCopy, tail string, pressed time.Time) session.Tristate {
	line := lastRowWith(full.Rows, tail)
	answer, version, rested := session.No, full.Version, pressed
	for end := time.Now().Add(submitTimeout); ctx.Err() == nil && time.Now().Before(end); pause(ctx, submitPoll) {
		worked, _, agent := e.AgentWorked()
		if agent && worked.After(pressed) {
			return session.Yes
		}
		now, err := e.Session.CaptureScreen(ctx)
		switch {
		case err != nil:
			return session.NotKnown
		case now.Version == full.Version:
		case !agent && line >= 0 && len(now.Rows) == len(full.Rows) && lastRowWith(now.Rows, tail) < line:
			return session.Yes
		case now.Version != version:
			answer, version, rested = session.NotKnown, now.Version, time.Now()
		case !agent && time.Since(rested) >= acceptSettleTime:
			return answer
		}
	}
	return answer
}

// lastRowWith returns the index of the last row that contains a text, or -1.
func lastRowWith(rows []string, text string) int {
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

// isAgentMessage reports whether input is a message for an agent: text with Enter, where an agent runs.
func isAgentMessage(e *registry.Handle, in *api.Input) bool {
	switch in.Submit {
	case "always":
		return true
	case "agent":
		return in.Text != "" && in.Enter && !in.Secret && cmp.Or(e.AgentState(), &api.AgentState{}).Agent != ""
	}
	return false
}
