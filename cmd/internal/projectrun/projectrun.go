//go:build unix

// Package projectrun starts, ends and reports the sessions of a project's file (session/project). It is an ordinary
// client: each start is a request, and policy checks it as the caller's.
//
// Labels identify the sessions; nothing else is stored. `up` may therefore be interrupted and repeated at any time: it
// leaves running sessions alone and starts the missing ones.
package projectrun

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/project"
)

// Labels of a project's sessions. The daemon reads Restart too: it restarts sessions that end by themselves.
const (
	labelRoot       = api.ProjectLabel
	labelName       = labelRoot + ".session"
	labelDefinition = labelRoot + ".definition"
	labelFrom       = api.ProjectFromLabel // output offset at which the current process started
	labelRestart    = api.RestartLabel
	labelAside      = labelRoot + ".aside" // directory of the project whose newer session replaced this one
)

// Actions of up on a session.
const (
	Started   = "started"
	Restored  = "started again"
	Restarted = "restarted"
	Runs      = "runs"
	Done      = "done" // it was expected to exit with 0, and did
	Waits     = "not started"
)

// State is the state of a project's session, and what up did with it.
type State struct {
	Name           string `json:"name" doc:"in the project's file"`                               // name in the project file
	Session        string `json:"session,omitempty" doc:"its id; absent if it was never started"` // session id
	SessionName    string `json:"session_name"`                                                   // session name
	State          string `json:"state" enum:"running,exited,lost,absent"`
	Action         string `json:"did,omitempty" doc:"action of up"` // action of up
	Ready          bool   `json:"ready"`
	Changed        bool   `json:"changed,omitempty" doc:"the file's definition differs from the one it was started with"`
	ExitCode       *int   `json:"exit_code"`
	Signal         string `json:"signal,omitempty" doc:"signal that ended it"`
	Duration       int64  `json:"duration_ms"`                                                         // how long the process has run or ran, in milliseconds
	Problem        string `json:"problem,omitempty"`                                                   // why the session is not ready; "" if it is
	Stopped        bool   `json:"stopped,omitempty" doc:"a request ended it"`                          // the user ended it
	RestartPending bool   `json:"returns,omitempty" doc:"it has ended and is restarted after a pause"` // a restart by policy is pending
	Unlisted       bool   `json:"unlisted,omitempty" doc:"it runs, but the file no longer lists it"`   // the file no longer lists it
	// WaitsFor holds the ready conditions while up waits for them.
	WaitsFor []string `json:"-"`
}

// Runner starts and inspects the sessions of one project file.
type Runner struct {
	Client   *client.Client
	File     *project.File // options for approvals of starts
	Approval api.ApprovalOptions
	// Replace restarts sessions that run by another definition than the file's.
	Replace bool
	// Only names the sessions to start, together with those they come after; empty selects all.
	Only []string
	// Report receives each session's state as it is started and becomes ready. Calls are serialized.
	Report func(State)
}

// ErrNotReady reports that at least one selected session is not ready.
var ErrNotReady = exit.With(1, api.Errorf(api.CodeUnavailable, "not all sessions are ready").
	WithHint("see `longterm status` for the sessions and `longterm output S` for their output"))

// errInterrupted reports that the user interrupted the wait; the sessions keep running.
var errInterrupted = api.Errorf(api.CodeCanceled, "interrupted").
	WithHint("started sessions keep running; `longterm up` waits for them and starts the rest")

