//go:build unix

package request

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
)

// AskFlags are the flags of verbs that run something, about the rules it is judged by.
type AskFlags struct {
	policy   string
	yes      bool
	approval time.Duration
}

// Register adds the flags; agent is where the label goes.
func (a *AskFlags) Register(c *cobra.Command, agent *string) {
	f := c.Flags()
	f.StringVar(agent, "agent", "", "label of the agent on whose behalf it runs, for rules, approvals and records (default: "+actor.Env+")")
	f.StringVar(&a.policy, "policy", "", "judge by these rules too: hard, build, readonly, listed; they can only be stricter")
	f.BoolVarP(&a.yes, "yes", "y", false, "do not ask: what would be asked about is allowed; what is denied stays denied")
}

// RegisterTimeout adds the flag of verbs that wait for the end of a line or command.
func (a *AskFlags) RegisterTimeout(c *cobra.Command) {
	c.Flags().DurationVar(&a.approval, "approval-timeout", 0, "stop waiting for an approval after this time; with --on-timeout kill the command is canceled, else it stays pending in the background; 0: no limit")
}

// Asking returns the request's part.
func (a *AskFlags) Asking() api.Asking {
	return api.Asking{Policy: a.policy, Yes: a.yes, ApprovalTimeoutMS: *WholeMS(max(0, a.approval))}
}
