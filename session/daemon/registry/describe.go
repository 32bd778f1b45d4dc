//go:build unix

package registry

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/shellquote"
	"github.com/longterm-dev/longterm/session/sys"
	"github.com/longterm-dev/longterm/store"
)

// Describe returns a session in its API form.
func (h *Registry) Describe(e *Handle, st session.Status) api.Session {
	r := e.Record()
	start, end := e.Session.OutputRange()
	a := api.Session{
		ID: r.ID, Name: r.Name, State: string(st.State), PID: st.PID,
		Cwd: e.CurrentDir(st), Command: shellquote.Line(r.Argv), Argv: r.Argv, Labels: r.Labels,
		Cols: st.Cols, Rows: st.Rows, Title: st.Title, Engine: r.Engine, Keeper: r.Keeper, Mode: "pty",
		Created: r.Created, Version: st.Version, Alt: st.Alt, Clients: e.Clients.Count(), Size: string(e.Clients.Policy()),
		Output: api.Range{Start: start, End: end}, ProgramFrom: r.ProgramFrom, History: st.HistoryError, Quarantine: st.Quarantine, Temporary: r.Temporary,
	}
	a.LeftoverPIDs, a.Started, a.Sandbox = e.livingLeftovers(), st.Started, h.Sandbox(e)
	a.Draft = h.DraftOf(e, &st)
	a.Approvals, a.Policy, a.Agent = h.host.Approvals(r.ID), r.Policy, r.Agent
	a.Executions, a.RefusedCount = h.ExecutionsOf(e)
	a.Ports, a.MorePorts = e.Ports()
	if a.Labels == nil {
		a.Labels = map[string]string{}
	}
	if r.Pipe {
		a.Mode, a.ModeReason = "pipe", e.ModeReason()
	}
	if st.Progress != "" && st.Progress != "none" {
		a.Progress = &api.Progress{State: st.Progress, Percent: st.Percent, Reported: true}
	}
	a.Activity = e.Activity(Newest)
	if a.Activity != nil && st.State != session.Running { // its watcher may not have seen the end
		a.Activity.Running, a.Activity.ETAMS, a.Activity.Due = false, nil, nil
	}
	if a.Activity != nil && a.Activity.Running && a.Activity.Progress != nil {
		a.Progress = a.Activity.Progress
	}
	if sh := st.Shell; sh.Phase != "" && st.State == session.Running {
		a.Shell = &api.Shell{Phase: string(sh.Phase), Quality: string(sh.Quality), Command: sh.Command, N: int(sh.Number), Since: sh.Since, Incomplete: sh.Continuation, Program: sh.Program}
	}
	a.Needs = NeedsOf(st)
	if st.State == session.Running {
		a.AgentState = e.agent.get()
	} else {
		a.Stopped, a.RestartAt = r.Stopped, h.restarts.dueAt(e)
	}
	if !st.LastOutput.IsZero() {
		a.LastOutput = &st.LastOutput
	}
	until := time.Now()
	if !st.Ended.IsZero() {
		until, a.Ended = st.Ended, &st.Ended
	}
	a.Duration = until.Sub(st.Started).Milliseconds()
	if x := st.Exit; x != nil {
		a.Signal = x.Signal
		if x.Signal == "" {
			a.ExitCode = &x.Code
		}
		a.Usage = &api.Usage{UserMS: x.User.Milliseconds(), SystemMS: x.System.Milliseconds(), MaxRSS: x.MaxRSS}
	}
	return a
}

// NeedsOf returns the input that a session's program waits for, or nil.
func NeedsOf(st session.Status) *api.InputRequest {
	n := st.Needs
	if n.Kind == "" || st.State != session.Running {
		return nil
	}
	return &api.InputRequest{Kind: string(n.Kind), Confidence: n.Confidence, Reason: n.Reason, Since: n.Since, Prompt: n.Repl}
}

// CurrentDir returns the directory that the program reported (OSC 7), else that of the foreground process, else of the
// session's own process, else the initial one.
func (e *Handle) CurrentDir(st session.Status) string {
	r := e.Record()
	if st.State != session.Running || e.device == nil {
		if st.Cwd != "" {
			return st.Cwd
		}
		return r.Cwd
	}
	if st.Cwd != "" {
		return st.Cwd
	}
	for _, pid := range []int{e.device.foreground(), st.PID} {
		if pid <= 0 {
			continue
		}
		if dir, err := sys.Cwd(pid); err == nil {
			return strings.TrimSuffix(dir, " (deleted)")
		}
	}
	return r.Cwd
}

// saveEnd records how a session ended. Owners call it.
func (h *Registry) saveEnd(e *Handle, st session.Status) {
	h.saveLater(e, func(r *store.Session) {
		r.State, r.Ended, r.Title, r.Stopped = string(st.State), st.Ended, st.Title, e.endRequested.Load()
		if st.Cwd != "" {
			r.Cwd = st.Cwd
		}
		if x := st.Exit; x != nil {
			r.Signal, r.User, r.System, r.MaxRSS = x.Signal, x.User, x.System, x.MaxRSS
			if x.Signal == "" {
				code := x.Code
				r.ExitCode = &code
			}
		}
	})
}

// recordNeedsInput records that a program needs a user's input, for readers that come later. The output offset
// identifies the prompt, so that a restarted daemon does not record it again.
func (h *Registry) recordNeedsInput(e *Handle, st *session.Status) {
	if !needsUser(&st.Needs) {
		return
	}
	e.promptAt.Store(st.Offset)
	c := store.Completion{
		Kind: store.CompletionInput, Session: e.rec.ID, Name: e.Record().Name, Ref: strconv.FormatUint(st.Offset, 10), State: string(st.Needs.Kind),
		Text: h.Secrets().RedactText(st.Needs.Reason), At: st.Needs.Since, // it is kept, and handed to programs
	}
	h.writes.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := h.store.AddCompletion(ctx, c); err != nil {
			h.log.Error("record that a program needs input", "session", c.Session, "err", err)
		}
	})
}

// SignalName returns a signal's name, or its number if it has none.
func SignalName(n int) string {
	if name := nameOfSignal(n); name != "" {
		return name
	}
	return strconv.Itoa(n)
}
