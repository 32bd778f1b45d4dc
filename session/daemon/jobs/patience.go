//go:build unix

package jobs

import (
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// approvalPatience bounds how long a caller waits for approvals (Asking.ApprovalTimeoutMS).
type approvalPatience struct {
	how   *api.Asking
	of    string // the approval that timer is for
	timer *time.Timer
}

// wait returns a channel that receives when the caller has waited long enough for an approval. It returns nil if none is
// pending, or the caller waits without limit.
func (p *approvalPatience) wait(open *api.Approval) <-chan time.Time {
	if p.how == nil || p.how.ApprovalTimeoutMS <= 0 || open == nil {
		return nil
	}
	if p.of != open.ID {
		p.stop()
		p.of, p.timer = open.ID, time.NewTimer(p.limit())
	}
	return p.timer.C
}

func (p *approvalPatience) limit() time.Duration {
	return time.Duration(p.how.ApprovalTimeoutMS) * time.Millisecond
}

func (p *approvalPatience) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// err rejects a call whose approval was not answered in time.
func (p *approvalPatience) err(open *api.Approval) error {
	err := api.Errorf(api.CodeNeedsApproval, "approval %s: not answered within %s; nothing was run", open.ID, p.limit()).
		WithHint("wait longer with --approval-timeout, or use `--on-timeout background` and answer it later")
	err.Approval = open.ID
	return err
}
