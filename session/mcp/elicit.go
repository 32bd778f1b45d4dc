//go:build unix

package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// The client shows forms for approvals and for yes or no. Passwords have no form: the protocol forbids that. The call returns
// the question, and the client repeats it with the answer (MRTR, SEP-2322). For older clients the SDK requests the answer and
// repeats the call, within the call's time.

// askNext sends older clients the question that follows their user's first answer. The SDK asks them once per call and
// would return the second question as a result.
func askNext(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		for {
			res, err := next(ctx, method, req)
			asks, _ := res.(*sdk.CallToolResult)
			if err != nil || asks == nil {
				return res, err
			}
			of, isCall := req.(*sdk.CallToolRequest)
			form, isForm := asks.InputRequests[answerKey].(*sdk.ElicitParams)
			if !isCall || !isForm || !isOld(of.Session) {
				return res, nil
			}
			answer, err := of.Session.Elicit(ctx, form)
			if err != nil {
				return nil, err
			}
			again, params := *of, *of.Params
			params.RequestState, params.InputResponses = asks.RequestState, sdk.InputResponseMap{answerKey: answer}
			again.Params = &params
			req = &again
		}
	}
}

// isOld reports whether a client uses the protocol era in which servers sent requests.
func isOld(c *sdk.ServerSession) bool {
	p := c.InitializeParams()
	return p != nil && p.ProtocolVersion < modernVersion
}

// answerKey is the form field of the answer.
const answerKey = "answer"

// ask returns a session's question to the user as a result, or nil to answer the model instead.
func (s *Server) ask(ctx context.Context, a *answer) *sdk.CallToolResult {
	d := currentCallOf(ctx)
	if d.unanswered != "" && a.State == "needs_input" {
		a.Message, a.Next = joinText(d.unanswered, a.Message), call("stop", "id", cmp.Or(a.Job, a.Session))
	}
	if d.cannotAsk || d.req == nil || d.level < Change { // read-only clients must not cause input or approvals
		return nil
	}
	if a.State == "needs_approval" {
		return s.askApproval(ctx, a)
	}
	if a.State != "needs_input" || !s.mayAsk(d, a.Needs) {
		return nil
	}
	st := requestState{Who: principal(ctx), Tool: d.tool.name, Args: digestOf(d.req.Params.Arguments), Session: a.Session, Job: a.Job, Kind: a.Needs}
	kind := map[string]any{"type": "boolean", "title": "Yes"}
	question := fmt.Sprintf("The session %s asks:\n%s", a.Session, plaintext.Visible(lastLine(a.Output)))
	return &sdk.CallToolResult{
		RequestState: s.seal.close(&st),
		InputRequests: sdk.InputRequestMap{answerKey: &sdk.ElicitParams{
			Mode: "form", Message: question,
			RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{answerKey: kind}, "required": []string{answerKey}},
		}},
	}
}

// approvalKind is the kind of questions that are approvals.
const approvalKind = "approval"

// askApproval asks the user to approve an agent's command.
func (s *Server) askApproval(ctx context.Context, a *answer) *sdk.CallToolResult {
	d := currentCallOf(ctx)
	if !s.mayAsk(d, approvalKind) {
		return nil
	}
	v, err := s.client(ctx).Approval(ctx, a.Approval)
	if err != nil || v.State != "pending" {
		return nil
	}
	st := requestState{
		Who: principal(ctx), Tool: d.tool.name, Args: digestOf(d.req.Params.Arguments), Session: a.Session, Job: a.Job,
		Kind: approvalKind, Asks: v.ID,
	}
	answers := slices.DeleteFunc(v.Answers(), func(a string) bool { return a == "always" }) // a rule must be reviewed before it is written
	return &sdk.CallToolResult{
		RequestState: s.seal.close(&st),
		InputRequests: sdk.InputRequestMap{answerKey: &sdk.ElicitParams{
			Mode: "form", Message: "Allow this? " + plaintext.Literal(approvalText(&v)),
			RequestedSchema: map[string]any{"type": "object", "required": []string{answerKey}, "properties": map[string]any{
				answerKey: map[string]any{"type": "string", "title": "Allow it", "enum": answers},
			}},
		}},
	}
}

