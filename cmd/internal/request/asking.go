//go:build unix

package request

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/identity"
)

// ApprovalFlags are the flags that control policy checks and approvals of a verb that runs something.
type ApprovalFlags struct {
	policy   string
	yes      bool
	approval time.Duration
}

// Register adds the flags. agent receives the caller's label.
func (a *ApprovalFlags) Register(c *cobra.Command, agent *string) {
	f := c.Flags()
	f.StringVar(agent, "agent", "", "`LABEL` of the calling agent in rules, approvals and records (default: $"+identity.Env+")")
	f.StringVar(&a.policy, "policy", "", "additional, only stricter `RULES`: hard, build-draft, build, readonly, listed")
	f.BoolVarP(&a.yes, "yes", "y", false, "no approval requests: commands that need one are allowed, denied ones stay denied")
}

// RegisterTimeout adds the flag of verbs that wait for the end of a line or command.
func (a *ApprovalFlags) RegisterTimeout(c *cobra.Command) {
	c.Flags().DurationVar(&a.approval, "approval-timeout", 0, "longest wait for an approval; then --on-timeout kill cancels the command, else it stays pending in the background; 0: no limit")
}

// Options returns the approval options of a request.
func (a *ApprovalFlags) Options() api.ApprovalOptions {
	return api.ApprovalOptions{Policy: a.policy, Yes: a.yes, ApprovalTimeoutMS: *WholeMS(max(0, a.approval))}
}
