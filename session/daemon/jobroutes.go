//go:build unix

package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store"
)

// JobPath names a job. It is exported because huma fills embedded fields only then.
type JobPath struct {
	Job string `path:"job" doc:"id, or a unique prefix of it"`
}

type jobsQuery struct {
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Running bool   `query:"running" doc:"only those that have not ended"`
	Limit   int    `query:"limit" minimum:"0" maximum:"5000" doc:"the newest so many; default 100"`
}

func (d *Daemon) listJobs(ctx context.Context, in *jobsQuery) ([]api.Job, error) {
	q := store.JobQuery{Open: in.Running, Limit: in.Limit}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if in.Session != "" {
		e, err := d.hub.resolve(in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = e.rec.ID
	}
	recs, err := d.store.Jobs(ctx, q)
	if err != nil {
		return nil, err
	}
	list := make([]api.Job, 0, len(recs))
	for i := range recs {
		v := d.jobView(&recs[i])
		v.Result = withoutOutput(v.Result)
		list = append(list, v)
	}
	slices.Reverse(list) // oldest first
	return list, nil
}

// withoutOutput is a result for a list: how it ended, and not what it printed.
func withoutOutput(r *api.Result) *api.Result {
	if r == nil {
		return nil
	}
	short := *r
	short.Truncated = r.Truncated || r.Output != ""
	short.Output, short.Stdout, short.Stderr = "", nil, nil
	short.Env, short.Guess, short.Parsed, short.Answers = nil, nil, nil, nil
	return &short
}

// jobView is a job as its record has it, or as it is when it has not ended.
func (d *Daemon) jobView(r *store.Job) api.Job {
	if j := d.jobs.byID(r.ID); j != nil {
		return j.view()
	}
	v := api.Job{ID: r.ID, Session: r.Session, Line: r.Line, State: r.State, Started: r.Created, Command: r.N, Background: true}
	if e := d.hub.byID(r.Session); e != nil {
		v.Name = e.record().Name
	}
	if !r.Ended.IsZero() {
		v.Ended, v.DurationMS = &r.Ended, r.Ended.Sub(r.Created).Milliseconds()
	}
	if res, err := resultOf(r); err == nil {
		v.Result = &res
	}
	return v
}

// view is a job as clients see it.
func (j *job) view() api.Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	v := api.Job{
		ID: j.id, Session: j.e.rec.ID, Name: j.e.record().Name, Line: j.line, State: store.JobWaiting, Background: j.away,
		Started: j.began, DurationMS: sinceMS(j.began), Command: int(j.started.Number), Result: j.result,
	}
	switch {
	case j.result != nil:
		v.State, v.Ended, v.DurationMS = store.JobDone, &j.done, j.done.Sub(j.began).Milliseconds()
	case isClosed(j.begun):
		v.State = store.JobRunning
	}
	return v
}

func sinceMS(t time.Time) int64 { return time.Since(t).Milliseconds() }

// jobRecord finds the record of a job by id or unique prefix.
func (d *Daemon) jobRecord(ctx context.Context, ref string) (store.Job, error) {
	r, err := d.store.Job(ctx, ref)
	if err == nil {
		return r, nil
	}
	list, listErr := d.store.Jobs(ctx, store.JobQuery{Prefix: ref, Limit: 2})
	switch {
	case listErr != nil:
		return r, listErr
	case len(list) == 1 && ref != "":
		return list[0], nil
	case len(list) > 1:
		return r, api.Errorf(api.CodeAmbiguous, "%q could be several jobs", ref).WithHint("give more of the id")
	}
	return r, noJob(ref, err)
}

type jobQuery struct {
	JobPath
	AwaitMS   int64  `query:"await_ms" minimum:"0" maximum:"86400000" doc:"wait so long for its end; 0: do not"`
	Abandon   string `query:"abandon" enum:"leave,stop" doc:"what a broken connection means for the job: nothing (default), or its end"`
	OnInput   string `query:"on_input" enum:"wait,return" doc:"what to do when it waits for input: wait on (default), or answer; it goes on in the background"`
	MaxOutput int    `query:"max_output" minimum:"0" maximum:"16777216" doc:"bytes of output in the answer; default 4096, of one that is waited for what the call asked for"`
}

// jobBudget is how much output the record of a job has.
const jobBudget = 4 << 10

