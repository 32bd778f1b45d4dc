//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
)

// inputArgs are the arguments of input.
type inputArgs struct {
	callLimits
	Session string   `json:"session"`
	Text    string   `json:"text"`
	Keys    []string `json:"keys"`
	Enter   bool     `json:"enter"`
	Secret  bool     `json:"secret"`
	Version uint64   `json:"version"`
	ID      string   `json:"id"`
}

// input types into a session and answers with the result.
func (s *Server) input(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[inputArgs](raw)
	if err != nil {
		return nil, err
	}
	if args.Text == "" && len(args.Keys) == 0 && !args.Enter {
		return failure(errors.New("nothing to type"), "give text, keys or enter"), nil
	}
	if args.Text != "" && len(args.Keys) > 0 && args.Enter { // a model may mean any order
		return failure(errors.New("text, keys and enter in one call: it is not clear in which order; nothing was typed"),
			"make two calls to press keys first, as in "+call("input", "session", args.Session, "keys", args.Keys)+"; for keys after the text end them with Enter, as in "+
				call("input", "session", args.Session, "text", "…", "keys", append(slices.Clone(args.Keys), "Enter"))), nil
	}
	in := api.Input{Text: args.Text, Secret: args.Secret, ExpectVersion: args.Version, ID: args.ID}
	if in.ID == "" {
		in.ID = currentCallOf(ctx).id // keeps the id over a daemon restart
	}
	keys := args.Keys
	if args.Text == "" {
		in.Keys, in.Enter, keys = keys, args.Enter, nil
	} else {
		in.Enter = args.Enter && len(keys) == 0
	}
	in.ConfirmMS, in.Submit = confirmTime.Milliseconds(), "agent"
	if len(in.ID) > 60 {
		in.Submit = "" // it identifies one input only
	}
	in.OnApproval = "return" // return at once with the approval
	if _, err := s.sessionExactly(ctx, args.Session); err != nil {
		return nil, err
	}
	c := s.client(ctx).Session(args.Session)
	typed, err := c.Type(ctx, in)
	if err == nil && len(keys) > 0 { // text and keys are two inputs
		_, err = c.Type(ctx, api.Input{Keys: keys, Enter: args.Enter, ID: in.ID[:min(len(in.ID), 60)] + "-k", OnApproval: "return"})
	}
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNeedsApproval {
		return replyAnswer(&answer{
			State: "needs_approval", Approval: e.Approval, Why: whyOf(e.Policy), Session: args.Session,
			Message: "it was not typed; " + approvalMessage(e.Approval, e.Policy),
			Next:    "when it is allowed: the same call with id " + in.ID,
		}), nil
	}
	if err != nil {
		return nil, err
	}
	return s.awaitStable(ctx, args.Session, &typed.Cursor, &args.callLimits, &typedInput{args.Text, args.Enter, typed.Outcome, typed.Duplicate})
}

// confirmTime bounds the check whether a program read its input.
const confirmTime = 300 * time.Millisecond

// typedInput is the input of a call, and its known outcome.
type typedInput struct {
	text      string
	enter     bool
	outcome   *api.Taken // the daemon's confirmation
	duplicate bool       // typed by an earlier call with the same ID
}

// lines returns the number of lines that a shell reads from the input.
func (e *typedInput) lines() int {
	if e == nil {
		return 1
	}
	n := strings.Count(e.text, "\n")
	if e.enter && !strings.HasSuffix(e.text, "\n") {
		n++
	}
	return min(n, maxLines)
}

// maxLines is the number of typed lines that are awaited one by one.
const maxLines = 20

// noteNotRun describes input at a shell's prompt after which the shell has run nothing.
func (e *typedInput) noteNotRun(a *answer) {
	a.State, a.ExitCode, a.Signal, a.Command, a.duration = "running", nil, "", 0, 0
	if e.text != "" && e.lines() == 0 {
		a.Message = "nothing was run: the text is on the shell's line, and Enter runs it"
		return
	}
	a.Message = "nothing was run: the shell is at its prompt, or waits for the rest of the line (Ctrl-C cancels it)"
}

// addTo adds the outcome to an answer. It removes what the model knows: the echo of the typed text, and how to answer
// after an answer.
func (e *typedInput) addTo(a *answer, since uint64) {
	if e == nil {
		return
	}
	if a.atPrompt && !a.isRunning() && !e.duplicate && a.commandEnd > 0 && a.commandEnd <= since {
		e.noteNotRun(a)
	}
	if rest, echoed := strings.CutPrefix(a.Output, e.text+"\n"); echoed && e.text != "" {
		a.Output = rest
	} else if a.Output == e.text { // the output is only the echo, without Enter
		a.Output = ""
	}
	if a.Needs == "text" || a.Needs == "confirm" {
		a.Next = ""
	}
	if !a.isRunning() {
		if e.duplicate {
			a.Message = joinText(typedBeforeText, a.Message)
		}
		return
	}
	took := inputOutcome(e.outcome, a.Screen != "")
	switch {
	case e.duplicate:
		took = typedBeforeText
	case a.State == "needs_approval" && took == "": // otherwise the input would seem not to be typed
		took = "It was typed, and something else waits"
	}
	a.Message = joinText(took, a.Message)
}

