//go:build unix

// Package projectrun has the sessions of a project's file (session/project) run, end and told of. It is a client
// like any other: each start is a request of its own, judged as that of whoever says `up`.
//
// Sessions are known again by labels that they carry, not by anything kept beside them, so `up` may be broken off
// and said again at any time: what runs is left alone, and what was not reached is begun.
package projectrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
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

// Up has all sessions run, in order, and waits until they are ready.
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
	ready := map[string]chan struct{}{}
	var mu sync.Mutex // guards states, and tells one at a time
	var all sync.WaitGroup
	tell := func(i int, st State) {
		mu.Lock()
		defer mu.Unlock()
		if states[i] = st; r.Tell != nil {
			r.Tell(st)
		}
	}
	readyNow := func(name string) bool {
		mu.Lock()
		defer mu.Unlock()
		i := slices.IndexFunc(wanted, func(s *project.Session) bool { return s.Name == name })
		return i >= 0 && states[i].Ready
	}
	for i, s := range wanted {
		for _, a := range s.After {
			<-ready[a]
		}
		done := make(chan struct{}) // the map is this goroutine's alone
		ready[s.Name] = done
		if i := slices.IndexFunc(s.After, func(a string) bool { return !readyNow(a) }); i >= 0 {
			tell(slices.Index(wanted, s), State{Name: s.Name, Called: r.File.SessionName(s.Name), State: "absent", Did: Waits, Problem: s.After[i] + " is not ready"})
			close(done)
			continue
		}
		st, info := r.start(ctx, s, there[s.Name])
		if st.Problem != "" || len(s.Ready) == 0 || st.Did == Done {
			st.Ready = st.Problem == ""
			tell(i, st)
			close(done)
			continue
		}
		if st.Did != Runs { // one that runs is mostly ready at the first look
			tell(i, waiting(st, s))
		}
		all.Go(func() {
			defer close(done)
			if st.Did == Runs && !r.look(ctx, s, info, &st) {
				tell(i, waiting(st, s))
			}
			if !st.Ready {
				r.await(ctx, s, info, &st, patience(s, info))
			}
			tell(i, st)
		})
	}
	all.Wait()
	if slices.ContainsFunc(states, func(s State) bool { return !s.Ready }) {
		return states, ErrNotReady
	}
	return states, nil
}

// waiting is a state that says what it waits for.
func waiting(st State, s *project.Session) State {
	st.WaitsFor = s.Ready
	return st
}

// look reports whether a session is ready now.
func (r *Runner) look(ctx context.Context, s *project.Session, now *api.Session, st *State) bool {
	r.await(ctx, s, now, st, probeTime)
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
		st.Session, st.Called, st.State, st.ExitCode, st.Signal, st.Duration = now.ID, now.Name, now.State, now.ExitCode, now.Signal, now.Duration
		st.Changed, _ = s.Differs(now.Labels[labelDefinition])
	}
	return st
}

// finished says that a session was to end with 0, and has.
func finished(s *project.Session, now *api.Session) bool {
	return slices.Contains(s.Ready, "exit") && now.State == "exited" && now.ExitCode != nil && *now.ExitCode == 0
}

// start has a session run, if it does not.
func (r *Runner) start(ctx context.Context, s *project.Session, now *api.Session) (State, *api.Session) {
	st := r.describe(s, now)
	var err error
	switch {
	case now == nil:
		st.Did = Started
		now, err = r.begin(ctx, s)
	case now.State == "running" && !(r.Replace && r.outdated(ctx, s, now)):
		st.Did = Runs
		return st, now
	case !st.Changed && now.State != "running" && finished(s, now):
		st.Did = Done
		return st, now
	case !st.Changed && now.State != "running":
		st.Did = Again
		now, err = r.again(ctx, s, now)
	default:
		st.Did = Restarted
		if err = r.putAside(ctx, now); err == nil {
			now, err = r.begin(ctx, s)
		}
	}
	did := st.Did
	if err != nil {
		st.Problem = err.Error()
		return st, now
	}
	st = r.describe(s, now)
	st.Did = did
	return st, now
}

// begin starts a session that is not there.
func (r *Runner) begin(ctx context.Context, s *project.Session) (*api.Session, error) {
	labels := map[string]string{labelRoot: r.File.Root, labelName: s.Name, labelDefinition: s.Definition(), labelFrom: "0"}
	n := api.NewSession{
		Name: r.File.SessionName(s.Name), Argv: s.Argv, Line: s.Line, Cwd: s.Cwd, Env: os.Environ(), SetEnv: s.Env,
		Sandbox: s.Sandbox, Labels: labels, Asking: r.Asking,
	}
	if s.Restart != project.RestartNever {
		labels[labelRestart] = s.Restart
		n.Restore = "command"                                              // when the machine went down, too
		n.SetEnv = append([]string{"PATH=" + os.Getenv("PATH")}, s.Env...) // nobody's environment is at hand then
	}
	info, err := r.Client.NewSession(ctx, n)
	return &info, err
}

