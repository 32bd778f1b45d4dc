//go:build unix

package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/sse"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/vterm"
)

// routes registers every operation: the table of the API.
func (d *Daemon) routes(a huma.API) {
	op(a, "GET", "/status", "status", "Describe daemon and keepers", d.getStatus)
	op(a, "POST", "/stop", "stop", "End the daemon; sessions go on", d.postStop)
	op(a, "POST", "/upgrade", "upgrade", "Replace keepers and daemon by another executable", d.postUpgrade)
	op(a, "GET", "/sessions", "list-sessions", "List sessions", d.listSessions)
	op(a, "POST", "/sessions", "new-session", "Start a session", d.newSession)
	op(a, "GET", "/sessions/{session}", "get-session", "Describe a session", d.getSession)
	op(a, "GET", "/sessions/{session}/env", "get-env", "Tell a session's environment", d.getEnv)
	op(a, "PATCH", "/sessions/{session}", "edit-session", "Change name and labels", d.editSession)
	op(a, "DELETE", "/sessions/{session}", "remove-session", "Forget a session and its history", d.removeSession)
	op(a, "POST", "/sessions/{session}/input", "type", "Type text, keys, a paste or bytes", d.postInput)
	op(a, "POST", "/sessions/{session}/resize", "resize", "Change the size", d.postResize)
	op(a, "POST", "/sessions/{session}/signal", "signal", "Signal processes", d.postSignal)
	op(a, "POST", "/sessions/{session}/kill", "kill", "End the process and all its descendants", d.postKill)
	op(a, "POST", "/sessions/{session}/restore", "restore", "Start the process of an ended session again", d.postRestore)
	op(a, "POST", "/prune", "prune", "Drop history that is over a budget", d.postPrune)
	op(a, "GET", "/search", "search", "Search what sessions printed", d.searchOutput)
	op(a, "GET", "/commands", "list-commands", "List commands that shells ran", d.listCommands)
	op(a, "GET", "/sessions/{session}/commands/{n}", "get-command", "Describe a command", d.getCommand)
	op(a, "GET", "/sessions/{session}/commands/{n}/parsed", "parse-command", "Read a command's output: problems, tests, listings", d.getParsed)
	op(a, "GET", "/sessions/{session}/commands/{n}/suggestions", "suggest", "What one might do after a command; nothing is run", d.getSuggestions)
	op(a, "POST", "/sessions/{session}/exec", "exec", "Run a line in the session's shell", d.postExec)
	op(a, "POST", "/sessions/{session}/batch", "batch", "Run lines one after the other in the session's shell", d.postBatch)
	op(a, "POST", "/run", "run", "Run a command in a session of its own", d.postRun)
	op(a, "GET", "/jobs", "list-jobs", "List lines and commands that were asked for", d.listJobs)
	op(a, "GET", "/jobs/{job}", "get-job", "Describe a job, or wait for its end", d.getJob)
	op(a, "POST", "/jobs/{job}/stop", "stop-job", "End a job by the kill ladder", d.postJobStop)
	op(a, "POST", "/jobs/{job}/background", "background-job", "Let whoever waits for a job come back; it goes on", d.postJobBackground)
	op(a, "DELETE", "/jobs/{job}", "forget-job", "Forget a job that ended, and the session it ran in by itself", d.deleteJob)
	op(a, "POST", "/sessions/{session}/wait", "wait", "Wait for conditions", d.postWait)
	op(a, "GET", "/sessions/{session}/output", "read-output", "Read output from an offset", d.getOutput)
	op(a, "GET", "/sessions/{session}/output/text", "read-output-text", "Read output as text within a budget", d.getText)
	op(a, "GET", "/sessions/{session}/screen", "screen", "The screen as lines of spans", d.getScreen)
	d.respondRoutes(a)
	d.rawRoutes(a)
	d.recordRoute(a)
	sse.Register(a, huma.Operation{
		OperationID: "events", Method: "GET", Path: api.Version + "/events", Summary: "What happens to sessions, as a stream",
	}, map[string]any{"message": api.Event{}}, d.streamEvents)
}

// eventsQuery says what is listened for.
type eventsQuery struct {
	Output bool `query:"output" doc:"also what is printed: data, screen and binary events, at most ten of each in a second for a session"`
}

func (d *Daemon) streamEvents(ctx context.Context, in *eventsQuery, send sse.Sender) {
	var looks <-chan time.Time
	o := newOutputEvents(d.hub)
	if in.Output {
		t := time.NewTicker(outputEvery)
		defer t.Stop()
		looks = t.C
		o.look(time.Now(), func(api.Event) bool { return true })
	}
	l := d.hub.bus.Listen()
	defer d.hub.bus.Leave(l)
	// From here on nothing is missed: whoever listens looks at everything once now.
	if send.Data(api.Event{Kind: "listening"}) != nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-l.C:
			if !ok || send.Data(e) != nil {
				return
			}
		case now := <-looks:
			if !o.look(now, func(e api.Event) bool { return send.Data(e) == nil }) {
				return
			}
		}
	}
}

