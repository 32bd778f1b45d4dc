//go:build unix

package mcp

import (
	"context"
	"errors"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Tasks of this server are jobs of the daemon, by the same id: they need no memory here.

// execTask answers an exec of a client that supports tasks: at once if it ends soon, otherwise as a task.
func (s *Server) execTask(ctx context.Context, job string, args *execArgs) (*sdk.CallToolResult, error) {
	a, err := s.jobAnswer(ctx, job, min(args.yield(ctx), taskAfter), nil, 0)
	if err != nil {
		return nil, err
	}
	if !a.isRunning() {
		if args.Session == "" {
			a.Cursor = 0 // the output has ended
		}
		return replyAnswer(a, args.Session, args.ID), nil
	}
	if a.State == "needs_input" && !s.asksInTask(currentCallOf(ctx).req.ClientCapabilities(), a.Needs) {
		return replyAnswer(a, args.Session, args.ID), nil
	}
	j, err := s.client(ctx).Job(ctx, job, 1)
	if err != nil {
		return nil, err
	}
	t := taskOf(&j, a)
	currentCallOf(ctx).task.Become(&t)
	return replyAnswer(a), nil
}

// taskOf returns a job as a task.
func taskOf(j *api.Job, a *answer) Task {
	t := Task{ID: j.ID, Status: TaskWorking, Message: a.Message, Created: taskTime(j.Started), Updated: taskTime(j.Started), Interval: taskInterval.Milliseconds()}
	if j.Ended != nil {
		t.Updated = taskTime(*j.Ended)
	} else if now := j.Started.Add(time.Duration(j.DurationMS) * time.Millisecond); now.After(j.Started) {
		t.Updated = taskTime(now)
	}
	switch {
	case a.State == "needs_input":
		t.Status = TaskInput
	case a.State == "killed" && j.Result != nil && j.Result.TimedOut == "none":
		t.Status = TaskCancelled
	case !a.isRunning():
		t.Status = TaskCompleted
	}
	return t
}

// tasksFor returns the task handlers for clients of a level. Any job id is a task id. Read-only clients may read tasks.
// Answering needs input's level and ending needs stop's, except for an agent's own tasks.
func (s *Server) tasksFor(l Level) Tasks {
	may := func() error {
		if l < Change {
			return invalidParams("not allowed (this client has level %s)", l)
		}
		return nil
	}
	return Tasks{
		Get: s.getTask,
		Update: func(ctx context.Context, id string, answers sdk.InputResponseMap) error {
			if err := may(); err != nil {
				return err
			}
			return s.updateTask(ctx, id, answers, l)
		},
		Cancel: func(ctx context.Context, id string) error {
			if err := may(); err != nil {
				return err
			}
			return s.cancelTask(ctx, id, l)
		},
	}
}

// getTask returns a task with its result.
func (s *Server) getTask(ctx context.Context, id string) (*Detail, error) {
	j, a, err := s.taskJob(ctx, id)
	if err != nil {
		return nil, err
	}
	d := &Detail{Task: taskOf(j, a)}
	if d.Status == TaskInput && !s.asksInTask(capabilitiesOf(requestOf(ctx)), a.Needs) {
		d.Status = TaskCompleted // as in a call: the model answers with input, and waits for the job
	}
	switch d.Status {
	case TaskCompleted:
		if !a.isRunning() && a.Command == 0 && j.Result.Outcome == "" { // the session and its output ended with it
			a.Cursor = 0
		}
		d.Result = replyAnswer(a)
	case TaskInput:
		d.InputRequests = sdk.InputRequestMap{questionOf(j): taskQuestion(a)}
	}
	return d, nil
}

// taskJob returns the job of a task.
func (s *Server) taskJob(ctx context.Context, id string) (*api.Job, *answer, error) {
	j, err := s.client(ctx).PollJob(ctx, id, time.Millisecond, "")
	if isNotFound(err) || err == nil && j.ID != id { // a prefix of an id names no task
		return nil, nil, ErrNoTask
	}
	if err != nil {
		return nil, nil, err
	}
	if j.Result == nil {
		j.Result = &api.Result{State: "running"}
	}
	j.Result.Job = j.ID
	name := j.Name
	if name == "" {
		name = api.ShortID(j.Session)
	}
	return &j, answerOf(j.Result, name), nil
}

// questionOf returns an id of the job's current question; the next one has another id.
func questionOf(j *api.Job) string {
	return answerKey + "-" + shortOffset(j.Result.Range.End)
}

// taskQuestion returns the form for a question.
func taskQuestion(a *answer) *sdk.ElicitParams {
	kind := map[string]any{"type": "string"}
	if a.Needs == "confirm" {
		kind = map[string]any{"type": "boolean", "title": "Yes"}
	}
	return &sdk.ElicitParams{
		Mode: "form", Message: "The session " + a.Session + " waits for input (" + a.Needs + "):\n" + plaintext.Visible(lastLine(a.Output)),
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{answerKey: kind}, "required": []string{answerKey}},
	}
}

// updateTask passes the user's answers to a task's job.
func (s *Server) updateTask(ctx context.Context, id string, answers sdk.InputResponseMap, l Level) error {
	j, a, err := s.taskJob(ctx, id)
	if err != nil {
		return err
	}
	res, ok := answers[questionOf(j)].(*sdk.ElicitResult)
	if !ok || a.State != "needs_input" { // answers to other questions are ignored
		return nil
	}
	if res.Action != "accept" {
		return s.cancelTask(ctx, id, l)
	}
	in := api.Input{ID: j.ID[:min(len(j.ID), 40)] + "-" + questionOf(j), Enter: true}
	switch v := res.Content[answerKey].(type) {
	case string:
		if a.Needs == "password" {
			return invalidParams("a password is typed by the user in the session, and by no form")
		}
		in.Text = v
	case bool:
		in.Text = map[bool]string{true: "y", false: "n"}[v]
	default:
		return invalidParams("the answer %q is neither text nor yes or no", answerKey)
	}
	_, err = s.client(ctx).Session(j.Session).Type(ctx, in)
	return err
}

// cancelTask ends a task's job.
func (s *Server) cancelTask(ctx context.Context, id string, l Level) error {
	j, _, err := s.taskJob(ctx, id)
	if err != nil {
		return err
	}
	if j.State == "done" {
		return nil
	}
	if l < All && j.Agent != s.label(ctx) {
		return invalidParams("the task %s is not this agent's: to end it needs the level %s, as the tool stop does", quoteName(id), All)
	}
	// The kill ladder takes time; the client sees the end by tasks/get.
	_, err = s.client(ctx).StopJob(ctx, id, api.JobStop{})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeEnded {
		return nil
	}
	return err
}