func (d *Daemon) getJob(ctx context.Context, in *jobQuery) (api.Job, error) {
	r, err := d.jobRecord(ctx, in.Job)
	if err != nil {
		return api.Job{}, err
	}
	limit := in.MaxOutput
	if limit == 0 && in.AwaitMS == 0 { // a record that is looked at
		limit = jobBudget
	}
	j := d.jobs.await(ctx, r.ID)
	if j == nil {
		if r, err = d.store.Job(ctx, r.ID); err != nil { // it may have ended since the record was read
			return api.Job{}, noJob(in.Job, err)
		}
		v := d.jobView(&r)
		if res, err := d.told(ctx, &r, limit); err == nil {
			v.Result = &res
		}
		return v, nil
	}
	if in.AwaitMS > 0 {
		leaves := endsByItself
		if in.Abandon == "stop" {
			leaves = endsByCaller
		}
		res, err := j.await(ctx, &api.Call{Job: r.ID, YieldMS: in.AwaitMS, OnTimeout: j.call.OnTimeout, OnInput: in.OnInput}, leaves)
		if err != nil && !isClosed(j.over) {
			return api.Job{}, err
		}
		if res.State == "needs_input" && in.OnInput == "return" {
			j.release()
		}
	}
	v := j.view()
	if v.Result == nil {
		res := j.answer(ctx, limit)
		v.Result = &res
	}
	return v, nil
}

func (d *Daemon) liveJob(ctx context.Context, ref string) (*job, error) {
	r, err := d.jobRecord(ctx, ref)
	if err != nil {
		return nil, err
	}
	if j := d.jobs.byID(r.ID); j != nil {
		return j, nil
	}
	return nil, api.Errorf(api.CodeEnded, "job %s has ended", api.ShortID(r.ID)).WithHint("`longterm jobs show %s` tells how", api.ShortID(r.ID))
}

func (d *Daemon) postJobStop(ctx context.Context, in *struct {
	JobPath
	Body api.JobStop
}) (api.Job, error) {
	j, err := d.liveJob(ctx, in.Job)
	if err != nil {
		return api.Job{}, err
	}
	grace := d.conf.Grace()
	if in.Body.GraceMS > 0 {
		grace = time.Duration(in.Body.GraceMS) * time.Millisecond
	}
	j.mark(endsByRequest)
	j.ask(grace)
	select {
	case <-j.over:
		return j.view(), nil
	case <-d.jobs.ctx.Done():
		return api.Job{}, session.ErrStopped
	case <-ctx.Done():
		return api.Job{}, ctx.Err()
	}
}

func (d *Daemon) postJobBackground(ctx context.Context, in *JobPath) (api.Job, error) {
	j, err := d.liveJob(ctx, in.Job)
	if err != nil {
		return api.Job{}, err
	}
	j.release()
	return j.view(), nil
}

func (d *Daemon) deleteJob(ctx context.Context, in *JobPath) (none, error) {
	r, err := d.jobRecord(ctx, in.Job)
	if err != nil {
		return none{}, err
	}
	if d.jobs.byID(r.ID) != nil {
		return none{}, api.Errorf(api.CodeRunning, "job %s has not ended", api.ShortID(r.ID)).WithHint("end it first: `longterm jobs stop %s`", api.ShortID(r.ID))
	}
	if err := d.store.DeleteJob(ctx, r.ID); err != nil {
		return none{}, noJob(in.Job, err)
	}
	if e := d.hub.byID(r.Session); e != nil && r.Kind == store.JobCommand && !keepsSession(&r) && len(d.hub.noteLeft(e)) == 0 {
		return none{true}, d.hub.remove(ctx, e, false)
	}
	return none{true}, nil
}

func (d *Daemon) postBatch(ctx context.Context, in *sessionBody[api.Batch]) (api.Batched, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Batched{}, err
	}
	b := &in.Body
	if b.Job != "" || inBackground(&b.Call) {
		return api.Batched{}, api.Errorf(api.CodeInvalid, "a batch has no job of its own and none in the background").WithHint("run its lines one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	for i, line := range b.Lines {
		r, err := d.jobs.line(ctx, e, api.Exec{Call: b.Call, Line: line, Wait: b.Wait || i > 0})
		if err != nil && i == 0 {
			return out, err
		}
		if err != nil { // what was run has been run
			r.State, r.Error = "lost", toAPI(err).Error()
		}
		out.Results = append(out.Results, r)
		failed := r.ExitCode == nil || *r.ExitCode != 0
		if r.State != "exited" || b.StopOnError && failed {
			out.Left = len(b.Lines) - i - 1
			break
		}
	}
	return out, nil
}
