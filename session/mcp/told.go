//go:build unix

package mcp

import (
	"sync"

	"github.com/longterm-dev/longterm/session/api"
)

// maxTold bounds the jobs that are remembered; one that is forgotten is told of once more.
const maxTold = 2000

// told are the approvals that jobs wait for and that were told of. A wait goes on over those, and comes back for others.
type told struct {
	mu   sync.Mutex
	jobs map[string]string
}

// of is the approval that was told of last for a job, which still waits for it as far as is known; empty: none.
func (t *told) of(job string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.jobs[job]
}

// note takes note of how a job is that is told of.
func (t *told) note(j *api.Job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if j.Approval == "" || j.State != "needs_approval" {
		delete(t.jobs, j.ID)
		return
	}
	if t.jobs == nil || len(t.jobs) >= maxTold {
		t.jobs = map[string]string{}
	}
	t.jobs[j.ID] = j.Approval
}
