//go:build unix

package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/retryqueue"
	"github.com/longterm-dev/longterm/store"
)

// A record that the disk does not take is kept in memory and retried: a command also runs on a full disk, and its
// caller gets its result instead of an unknown job.

// maxRetryQueue bounds the queued records. Beyond it, records on disk may be out of date.
const maxRetryQueue = 1024

// matching returns the unwritten records whose ids have a prefix, oldest first.
func (s *Set) matching(prefix string) []store.Job {
	var all []store.Job
	for _, r := range s.retryQueue.All() {
		if strings.HasPrefix(r.ID, prefix) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b store.Job) int { return a.Created.Compare(b.Created) })
	return all
}

// row returns the record of a job, or store.ErrNoJob.
func (s *Set) row(ctx context.Context, id string) (store.Job, error) {
	if r, there := s.retryQueue.Get(id); there {
		return r, nil
	}
	return s.store.Job(ctx, id)
}

// rows returns the records of a query, newest first. Unwritten records replace those of the disk.
func (s *Set) rows(ctx context.Context, q store.JobQuery) ([]store.Job, error) {
	all, err := s.store.Jobs(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, r := range s.matching(q.Prefix) {
		all = slices.DeleteFunc(all, func(o store.Job) bool { return o.ID == r.ID })
		if (q.Session == "" || r.Session == q.Session) && (!q.Open || r.State != store.JobDone) {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b store.Job) int { return b.Created.Compare(a.Created) })
	if q.Limit > 0 && len(all) > q.Limit {
		all = all[:q.Limit]
	}
	return all, nil
}

// write inserts or replaces a record. It queues a record whose write fails.
func (s *Set) write(ctx context.Context, r store.Job) error {
	err := s.store.UpdateJob(ctx, r)
	if _, kept := s.retryQueue.Get(r.ID); kept && errors.Is(err, store.ErrNoJob) {
		err = s.store.AddJob(ctx, r)
	}
	if err == nil || errors.Is(err, store.ErrNoJob) { // it was deleted before this
		s.retryQueue.Drop(r.ID)
		return nil
	}
	s.retryLater(r)
	return err
}

// retryLater queues a record whose write failed.
func (s *Set) retryLater(r store.Job) {
	if _, begin := s.retryQueue.Add(r.ID, r); !begin {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { s.retryQueue.RetryLoop(s.retryWrites) })
	}
}

// retryWrites writes the queued records, oldest first, until one fails.
func (s *Set) retryWrites() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), retryqueue.RetryInterval)
	defer cancel()
	for _, r := range s.matching("") {
		var err error
		if j := s.byExactID(r.ID); j != nil {
			err = j.write(ctx)
		} else if newest, there := s.retryQueue.Get(r.ID); there { // it has ended: this is its last
			err = s.write(ctx, newest)
		}
		if err != nil {
			return
		}
	}
}

// byExactID returns the job with an ID, if it has not ended.
func (s *Set) byExactID(id string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// write writes the job's record in its current state, if it has one. A record that cannot be written is kept.
func (j *Job) write(ctx context.Context) error {
	j.saving.Lock()
	defer j.saving.Unlock()
	if at := j.current(); at == stateUnrecorded || at == stateDropped { // a record with its id is another job's
		return nil
	}
	return j.s.write(ctx, j.row())
}

// ambiguous returns the error for a reference that matches several jobs.
func ambiguous(ref string) error {
	return api.Errorf(api.CodeAmbiguous, "%q could be several jobs", ref).WithHint("give more of the id")
}
