//go:build unix

package projectrun

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/project"
)

// withWaitsFor returns st with the conditions that the session waits for.
func withWaitsFor(st State, s *project.Session) State {
	st.WaitsFor = s.Ready
	return st
}

// isReady reports whether a session is ready now, and updates st.
func (r *Runner) isReady(ctx context.Context, s *project.Session, now *api.Session, st *State) bool {
	r.await(ctx, s, now, st, probeTime, 0)
	if !st.Ready {
		st.Problem = "" // not a failure yet
	}
	return st.Ready
}

// minReadyTimeout is the shortest wait for a session whose timeout has already passed.
const minReadyTimeout = time.Second

// readyTimeout returns how long to wait for a session. If the ready conditions changed since the start, the running
// process may never print the new ones, so its age counts against the timeout.
func readyTimeout(s *project.Session, now *api.Session) time.Duration {
	if _, ready := s.CompareDefinition(now.Labels[labelDefinition]); !ready {
		return s.Timeout
	}
	return max(s.Timeout-time.Duration(now.Duration)*time.Millisecond, minReadyTimeout)
}

// needsReplacement reports whether a running session no longer matches the file's definition.
func (r *Runner) needsReplacement(ctx context.Context, s *project.Session, now *api.Session) bool {
	run, ready := s.CompareDefinition(now.Labels[labelDefinition])
	return run || ready && len(s.Ready) > 0 && !r.isReady(ctx, s, now, &State{})
}

// await waits until a session is ready, and for settle longer: a session that ends within it is not ready. An end that
// a restart follows does not count.
func (r *Runner) await(
	ctx context.Context, s *project.Session, now *api.Session, st *State, timeout, settle time.Duration,
) {
	until := time.Now().Add(timeout)
	for {
		got, err := r.wait(ctx, s, now, time.Until(until))
		if err == nil && settle > 0 && got.Outcome == "fired" && got.Session.State == "running" {
			got.Session, err = r.awaitSettled(ctx, now, settle)
		}
		if err != nil {
			st.Problem = err.Error()
			return
		}
		now = &got.Session
		st.follow(now)
		switch {
		case got.Outcome == "timeout":
			st.Problem = r.lateText(s, now, timeout)
			return
		case got.Outcome == "fired" && now.State == "running" || hasFinished(s, now):
			st.Ready = true
			return
		case now.Stopped:
			st.Problem = "ended by request before it was ready; `longterm up` starts it again"
			return
		case !st.RestartPending:
			st.Problem = endedEarly(now)
			return
		}
		if now, err = r.awaitRestart(ctx, now, until); err != nil {
			st.Problem = err.Error()
			return
		}
		if now == nil {
			st.Problem = fmt.Sprintf("not ready after %s and exited; see `longterm output %s`", timeout.Round(time.Millisecond), got.Session.Name)
			return
		}
	}
}

// endedEarly returns the problem text of a session that ended before it was ready.
func endedEarly(now *api.Session) string {
	how := ""
	switch {
	case now.ExitCode != nil:
		how = fmt.Sprintf(" (exit %d)", *now.ExitCode)
	case now.Signal != "":
		how = " (" + now.Signal + ")"
	}
	return fmt.Sprintf("exited before it was ready%s; see `longterm output %s`", how, now.Name)
}

// settleTime is how long a session must keep running after it was ready: the ready line may be its last output.
const settleTime = 100 * time.Millisecond

// awaitSettled returns the state of a session after it had the time settle to end.
func (r *Runner) awaitSettled(ctx context.Context, now *api.Session, settle time.Duration) (api.Session, error) {
	end, err := request.Condition("exit")
	if err != nil {
		return *now, err
	}
	got, err := r.Client.Session(now.ID).Wait(ctx, api.Wait{TimeoutMS: settle.Milliseconds(), Conds: []api.Condition{end}})
	return got.Session, err
}

// recheckReady finds sessions that were ready and have ended during the wait for others.
func (r *Runner) recheckReady(ctx context.Context, wanted []*project.Session, states []State) error {
	there, err := r.existingSessions(ctx)
	if err != nil {
		return err
	}
	for i, s := range wanted {
		now := there[s.Name]
		if !states[i].Ready || len(s.Ready) == 0 || now == nil || now.State == "running" || now.RestartAt != nil || hasFinished(s, now) {
			continue
		}
		states[i].follow(now)
		states[i].Ready, states[i].Problem = false, endedEarly(now)
		if r.Report != nil {
			r.Report(states[i])
		}
	}
	return nil
}

// wait sends one wait request for the session's ready conditions.
func (r *Runner) wait(ctx context.Context, s *project.Session, now *api.Session, timeout time.Duration) (api.Waited, error) {
	w := api.Wait{TimeoutMS: max(1, timeout.Milliseconds())}
	from, _ := strconv.ParseUint(now.Labels[labelFrom], 10, 64) // longterm writes this label; if it is invalid, the wait covers all output
	w.Since = &from
	for _, text := range s.Ready {
		c, err := request.Condition(text)
		if err != nil {
			return api.Waited{}, err
		}
		w.Conds = append(w.Conds, c)
	}
	return r.Client.Session(now.ID).Wait(ctx, w)
}

// awaitRestart waits until a session with a pending restart has restarted. It returns nil if it does not by until.
func (r *Runner) awaitRestart(ctx context.Context, was *api.Session, until time.Time) (*api.Session, error) {
	for {
		now, err := r.Client.Session(was.ID).Info(ctx)
		switch {
		case err != nil:
			return nil, err
		case now.State == "running" || now.Started.After(was.Started):
			return &now, nil
		case now.RestartAt == nil || !time.Now().Before(until):
			return nil, nil
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// lateText returns the problem text of a session that did not become ready in time.
func (r *Runner) lateText(s *project.Session, now *api.Session, waited time.Duration) string {
	text := fmt.Sprintf("not ready after %s: %s; see `longterm screen %s`", waited.Round(time.Millisecond), strings.Join(s.Ready, " or "), now.Name)
	if run, ready := s.CompareDefinition(now.Labels[labelDefinition]); run || ready {
		text += "; it was started from an older definition: `longterm up --replace` restarts it"
	}
	return text
}

// probeTime bounds a check for a condition that is already true.
const probeTime = 50 * time.Millisecond
