//go:build unix

package client

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
)

// Run runs a command in a new session. The call survives a daemon restart; the command runs once.
func (c *Client) Run(ctx context.Context, r api.Run) (api.Result, error) {
	if err := c.fillStartContext(ctx, &r.NewSession); err != nil {
		return api.Result{}, err
	}
	return c.submitJob(ctx, "/run", &r.Call, &r.ApprovalOptions, func() any { return r })
}

// submitJob submits a job with an id from the client, so that the request can be repeated after a disconnect.
func (c *Client) submitJob(ctx context.Context, path string, job *api.Call, approvals *api.ApprovalOptions, body func() any) (api.Result, error) {
	if job.Job == "" {
		job.Job = uuid.NewString()
	}
	reportApprovals := c.options.OnApproval != nil && approvals.OnApproval == ""
	q := url.Values{}
	if reportApprovals { // and then wait for it with the same id
		approvals.OnApproval = "return"
		q.Set("abandon", "stop")
	}
	for p := newRetryPolicy(); ; {
		r, err := send[api.Result](ctx, c, "POST", path, q, body())
		if err == nil && reportApprovals && r.NeedsApproval && r.Approval != approvals.KnownApproval {
			c.options.OnApproval(r.Approval)
			approvals.KnownApproval = r.Approval // a later approval may need another answer
			if !job.Background {
				continue
			}
		}
		if isInvalid(err) && approvals.KnownApproval != "" { // a daemon too old for this option
			reportApprovals, approvals.OnApproval, approvals.KnownApproval = false, "wait", ""
			continue
		}
		if err == nil || !c.prepareRetry(ctx, p, err) {
			if ctx.Err() != nil {
				c.stopAbandonedJob(job.Job)
			}
			return r, c.explainStopped(err)
		}
	}
}

// abandonTimeout bounds the attempt to report that the caller left.
const abandonTimeout = 2 * time.Second

// stopAbandonedJob ends the job of a caller that left a remote host. There a closed connection alone means a lost one.
func (c *Client) stopAbandonedJob(job string) {
	if c.options.Remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), abandonTimeout)
	defer cancel()
	_, _ = c.StopJob(ctx, job, api.JobStop{}) // on failure the job ends when no caller reconnects
}

// shortRetryTime bounds retries with a daemon that rejects the request or cannot be started.
const shortRetryTime = 3 * time.Second

// prepareRetry pauses after a failed request and ensures that a daemon runs. It reports whether to retry.
func (c *Client) prepareRetry(ctx context.Context, p *retryPolicy, err error) bool {
	limit := shortRetryTime
	var cut *disconnectError
	switch {
	case !isUnavailable(err), isPermanent(err), c.stoppedByUserError() != nil:
		return false
	case errors.As(err, &cut), isRetryable(err):
		limit = maxRetryTime
	}
	if !p.pauseWithin(ctx, limit) {
		return false
	}
	c.http.CloseIdleConnections()
	err = c.Ensure(ctx)
	return err == nil || !isPermanent(err) && c.stoppedByUserError() == nil && p.pauseWithin(ctx, limit)
}

// isInvalid reports whether the daemon rejected a request as invalid.
func isInvalid(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeInvalid
}

// isUnavailable reports whether the daemon could not be reached or is not ready.
func isUnavailable(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeUnavailable
}

// JobQuery selects jobs.
type JobQuery struct {
	Session string // id, name or prefix; empty for all
	Running bool   // only jobs that have not ended
	Limit   int    // the newest Limit; 0: 100
}

// Jobs lists jobs, oldest first.
func (c *Client) Jobs(ctx context.Context, q JobQuery) ([]api.Job, error) {
	v := url.Values{}
	if q.Session != "" {
		v.Set("session", q.Session)
	}
	if q.Running {
		v.Set("running", "true")
	}
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	return get[[]api.Job](ctx, c, "/jobs", v)
}

// jobPath returns the API path of a job.
func jobPath(ref string) string { return "/jobs/" + url.PathEscape(ref) }

// Job describes a job and its progress, with at most maxOutput bytes of output (0: the daemon's default).
func (c *Client) Job(ctx context.Context, ref string, maxOutput int) (api.Job, error) {
	v := url.Values{}
	if maxOutput > 0 {
		v.Set("max_output", strconv.Itoa(maxOutput))
	}
	return get[api.Job](ctx, c, jobPath(ref), v)
}