// sendApproval sends the user's answer to the daemon.
func (s *Server) sendApproval(ctx context.Context, st *requestState, res *sdk.ElicitResult) error {
	v := api.ApprovalAnswer{Answer: "reject", Feedback: "declined by the user"}
	switch res.Action {
	case "accept":
		text, _ := res.Content[answerKey].(string)
		if text == "once" || text == "session" {
			v = api.ApprovalAnswer{Answer: text}
		}
	case "decline":
	default:
		return nil // the approval stays pending
	}
	_, err := s.userClient(ctx).AnswerApproval(ctx, st.Asks, v)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeAnswered { // it was answered elsewhere
		return nil
	}
	return err
}

// mayAsk reports whether to ask the user for input of a kind.
func (s *Server) mayAsk(d *currentCall, kind string) bool {
	switch {
	case !s.canAsk(d.req.ClientCapabilities()):
		return false
	case kind == approvalKind:
		return true
	}
	return kind == "confirm" && s.options.Elicit == ElicitAlways
}

// canAsk reports whether a client supports forms and may show them.
func (s *Server) canAsk(caps *sdk.ClientCapabilities) bool {
	return caps != nil && caps.Elicitation != nil && s.options.Elicit != ElicitNever
}

// asksInTask reports whether to ask the user for input of a kind while a call is a task. The model sees only the task's
// end. So a question that the user does not get ends the task, and the model continues.
func (s *Server) asksInTask(caps *sdk.ClientCapabilities, kind string) bool {
	return s.canAsk(caps) && kind != "password" && s.options.Elicit == ElicitAlways
}

// typeAnswer types the user's answer, if the call carries one, and returns the job that continues.
func (s *Server) typeAnswer(ctx context.Context, session string) (job string, err error) {
	d := currentCallOf(ctx)
	text := d.req.Params.RequestState
	if text == "" || d.level < Change {
		return "", nil
	}
	st, err := s.seal.open(text, principal(ctx), d.tool.name, digestOf(d.req.Params.Arguments))
	if err != nil {
		return "", invalidParams("%v; make the call again without it", err)
	}
	res, ok := d.req.Params.InputResponses[answerKey].(*sdk.ElicitResult)
	if !ok {
		return "", invalidParams("the input response %q is missing or no answer of a form; make the call again without requestState", answerKey)
	}
	d.cannotAsk = true
	if st.Kind == approvalKind {
		return st.Job, s.sendApproval(ctx, st, res)
	}
	in := api.Input{ID: st.Nonce, Enter: true}
	switch v := res.Content[answerKey].(type) {
	case string:
		in.Text = v
	case bool:
		in.Text = map[bool]string{true: "y", false: "n"}[v]
	}
	if res.Action != "accept" || in.Text == "" {
		d.unanswered = "the user gave no answer"
		if res.Action == "decline" {
			d.unanswered = "the user declined to answer"
		}
		return st.Job, nil // the model learns that the prompt is still open
	}
	if _, err := s.client(ctx).Session(st.Session).Type(ctx, in); err != nil {
		return "", err
	}
	if d.cannotAsk = false; st.Job == "" {
		return "", nil
	}
	return st.Job, nil
}

// lastLine returns the last non-empty line of a text.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return oneLine(lines[len(lines)-1], 200)
}

// principal returns the caller: the token's name over HTTP, else the user that started the server.
func principal(ctx context.Context) string {
	if d := currentCallOf(ctx); d != nil && d.req != nil && d.req.Extra != nil && d.req.Extra.TokenInfo != nil {
		return d.req.Extra.TokenInfo.UserID
	}
	if t := auth.TokenInfoFromContext(ctx); t != nil {
		return t.UserID
	}
	return "stdio"
}
