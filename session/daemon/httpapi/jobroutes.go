//go:build unix

package httpapi

import (
	"context"
	"errors"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/jobs"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/evidence"
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

func (s *Server) listJobs(ctx context.Context, in *jobsQuery) ([]api.Job, error) {
	q := store.JobQuery{Open: in.Running, Limit: in.Limit}
	if q.Limit == 0 {
		q.Limit = 100
	}
	if in.Session != "" {
		e, err := s.reg.Resolve(in.Session)
		if err != nil {
			return nil, err
		}
		q.Session = e.ID()
	}
	return s.jobs.List(ctx, q)
}

type jobQuery struct {
	JobPath
	AwaitMS    int64  `query:"await_ms" minimum:"0" maximum:"86400000" doc:"wait so long for its end; 0: do not"`
	Abandon    string `query:"abandon" enum:"leave,stop" doc:"what a broken connection means for the job: nothing (default), or its end"`
	OnInput    string `query:"on_input" enum:"wait,return" doc:"what to do when it waits for input: wait on (default), or answer; it goes on in the background"`
	OnApproval string `query:"on_approval" enum:"wait,return" doc:"what to do when it waits for a person to allow something: wait on (default), or answer; nothing of it changes"`
	Told       string `query:"told" maxLength:"20" doc:"with on_approval return: the approval that the caller knows of; the answer comes with another one, or the end"`
	MaxOutput  int    `query:"max_output" minimum:"0" maximum:"16777216" doc:"bytes of output in the answer; default 4096, of one that is waited for what the call asked for"`
}

func (s *Server) getJob(ctx context.Context, in *jobQuery) (api.Job, error) {
	return s.jobs.Get(ctx, in.Job, jobs.Look{
		Await: time.Duration(in.AwaitMS) * time.Millisecond, Stop: in.Abandon == "stop", OnInput: in.OnInput, OnApproval: in.OnApproval, Told: in.Told, MaxOutput: in.MaxOutput,
	})
}

func (s *Server) postJobStop(ctx context.Context, in *struct {
	JobPath
	Body api.JobStop
}) (api.Job, error) {
	return s.jobs.Stop(ctx, in.Job, s.graceOf(ctx, in.Body.GraceMS), in.Body.Next)
}

func (s *Server) postJobBackground(ctx context.Context, in *JobPath) (api.Job, error) {
	return s.jobs.Release(ctx, in.Job)
}

func (s *Server) deleteJob(ctx context.Context, in *JobPath) (none, error) {
	return none{true}, s.jobs.Forget(ctx, in.Job)
}

func (s *Server) postExec(ctx context.Context, in *sessionBody[api.Exec]) (api.Result, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Result{}, err
	}
	if id, err := s.jobs.SessionOf(ctx, in.Body.Job); in.Body.Job != "" && err == nil && !s.shows(ctx, id) {
		return api.Result{}, api.Errorf(api.CodeIDTaken, "the job %q is not one of this session", in.Body.Job).WithHint("choose another id")
	}
	if err := s.admitRules(ctx, e, in.Body.Respond); err != nil {
		return api.Result{}, err
	}
	r, err := s.jobs.Exec(ctx, e, in.Body)
	return r, s.refusal(e, err)
}

// refusal is why a line was not run. A shell that is busy with a program that waits for
// input, or for a person to allow something, is another matter than one that works.
func (s *Server) refusal(e *registry.Handle, err error) error {
	if errors.Is(err, session.ErrBegun) {
		return api.Errorf(api.CodeBusy, "%v", err).
			WithHint("wait until the person has ended it, or use another session; `longterm keys %s C-u --force` throws it away", e.Record().Name)
	}
	if errors.Is(err, session.ErrBusy) {
		if v := s.gate.WaitsWithin(e.ID(), time.Time{}); v != nil {
			busy := api.Errorf(api.CodeBusy, "%v, which waits for approval %s", err, v.ID).
				WithHint("a person answers that (`longterm approvals answer %s once`); or wait for it (--wait), interrupt it, or use another session", v.ID)
			busy.Approval = v.ID
			return busy
		}
	}
	st := e.Session.Status()
	if !errors.Is(err, session.ErrBusy) || st.Needs.Kind == evidence.None {
		return err
	}
	answer := "`longterm send %s TEXT -e`"
	if st.Needs.Kind == evidence.Menu || st.Needs.Kind == evidence.Screen {
		answer = "`longterm keys %s KEY…`"
	}
	return api.Errorf(api.CodeNeedsInput, "%v, which waits for input (%s)", err, st.Needs.Kind).
		WithHint("answer it with "+answer+", give it the line with --foreign, or interrupt it with `longterm keys %[1]s C-c`", e.Record().Name)
}

func (s *Server) postRun(ctx context.Context, in *struct{ Body api.Run }) (api.Result, error) {
	if err := withinRules(ctx, &in.Body.NewSession); err != nil {
		return api.Result{}, err
	}
	return s.jobs.Run(ctx, in.Body)
}

// notRun is the result of a line of a batch that was refused.
func notRun(err error) api.Result {
	r := api.Result{State: "lost", TimedOut: "none", Mode: "pty", Error: toAPI(err).Error()}
	var e *api.Error
	switch errors.As(toAPI(err), &e); e.Code {
	case api.CodeInvalid, api.CodeBusy, api.CodeNoShell, api.CodeNeedsInput: // the shell did not take it
		r.State, r.Message, r.Hint = "refused", "Not run: "+e.Message, e.Hint
	}
	if errors.As(err, &e) && (e.Code == api.CodeDenied || e.Code == api.CodeRejected) {
		r.State, r.Error, r.Message, r.Hint, r.Policy, r.Approval = "denied", e.Message, e.Message, e.Hint, e.Policy, e.Approval
	}
	return r
}

func (s *Server) postBatch(ctx context.Context, in *sessionBody[api.Batch]) (api.Batched, error) {
	e, err := s.reg.Resolve(in.Session)
	if err != nil {
		return api.Batched{}, err
	}
	b := &in.Body
	if b.Job != "" || b.Background || b.YieldMS > 0 {
		return api.Batched{}, api.Errorf(api.CodeInvalid, "a batch has no job of its own and none in the background").WithHint("run its lines one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	for i, line := range b.Lines {
		r, err := s.jobs.Exec(ctx, e, api.Exec{Call: b.Call, Asking: api.Asking{Policy: b.Policy, Yes: b.Yes}, Line: line, Wait: b.Wait || i > 0, Sandbox: b.Sandbox, OnDifference: b.OnDifference})
		if err != nil && i == 0 {
			return out, s.refusal(e, err)
		}
		if err != nil { // what was run has been run
			r = notRun(err)
		}
		out.Results = append(out.Results, r)
		if r.State != "exited" || b.StopOnError && !r.IsSuccess() {
			out.Left = len(b.Lines) - i - 1
			break
		}
	}
	return out, nil
}
