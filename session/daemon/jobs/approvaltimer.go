//go:build unix

package jobs

import (
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// approvalTimer bounds how long a caller waits for approvals (api.ApprovalOptions.ApprovalTimeoutMS).
type approvalTimer struct {
	how   *api.ApprovalOptions // when the caller returns
	id    string               // of the approval that timer is for
	timer *time.Timer
}

// wait returns a channel that receives when the caller has waited long enough for an approval. It returns nil if none is
// pending, or the caller waits without limit.
func (p *approvalTimer) wait(open *api.Approval) <-chan time.Time {
	if p.how == nil || p.how.ApprovalTimeoutMS <= 0 || open == nil {
		return nil
	}
	if p.id != open.ID {
		p.stop()
		p.id, p.timer = open.ID, time.NewTimer(p.limit())
	}
	return p.timer.C
}

func (p *approvalTimer) limit() time.Duration {
	return time.Duration(p.how.ApprovalTimeoutMS) * time.Millisecond
}

func (p *approvalTimer) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
}

// timeoutErr returns the error of a call whose approval was not answered in time.
func (p *approvalTimer) timeoutErr(open *api.Approval) error {
	err := api.Errorf(api.CodeNeedsApproval, "approval %s: not answered within %s; nothing was run", open.ID, p.limit()).
		WithHint("wait longer with --approval-timeout, or use `--on-timeout background` and answer it later")
	err.Approval = open.ID
	return err
}
