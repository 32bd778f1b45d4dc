//go:build unix

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/fairsched"
)

// callLimits are the wait time and the output budget of a call.
type callLimits struct {
	Yield     *float64 `json:"yield"`
	MaxTokens int      `json:"max_tokens"`
}

// yield returns how long the call may still wait, less its time in the queue.
func (p *callLimits) yield(ctx context.Context) time.Duration {
	y := defaultYield
	if p.Yield != nil {
		y = min(*p.Yield, maxYield)
	}
	return fairsched.TimeRemaining(ctx, time.Duration(y*float64(time.Second)))
}

// budget returns the output budget in bytes.
func (p *callLimits) budget() int {
	n := p.MaxTokens
	if n == 0 {
		n = defaultTokens
	}
	return min(n, maxTokens) * bytesPerToken
}

// execArgs are the arguments of exec.
type execArgs struct {
	callLimits
	Line    string   `json:"line"`
	Session string   `json:"session"`
	Cwd     string   `json:"cwd"`
	Timeout *float64 `json:"timeout"`
	ID      string   `json:"id"`
}

// exec runs a line, in a session's shell or in a new process. It is a daemon job before the call waits: the job outlives
// this server, and its id finds it.
func (s *Server) exec(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[execArgs](raw)
	if err != nil {
		return nil, err
	}
	if wrong := rejectNonLine(args.Line); wrong != nil {
		return wrong, nil
	}
	d := currentCallOf(ctx)
	job, err := s.typeAnswer(ctx, args.Session)
	if job == "" && err == nil {
		job, err = s.startLine(ctx, &args, d)
	}
	if err != nil {
		return nil, err
	}
	if d.task != nil {
		return s.execTask(ctx, job, &args)
	}
	return s.followJob(ctx, job, &args)
}

// rejectNonLine rejects lines that no shell accepts, before a user has to approve them.
func rejectNonLine(line string) *sdk.CallToolResult {
	if !strings.ContainsRune(line, 0) {
		return nil
	}
	return failure(errors.New("not run: the line contains a NUL character"), `let the program produce it, as in `+call("exec", "line", `printf '\000'`))
}

// startLine starts a line in the daemon, or finds its existing job.
func (s *Server) startLine(ctx context.Context, args *execArgs, d *currentCall) (job string, err error) {
	id := args.ID
	if id == "" {
		id = d.id
	} else if err := s.checkJobID(ctx, id); err != nil {
		return "", err
	}
	never := int64(0)
	asking := api.ApprovalOptions{OnApproval: "return"} // return at once with the approval
	how := api.Call{Job: id, Background: true, MaxOutput: args.budget(), Digest: true, IdleTimeoutMS: &never, TimeoutMS: &never, OnTimeout: "kill"}
	if args.Timeout != nil {
		ms := int64(*args.Timeout * 1000)
		how.TimeoutMS = &ms
	}
	var r api.Result
	if args.Session != "" {
		if args.Cwd != "" {
			return "", api.Errorf(api.CodeInvalid, "cwd is only for lines without a session").
				WithHint("in a session the line itself changes the directory (cd), or leave session out")
		}
		c := s.client(ctx).Session(args.Session)
		v, err := s.sessionExactly(ctx, args.Session)
		if err != nil {
			return "", err
		}
		// A prompt within the shell (a REPL, ssh) also takes lines; a program's question does not.
		foreign := v.Needs != nil && v.Needs.Kind == "prompt"
		if r, err = c.Exec(ctx, api.Exec{Call: how, ApprovalOptions: asking, Line: args.Line, Foreign: foreign}); err != nil {
			return "", err
		}
		return r.Job, nil
	}
	s.sweep.noteLine(ctx, s)
	n := api.NewSession{Line: args.Line, Env: s.options.Env, Cwd: s.dir(args.Cwd), ApprovalOptions: asking, Labels: map[string]string{oneLineLabel: api.OneLine}}
	if r, err = s.client(ctx).Run(ctx, api.Run{Call: how, NewSession: n}); err != nil {
		return "", err
	}
	return r.Job, nil
}

// checkJobID rejects an ID for a new job that also names a session: wait and stop could not distinguish them.
func (s *Server) checkJobID(ctx context.Context, id string) error {
	v, err := s.client(ctx).Session(id).Info(ctx)
	if err != nil || v.Name != id && v.ID != id {
		return nil
	}
	if _, err := s.client(ctx).Job(ctx, id, 1); err == nil {
		return nil // the job started before the session: the same call again
	}
	return api.Errorf(api.CodeInvalid, "not run: id %s is the name of a session", quoteName(id)).
		WithHint("give the call another id")
}

