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
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/store"
)

// JobPath names a job. It is exported because huma fills embedded fields only then.
type JobPath struct {
	Job string `path:"job" doc:"id, or a unique prefix of it"`
}

type jobsQuery struct {
	Session string `query:"session" doc:"of one session: id, name, or a unique prefix; default: of all"`
	Running bool   `query:"running" doc:"only jobs that have not ended"`
	Limit   int    `query:"limit" minimum:"0" maximum:"5000" doc:"maximum number, newest first; default 100"`
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
	AwaitMS       int64  `query:"await_ms" minimum:"0" maximum:"86400000" doc:"wait up to this time for the end; 0: do not wait"`
	Abandon       string `query:"abandon" enum:"leave,stop" doc:"if the connection breaks, or the caller does not ask again within a minute: leave the job (default), or stop it"`
	OnInput       string `query:"on_input" enum:"wait,return" doc:"if the job needs input: wait (default), or return; the job continues in the background"`
	OnApproval    string `query:"on_approval" enum:"wait,return" doc:"if the job needs approval: wait (default), or return; the job is not affected"`
	KnownApproval string `query:"told" maxLength:"20" doc:"with on_approval return: id of the approval already known; the answer comes with another one, or at the end"`
	MaxOutput     int    `query:"max_output" minimum:"0" maximum:"16777216" doc:"bytes of output in the answer; default 4096, or the value of the waiting call"`
}

func (s *Server) getJob(ctx context.Context, in *jobQuery) (api.Job, error) {
	j, err := s.jobs.Get(ctx, in.Job, jobs.ReadOptions{
		Await: time.Duration(in.AwaitMS) * time.Millisecond, Stop: in.Abandon == "stop", OnInput: in.OnInput, OnApproval: in.OnApproval, KnownApproval: in.KnownApproval, MaxOutput: in.MaxOutput,
	})
	if err == nil && in.AwaitMS > 0 && in.Abandon == "stop" {
		s.jobs.EndUnlessReconnected(j.ID)
	}
	if by := identity.Of(ctx); err == nil && j.State == store.JobDone && !by.IsAgent() {
		s.daemon.Inbox().MarkJobSeen(ctx, j.ID)
	}
	return j, err
}

func (s *Server) postJobStop(ctx context.Context, in *struct {
	JobPath
	Body api.JobStop
}) (api.Job, error) {
	return s.jobs.Stop(ctx, in.Job, s.graceOf(ctx, in.Body.GraceMS), in.Body.Next)
}

func (s *Server) postJobBackground(ctx context.Context, in *JobPath) (api.Job, error) {
	return s.jobs.Detach(ctx, in.Job)
}

func (s *Server) deleteJob(ctx context.Context, in *JobPath) (noContent, error) {
	return noContent{true}, s.jobs.Forget(ctx, in.Job)
}

// AbandonQuery chooses what happens to a job if its call returned before its end and no caller requests it again.
type AbandonQuery struct {
	Abandon string `query:"abandon" enum:"leave,stop" doc:"if the call returns before the job's end: leave the job (default), or stop it unless its caller requests it again within a minute"`
}

// endUnlessReconnected ends an unfinished job after a minute without a caller, if the request has abandon=stop.
func (q AbandonQuery) endUnlessReconnected(s *Server, r *api.Result, c *api.Call, err error) {
	if q.Abandon == "stop" && err == nil && !c.Background && c.YieldMS == 0 {
		s.jobs.EndUnlessReconnected(r.Job)
	}
}

func (s *Server) postExec(ctx context.Context, in *struct {
	SessionPath
	Body api.Exec
	AbandonQuery
}) (api.Result, error) {
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
	in.endUnlessReconnected(s, &r, &in.Body.Call, err)
	return r, s.explainRejection(e, err)
}

// explainRejection adds to the error of a rejected line why the shell is busy: it may also wait for input or for an
// approval.
func (s *Server) explainRejection(e *registry.Handle, err error) error {
	if errors.Is(err, session.ErrUserTyping) {
		return api.Errorf(api.CodeBusy, "%v", err).
			WithHint("wait until the user has finished it, or use another session; `longterm keys %s C-u --force` discards it", e.Record().Name)
	}
	if errors.Is(err, session.ErrBusy) {
		if v := s.gate.OldestBlocking(e.ID(), time.Time{}); v != nil {
			busy := api.Errorf(api.CodeBusy, "%v, which waits for approval %s", err, v.ID).
				WithHint("answer it (`longterm approvals answer %s once`), wait (--wait), interrupt it, or use another session", v.ID)
			busy.Approval = v.ID
			return busy
		}
	}
	st := e.Session.Status()
	if !errors.Is(err, session.ErrBusy) || st.Needs.Kind == inputdetect.None {
		return err
	}
	answer := "`longterm send %s TEXT -e`"
	if st.Needs.Kind == inputdetect.Menu || st.Needs.Kind == inputdetect.Screen {
		answer = "`longterm keys %s KEY…`"
	}
	return api.Errorf(api.CodeNeedsInput, "%v, which waits for input (%s)", err, st.Needs.Kind).
		WithHint("answer it with "+answer+", give it the line with --foreign, or interrupt it with `longterm keys %[1]s C-c`", e.Record().Name)
}

func (s *Server) postRun(ctx context.Context, in *struct {
	Body api.Run
	AbandonQuery
}) (api.Result, error) {
	if err := inheritPolicy(ctx, &in.Body.NewSession); err != nil {
		return api.Result{}, err
	}
	r, err := s.jobs.Run(ctx, in.Body)
	in.endUnlessReconnected(s, &r, &in.Body.Call, err)
	return r, err
}

// rejectedResult returns the result of a rejected line of a batch.
func rejectedResult(err error) api.Result {
	r := api.Result{State: "lost", TimedOut: "none", Mode: "pty", Error: toAPI(err).Error()}
	var e *api.Error
	switch errors.As(toAPI(err), &e); e.Code {
	case api.CodeInvalid, api.CodeBusy, api.CodeNoShell, api.CodeNeedsInput: // the shell did not take it
		r.State, r.Message, r.Hint = "refused", "not run: "+e.Message, e.Hint
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
		return api.Batched{}, api.Errorf(api.CodeInvalid, "a batch has no job and cannot run in the background").WithHint("run its lines one by one")
	}
	out := api.Batched{Results: []api.Result{}}
	for i, line := range b.Lines {
		r, err := s.jobs.Exec(ctx, e, api.Exec{Call: b.Call, ApprovalOptions: api.ApprovalOptions{Policy: b.Policy, Yes: b.Yes}, Line: line, Wait: b.Wait || i > 0, Sandbox: b.Sandbox, OnDifference: b.OnDifference})
		if err != nil && i == 0 {
			return out, s.explainRejection(e, err)
		}
		if err != nil { // what was run has been run
			r = rejectedResult(err)
		}
		out.Results = append(out.Results, r)
		if r.State != "exited" || b.StopOnError && !r.IsSuccess() {
			out.LeftOut = len(b.Lines) - i - 1
			break
		}
	}
	return out, nil
}
