//go:build unix

package mcp

import (
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// maxReportedJobs bounds the remembered jobs. A dropped one is reported again.
const maxReportedJobs = 2000

// reportedApprovals holds the approvals that were reported for waiting jobs. A wait continues over those and returns for
// others.
type reportedApprovals struct {
	mu   sync.Mutex
	jobs map[string]string // approval by job
}

// lastReported returns the approval last reported for a job that still waits for it, or "".
func (t *reportedApprovals) lastReported(job string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs[job]
}

// note records the reported state of a job.
func (t *reportedApprovals) note(j *api.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if j.Approval == "" || j.State != "needs_approval" {
		delete(t.jobs, j.ID)
		return
	}
	if t.jobs == nil || len(t.jobs) >= maxReportedJobs {
		t.jobs = map[string]string{}
	}
	t.jobs[j.ID] = j.Approval
}
