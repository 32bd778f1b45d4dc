//go:build unix

package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	filedraft "github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/sys"
)

// draftTarget is the draft that a request names, and its session, nil if that was removed.
type draftTarget struct {
	id, name string
	e        *registry.Handle
	live     bool
}

// draftTarget finds a draft by its session, or by its id once the session was removed.
func (s *Server) draftTarget(ref string) (*draftTarget, error) {
	e, err := s.reg.Resolve(ref)
	var missing *api.Error
	if errors.As(err, &missing) && missing.Code == api.CodeNotFound {
		id, noDraft := s.reg.Drafts().Find(ref)
		if noDraft == nil {
			return &draftTarget{id: id, name: api.ShortID(id)}, nil
		}
		if ambiguous := (*api.Error)(nil); errors.As(noDraft, &ambiguous) && ambiguous.Code == api.CodeAmbiguous {
			return nil, noDraft
		}
	}
	if err != nil {
		return nil, err
	}
	to := &draftTarget{id: e.ID(), name: e.Record().Name, e: e, live: e.Session.Status().State == session.Running}
	if !s.reg.Drafts().Has(to.id) {
		return nil, drafts.NoDraft(to.name)
	}
	return to, nil
}

// openDraft returns the draft that a request names.
func (s *Server) openDraft(ref string) (*draftTarget, *filedraft.Draft, error) {
	to, err := s.draftTarget(ref)
	if err != nil {
		return nil, nil, err
	}
	d, err := s.reg.Drafts().Open(to.id, to.live)
	return to, d, err
}

func (s *Server) listDrafts(ctx context.Context, _ *struct{}) ([]api.DraftSummary, error) {
	list := []api.DraftSummary{}
	for _, id := range s.reg.Drafts().IDs() {
		to, d, err := s.openDraft(id)
		if err != nil {
			s.log.Warn("open a draft", "session", id, "err", err)
			continue
		}
		info := d.Info()
		v := api.DraftSummary{Session: id, Command: info.Command, Started: info.Started, Roots: info.Roots, State: string(info.State)}
		if to.e != nil {
			v.Limit = s.reg.DraftLimit(to.e)
		}
		s.countChanges(ctx, &v)
		if v.Changes != nil && *v.Changes == 0 && !to.live { // nothing to decide; a restored session gets another
			if _, err := s.reg.Drafts().DropEmpty(ctx, id); err == nil {
				continue
			}
		}
		list = append(list, v)
	}
	return list, nil
}

// countChanges sets the number of changes and the state, if the draft can be read.
func (s *Server) countChanges(ctx context.Context, v *api.DraftSummary) {
	to, d, err := s.openDraft(v.Session)
	if err != nil {
		return
	}
	began := time.Now()
	c, err := d.Changes(ctx)
	if err != nil {
		s.log.Warn("count the changes of a draft", "session", v.Session, "err", err)
		return
	}
	n, info := len(c.Changes), d.Info()
	s.reg.NoteDraftCount(v.Session, n, began)
	v.Changes, v.Command, v.State = &n, info.Command, string(info.State)
	if to.live {
		v.State = string(filedraft.StateOpen)
	}
}

func (s *Server) getChanges(ctx context.Context, in *struct {
	SessionPath
	Command int `query:"command" minimum:"0" doc:"only changes during the command with this number; 0: all"`
}) (api.Draft, error) {
	to, d, err := s.openDraft(in.Session)
	if err != nil {
		return api.Draft{}, err
	}
	list := d.Changes
	if in.Command > 0 {
		list = func(ctx context.Context) (filedraft.Changes, error) { return d.ChangesOf(ctx, in.Command) }
	}
	c, err := list(ctx)
	if err != nil {
		return api.Draft{}, drafts.Error(to.id, err)
	}
	notHeld := []string{}
	if to.e != nil {
		notHeld = append(notHeld, s.reg.NotHeld(to.e)...)
	}
	v := drafts.View(d, &c, to.live, notHeld)
	if to.e != nil {
		v.Limit = s.reg.DraftLimit(to.e)
	}
	return v, nil
}

// maxDiff bounds the text of a diff, in bytes.
const maxDiff = 16 << 20

func (s *Server) getDiff(ctx context.Context, in *struct {
	SessionPath
	Path []string `query:"path,explode" doc:"absolute, or relative to the draft's directory; default: all changes"`
}) (api.DraftDiff, error) {
	to, d, err := s.openDraft(in.Session)
	if err != nil {
		return api.DraftDiff{}, err
	}
	b := &limitedBuffer{limit: maxDiff}
	if err := d.Diff(ctx, b, in.Path...); err != nil && !errors.Is(err, errLimit) {
		return api.DraftDiff{}, drafts.Error(to.id, err)
	}
	return api.DraftDiff{Text: b.String(), Truncated: b.truncated}, nil
}

// errLimit ends the creation of a diff that is too long.
var errLimit = errors.New("enough")

// limitedBuffer is a buffer that fails when it is full.
type limitedBuffer struct {
	bytes.Buffer
	limit     int
	truncated bool
}

func (b *limitedBuffer) Write(p []byte) (int, error) {
	if room := b.limit - b.Len(); len(p) > room {
		b.truncated = true
		n, _ := b.Buffer.Write(p[:room])
		return n, errLimit
	}
	return b.Buffer.Write(p)
}

var _ io.Writer = (*limitedBuffer)(nil)