// dir resolves a directory of a call against the server's own.
func (s *Server) dir(cwd string) string {
	if filepath.IsAbs(cwd) {
		return cwd
	}
	return filepath.Join(s.options.Cwd, cwd)
}

// followJob answers by the yield time with the state of a job.
func (s *Server) followJob(ctx context.Context, job string, args *execArgs) (*sdk.CallToolResult, error) {
	a, err := s.jobAnswer(ctx, job, time.Millisecond, nil, 0)
	if err == nil && a.isRunning() && a.State != "needs_approval" {
		defer s.progress(ctx, a.Session)()
		a, err = s.jobAnswer(ctx, job, args.yield(ctx), nil, 0)
	}
	if err != nil {
		return nil, err
	}
	if ask := s.ask(ctx, a); ask != nil {
		return ask, nil
	}
	s.showScreen(ctx, a, args.budget())
	if args.Session == "" && !a.isRunning() {
		a.Cursor = 0 // the output has ended
	}
	return replyAnswer(a, args.Session, args.ID), nil
}

// showScreen adds the screen of an idle full-screen program if it fits the budget.
func (s *Server) showScreen(ctx context.Context, a *answer, budget int) {
	if a.Needs != "screen" || a.State != "running" || budget == noOutput {
		return
	}
	screen, err := s.client(ctx).Session(a.Session).Screen(ctx, client.ScreenQuery{Trim: true, NoColor: true})
	if v := screenAnswerOf(&screen); err == nil && v.Text != "" && len(v.Text) <= budget-len(a.Output) { // otherwise the next call reads it
		a.addScreen(&v)
		s.screens.note(principal(ctx), a.id, screen.Version)
	}
}

// jobAnswer waits up to await and returns the state of a job, with its output after since within a budget (0: the job's
// own; or noOutput).
func (s *Server) jobAnswer(ctx context.Context, job string, await time.Duration, since *uint64, budget int) (*answer, error) {
	j, err := s.client(ctx).PollJob(ctx, job, await, s.reported.lastReported(job))
	if err != nil {
		return nil, err
	}
	s.reported.note(&j)
	if j.Result == nil {
		j.Result = &api.Result{State: "running", Job: j.ID, Session: j.Session}
	}
	j.Result.Job = j.ID
	name := j.Name
	if name == "" {
		name = api.ShortID(j.Session)
	}
	a := answerOf(j.Result, name)
	a.id = j.Session
	if budget == noOutput {
		a.dropOutput(since)
		return a, nil
	}
	if since == nil && budget == 0 || j.Session == "" { // it awaits approval and has printed nothing
		return a, nil
	}
	q := client.TextQuery{From: j.Result.Range.Start, To: j.Result.Range.End, MaxOutput: budget, Digest: true, Fold: true}
	if q.To == 0 { // no output yet: the session's screen belongs to another command
		a.Output = ""
		if since != nil {
			a.Cursor = *since
		}
		return a, nil
	}
	if since != nil {
		q.From = max(q.From, *since)
	}
	if a.State == "running" && a.Needs == "" {
		q.FoldAbove = api.MaxSimilarRunningBytes
	}
	if err := s.replaceOutput(ctx, a, q); err != nil && !isNotFound(err) {
		return nil, err
	}
	return a, nil
}

// replaceOutput replaces an answer's output by another part of the session's output.
func (s *Server) replaceOutput(ctx context.Context, a *answer, q client.TextQuery) error {
	a.clearOmitted()
	if q.To > 0 && q.From >= q.To {
		a.Output = ""
		return nil
	}
	t, err := s.client(ctx).Session(a.Session).Text(ctx, q)
	if err != nil {
		return err
	}
	if a.Output, a.Cursor = t.Text, max(t.Next, q.From); t.End {
		a.Cursor = 0
	}
	a.setOmitted(t.Omitted)
	if t.BinaryBytes > 0 {
		a.Message = joinText(a.Message, fmt.Sprintf("%d bytes of binary data omitted", t.BinaryBytes))
	}
	if t.Gap > 0 {
		a.Message = joinText(a.Message, "older output than this is not kept")
	}
	return nil
}

// isNotFound reports whether the requested object does not exist.
func isNotFound(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeNotFound
}

// startArgs are the arguments of start.
type startArgs struct {
	callLimits
	Name   string            `json:"name"`
	Line   string            `json:"line"`
	Cwd    string            `json:"cwd"`
	Env    []string          `json:"env"`
	Labels map[string]string `json:"labels"`
	Cols   int               `json:"cols"`
	Rows   int               `json:"rows"`
	ID     string            `json:"id"`
}

// idleTime is how long a program must print nothing to count as finished printing.
const idleTime = 500 * time.Millisecond

// firstOutputTime is how long a started program may print nothing at first.
const firstOutputTime = 3 * time.Second