func (d *Daemon) getStatus(ctx context.Context, _ *struct{}) (api.Status, error) {
	st := api.Status{
		DaemonPID: os.Getpid(), Build: d.cfg.Build, Started: d.started,
		Goroutines: runtime.NumGoroutine(),
		Socket:     d.cfg.Dirs.Socket(), State: d.cfg.Dirs.State, Keepers: []api.Keeper{}, Config: d.conf.Status(),
	}
	for _, e := range d.hub.all() {
		st.Sessions++
		if e.s.Status().State == session.Running {
			st.Running++
		}
	}
	for _, k := range d.links() {
		r, err := k.Link().Status(ctx)
		if err != nil {
			continue // it is being lost or upgraded
		}
		st.Keepers = append(st.Keepers, api.Keeper{
			Key: k.key, PID: int(r.PID), Build: r.Build, Started: time.Unix(0, r.Started),
			Sessions: int(r.Sessions), Executions: int(r.Executions),
		})
		if k.key == paths.MainKeeper {
			st.KeeperPID, st.Restarts = int(r.PID), int(r.Restarts)
		}
	}
	d.mu.Lock()
	st.Notices = append([]string{}, d.notices...)
	d.mu.Unlock()
	return st, nil
}

func (d *Daemon) postStop(ctx context.Context, in *struct{ Body api.Stop }) (none, error) {
	d.log.Info("told to stop", "by", who(ctx))
	select {
	case d.stop <- in.Body:
	default: // stopping already
	}
	return none{true}, nil
}

func (d *Daemon) postUpgrade(ctx context.Context, in *struct{ Body api.Upgrade }) (none, error) {
	if !filepath.IsAbs(in.Body.Path) {
		return none{}, api.Errorf(api.CodeInvalid, "path %s is not absolute", in.Body.Path)
	}
	d.log.Info("told to upgrade", "by", who(ctx), "to", in.Body.Path)
	var refused *api.Error
	if err := d.upgrade(ctx, in.Body.Path); errors.As(err, &refused) {
		return none{}, refused
	} else if err != nil {
		return none{}, api.Errorf(api.CodeUnavailable, "%v", err).WithHint("everything goes on as before")
	}
	return none{true}, nil
}

func (d *Daemon) listSessions(_ context.Context, in *struct {
	Label []string `query:"label" doc:"only sessions with these labels, NAME or NAME=VALUE; warm shells of the pool are listed by their label longterm.pool only"`
}) ([]api.Session, error) {
	list := []api.Session{}
	for _, e := range d.hub.all() {
		if e.pooled() && len(in.Label) == 0 {
			continue
		}
		if matchLabels(e.record().Labels, in.Label) {
			st := e.s.Status()
			if st.State != session.Running && e.dev != nil {
				d.hub.seeLeft(e)
			}
			list = append(list, d.hub.describe(e, st))
		}
	}
	return list, nil
}

func (d *Daemon) newSession(ctx context.Context, in *struct{ Body api.NewSession }) (api.Session, error) {
	e, err := d.hub.create(ctx, in.Body)
	if err != nil {
		return api.Session{}, err
	}
	return d.hub.describe(e, e.s.Status()), nil
}

func (d *Daemon) getSession(_ context.Context, in *SessionPath) (api.Session, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if e.s.Status().State != session.Running {
		d.hub.seeLeft(e)
	}
	view := d.hub.describe(e, e.s.Status())
	if e.dev != nil {
		view.Cgroup = cgroupOf(e.dev.cgroup)
	}
	return view, nil
}

func (d *Daemon) editSession(ctx context.Context, in *sessionBody[api.Edit]) (api.Session, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	if err := d.hub.edit(e, in.Body); err != nil {
		return api.Session{}, err
	}
	if in.Body.Size != "" {
		e.seat.setPolicy(SizePolicy(in.Body.Size))
		(&stream{d: d, e: e}).fit(ctx)
	}
	view := d.hub.describe(e, e.s.Status())
	d.hub.bus.Publish("edited", &view)
	return view, nil
}

// edit changes name and labels, all or nothing.
func (h *hub) edit(e *entry, edit api.Edit) error {
	if err := checkLabels(edit.Labels); err != nil {
		return err
	}
	if edit.Name != nil {
		if err := checkName(*edit.Name); err != nil {
			return err
		}
		if err := h.rename(e, *edit.Name); err != nil {
			return err
		}
	}
	h.save(e, func(r *store.Session) {
		labels := map[string]string{} // a copy: others may hold the old one
		for k, v := range r.Labels {
			labels[k] = v
		}
		for k, v := range edit.Labels {
			if v == "" {
				delete(labels, k)
			} else {
				labels[k] = v
			}
		}
		r.Labels = labels
	})
	return nil
}