// again starts a session's process again, below its history, unless somebody else did by now.
func (r *Runner) again(ctx context.Context, s *project.Session, now *api.Session) (*api.Session, error) {
	c := r.Client.Session(now.ID)
	restart := s.Restart
	if restart == project.RestartNever {
		restart = ""
	}
	if now.Labels[labelRestart] != restart || now.Labels[labelDefinition] != s.Definition() {
		if _, err := c.Edit(ctx, api.Edit{Labels: map[string]string{labelRestart: restart, labelDefinition: s.Definition()}}); err != nil {
			return now, err
		}
	}
	info, err := c.Restore(ctx, api.Restore{Command: true, Env: os.Environ()})
	var refused *api.Error
	if errors.As(err, &refused) && refused.Code == api.CodeRunning {
		info, err = c.Info(ctx)
	}
	return &info, err
}

// putAside gives the name of a session of an older definition free and ends it; its history stays. Who may not do the
// one does not do the other.
func (r *Runner) putAside(ctx context.Context, now *api.Session) error {
	c := r.Client.Session(now.ID)
	aside := now.Name + "." + now.ID[:8]
	_, err := c.Edit(ctx, api.Edit{Name: &aside, Labels: map[string]string{labelRoot: "", labelName: "", labelDefinition: "", labelFrom: "", labelRestart: ""}})
	if err == nil && now.State == "running" {
		_, err = c.Kill(ctx, api.Kill{})
	}
	return err
}

// await waits until a session is ready.
func (r *Runner) await(ctx context.Context, s *project.Session, now *api.Session, st *State, timeout time.Duration) {
	w := api.Wait{TimeoutMS: timeout.Milliseconds()}
	from, _ := strconv.ParseUint(now.Labels[labelFrom], 10, 64) // it is ours; else from the beginning
	w.Since = &from
	for _, text := range s.Ready {
		c, err := request.Condition(text)
		if err != nil {
			st.Problem = err.Error()
			return
		}
		w.Conds = append(w.Conds, c)
	}
	got, err := r.Client.Session(now.ID).Wait(ctx, w)
	if err != nil {
		st.Problem = err.Error()
		return
	}
	st.State, st.ExitCode, st.Signal, st.Duration = got.Session.State, got.Session.ExitCode, got.Session.Signal, got.Session.Duration
	exits := slices.Contains(s.Ready, "exit")
	failed := got.Session.State != "running" && (got.Session.ExitCode == nil || *got.Session.ExitCode != 0)
	switch {
	case got.Outcome == "timeout":
		st.Problem = r.late(s, now, timeout)
	case got.Outcome == "ended" && !exits || exits && failed:
		st.Problem = fmt.Sprintf("it ended before it was ready; `longterm output %s` shows why", now.Name)
	default:
		st.Ready = true
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

// Status is how the project's sessions are; nothing is started.
func (r *Runner) Status(ctx context.Context) ([]State, error) {
	there, err := r.there(ctx)
	if err != nil {
		return nil, err
	}
	var states []State
	for i := range r.File.Sessions {
		s := &r.File.Sessions[i]
		now := there[s.Name]
		st := r.describe(s, now)
		switch {
		case now == nil:
		case finished(s, now):
			st.Ready = true
		case now.State == "running" && len(s.Ready) > 0:
			r.await(ctx, s, now, &st, probeTime)
			st.Problem = "" // that it is not ready says it
		default:
			st.Ready = now.State == "running"
		}
		states = append(states, st)
	}
	return states, nil
}

// Ended is a session that down ended or removed.
type Ended struct {
	Session string `json:"session"`
	Called  string `json:"session_name"`
	Removed bool   `json:"removed,omitempty"`
}

// Down ends the sessions of the project at root, the youngest first, whatever its file says by now: those of only, by
// their names in the file or their own, or all.
func Down(ctx context.Context, c *client.Client, root string, only []string, remove bool) ([]Ended, error) {
	list, err := c.List(ctx, labelRoot+"="+root)
	if err != nil {
		return nil, err
	}
	if len(only) > 0 {
		if list, err = named(list, only); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(list, func(a, b api.Session) int { return b.Created.Compare(a.Created) })
	done := []Ended{}
	for i := range list {
		s := &list[i]
		runs := s.State == "running"
		if runs || s.Labels[labelRestart] != "" { // which may be about to come back
			if _, err := c.Session(s.ID).Kill(ctx, api.Kill{}); err != nil {
				return done, fmt.Errorf("end %s: %w", s.Name, err)
			}
		}
		if remove {
			if err := c.Session(s.ID).Remove(ctx, true); err != nil {
				return done, fmt.Errorf("remove %s: %w", s.Name, err)
			}
		}
		if runs || remove {
			done = append(done, Ended{s.ID, s.Name, remove})
		}
	}
	return done, nil
}

// named are the sessions of a list that are called by these names.
func named(list []api.Session, names []string) (found []api.Session, err error) {
	is := func(s *api.Session, name string) bool { return s.Labels[labelName] == name || s.Name == name }
	for _, name := range names {
		if !slices.ContainsFunc(list, func(s api.Session) bool { return is(&s, name) }) {
			return nil, api.Errorf(api.CodeInvalid, "up has started no session %q of this project", name).WithHint("`longterm status` lists them")
		}
	}
	for i := range list {
		if slices.ContainsFunc(names, func(name string) bool { return is(&list[i], name) }) {
			found = append(found, list[i])
		}
	}
	return found, nil
}