// typedBeforeText is the message for repeated input.
const typedBeforeText = "Typed by the earlier call with this id, and not again"

// inputOutcome describes what happened to input, or returns "" if the program read it and shows it on the screen in the
// answer.
func inputOutcome(t *api.Taken, screen bool) string {
	switch {
	case t == nil:
		return ""
	case t.Submitted == "no":
		return "NOT submitted: the program did not accept the text as a message; check its screen"
	case t.Submitted != "":
		return "Submitted: " + t.Submitted
	case t.Read == "no":
		return "The program has not read it yet"
	case t.Read == "yes" && (t.Echoed == "yes" || screen) && t.Drawn != "no":
		return ""
	}
	words := map[string]string{"yes": "The program read it", "unknown": "The program may have read it"}[t.Read]
	words += map[string]string{"yes": ", and shows it", "no": "; its text is not on the screen"}[t.Echoed]
	if t.Drawn == "no" {
		words += "; the screen did not change"
	}
	return words
}

// reactionTime is how long an interrupted program may take to react before its state is reported.
const reactionTime = 1500 * time.Millisecond

// stop ends, interrupts or removes.
func (s *Server) stop(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[struct{ ID, How string }](raw)
	if err != nil {
		return nil, err
	}
	t, err := s.findExactly(ctx, args.ID)
	if err != nil {
		return nil, err
	}
	switch args.How {
	case "interrupt":
		v, err := s.client(ctx).Session(t.session).Info(ctx)
		if err != nil {
			return nil, err
		}
		if err := s.client(ctx).Session(t.session).Signal(ctx, api.Signal{Signal: "INT"}); err != nil {
			return nil, err
		}
		// Programs that handle the signal do so soon.
		_, err = s.client(ctx).Session(t.session).Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "prompt"}, {Kind: "exit"}}, TimeoutMS: reactionTime.Milliseconds()})
		if err != nil {
			return nil, err
		}
		a, err := s.targetAnswer(ctx, &t, &v.Output.End, defaultTokens*bytesPerToken)
		if err != nil {
			return nil, err
		}
		return replyAnswer(a), nil
	case "remove":
		return s.remove(ctx, &t)
	}
	if t.job == "" {
		return s.endSession(ctx, &t)
	}
	_, err = s.client(ctx).StopJob(ctx, t.job, api.JobStop{})
	if err != nil && !isEnded(err) { // an ended target needs no end
		return nil, err
	}
	a, err := s.targetAnswer(ctx, &t, nil, defaultTokens*bytesPerToken/4)
	if err != nil {
		return nil, err
	}
	a.Next = ""
	return replyAnswer(a), nil
}

// isEnded reports whether the target has ended.
func isEnded(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeEnded
}

// endSession ends a session and returns its last output.
func (s *Server) endSession(ctx context.Context, t *target) (*sdk.CallToolResult, error) {
	v, err := s.client(ctx).Session(t.session).Info(ctx)
	if err == nil {
		_, err = s.client(ctx).Session(t.session).Kill(ctx, api.Kill{})
	}
	if r := endNeedsApproval(err, t.session); r != nil {
		return r, nil
	}
	if err != nil && !isEnded(err) {
		return nil, err
	}
	a, err := s.targetAnswer(ctx, t, &v.Output.End, defaultTokens*bytesPerToken/4)
	if err != nil {
		return nil, err
	}
	if v.State == "running" && !a.isRunning() && a.State != "lost" {
		a.State, a.Message = "killed", "Ended by request"
	}
	a.Next = ""
	return replyAnswer(a), nil
}

// endNeedsApproval returns the answer if ending another caller's session needs approval, else nil.
func endNeedsApproval(err error, session string, how ...any) *sdk.CallToolResult {
	var e *api.Error
	if !errors.As(err, &e) || e.Code != api.CodeNeedsApproval {
		return nil
	}
	return replyAnswer(&answer{
		State: "needs_approval", Approval: e.Approval, Why: whyOf(e.Policy), Session: session, Message: approvalMessage(e.Approval, e.Policy),
		Next: "when it is allowed: " + call("stop", append([]any{"id", session}, how...)...),
	})
}

// remove forgets a job that ended, or a session with its history.
func (s *Server) remove(ctx context.Context, t *target) (*sdk.CallToolResult, error) {
	if t.job != "" {
		if err := s.client(ctx).ForgetJob(ctx, t.job); err != nil {
			return nil, err
		}
		return replyAnswer(&answer{State: "exited", Job: t.job, Message: "the job is forgotten"}), nil
	}
	v, err := s.client(ctx).Session(t.session).Info(ctx)
	if err != nil {
		return nil, err
	}
	if v.State == "running" {
		return failure(fmt.Errorf("the session %s runs", v.Name), "end it first: "+call("stop", "id", v.Name)), nil
	}
	if err := s.client(ctx).Session(t.session).Remove(ctx, false); err != nil {
		if r := endNeedsApproval(err, t.session, "how", "remove"); r != nil {
			return r, nil
		}
		return nil, err
	}
	return replyAnswer(&answer{State: "exited", Session: v.Name, Message: "the session and its history are forgotten"}), nil
}