func (h *hub) rename(e *entry, name string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if other := h.byname[name]; other == e {
		return nil
	} else if other != nil {
		return nameTaken(name)
	}
	delete(h.byname, e.rec.Name)
	h.byname[name] = e
	e.mu.Lock()
	e.rec.Name = name
	e.mu.Unlock()
	return nil
}

func (d *Daemon) removeSession(ctx context.Context, in *struct {
	SessionPath
	Force bool `query:"force" doc:"end it first when it runs"`
}) (none, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	return none{true}, d.hub.remove(ctx, e, in.Force)
}

func (d *Daemon) postResize(ctx context.Context, in *sessionBody[api.Resize]) (none, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	if !vterm.ValidSize(in.Body.Cols, in.Body.Rows) {
		return none{}, api.Errorf(api.CodeInvalid, "size %d×%d", in.Body.Cols, in.Body.Rows).
			WithHint("columns must be %d to %d, rows %d to %d", vterm.MinCols, vterm.MaxCols, vterm.MinRows, vterm.MaxRows)
	}
	return none{true}, e.s.Resize(ctx, in.Body.Cols, in.Body.Rows)
}

func (d *Daemon) postSignal(ctx context.Context, in *sessionBody[api.Signal]) (none, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return none{}, err
	}
	return none{true}, d.hub.signal(ctx, e, in.Body)
}

func (d *Daemon) postKill(ctx context.Context, in *sessionBody[api.Kill]) (api.Session, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Session{}, err
	}
	grace := d.conf.Grace()
	if in.Body.GraceMS > 0 {
		grace = time.Duration(in.Body.GraceMS) * time.Millisecond
	}
	// The client may go away; half a kill ladder helps nobody.
	if err := d.hub.kill(context.WithoutCancel(ctx), e, grace); err != nil {
		return api.Session{}, err
	}
	return d.hub.describe(e, e.s.Status()), nil
}

func (d *Daemon) postWait(ctx context.Context, in *sessionBody[api.Wait]) (api.Waited, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Waited{}, err
	}
	w := session.WaitFor{All: in.Body.All, Since: in.Body.Since}
	for _, c := range in.Body.Conds {
		cond, err := condition(c)
		if err != nil {
			return api.Waited{}, err
		}
		w.Conds = append(w.Conds, cond)
	}
	timeout := time.Minute
	if in.Body.TimeoutMS > 0 {
		timeout = time.Duration(in.Body.TimeoutMS) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if in.Body.Input != nil {
		typed, err := d.typeInput(ctx, e, *in.Body.Input)
		if err != nil {
			return api.Waited{}, err
		}
		w.Since = &typed.Cursor
	}
	r, err := e.s.Wait(ctx, w)
	if err == nil && r.Ended {
		d.lateProgress(ctx, e, &w, &r)
	}
	res := api.Waited{Outcome: "fired", Fired: []api.Fired{}, Version: r.Version, Cursor: r.Cursor}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		res.Outcome = "timeout"
	case err != nil:
		return res, err
	case r.Ended:
		res.Outcome = "ended"
	}
	for _, f := range r.Fired {
		res.Fired = append(res.Fired, api.Fired{Condition: in.Body.Conds[f.Cond], Match: f.Match})
	}
	res.Session = d.hub.describe(e, e.s.Status())
	return res, nil
}

// lateTime is how long the reader of a program's output gets after the program's end.
const lateTime = time.Second

// lateProgress looks at progress conditions once more when what an ended program printed has
// been read to its end, which is done beside the session.
func (d *Daemon) lateProgress(ctx context.Context, e *entry, w *session.WaitFor, r *session.Waited) {
	if !slices.ContainsFunc(w.Conds, func(c session.Cond) bool { return c.Kind == session.CondProgress }) {
		return
	}
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for until := time.Now().Add(lateTime); ctx.Err() == nil && time.Now().Before(until); <-look.C {
		again, err := e.s.Wait(ctx, *w)
		if err != nil {
			return
		}
		*r = again
		if a := e.work.view(newest); !again.Ended || a != nil && !a.Running {
			break
		}
	}
	if r.Ended {
		if again, err := e.s.Wait(ctx, *w); err == nil {
			*r = again
		}
	}
}

func matchLabels(labels map[string]string, want []string) bool {
	for _, w := range want {
		name, value, hasValue := strings.Cut(w, "=")
		got, ok := labels[name]
		if !ok || hasValue && got != value {
			return false
		}
	}
	return true
}