// mayCommit rejects callers that are not users: the user reviews an agent's changes and commits them.
func mayCommit(ctx context.Context) error {
	const what = "committing a draft"
	if err := requireUser(ctx, what); err != nil {
		return err
	}
	if a := identity.Of(ctx); a.IsAgent() {
		return api.Errorf(api.CodeDenied, "%s is for the user, not for %s", what, a).
			WithHint("the user looks at them with `longterm changes` and runs `longterm commit`")
	}
	return nil
}

// mayDiscard rejects agents that did not start the draft's session.
func mayDiscard(ctx context.Context, to *draftTarget) error {
	a := identity.Of(ctx)
	if !a.IsAgent() && !callerOf(ctx).IsRestricted || to.e != nil && a.Agent != "" && to.e.Record().Agent == a.Agent {
		return nil
	}
	return api.Errorf(api.CodeDenied, "the draft of %s is not for %s to discard", to.name, a).
		WithHint("the user discards it with `longterm discard %s`", to.name)
}

func (s *Server) postCommit(ctx context.Context, in *sessionBody[api.Commit]) (api.DraftResult, error) {
	if err := mayCommit(ctx); err != nil {
		return api.DraftResult{}, err
	}
	to, d, err := s.openDraft(in.Session)
	if err != nil {
		return api.DraftResult{}, err
	}
	b := &in.Body
	if to.live && !b.DryRun {
		return api.DraftResult{}, drafts.Error(to.id, filedraft.ErrMounted)
	}
	// A started commit is completed, although its caller disconnects.
	r, err := d.Commit(context.WithoutCancel(ctx), filedraft.CommitOptions{
		Paths: b.Paths, Expect: b.Expect, DryRun: b.DryRun, AllowSetID: b.AllowSetID,
	})
	v := drafts.Result(&r)
	v.DryRun = b.DryRun
	hasCommitted := !b.DryRun && (err == nil || len(r.Paths) > 0)
	if hasCommitted {
		s.auditDraft(ctx, to, "draft-committed", &v, err)
	}
	if err == nil && !b.DryRun && v.Empty && !to.live { // before the event, whose session then has no draft
		if _, err := d.Discard(context.WithoutCancel(ctx)); err != nil {
			s.log.Warn("remove a draft without changes", "session", to.id, "err", err)
		}
	}
	if hasCommitted {
		s.reg.PublishDraft(to.e, "draft-committed", &v)
	}
	if err != nil {
		return api.DraftResult{}, drafts.Error(to.id, err)
	}
	return v, nil
}

func (s *Server) postDiscard(ctx context.Context, in *sessionBody[api.Discard]) (api.DraftResult, error) {
	to, err := s.draftTarget(in.Session)
	if err != nil {
		return api.DraftResult{}, err
	}
	if err := mayDiscard(ctx, to); err != nil {
		return api.DraftResult{}, err
	}
	return s.discard(context.WithoutCancel(ctx), to, in.Body.Paths)
}

// discard removes changes of a draft, or all of it.
func (s *Server) discard(ctx context.Context, to *draftTarget, paths []string) (api.DraftResult, error) {
	d, err := s.reg.Drafts().Open(to.id, to.live)
	if err != nil {
		return api.DraftResult{}, err
	}
	r, err := d.Discard(ctx, paths...)
	if err != nil {
		return api.DraftResult{}, drafts.Error(to.id, err)
	}
	v := drafts.Result(&r)
	s.auditDraft(ctx, to, "draft-discarded", &v, nil)
	s.reg.PublishDraft(to.e, "draft-discarded", &v)
	return v, nil
}

func (s *Server) postUndo(ctx context.Context, in *sessionBody[api.Undo]) (api.Undone, error) {
	to, err := s.draftTarget(in.Session)
	if err != nil {
		return api.Undone{}, err
	}
	if err := mayDiscard(ctx, to); err != nil {
		return api.Undone{}, err
	}
	if !to.live {
		return api.Undone{}, api.Errorf(api.CodeEnded, "undo requires a running session").
			WithHint("restart it with `longterm restore %s`, or discard paths with `longterm discard %[1]s PATH…`", to.name)
	}
	d, err := s.reg.Drafts().Open(to.id, true)
	if err != nil {
		return api.Undone{}, err
	}
	defer s.reg.RecountDraft(to.e)
	pid := to.e.Session.Status().PID
	paths, err := d.Undo(context.WithoutCancel(ctx), in.Body.Command, func(root string) (*os.File, error) { return openView(pid, root) })
	v := api.Undone{Paths: []string{}}
	for _, p := range paths {
		v.Paths = append(v.Paths, strings.ToValidUTF8(p, "\ufffd"))
	}
	if err != nil {
		return v, drafts.Error(to.id, err)
	}
	return v, nil
}

// openView opens a root of a draft as the processes of a session see it. It finds such a process, because the session's
// own process may be outside of the sandbox.
func openView(pid int, root string) (*os.File, error) {
	for _, p := range append([]int{pid}, sys.Descendants(pid)...) {
		f, err := sys.OpenDirInRoot(p, root)
		if err != nil {
			continue // it has exited, or belongs to another user
		}
		if filedraft.IsMergedView(f, root) {
			return f, nil
		}
		_ = f.Close()
	}
	return nil, filedraft.ErrNoView
}

// auditDraft adds a commit or a discard to the audit log.
func (s *Server) auditDraft(ctx context.Context, to *draftTarget, kind string, r *api.DraftResult, failed error) {
	s.daemon.Audit().AppendLater(drafts.AuditRecord(identity.Of(ctx), to.id, to.name, kind, r, failed))
}