// Up starts all selected sessions, each as soon as those that it comes after are ready, and waits until all are ready.
func (r *Runner) Up(ctx context.Context) ([]State, error) {
	wanted, err := r.selectSessions()
	if err != nil {
		return nil, err
	}
	there, err := r.existingSessions(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(wanted))
	over := make([]chan struct{}, len(wanted)) // closed when a session's state is its last
	at := map[string]int{}
	for i, s := range wanted {
		over[i], at[s.Name] = make(chan struct{}), i
	}
	var mu sync.Mutex // guards states and serializes Report
	var all sync.WaitGroup
	for i, s := range wanted {
		all.Go(func() {
			defer close(over[i])
			missing := ""
			for _, a := range s.After {
				<-over[at[a]] // after it is closed the state is final
				if !states[at[a]].Ready {
					missing = cmp.Or(missing, a)
				}
			}
			r.startAndAwait(ctx, s, there[s.Name], missing, func(st State) {
				mu.Lock()
				defer mu.Unlock()
				if ctx.Err() != nil {
					st.Problem = "" // the wait was interrupted; no failure is known
				}
				if states[i] = st; r.Report != nil && ctx.Err() == nil {
					r.Report(st)
				}
			})
		})
	}
	all.Wait()
	if ctx.Err() == nil {
		if err := r.recheckReady(ctx, wanted, states); err != nil && ctx.Err() == nil {
			return states, err
		}
	}
	switch {
	case !slices.ContainsFunc(states, func(s State) bool { return !s.Ready }):
		return states, nil
	case ctx.Err() != nil:
		return states, errInterrupted
	}
	return states, ErrNotReady
}

// startAndAwait starts a session if needed and waits until it is ready. missing names a dependency that is not ready.
func (r *Runner) startAndAwait(ctx context.Context, s *project.Session, now *api.Session, missing string, tell func(State)) {
	if missing != "" {
		st := r.describe(s, now)
		st.Action, st.Problem = Waits, missing+" is not ready"
		tell(st)
		return
	}
	st, now := r.start(ctx, s, now)
	if st.Problem != "" || len(s.Ready) == 0 || st.Action == Done {
		st.Ready = st.Problem == ""
		tell(st)
		return
	}
	// A running session is usually ready at the first check; then no waiting is reported.
	if st.Action != Runs || !r.isReady(ctx, s, now, &st) {
		tell(withWaitsFor(st, s))
		r.await(ctx, s, now, &st, readyTimeout(s, now), settleTime)
	}
	tell(st)
}

// selectSessions returns the selected sessions and their dependencies, in the file's order.
func (r *Runner) selectSessions() ([]*project.Session, error) {
	want := map[string]bool{}
	for _, name := range r.Only {
		if !slices.ContainsFunc(r.File.Sessions, func(s project.Session) bool { return s.Name == name }) {
			return nil, api.Errorf(api.CodeInvalid, "session %q not found in the project", name).WithHint("its sessions: %s", strings.Join(r.names(), ", "))
		}
		want[name] = true
	}
	for i := len(r.File.Sessions) - 1; i >= 0; i-- { // dependencies come first in the file
		if s := &r.File.Sessions[i]; want[s.Name] {
			for _, a := range s.After {
				want[a] = true
			}
		}
	}
	var out []*project.Session
	for i := range r.File.Sessions {
		if s := &r.File.Sessions[i]; len(r.Only) == 0 || want[s.Name] {
			out = append(out, s)
		}
	}
	return out, nil
}

func (r *Runner) names() []string {
	var names []string
	for i := range r.File.Sessions {
		names = append(names, r.File.Sessions[i].Name)
	}
	return names
}

// existingSessions returns the project's sessions by their names in the file.
func (r *Runner) existingSessions(ctx context.Context) (map[string]*api.Session, error) {
	list, err := r.Client.List(ctx, labelRoot+"="+r.File.Root)
	by := map[string]*api.Session{}
	for i := range list {
		by[list[i].Labels[labelName]] = &list[i]
	}
	return by, err
}

// describe returns the state of a session; now is nil if it was never started.
func (r *Runner) describe(s *project.Session, now *api.Session) State {
	st := State{Name: s.Name, SessionName: r.File.SessionName(s.Name), State: "absent"}
	if now != nil {
		st.Session, st.SessionName = now.ID, now.Name
		st.Changed, _ = s.CompareDefinition(now.Labels[labelDefinition])
		st.follow(now)
	}
	return st
}

// follow copies the current state of the session's process.
func (st *State) follow(now *api.Session) {
	st.State, st.ExitCode, st.Signal, st.Duration = now.State, now.ExitCode, now.Signal, now.Duration
	st.Stopped, st.RestartPending = now.Stopped, now.RestartAt != nil
}

// hasFinished reports whether a session was expected to exit with 0, and did.
func hasFinished(s *project.Session, now *api.Session) bool {
	return slices.Contains(s.Ready, "exit") && now.State == "exited" && now.ExitCode != nil && *now.ExitCode == 0
}
