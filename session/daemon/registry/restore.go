//go:build unix

package registry

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/redact"
	"github.com/longterm-dev/longterm/store"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// Policies of sessions whose process went down with the machine.
const (
	restoreShell   = "shell"
	restoreCommand = "command"
)

// Restore starts a session's process again under the same id. New output follows the old below a dated line. The
// session gets a new handle: watchers of the old one see its end and find the new one.
func (h *Registry) Restore(ctx context.Context, old *Handle, req api.Restore) (*Handle, error) {
	h.restoring.Lock() // two at once would both write to the journal
	defer h.restoring.Unlock()
	if h.ByID(old.rec.ID) != old || old.Session.Status().State == session.Running {
		return nil, api.Errorf(api.CodeRunning, "session %s is running", old.Record().Name)
	}
	p, envOmitted, err := h.planRestore(ctx, old, &req)
	if err != nil {
		return nil, err
	}
	k, err := h.host.KeeperFor(p.Record.Keeper)
	if err != nil {
		return nil, api.Errorf(api.CodeUnavailable, "no keeper for the session: %v", err).WithHint("see %s", h.dirs.KeeperLog())
	}
	line, err := divider(ctx, old)
	anew := errors.Is(err, session.ErrQuarantined)
	if err != nil && !anew {
		return nil, err
	}
	if p.UsedCommandNumbers, err = h.nextCommandNumber(ctx, p.Record.ID); err != nil {
		return nil, err
	}
	old.Session.Stop()
	if old.device != nil {
		old.device.awaitRelease()
	}
	e := NewHandle(p.Record)
	e.envOmitted = envOmitted
	p.Base, err = h.divide(p.Record.ID, line)
	e.rec.ProgramFrom = p.Base
	if _, is := e.rec.Labels[api.ProjectFromLabel]; is { // what is waited for is to come from the new program
		e.rec.Labels = maps.Clone(e.rec.Labels)
		e.rec.Labels[api.ProjectFromLabel] = strconv.FormatUint(p.Base, 10)
	}
	if err == nil && anew { // what could not be looked at is not looked at again
		err = old.Session.SkipHistoryBefore(p.Base)
	}
	var start func()
	if err == nil {
		// The keeper may start the process even after the caller disconnected.
		start, err = h.spawn(context.WithoutCancel(ctx), e, k, p)
	}
	if err != nil {
		return nil, errors.Join(err, h.reopen(old))
	}
	_ = store.ForgetEnd(h.dirs.Session(e.rec.ID)) // belongs to the previous process
	h.replace(old, e)
	h.startOwnerLater(e, start)
	view := h.Describe(e, e.Session.Status())
	h.Bus.Publish("state", &view)
	return e, nil
}

// planRestore returns the plan of a restored session's process, and how many variables an agent's session does not get.
func (h *Registry) planRestore(ctx context.Context, old *Handle, req *api.Restore) (_ *spawn.Plan, envOmitted int, err error) {
	argv := h.resumeArgv(old, req)
	rec, r := old.Record(), *req
	h.known.LearnEnv(redact.EnvPairs(r.Env)) // also what is omitted
	agent := identity.Of(ctx).Agent != "" || rec.Agent != ""
	n, envOmitted := spawn.WithMode(api.NewSession{Env: r.Env}, agent, h.conf.Get())
	r.Env = n.Env
	p, err := h.spawner.PlanRestore(rec, old.Session.Status().Cwd, r, argv)
	return p, envOmitted, err
}

// RestoreRequest returns what Restore would start, as a request that can be judged.
func (h *Registry) RestoreRequest(ctx context.Context, old *Handle, req api.Restore) (*api.NewSession, error) {
	p, _, err := h.planRestore(ctx, old, &req)
	if err != nil {
		return nil, err
	}
	return p.Request(), nil
}

