//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// waitArgs are the arguments of wait.
type waitArgs struct {
	callLimits
	For   []string `json:"for"`
	All   bool     `json:"all"`
	Until string   `json:"until"`
	Since *uint64  `json:"since"`
}

// waitResults is the result of wait.
type waitResults struct {
	Results []*answer `json:"results"`
	Message string    `json:"message,omitempty"`
}

// wait waits for several jobs and sessions at once.
func (s *Server) wait(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[waitArgs](raw)
	if err != nil {
		return nil, err
	}
	cond, err := condition(args.Until)
	if err != nil {
		return failure(err, "it is one of text=WORDS, regexp=RE2, gone=WORDS, quiet=2s, port=3000, agent=idle, anomaly, exit; without it wait waits for the end or a question"), nil
	}
	targets := make([]target, len(args.For))
	for i, ref := range args.For {
		if targets[i], err = s.find(ctx, ref); err != nil {
			return nil, err
		}
		if err := s.startFrom(ctx, &targets[i], args.Since); err != nil {
			return nil, err
		}
	}
	if len(targets) == 1 && cond == nil {
		if state := currentCallOf(ctx).req.Params.RequestState; state != "" {
			if _, err := s.typeAnswer(ctx, targets[0].session); err != nil {
				return nil, err
			}
		}
	}
	told := s.progress(ctx, targets[0].session)
	s.awaitFirst(ctx, targets, cond, &args)
	told()
	for i := range targets {
		if targets[i].err != nil {
			return nil, targets[i].err
		}
	}
	out := waitResults{}
	if out.Results, err = s.targetResults(ctx, targets, &args); err != nil {
		return nil, err
	}
	if len(targets) == 1 {
		a := out.Results[0]
		if ask := s.ask(ctx, a); ask != nil {
			return ask, nil
		}
		a.omitKnown(args.For...)
		return reply(a.text(), out), nil
	}
	ended := 0
	var texts []string
	for _, a := range out.Results {
		if !a.isRunning() {
			ended++
		}
		texts = append(texts, a.text())
	}
	out.Message = fmt.Sprintf("%d of %d ended", ended, len(targets))
	texts = append(texts, "["+out.Message+"]")
	return reply(strings.Join(texts, "\n\n"), out), nil
}

// targetResults returns the state of all targets after the wait. If it ended for some, the others get their state alone,
// and their output later.
func (s *Server) targetResults(ctx context.Context, targets []target, args *waitArgs) ([]*answer, error) {
	all, budget := []*answer{}, max(200, args.budget()/len(targets))
	came := slices.ContainsFunc(targets, func(t target) bool { return t.done })
	for i := range targets {
		t, of := &targets[i], budget
		if came && !t.done {
			of = noOutput
		}
		a, err := s.targetAnswer(ctx, t, t.since, of)
		if err == nil && of == noOutput && a.State != "running" { // its state changed just now
			of = budget
			a, err = s.targetAnswer(ctx, t, t.since, of)
		}
		if err != nil {
			return nil, err
		}
		a.Message = joinText(joinText(a.Message, t.matched), t.note)
		if t.since == nil || a.Cursor > *t.since {
			s.showScreen(ctx, a, of)
		}
		all = append(all, a)
	}
	return all, nil
}

// target is a job or a session of a wait.
type target struct {
	job     string // empty for the session itself
	session string
	matched string // the condition that matched
	done    bool   // the wait for it has ended
	err     error  // why the wait is impossible
	note    string // about its arguments
	since   *uint64
	end     uint64 // of the output when the wait started
}

// startFrom sets t.since and t.end. A cursor beyond the end, as after a restart of the session, means the end.
func (s *Server) startFrom(ctx context.Context, t *target, since *uint64) error {
	if t.session == "" { // it has no session before its approval
		return nil
	}
	v, err := s.client(ctx).Session(t.session).Info(ctx)
	switch {
	case isNotFound(err):
		t.since = since
		return nil
	case err != nil:
		return err
	}
	t.end = v.Output.End
	if t.since = since; since != nil && *since > t.end {
		t.since, t.note = &t.end, beyondEndText(*since, t.end)
	}
	return nil
}