// start opens a session.
func (s *Server) start(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[startArgs](raw)
	if err != nil {
		return nil, err
	}
	if wrong := rejectNonLine(args.Line); wrong != nil {
		return wrong, nil
	}
	for _, e := range args.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			return failure(fmt.Errorf("env: %s is no NAME=VALUE", quoteName(e)), "give each as in "+call("start", "env", []string{"DEBUG=1"})), nil
		}
	}
	v, err := s.client(ctx).NewSession(ctx, api.NewSession{
		Name: args.Name, Line: args.Line, Cwd: s.dir(args.Cwd), Env: s.options.Env, SetEnv: args.Env, Labels: args.Labels,
		Cols: args.Cols, Rows: args.Rows, ApprovalOptions: api.ApprovalOptions{OnApproval: "return"}, AskID: cmp.Or(args.ID, currentCallOf(ctx).id),
	})
	var e *api.Error
	if errors.As(err, &e) && e.Code == api.CodeNameTaken {
		if v, gone := s.client(ctx).Session(args.Name).Info(ctx); gone == nil && v.State != "running" {
			return failure(err, "it has ended; forget it with "+call("stop", "id", args.Name, "how", "remove")+", or choose another name"), nil
		}
		return failure(err, "use the session that has it, as in "+call("exec", "session", args.Name, "line", "…")+", or choose another name"), nil
	}
	switch {
	case err == nil:
	case e != nil && e.Code == api.CodeNeedsApproval:
		return replyAnswer(&answer{
			State: "needs_approval", Approval: e.Approval, Why: whyOf(e.Policy), Message: approvalMessage(e.Approval, e.Policy),
			Next: "when it is allowed: " + call("start", "line", args.Line, "cwd", args.Cwd, "id", cmp.Or(args.ID, currentCallOf(ctx).id)) + " and what else the call had",
		}), nil
	default:
		return nil, err
	}
	var since uint64
	if args.Line != "" { // some programs are slow to print their first output
		_, err := s.client(ctx).Session(v.Name).Wait(ctx, api.Wait{
			Conds: []api.Condition{{Kind: "regexp", Pattern: `\S`}, {Kind: "input"}, {Kind: "exit"}},
			Since: &since, TimeoutMS: max(1, min(firstOutputTime, args.yield(ctx)).Milliseconds()),
		})
		if err != nil {
			return nil, err
		}
	}
	return s.awaitStable(ctx, v.Name, &since, &args.callLimits, nil)
}

// awaitStable answers when a session is idle, needs input or has ended, at the latest by the yield time. typed is what
// the call typed, or nil.
func (s *Server) awaitStable(ctx context.Context, session string, since *uint64, p *callLimits, typed *typedInput) (*sdk.CallToolResult, error) {
	var a *answer
	for lines := typed.lines(); ; lines-- {
		_, err := s.client(ctx).Session(session).Wait(ctx, api.Wait{
			Conds: []api.Condition{{Kind: "prompt"}, {Kind: "input"}, {Kind: "exit"}, {Kind: "quiet", QuietMS: idleTime.Milliseconds()}},
			Since: since, TimeoutMS: max(1, p.yield(ctx).Milliseconds()),
		})
		if err == nil && lines > 1 && fairsched.TimeRemaining(ctx, idleTime) > 0 { // the shell reads the next line
			_, err = s.client(ctx).Session(session).Wait(ctx, api.Wait{
				Conds: []api.Condition{{Kind: "exit"}, {Kind: "quiet", QuietMS: multiLineSilence.Milliseconds()}}, TimeoutMS: max(1, min(time.Second, p.yield(ctx)).Milliseconds()),
			})
		}
		if err == nil {
			a, err = s.sessionAnswer(ctx, session, since, 0, p.budget(), foldLong)
		}
		if err != nil {
			return nil, err
		}
		if lines <= 1 || a.State != "running" || a.Needs != "" || p.yield(ctx) <= 0 {
			break
		}
	}
	if typed != nil {
		s.showRedrawn(ctx, a, p.budget())
	} else {
		s.showScreen(ctx, a, p.budget())
	}
	if ask := s.ask(ctx, a); ask != nil {
		return ask, nil
	}
	if a.State == "running" && !a.atPrompt && a.Needs == "" && a.Next == "" {
		a.Next = call("wait", append([]any{"for", []string{a.Session}}, sinceOf(a.Cursor)...)...)
	}
	if typed == nil { // the name may be a generated one
		return replyAnswer(a), nil
	}
	typed.addTo(a, *since)
	return replyAnswer(a, session), nil
}

// multiLineSilence is how long a shell is silent when it has read the last of several typed lines.
const multiLineSilence = 200 * time.Millisecond
