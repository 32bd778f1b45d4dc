//go:build unix

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Approvals are answered by a user: from the command line, the viewer, or a form of the agent's program (elicit.go). An
// agent sees the pending ones, and the reasons.

// approvalRow is an approval in a list.
type approvalRow struct {
	ID      string    `json:"id"`
	Wants   string    `json:"wants"`
	Session string    `json:"session,omitempty"`
	Risk    string    `json:"risk"`
	Why     string    `json:"why,omitempty"`
	Rule    string    `json:"rule,omitempty"`
	Instead string    `json:"instead,omitempty"`
	Effects []string  `json:"effects,omitempty"`
	Asked   time.Time `json:"asked"`
}

// approvalList is the result of the tool approvals.
type approvalList struct {
	Approvals []approvalRow `json:"approvals"`
}

// approvals lists the pending approvals of the agent's sessions.
func (s *Server) approvals(ctx context.Context, _ json.RawMessage) (*sdk.CallToolResult, error) {
	all, err := s.client(ctx).Approvals(ctx, client.ApprovalQuery{Limit: maxRows})
	if err != nil {
		return nil, err
	}
	out := approvalList{Approvals: []approvalRow{}}
	var text strings.Builder
	for i := range all {
		v := &all[i]
		out.Approvals = append(out.Approvals, approvalRow{
			ID: v.ID, Wants: requestLine(v), Session: v.Name, Risk: v.Risk, Why: v.Judgement.Why, Rule: v.Judgement.Rule, Effects: v.Judgement.Effects,
			Instead: v.Judgement.Instead, Asked: v.Asked.Truncate(time.Second),
		})
		text.WriteString(v.ID + "  " + approvalText(v) + "\n")
	}
	switch {
	case len(all) == 0:
		text.WriteString("nothing waits for approval")
	default:
		fmt.Fprintf(&text, "pass on to your user: `longterm approvals answer %s %s`, or in the viewer", all[0].ID, strings.Join(all[0].Answers(), "|"))
	}
	return reply(text.String(), out), nil
}

// requestLine returns what needs approval, on one line.
func requestLine(v *api.Approval) string {
	return oneLine(cmp.Or(v.Line, strings.Join(v.Argv, " "), v.Path), 300)
}

// approvalText returns an approval on one line.
func approvalText(v *api.Approval) string {
	var b strings.Builder
	b.WriteString(requestLine(v))
	for _, f := range []struct{ name, value string }{
		{"session", v.Name}, {"in", v.Cwd}, {"risk", v.Risk}, {"effect", strings.Join(v.Judgement.Explain(), "; ")}, {"because of", v.Judgement.RuleWithReason()}, {"asked by", v.Actor.Agent},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, " · %s %s", f.name, oneLine(f.value, 200))
		}
	}
	return b.String()
}