// beyondEndText is the note about a cursor beyond the end.
func beyondEndText(since, end uint64) string {
	return fmt.Sprintf("since %d lies beyond the end of the output, %d; nothing new", since, end)
}

// jobPrefix marks a reference as a job: session names contain no colon.
const jobPrefix = "job:"

// find finds the target of a name: a session by its name or id, a job by its id, either by a prefix. It rejects a text
// that is one session's name and another job's id: one must not be ended instead of the other.
func (s *Server) find(ctx context.Context, ref string) (target, error) {
	if id, is := strings.CutPrefix(ref, jobPrefix); is {
		j, err := s.client(ctx).Job(ctx, id, 1)
		return target{job: j.ID, session: j.Session}, err
	}
	if ref == "" {
		return target{}, api.Errorf(api.CodeInvalid, "the name is empty").WithHint("`longterm ls` lists the sessions")
	}
	v, sessionErr := s.client(ctx).Session(ref).Info(ctx)
	exact := sessionErr == nil && (v.Name == ref || v.ID == ref)
	j, err := s.client(ctx).Job(ctx, ref, 1)
	switch {
	case exact && err == nil && j.ID == ref:
		return target{}, api.Errorf(api.CodeAmbiguous, "%s is the name of a session and the id of a job", quoteName(ref)).
			WithHint("name the job as %s, the session by its id, %s", quoteName(jobPrefix+ref), quoteName(api.ShortID(v.ID)))
	case exact:
		return target{session: v.ID}, nil
	case err == nil:
		return target{job: j.ID, session: j.Session}, nil
	case sessionErr == nil:
		return target{session: v.ID}, nil
	case isNotFound(err) && isNotFound(sessionErr):
		return target{}, api.Errorf(api.CodeNotFound, noTarget, quoteName(ref))
	case isNotFound(err):
		return target{}, sessionErr
	}
	return target{}, err
}

// findExactly finds a target to end or remove. It accepts full names and ids, or a sufficiently long id prefix, but no
// name prefix.
func (s *Server) findExactly(ctx context.Context, ref string) (target, error) {
	t, err := s.find(ctx, ref)
	switch {
	case err != nil:
		return t, err
	case t.job != "" && !isNamedBy(ref, "", strings.TrimPrefix(t.job, jobPrefix)):
		return target{}, api.Errorf(api.CodeNotFound, noTarget+"; the nearest is the job %s", quoteName(ref), quoteName(t.job))
	case t.job == "":
		_, err = s.sessionExactly(ctx, ref)
	}
	return t, err
}

// sessionExactly returns the session with that name or id, without accepting a name prefix.
func (s *Server) sessionExactly(ctx context.Context, ref string) (api.Session, error) {
	v, err := s.client(ctx).Session(ref).Info(ctx)
	if err == nil && !isNamedBy(ref, v.Name, v.ID) {
		err = api.Errorf(api.CodeNotFound, "session %s not found; the nearest is %s", quoteName(ref), quoteName(v.Name))
	}
	return v, err
}

// minIDPrefix is the minimum id prefix length for destructive calls.
const minIDPrefix = 8

// isNamedBy reports whether a reference is a name, an id or a sufficiently long id prefix.
func isNamedBy(ref, name, id string) bool {
	ref = strings.TrimPrefix(ref, jobPrefix)
	return ref == name || ref == id || len(ref) >= minIDPrefix && strings.HasPrefix(id, ref)
}

// awaitFirst waits until the first target, or all of them, match, or the time is over.
func (s *Server) awaitFirst(ctx context.Context, targets []target, cond *api.Condition, args *waitArgs) {
	ctx, cancel := context.WithTimeout(ctx, args.yield(ctx))
	defer cancel()
	var all sync.WaitGroup
	for i := range targets {
		all.Go(func() {
			done := s.awaitCondition(ctx, &targets[i], cond, args)
			targets[i].done = done
			if done && !args.All {
				cancel()
			}
		})
	}
	all.Wait()
}

