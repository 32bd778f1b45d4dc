//go:build unix

package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/unwritten"
	"github.com/longterm-dev/longterm/store"
)

// What the disk does not take of a job is kept in memory and tried again: a command runs on a full disk, too, and who waits for
// it is told how it ended, and not that there is no such job.

// maxUnwritten is how many records are kept: what is beyond is as old as what the disk has of it.
const maxUnwritten = 1024

// matching are the records that are not written whose ids begin so, oldest first.
func (s *Set) matching(prefix string) []store.Job {
	var all []store.Job
	for _, r := range s.unwritten.All() {
		if strings.HasPrefix(r.ID, prefix) {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b store.Job) int { return a.Created.Compare(b.Created) })
	return all
}

// row is what is known of a job that was recorded: store.ErrNoJob.
func (s *Set) row(ctx context.Context, id string) (store.Job, error) {
	if r, there := s.unwritten.Get(id); there {
		return r, nil
	}
	return s.store.Job(ctx, id)
}

// rows are the records that are asked for, newest first, those that are not written yet in the places of what the disk has.
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

// write writes a record, whether or not there is one of the job; what cannot be written is kept.
func (s *Set) write(ctx context.Context, r store.Job) error {
	err := s.store.UpdateJob(ctx, r)
	if _, kept := s.unwritten.Get(r.ID); kept && errors.Is(err, store.ErrNoJob) {
		err = s.store.AddJob(ctx, r)
	}
	if err == nil || errors.Is(err, store.ErrNoJob) { // it was forgotten meanwhile
		s.unwritten.Drop(r.ID)
		return nil
	}
	s.keep(r)
	return err
}

// keep keeps a record that could not be written, and has it tried again.
func (s *Set) keep(r store.Job) {
	if _, begin := s.unwritten.Note(r.ID, r); !begin {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Go(func() { s.unwritten.Again(s.tryKept) })
	}
}

// tryKept tries each record once, and none after one that is refused.
func (s *Set) tryKept() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), unwritten.Every)
	defer cancel()
	for _, r := range s.matching("") {
		var err error
		if j := s.exactly(r.ID); j != nil {
			err = j.write(ctx)
		} else if newest, there := s.unwritten.Get(r.ID); there { // it has ended: this is its last
			err = s.write(ctx, newest)
		}
		if err != nil {
			return
		}
	}
}

// exactly is the job with this id, if it has not ended.
func (s *Set) exactly(id string) *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[id]
}

// write writes the job's record as it stands; what cannot be written is kept.
func (j *Job) write(ctx context.Context) error {
	j.saving.Lock()
	defer j.saving.Unlock()
	return j.s.write(ctx, j.row())
}

// ambiguous says that several jobs are meant.
func ambiguous(ref string) error {
	return api.Errorf(api.CodeAmbiguous, "%q could be several jobs", ref).WithHint("give more of the id")
}
