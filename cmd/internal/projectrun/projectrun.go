//go:build unix

// Package projectrun has the sessions of a project's file (session/project) run, end and told of. It is a client
// like any other: each start is a request of its own, judged as that of whoever says `up`.
//
// Sessions are known again by labels that they carry, not by anything kept beside them, so `up` may be broken off
// and said again at any time: what runs is left alone, and what was not reached is begun.
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

// Labels of a project's sessions. Restart is the daemon's, too: it starts what ends by itself again.
const (
	labelRoot       = api.ProjectLabel
	labelName       = labelRoot + ".session"
	labelDefinition = labelRoot + ".definition"
	labelFrom       = api.ProjectFromLabel // output offset at which the process that runs began
	labelRestart    = api.RestartLabel
	labelAside      = labelRoot + ".aside" // directory of the project that another session took this one's place in
)

// What up did with a session.
const (
	Started   = "started"
	Again     = "started again"
	Restarted = "restarted"
	Runs      = "runs"
	Done      = "done" // it was to end with 0, and has
	Waits     = "not started"
)

// State is how a project's session is.
type State struct {
	Name     string `json:"name" doc:"in the project's file"`
	Session  string `json:"session,omitempty" doc:"its id; absent: there is none"`
	Called   string `json:"session_name"`
	State    string `json:"state" enum:"running,exited,lost,absent"`
	Did      string `json:"did,omitempty" doc:"what up did"`
	Ready    bool   `json:"ready"`
	Changed  bool   `json:"changed,omitempty" doc:"the file says something else than when it was started"`
	ExitCode *int   `json:"exit_code"`
	Signal   string `json:"signal,omitempty" doc:"that ended it"`
	Duration int64  `json:"duration_ms"`
	Problem  string `json:"problem,omitempty"`
	Stopped  bool   `json:"stopped,omitempty" doc:"it was ended by request"`
	Returns  bool   `json:"returns,omitempty" doc:"it has ended, and is started again after a pause"`
	Unlisted bool   `json:"unlisted,omitempty" doc:"it runs, and the file does not have it any more"`
	// WaitsFor is told while it is waited for, only.
	WaitsFor []string `json:"-"`
}

// Runner does it.
type Runner struct {
	Client *client.Client
	File   *project.File
	Asking api.Asking
	// Replace has sessions started anew that run by another definition than the file's.
	Replace bool
	// Only names the sessions that are meant, and those they come after; empty: all.
	Only []string
	// Tell is told of each session as it is started and gets ready, one after the other.
	Tell func(State)
}

// ErrNotReady says that not all that was asked for is there.
var ErrNotReady = exit.With(1, api.Errorf(api.CodeUnavailable, "not everything is ready").
	WithHint("`longterm status` says what is not, and `longterm output S` what it printed"))

// errInterrupted says that nobody waits any longer.
var errInterrupted = api.Errorf(api.CodeCanceled, "interrupted").
	WithHint("what was started goes on; `longterm up` again waits for it and starts the rest")

// Up has all sessions run, each as soon as those that it comes after are ready, and waits until they are ready themselves.
func (r *Runner) Up(ctx context.Context) ([]State, error) {
	wanted, err := r.wanted()
	if err != nil {
		return nil, err
	}
	there, err := r.there(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]State, len(wanted))
	over := make([]chan struct{}, len(wanted)) // closed when a session's state is its last
	at := map[string]int{}
	for i, s := range wanted {
		over[i], at[s.Name] = make(chan struct{}), i
	}
	var mu sync.Mutex // guards states, and tells one at a time
	var all sync.WaitGroup
	for i, s := range wanted {
		all.Go(func() {
			defer close(over[i])
			missing := ""
			for _, a := range s.After {
				<-over[at[a]] // whose state is not written any more
				if !states[at[a]].Ready {
					missing = cmp.Or(missing, a)
				}
			}
			r.bring(ctx, s, there[s.Name], missing, func(st State) {
				mu.Lock()
				defer mu.Unlock()
				if ctx.Err() != nil {
					st.Problem = "" // it was not waited for any longer, and nothing is known to be wrong
				}
				if states[i] = st; r.Tell != nil && ctx.Err() == nil {
					r.Tell(st)
				}
			})
		})
	}
	all.Wait()
	if ctx.Err() == nil {
		if err := r.lookAgain(ctx, wanted, states); err != nil && ctx.Err() == nil {
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

// bring has a session run, and waits until it is ready; missing is one that it comes after and that is not.
func (r *Runner) bring(ctx context.Context, s *project.Session, now *api.Session, missing string, tell func(State)) {
	if missing != "" {
		st := r.describe(s, now)
		st.Did, st.Problem = Waits, missing+" is not ready"
		tell(st)
		return
	}
	st, now := r.start(ctx, s, now)
	if st.Problem != "" || len(s.Ready) == 0 || st.Did == Done {
		st.Ready = st.Problem == ""
		tell(st)
		return
	}
	// One that runs is mostly ready at the first look, and then there is nothing to tell of waiting.
	if st.Did != Runs || !r.look(ctx, s, now, &st) {
		tell(waiting(st, s))
		r.await(ctx, s, now, &st, patience(s, now), settleTime)
	}
	tell(st)
}

// wanted are the sessions that are meant, in order.
func (r *Runner) wanted() ([]*project.Session, error) {
	want := map[string]bool{}
	for _, name := range r.Only {
		if !slices.ContainsFunc(r.File.Sessions, func(s project.Session) bool { return s.Name == name }) {
			return nil, api.Errorf(api.CodeInvalid, "the project has no session %q", name).WithHint("it has %s", strings.Join(r.names(), ", "))
		}
		want[name] = true
	}
	for i := len(r.File.Sessions) - 1; i >= 0; i-- { // dependencies stand before
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

// there are the project's sessions by their names in the file.
func (r *Runner) there(ctx context.Context) (map[string]*api.Session, error) {
	list, err := r.Client.List(ctx, labelRoot+"="+r.File.Root)
	by := map[string]*api.Session{}
	for i := range list {
		by[list[i].Labels[labelName]] = &list[i]
	}
	return by, err
}

// describe is a session's state as it is known; now may be nil.
func (r *Runner) describe(s *project.Session, now *api.Session) State {
	st := State{Name: s.Name, Called: r.File.SessionName(s.Name), State: "absent"}
	if now != nil {
		st.Session, st.Called = now.ID, now.Name
		st.Changed, _ = s.Differs(now.Labels[labelDefinition])
		st.follow(now)
	}
	return st
}

// follow takes over how the session is by now.
func (st *State) follow(now *api.Session) {
	st.State, st.ExitCode, st.Signal, st.Duration = now.State, now.ExitCode, now.Signal, now.Duration
	st.Stopped, st.Returns = now.Stopped, now.RestartAt != nil
}

// finished says that a session was to end with 0, and has.
func finished(s *project.Session, now *api.Session) bool {
	return slices.Contains(s.Ready, "exit") && now.State == "exited" && now.ExitCode != nil && *now.ExitCode == 0
}