// nextCommandNumber returns how many command numbers a session's shells have used. The next shell continues there.
func (h *Registry) nextCommandNumber(ctx context.Context, id string) (uint64, error) {
	h.records.Flush(ctx)
	list, err := h.store.Commands(ctx, store.CommandQuery{Session: id, Newest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return uint64(max(0, list[0].N)), nil
}

// divider returns the text between old and new output: it resets the modes of the old programs, moves below their
// output and shows the time.
func divider(ctx context.Context, e *Handle) ([]byte, error) {
	_, end := e.Session.OutputRange()
	engine, err := e.Session.EmulatorAt(ctx, end)
	if err != nil {
		return appendDivider([]byte("\x1bc")), err
	}
	var b []byte
	if m := engine.Modes(); m.AltScreen { // on the primary screen it would move the cursor
		b = append(b, "\x1b[?1049l"...)
		_, _ = engine.Write(b)
	}
	var f vterm.Frame
	engine.Frame(&f, vterm.Query{Screen: vterm.ScreenPrimary})
	b = render.AppendModesReset(b)
	return appendDivider(appendBelow(b, &f)), nil
}

// appendBelow moves the cursor to the first empty row below the text, and scrolls if needed: a program may have left
// the cursor in the middle.
func appendBelow(b []byte, f *vterm.Frame) []byte {
	row, used := f.Cursor.Row, false
	for i, text := range rowsOf(f) {
		if text != "" && i >= row {
			row, used = i, true
		}
	}
	if b = render.AppendCursor(b, row, 0); used {
		b = append(b, "\r\n"...)
	}
	return b
}

// appendDivider appends the dated line between old and new output.
func appendDivider(b []byte) []byte {
	return append(b, "\x1b[2m"+restoredMark+time.Now().Format(time.DateTime)+restoredEnd+"\x1b[m\r\n"...)
}

// divide appends the divider to a session's journal and returns the offset of the new output.
func (h *Registry) divide(id string, line []byte) (uint64, error) {
	j, _, err := journal.Open(filepath.Join(h.dirs.Session(id), "journal"), journal.Options{})
	if err != nil {
		return 0, spawn.StorageError(err, h.dirs.State)
	}
	if err = j.AppendOutput(line); err != nil {
		err = spawn.StorageError(err, h.dirs.State)
	}
	return j.End(), errors.Join(err, j.Close())
}

// reopen makes a handle's history readable again after a restore that failed.
func (h *Registry) reopen(old *Handle) error {
	again := NewHandle(old.Record())
	if err := h.newHistoryOwner(again); err != nil {
		return err
	}
	h.replace(old, again)
	return nil
}

// replace replaces one handle by another.
func (h *Registry) replace(old, e *Handle) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.byid[e.rec.ID], h.byname[e.rec.Name] = e, e
}

// RestoreLost restarts, by policy, the sessions found lost at the daemon's start, and those whose restart was pending
// in the previous daemon.
func (h *Registry) RestoreLost(ctx context.Context) {
	h.restoreAll(ctx, h.adoption.lost)
	h.restarts.resumePending(h.All())
}

// restoreAll restarts, by policy, the sessions that ended with their keeper or the machine. Those that need approval
// follow once it is given.
func (h *Registry) restoreAll(ctx context.Context, lost []*Handle) {
	for _, e := range lost {
		req := api.Restore{Shell: e.rec.Restore == restoreShell, Command: e.rec.Restore == restoreCommand}
		switch {
		case req.Shell == req.Command || ctx.Err() != nil:
		case h.restarts.check != nil && (e.rec.Agent != "" || e.rec.Policy != ""):
			h.restarts.after(0, func() {
				ctx := context.Background() // an approval may take long
				err := h.restarts.check(ctx, e, &req)
				if h.host.IsStopping() || e.endRequested.Load() || h.ByID(e.ID()) != e {
					return
				}
				h.restoreOne(ctx, e, req, err)
			})
		default:
			h.restoreOne(ctx, e, req, nil)
		}
	}
}

// restoreOne restores one session, unless err forbids it.
func (h *Registry) restoreOne(ctx context.Context, e *Handle, req api.Restore, err error) {
	line := h.ResumeLine(e)
	again := e
	if err == nil {
		again, err = h.Restore(ctx, e, req)
	}
	if err != nil {
		h.host.Notice("session %s did not come back: %v", e.Record().Name, err)
		return
	}
	if line != "" && req.Shell {
		if _, err := again.Session.Exec(ctx, session.Line{Text: line, Wait: true}); err != nil {
			h.log.Warn("take an agent's conversation up again", "session", e.rec.ID, "err", err)
		}
	}
}

// The parts of the line between a screen and the restarted program's output.
const restoredMark, restoredEnd = "── restored ", " ──"

// rowsAfterDivider returns the rows of the running program, without those above the last divider.
func rowsAfterDivider(rows []string) []string {
	for i := len(rows) - 1; i >= 0; i-- {
		if at, is := strings.CutPrefix(rows[i], restoredMark); is && len(at) == len(time.DateTime)+len(restoredEnd) && strings.HasSuffix(at, restoredEnd) {
			return append(make([]string, i+1), rows[i+1:]...)
		}
	}
	return rows
}