// maxAwait bounds one request for a job's end; longer waits repeat it.
const maxAwait = time.Hour

// AwaitOptions configure AwaitJob.
type AwaitOptions struct {
	// StopOnLeave ties the job to the caller: the job ends if the caller leaves. AwaitJob returns when the job moves to
	// the background.
	StopOnLeave bool
	// OnInput "return" makes AwaitJob return when the job needs input.
	OnInput string
	// YieldAfter, if positive, is how long AwaitJob waits before it returns; the job continues in the background.
	YieldAfter time.Duration
	// OnApproval, if set, is called once for each approval that the job waits for.
	OnApproval func(id string)
}

// AwaitJob waits for the end of a job or of ctx. It survives a daemon restart.
func (c *Client) AwaitJob(ctx context.Context, ref string, how AwaitOptions) (api.Job, error) {
	start, span := time.Now(), maxAwait
	v := url.Values{}
	if how.StopOnLeave {
		v.Set("abandon", "stop")
	}
	if how.OnInput != "" {
		v.Set("on_input", how.OnInput)
	}
	if how.OnApproval != nil {
		v.Set("on_approval", "return")
	}
	for p := newRetryPolicy(); ; {
		if how.YieldAfter > 0 {
			span = min(maxAwait, how.YieldAfter-time.Since(start))
		}
		v.Set("await_ms", strconv.FormatInt(max(1, span.Milliseconds()), 10))
		j, err := get[api.Job](ctx, c, jobPath(ref), v)
		switch {
		case err != nil && ctx.Err() != nil && how.StopOnLeave:
			c.stopAbandonedJob(ref)
			return j, err
		case err != nil && c.prepareRetry(ctx, p, err):
		case err != nil, j.State == "done", j.Background && how.StopOnLeave:
			return j, c.explainStopped(err)
		case how.OnApproval != nil && j.Approval != "" && j.Approval != v.Get("told"):
			how.OnApproval(j.Approval)
			v.Set("told", j.Approval)
		case how.YieldAfter > 0 && time.Since(start) >= how.YieldAfter:
			return c.moveToBackground(ctx, ref)
		}
	}
}

// PollJob returns the job when it has ended, needs input or an approval other than known (empty: any), or await has
// passed. It survives a daemon restart and changes nothing.
func (c *Client) PollJob(ctx context.Context, ref string, await time.Duration, known string) (api.Job, error) {
	until := time.Now().Add(await)
	for p := newRetryPolicy(); ; {
		v := url.Values{"on_input": {"return"}, "on_approval": {"return"}, "told": {known}, "await_ms": {strconv.FormatInt(max(1, time.Until(until).Milliseconds()), 10)}}
		j, err := get[api.Job](ctx, c, jobPath(ref), v)
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return j, err
		}
	}
}

// moveToBackground moves a job to the background, unless it has ended.
func (c *Client) moveToBackground(ctx context.Context, ref string) (api.Job, error) {
	j, err := c.BackgroundJob(ctx, ref)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || err == nil && j.Result == nil {
		return c.Job(ctx, ref, 0)
	}
	return j, err
}

// StopJob ends a job by the kill ladder.
func (c *Client) StopJob(ctx context.Context, ref string, s api.JobStop) (api.Job, error) {
	return endIdempotent(ctx, c, func() (api.Job, error) {
		return send[api.Job](ctx, c, "POST", jobPath(ref)+"/stop", nil, s)
	}, func() (api.Job, error) { return c.Job(ctx, ref, 0) })
}

// BackgroundJob releases the callers that wait for a job; the job continues.
func (c *Client) BackgroundJob(ctx context.Context, ref string) (api.Job, error) {
	return send[api.Job](ctx, c, "POST", jobPath(ref)+"/background", nil, nil)
}

// ForgetJob deletes an ended job, and the session that was started for it.
func (c *Client) ForgetJob(ctx context.Context, ref string) error {
	_, err := send[struct{}](ctx, c, "DELETE", jobPath(ref), nil, nil)
	return err
}
