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
	return c.call(ctx, "/run", &r.Call, &r.ApprovalOptions, func() any { return r })
}

// call makes a call whose job has an id from the client, so that it can be retried after the daemon disappeared.
func (c *Client) call(ctx context.Context, path string, how *api.Call, asking *api.ApprovalOptions, body func() any) (api.Result, error) {
	if how.Job == "" {
		how.Job = uuid.NewString()
	}
	tell := c.o.OnApproval != nil && asking.OnApproval == ""
	if tell { // and then wait for it, by the same id
		asking.OnApproval = "return"
	}
	for p := newRetryPolicy(); ; {
		r, err := send[api.Result](ctx, c, "POST", path, nil, body())
		if err == nil && tell && r.NeedsApproval && r.Approval != asking.Told {
			c.o.OnApproval(r.Approval)
			asking.Told = r.Approval // a later approval may need another answer
			if !how.Background {
				continue
			}
		}
		if isInvalid(err) && asking.Told != "" { // a daemon of before there was that
			tell, asking.OnApproval, asking.Told = false, "wait", ""
			continue
		}
		if err == nil || !c.prepareRetry(ctx, p, err) {
			if ctx.Err() != nil {
				c.breakOff(how.Job)
			}
			return r, c.whyStopped(err)
		}
	}
}

// breakOffTime bounds the attempt to report that the caller left.
const breakOffTime = 2 * time.Second

// breakOff ends a job on a remote host. There a closed connection alone means a lost one.
func (c *Client) breakOff(job string) {
	if c.o.Way == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), breakOffTime)
	defer cancel()
	_, _ = c.StopJob(ctx, job, api.JobStop{}) // it may have ended; else it ends when no caller reconnects
}

// shortPatience bounds retries with a daemon that rejects the request or cannot be started.
const shortPatience = 3 * time.Second

// prepareRetry makes ready for a request that failed to be repeated to the daemon's successor,
// and reports whether to.
func (c *Client) prepareRetry(ctx context.Context, p *retryPolicy, err error) bool {
	limit := shortPatience
	var cut *cutError
	switch {
	case !isUnavailable(err), isFinal(err), c.stopped() != nil:
		return false
	case errors.As(err, &cut), mayRepeat(err):
		limit = maxRetryTime
	}
	if !p.pauseWithin(ctx, limit) {
		return false
	}
	c.http.CloseIdleConnections()
	err = c.Ensure(ctx)
	return err == nil || !isFinal(err) && c.stopped() == nil && p.pauseWithin(ctx, limit)
}

func isInvalid(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeInvalid
}

func isUnavailable(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeUnavailable
}

// JobQuery selects jobs.
type JobQuery struct {
	Session string // id, name or prefix; empty for all
	Running bool   // not ended
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

func jobPath(ref string) string { return "/jobs/" + url.PathEscape(ref) }

// Job describes a job and its progress, with at most maxOutput bytes of output (0: the daemon's default).
func (c *Client) Job(ctx context.Context, ref string, maxOutput int) (api.Job, error) {
	v := url.Values{}
	if maxOutput > 0 {
		v.Set("max_output", strconv.Itoa(maxOutput))
	}
	return get[api.Job](ctx, c, jobPath(ref), v)
}

// maxAwait bounds one request for a job's end; what waits longer asks again.
const maxAwait = time.Hour

// AwaitHow is how a job is waited for.
type AwaitHow struct {
	// Stop ties the job to the caller: the job ends if the caller leaves. AwaitJob returns when the job moves to the
	// background.
	Stop bool
	// OnInput: "return" comes back when the job waits for input.
	OnInput string
	// Yield, if positive, is how long AwaitJob waits before it returns; the job continues in the background.
	Yield time.Duration
	// OnApproval, if set, is called once for each approval that the job waits for.
	OnApproval func(id string)
}

// AwaitJob waits for the end of a job or of ctx. It survives a daemon restart.
func (c *Client) AwaitJob(ctx context.Context, ref string, how AwaitHow) (api.Job, error) {
	begun, span := time.Now(), maxAwait
	v := url.Values{}
	if how.Stop {
		v.Set("abandon", "stop")
	}
	if how.OnInput != "" {
		v.Set("on_input", how.OnInput)
	}
	if how.OnApproval != nil {
		v.Set("on_approval", "return")
	}
	for p := newRetryPolicy(); ; {
		if how.Yield > 0 {
			span = min(maxAwait, how.Yield-time.Since(begun))
		}
		v.Set("await_ms", strconv.FormatInt(max(1, span.Milliseconds()), 10))
		j, err := get[api.Job](ctx, c, jobPath(ref), v)
		switch {
		case err != nil && ctx.Err() != nil && how.Stop:
			c.breakOff(ref)
			return j, err
		case err != nil && c.prepareRetry(ctx, p, err):
		case err != nil, j.State == "done", j.Background && how.Stop:
			return j, c.whyStopped(err)
		case how.OnApproval != nil && j.Approval != "" && j.Approval != v.Get("told"):
			how.OnApproval(j.Approval)
			v.Set("told", j.Approval)
		case how.Yield > 0 && time.Since(begun) >= how.Yield:
			return c.leaveJob(ctx, ref)
		}
	}
}

// LookAtJob returns the job when it has ended, waits for input or for an approval other than told (empty: any), or
// await is over. It survives a daemon restart and changes nothing.
func (c *Client) LookAtJob(ctx context.Context, ref string, await time.Duration, told string) (api.Job, error) {
	until := time.Now().Add(await)
	for p := newRetryPolicy(); ; {
		v := url.Values{"on_input": {"return"}, "on_approval": {"return"}, "told": {told}, "await_ms": {strconv.FormatInt(max(1, time.Until(until).Milliseconds()), 10)}}
		j, err := get[api.Job](ctx, c, jobPath(ref), v)
		if err == nil || !c.prepareRetry(ctx, p, err) {
			return j, err
		}
	}
}

// leaveJob moves a job to the background, unless it has ended.
func (c *Client) leaveJob(ctx context.Context, ref string) (api.Job, error) {
	j, err := c.BackgroundJob(ctx, ref)
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded || err == nil && j.Result == nil {
		return c.Job(ctx, ref, 0)
	}
	return j, err
}

// StopJob ends a job by the kill ladder.
func (c *Client) StopJob(ctx context.Context, ref string, s api.JobStop) (api.Job, error) {
	return ending(ctx, c, func() (api.Job, error) {
		return send[api.Job](ctx, c, "POST", jobPath(ref)+"/stop", nil, s)
	}, func() (api.Job, error) { return c.Job(ctx, ref, 0) })
}

// BackgroundJob releases the callers that wait for a job; the job continues.
func (c *Client) BackgroundJob(ctx context.Context, ref string) (api.Job, error) {
	return send[api.Job](ctx, c, "POST", jobPath(ref)+"/background", nil, nil)
}

// ForgetJob forgets a job that ended, and the session it ran in by itself.
func (c *Client) ForgetJob(ctx context.Context, ref string) error {
	_, err := send[struct{}](ctx, c, "DELETE", jobPath(ref), nil, nil)
	return err
}