// awaitCondition waits for one target and reports whether its condition matched. It keeps only errors of the condition:
// the answer shows a missing target.
func (s *Server) awaitCondition(ctx context.Context, t *target, cond *api.Condition, args *waitArgs) bool {
	if t.job != "" && cond == nil {
		told := s.reported.lastReported(t.job)
		j, err := s.client(ctx).PollJob(ctx, t.job, args.yield(ctx)+time.Second, told) // ctx ends first
		return ctx.Err() == nil && (err != nil || j.State == "done" || j.Result != nil && answerableKinds[j.Result.Needs] || j.Approval != told)
	}
	w := api.Wait{TimeoutMS: max(1, args.yield(ctx).Milliseconds()), Since: t.since}
	if cond != nil {
		w.Conds = []api.Condition{*cond}
	} else {
		w.Conds = []api.Condition{{Kind: "prompt"}, {Kind: "input"}, {Kind: "exit"}}
		if v, err := s.client(ctx).Session(t.session).Info(ctx); err == nil && v.AgentState != nil { // an agent's line always waits for keys
			w.Conds = []api.Condition{{Kind: "agent"}, {Kind: "exit"}}
		}
	}
	r, err := s.client(ctx).Session(t.session).Wait(ctx, w)
	if err != nil {
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeInvalid {
			t.err = err
		}
		if cond != nil && ctx.Err() != nil {
			t.matched = notYetText
		}
		return ctx.Err() == nil
	}
	if cond != nil {
		switch {
		case len(r.Fired) > 0:
			t.matched = "until holds"
			if (cond.Kind == "text" || cond.Kind == "regexp") && t.since == nil && r.Cursor <= t.end {
				t.matched += "; this was printed before the call (for new output give since)"
			}
			if r.Fired[0].Match != "" && !strings.Contains(args.Until, r.Fired[0].Match) {
				t.matched += ": " + strings.TrimSpace(r.Fired[0].Match)
			}
		case r.Outcome == "ended":
			t.matched = "it ended, and until never held"
		default:
			t.matched = notYetText
		}
	}
	return r.Outcome != "timeout"
}

// notYetText is the message for an unmet condition.
const notYetText = "until does not hold yet"

// targetAnswer returns the current state of a target.
func (s *Server) targetAnswer(ctx context.Context, t *target, since *uint64, budget int) (*answer, error) {
	if t.job != "" {
		return s.jobAnswer(ctx, t.job, time.Millisecond, since, budget)
	}
	return s.sessionAnswer(ctx, t.session, since, 0, budget, foldMore)
}

// condition parses the condition of a wait; "" is nil.
func condition(text string) (*api.Condition, error) {
	if text == "" {
		return nil, nil
	}
	kind, value, _ := strings.Cut(text, "=")
	c := &api.Condition{Kind: kind}
	switch kind {
	case "text", "gone":
		c.Text = value
	case "regexp":
		c.Pattern = value
	case "quiet":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > time.Hour {
			return nil, fmt.Errorf("until %s is no time", quoteName(text))
		}
		c.QuietMS = d.Milliseconds()
	case "port": // without a number: any port
		port, ok := api.ParsePort(value)
		if c.Port = port; !ok {
			return nil, fmt.Errorf("until %s is no port", quoteName(text))
		}
		return c, nil
	case "agent": // without a state: whenever it waits for its user
		c.Text = value
		return c, nil
	case "exit", "prompt", "command", "input", "bell", "anomaly":
		return c, nil
	default:
		return nil, fmt.Errorf("until %s is no condition", quoteName(text))
	}
	if value == "" {
		return nil, fmt.Errorf("until %s lacks a value", quoteName(text))
	}
	return c, nil
}

// folding selects the output whose lines are folded if they differ only in numbers.
type folding int

