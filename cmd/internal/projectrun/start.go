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

// start starts a session unless it runs, and returns its state with the action taken.
func (r *Runner) start(ctx context.Context, s *project.Session, now *api.Session) (State, *api.Session) {
	st := r.describe(s, now)
	var other bool // another `up` was faster
	var err error
	switch {
	case now == nil:
		st.Action = Started
		n := r.request(s)
		now, other, err = r.create(ctx, s, &n)
	case now.State == "running" && !(r.Replace && r.needsReplacement(ctx, s, now)):
		st.Action = Runs
		return st, now
	case !st.Changed && now.State != "running" && hasFinished(s, now):
		st.Action = Done
		return st, now
	case !st.Changed && now.State != "running":
		st.Action = Restored
		now, err = r.restore(ctx, s, now)
	default:
		st.Action = Restarted
		now, other, err = r.replace(ctx, s, now)
	}
	if err != nil {
		st.Problem = err.Error()
		return st, now
	}
	if other {
		return r.start(ctx, s, now)
	}
	did := st.Action
	st = r.describe(s, now)
	st.Action = did
	return st, now
}

// request returns the request that starts a session. Its fixed AskID makes a retry the same call, and the user gets one
// question.
func (r *Runner) request(s *project.Session) api.NewSession {
	labels := map[string]string{labelRoot: r.File.Root, labelName: s.Name, labelDefinition: s.Definition(), labelFrom: "0"}
	n := api.NewSession{
		Name: r.File.SessionName(s.Name), Argv: s.Argv, Line: s.Line, Cwd: s.Cwd, Env: os.Environ(), SetEnv: s.Env,
		Sandbox: s.Sandbox, Labels: labels, ApprovalOptions: r.Approval, AskID: uuid.NewString(),
	}
	if s.Restart != project.RestartNever {
		labels[labelRestart] = s.Restart
		n.Restore = "command"                                              // also after a reboot
		n.SetEnv = append([]string{"PATH=" + os.Getenv("PATH")}, s.Env...) // a restart has no caller's environment
	}
	return n
}

// Timeout and poll interval of a start. A name in use may belong to a session that is being started and is not listed
// yet.
const (
	startTime    = 30 * time.Second
	pollInterval = 100 * time.Millisecond
)

// create starts a missing session. other reports that another `up` started it first.
func (r *Runner) create(ctx context.Context, s *project.Session, n *api.NewSession) (now *api.Session, other bool, err error) {
	for until := time.Now().Add(startTime); ; {
		info, err := r.Client.NewSession(ctx, *n)
		if !isCode(err, api.CodeNameTaken) {
			return &info, false, err
		}
		holder, lerr := r.findByName(ctx, n.Name)
		switch {
		case lerr != nil:
			return nil, false, lerr
		case holder != nil && holder.Labels[labelRoot] == r.File.Root && holder.Labels[labelName] == s.Name:
			return holder, true, nil
		case holder != nil:
			return nil, false, r.nameTaken(holder)
		case !time.Now().Before(until):
			return nil, false, err
		}
		if err := pause(ctx); err != nil {
			return nil, false, err
		}
	}
}

// findByName returns the session with a name, or nil if it is not listed.
func (r *Runner) findByName(ctx context.Context, name string) (*api.Session, error) {
	list, err := r.Client.List(ctx)
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, err
}

// nameTaken returns the error for a name in use. It does not suggest removal: the holder is not part of this project.
func (r *Runner) nameTaken(holder *api.Session) error {
	if root := holder.Labels[labelRoot]; root != "" && root != r.File.Root {
		return api.Errorf(api.CodeNameTaken, "project name %s is also used by %s, which has the session %s", r.File.Name, root, holder.Name).
			WithHint("rename one of the projects: set name = \"…\" at the top of its %s", project.Name)
	}
	return api.Errorf(api.CodeNameTaken, "session %s exists and is not part of this project", holder.Name).
		WithHint("use `longterm rename`, or rename the project: set name = \"…\" at the top of its %s", project.Name)
}

// pause waits one pollInterval before the next poll.
func pause(ctx context.Context) error {
	t := time.NewTimer(pollInterval)
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

// restore starts a session's program again in the same session, unless another client has already done so.
func (r *Runner) restore(ctx context.Context, s *project.Session, now *api.Session) (*api.Session, error) {
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

// replace renames and ends a session of another definition and starts the file's session under its name. If the new one cannot
// start or is not allowed, the old one keeps running.
func (r *Runner) replace(ctx context.Context, s *project.Session, old *api.Session) (now *api.Session, other bool, err error) {
	n := r.request(s)
	// The old session still has the name, so this trial starts nothing. The name check comes last, after all other
	// checks.
	trial := n
	trial.Name = old.Name
	if info, err := r.Client.NewSession(ctx, trial); !isCode(err, api.CodeNameTaken) {
		if err != nil {
			return old, false, err
		}
		return &info, false, nil // the old session was removed; this one replaces it
	}
	if trial.Name != n.Name { // another name makes it another call
		n.AskID = uuid.NewString()
	}
	whole := context.WithoutCancel(ctx) // an interrupt takes effect before or after the exchange
	if err := r.retire(whole, old); err != nil {
		return old, false, err
	}
	if now, other, err = r.create(ctx, s, &n); err == nil {
		return now, other, nil
	}
	back, berr := r.undoRetire(whole, old)
	return back, false, errors.Join(err, berr)
}

// retire frees the name of a session of an older definition and ends it; its history stays. If the kill is rejected,
// the rename is undone.
func (r *Runner) retire(ctx context.Context, now *api.Session) error {
	c := r.Client.Session(now.ID)
	aside := now.Name + "." + now.ID[:8]
	_, err := c.Edit(ctx, api.Edit{Name: &aside, Labels: map[string]string{labelRoot: "", labelDefinition: "", labelFrom: "", labelRestart: "", labelAside: r.File.Root}})
	if err != nil || now.State != "running" {
		return err
	}
	if _, err = c.Kill(ctx, api.Kill{}); err != nil {
		_, berr := r.undoRetire(ctx, now)
		err = errors.Join(err, berr)
	}
	return err
}

// undoRetire undoes retire when the new session did not start.
func (r *Runner) undoRetire(ctx context.Context, was *api.Session) (*api.Session, error) {
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
		return was, fmt.Errorf("previous session not restored: %w", err)
	}
	return &now, nil
}
