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

// waiting is a state that says what it waits for.
func waiting(st State, s *project.Session) State {
	st.WaitsFor = s.Ready
	return st
}

// look reports whether a session is ready now.
func (r *Runner) look(ctx context.Context, s *project.Session, now *api.Session, st *State) bool {
	r.await(ctx, s, now, st, probeTime, 0)
	if !st.Ready {
		st.Problem = "" // yet
	}
	return st.Ready
}

// leastPatience is how long a program that has had its time is waited for all the same.
const leastPatience = time.Second

// patience is how long a session is waited for. One that runs, and was to be ready by other words than the file's, may
// never say the new ones: its time counts from its start.
func patience(s *project.Session, now *api.Session) time.Duration {
	if _, ready := s.Differs(now.Labels[labelDefinition]); !ready {
		return s.Timeout
	}
	return max(s.Timeout-time.Duration(now.Duration)*time.Millisecond, leastPatience)
}

// outdated says that a session that runs is to be started anew to be as the file has it.
func (r *Runner) outdated(ctx context.Context, s *project.Session, now *api.Session) bool {
	run, ready := s.Differs(now.Labels[labelDefinition])
	return run || ready && len(s.Ready) > 0 && !r.look(ctx, s, now, &State{})
}

// await waits until a session is ready, and for settle longer: one that ends in it is not ready after all. An end that
// is followed by a restart is not the last word.
func (r *Runner) await(
	ctx context.Context, s *project.Session, now *api.Session, st *State, timeout, settle time.Duration,
) {
	until := time.Now().Add(timeout)
	for {
		got, err := r.wait(ctx, s, now, time.Until(until))
		if err == nil && settle > 0 && got.Outcome == "fired" && got.Session.State == "running" {
			got.Session, err = r.settled(ctx, now, settle)
		}
		if err != nil {
			st.Problem = err.Error()
			return
		}
		now = &got.Session
		st.follow(now)
		switch {
		case got.Outcome == "timeout":
			st.Problem = r.late(s, now, timeout)
			return
		case got.Outcome == "fired" && now.State == "running" || finished(s, now):
			st.Ready = true
			return
		case now.Stopped:
			st.Problem = "somebody ended it before it was ready; `longterm up` starts it again"
			return
		case !st.Returns:
			st.Problem = endedEarly(now)
			return
		}
		if now, err = r.restarted(ctx, now, until); err != nil {
			st.Problem = err.Error()
			return
		}
		if now == nil {
			st.Problem = fmt.Sprintf("not ready after %s, and it has ended; `longterm output %s` shows why", timeout.Round(time.Millisecond), got.Session.Name)
			return
		}
	}
}

// endedEarly says how a session ended that was waited for.
func endedEarly(now *api.Session) string {
	how := ""
	switch {
	case now.ExitCode != nil:
		how = fmt.Sprintf(", with status %d", *now.ExitCode)
	case now.Signal != "":
		how = ", by " + now.Signal
	}
	return fmt.Sprintf("it ended before it was ready%s; `longterm output %s` shows why", how, now.Name)
}

// settleTime is how long a session has to go on after it was ready: what was waited for may be its last words.
const settleTime = 100 * time.Millisecond

// settled is how a session is that has had time to end.
func (r *Runner) settled(ctx context.Context, now *api.Session, settle time.Duration) (api.Session, error) {
	end, err := request.Condition("exit")
	if err != nil {
		return *now, err
	}
	got, err := r.Client.Session(now.ID).Wait(ctx, api.Wait{TimeoutMS: settle.Milliseconds(), Conds: []api.Condition{end}})
	return got.Session, err
}

// lookAgain finds those that were ready and have ended while others were waited for.
func (r *Runner) lookAgain(ctx context.Context, wanted []*project.Session, states []State) error {
	there, err := r.there(ctx)
	if err != nil {
		return err
	}
	for i, s := range wanted {
		now := there[s.Name]
		if !states[i].Ready || len(s.Ready) == 0 || now == nil || now.State == "running" || now.RestartAt != nil || finished(s, now) {
			continue
		}
		states[i].follow(now)
		states[i].Ready, states[i].Problem = false, endedEarly(now)
		if r.Tell != nil {
			r.Tell(states[i])
		}
	}
	return nil
}

// wait waits for what makes a session ready.
func (r *Runner) wait(ctx context.Context, s *project.Session, now *api.Session, timeout time.Duration) (api.Waited, error) {
	w := api.Wait{TimeoutMS: max(1, timeout.Milliseconds())}
	from, _ := strconv.ParseUint(now.Labels[labelFrom], 10, 64) // it is ours; else from the beginning
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

// restarted waits until a session that returns has. nil: it has not, in time or at all.
func (r *Runner) restarted(ctx context.Context, was *api.Session, until time.Time) (*api.Session, error) {
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

// late says that a session did not become ready in time.
func (r *Runner) late(s *project.Session, now *api.Session, waited time.Duration) string {
	text := fmt.Sprintf("not ready after %s: %s; `longterm screen %s` shows it", waited.Round(time.Millisecond), strings.Join(s.Ready, " or "), now.Name)
	if run, ready := s.Differs(now.Labels[labelDefinition]); run || ready {
		text += ". It was started by what the file said before; up --replace starts it anew"
	}
	return text
}

// probeTime is how long a state is looked at for a condition that has come true already.
const probeTime = 50 * time.Millisecond