const (
	foldNone folding = iota
	foldLong         // output that exceeds the budget
	foldMore         // also longer output of running lines
)

// noOutput is a budget without output: only the state is returned.
const noOutput = -1

// sessionAnswer returns the state of a session: of its shell's command (0: the newest) or its program, with output
// after since, else the command's.
func (s *Server) sessionAnswer(ctx context.Context, ref string, since *uint64, command, budget int, fold folding) (*answer, error) {
	c := s.client(ctx).Session(ref)
	v, err := c.Info(ctx)
	if err != nil {
		return nil, err
	}
	a := &answer{Session: v.Name, State: v.State, ExitCode: v.ExitCode, Signal: v.Signal, duration: time.Duration(v.Duration) * time.Millisecond}
	q := client.TextQuery{From: v.Output.Start, To: v.Output.End, MaxOutput: budget, Digest: true, Fold: fold != foldNone}
	a.Cursor, a.id, a.fullScreen = v.Output.End, v.ID, v.Alt
	a.setDraft(v.Draft)
	if v.State == "running" {
		s.shellAnswer(ctx, c, a, &v, command, &q)
	} else if v.Signal != "" {
		a.State = "signalled"
	}
	if budget == noOutput {
		a.dropOutput(since)
		return a, nil
	}
	if since != nil {
		q.From, q.To = *since, 0
	}
	if fold == foldMore && a.State == "running" && a.Needs == "" {
		q.FoldAbove = api.MaxSimilarRunningBytes
	}
	if since == nil && q.From >= q.To {
		return a, nil
	}
	return a, s.replaceOutput(ctx, a, q)
}

// shellAnswer adds the state of a running session's shell.
func (s *Server) shellAnswer(ctx context.Context, c *client.Session, a *answer, v *api.Session, command int, q *client.TextQuery) {
	if v.Shell != nil && v.Shell.Quality != "none" {
		if done, err := c.Command(ctx, command); err == nil {
			a.Command, a.duration = done.N, time.Duration(done.Duration)*time.Millisecond
			q.From, q.To = done.Output.Start, done.Output.End
			if done.State != "running" {
				a.State, a.ExitCode, a.Signal = "exited", done.ExitCode, done.Signal
				if v.Shell.Quality == "full" { // other shells do not report the start of a command
					a.commandEnd = done.Output.End
				}
			}
		} else {
			a.duration = 0
		}
		if v.Shell.Phase == "prompt" {
			a.Message, a.Cwd, a.atPrompt = "the shell is at its prompt", v.Cwd, true
		}
	}
	if g := v.AgentState; g != nil {
		a.Message = joinText(a.Message, g.Agent+" is "+g.State+": "+g.Reason)
	}
	if w := s.blockingApproval(ctx, v.Approvals); w != nil {
		a.State, a.Approval, a.ExitCode = "needs_approval", w.ID, nil
		a.Why = whyOf(&w.Judgement)
		a.Message = approvalMessage(a.Approval, &w.Judgement)
		a.Next = call("wait", "for", []string{a.Session})
		return
	}
	if v.Needs != nil && (v.Shell == nil || v.Shell.Phase != "prompt") {
		a.setNeeds(v.Needs.Kind)
		a.ExitCode = nil
		if a.State == "needs_input" || a.Needs == "screen" {
			a.Next = answerCall(a)
		}
		if a.Needs == "password" {
			a.Message = joinText(a.Message, attachHint(a.Session))
		}
	}
}

// blockingApproval returns the first approval that blocks the session's program or the caller, or nil. Another agent's
// request to end it or to reveal secrets does not.
func (s *Server) blockingApproval(ctx context.Context, ids []string) *api.Approval {
	for _, id := range ids {
		w, err := s.client(ctx).Approval(ctx, id)
		if err != nil {
			return &api.Approval{ID: id}
		}
		if w.Kind != "stop" && w.Kind != "reveal" || w.Actor.Agent == s.label(ctx) {
			return &w
		}
	}
	return nil
}
