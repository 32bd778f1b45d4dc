//go:build unix

package projectrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/project"
)

// start has a session run, if it does not.
func (r *Runner) start(ctx context.Context, s *project.Session, now *api.Session) (State, *api.Session) {
	st := r.describe(s, now)
	var other bool // somebody else's up was faster
	var err error
	switch {
	case now == nil:
		st.Did = Started
		n := r.request(s)
		now, other, err = r.begin(ctx, s, &n)
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
		now, other, err = r.replace(ctx, s, now)
	}
	if err != nil {
		st.Problem = err.Error()
		return st, now
	}
	if other {
		return r.start(ctx, s, now)
	}
	did := st.Did
	st = r.describe(s, now)
	st.Did = did
	return st, now
}

// request is what starts a session. Said twice it is one call, about which a person is asked once.
func (r *Runner) request(s *project.Session) api.NewSession {
	labels := map[string]string{labelRoot: r.File.Root, labelName: s.Name, labelDefinition: s.Definition(), labelFrom: "0"}
	n := api.NewSession{
		Name: r.File.SessionName(s.Name), Argv: s.Argv, Line: s.Line, Cwd: s.Cwd, Env: os.Environ(), SetEnv: s.Env,
		Sandbox: s.Sandbox, Labels: labels, Asking: r.Asking, AskID: uuid.NewString(),
	}
	if s.Restart != project.RestartNever {
		labels[labelRestart] = s.Restart
		n.Restore = "command"                                              // when the machine went down, too
		n.SetEnv = append([]string{"PATH=" + os.Getenv("PATH")}, s.Env...) // nobody's environment is at hand then
	}
	return n
}

// A name may be that of a session that is being started, which no list has yet.
const (
	startTime  = 30 * time.Second
	lookPeriod = 100 * time.Millisecond
)

// begin starts a session that is not there. other: by now another `up` did, and it is that one's.
func (r *Runner) begin(ctx context.Context, s *project.Session, n *api.NewSession) (now *api.Session, other bool, err error) {
	for until := time.Now().Add(startTime); ; {
		info, err := r.Client.NewSession(ctx, *n)
		if !isCode(err, api.CodeNameTaken) {
			return &info, false, err
		}
		holder, lerr := r.called(ctx, n.Name)
		switch {
		case lerr != nil:
			return nil, false, lerr
		case holder != nil && holder.Labels[labelRoot] == r.File.Root && holder.Labels[labelName] == s.Name:
			return holder, true, nil
		case holder != nil:
			return nil, false, r.taken(holder)
		case !time.Now().Before(until):
			return nil, false, err
		}
		if err := pause(ctx); err != nil {
			return nil, false, err
		}
	}
}

// called is the session of a name; nil: no list has it.
func (r *Runner) called(ctx context.Context, name string) (*api.Session, error) {
	list, err := r.Client.List(ctx)
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, err
}

// taken says whose the name of a session is. That it could be removed is not said: it is nothing of this project.
func (r *Runner) taken(holder *api.Session) error {
	if root := holder.Labels[labelRoot]; root != "" && root != r.File.Root {
		return api.Errorf(api.CodeNameTaken, "the project name %s is that of %s, too, which has the session %s", r.File.Name, root, holder.Name).
			WithHint("give one of them another: name = \"…\" at the top of its %s", project.Name)
	}
	return api.Errorf(api.CodeNameTaken, "there is a session %s that is not of this project", holder.Name).
		WithHint("`longterm rename` it, or give the project another name: name = \"…\" at the top of its %s", project.Name)
}

// pause waits before the next look at something that no request waits for.
func pause(ctx context.Context) error {
	t := time.NewTimer(lookPeriod)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func isCode(err error, code api.Code) bool {
	e, ok := errors.AsType[*api.Error](err)
	return ok && e.Code == code
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
	if isCode(err, api.CodeRunning) {
		info, err = c.Info(ctx)
	}
	return &info, err
}

// replace puts a session of another definition aside and starts that of the file in its place. What cannot start, or may
// not, leaves the old one as it is.
func (r *Runner) replace(ctx context.Context, s *project.Session, old *api.Session) (now *api.Session, other bool, err error) {
	n := r.request(s)
	// The old one has the name still, so this starts nothing; but that is found last, when all else is in order.
	trial := n
	trial.Name = old.Name
	if info, err := r.Client.NewSession(ctx, trial); !isCode(err, api.CodeNameTaken) {
		if err != nil {
			return old, false, err
		}
		return &info, false, nil // the old one is gone, and this one in its place
	}
	if trial.Name != n.Name { // which makes it another call
		n.AskID = uuid.NewString()
	}
	whole := context.WithoutCancel(ctx) // an interrupt comes before it or after it
	if err := r.putAside(whole, old); err != nil {
		return old, false, err
	}
	if now, other, err = r.begin(ctx, s, &n); err == nil {
		return now, other, nil
	}
	back, berr := r.putBack(whole, old)
	return back, false, errors.Join(err, berr)
}

// putAside gives the name of a session of an older definition free and ends it; its history stays. Who may not do the
// one does not do the other.
func (r *Runner) putAside(ctx context.Context, now *api.Session) error {
	c := r.Client.Session(now.ID)
	aside := now.Name + "." + now.ID[:8]
	_, err := c.Edit(ctx, api.Edit{Name: &aside, Labels: map[string]string{labelRoot: "", labelDefinition: "", labelFrom: "", labelRestart: "", labelAside: r.File.Root}})
	if err != nil || now.State != "running" {
		return err
	}
	if _, err = c.Kill(ctx, api.Kill{}); err != nil {
		_, berr := r.putBack(ctx, now)
		err = errors.Join(err, berr)
	}
	return err
}

// putBack undoes that where the new one did not begin.
func (r *Runner) putBack(ctx context.Context, was *api.Session) (*api.Session, error) {
	c := r.Client.Session(was.ID)
	labels := map[string]string{labelAside: ""}
	for _, name := range []string{labelRoot, labelName, labelDefinition, labelFrom, labelRestart} {
		labels[name] = was.Labels[name]
	}
	now, err := c.Edit(ctx, api.Edit{Name: &was.Name, Labels: labels})
	if err == nil && was.State == "running" && now.State != "running" {
		now, err = c.Restore(ctx, api.Restore{Command: true, Env: os.Environ()})
	}
	if err != nil {
		return was, fmt.Errorf("the one before is not put back: %w", err)
	}
	return &now, nil
}
