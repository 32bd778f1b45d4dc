//go:build unix

package registry

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/policy/effects"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// sandboxInfo is the sandbox in which a session was started; view is nil without one.
type sandboxInfo struct {
	view         *api.Sandbox
	programs     []string // programs that its profile lists
	askUnlisted  bool     // other programs need approval
	drafts       []string // directories of its draft, when it was started
	outsideDraft []string // files that its draft does not cover
	draftSize    int64    // limit of its draft's changes, bytes; 0: none
}

// Sandbox returns the restrictions of a session's programs, or nil.
func (h *Registry) Sandbox(e *Handle) *api.Sandbox { return h.sandboxOf(e).view }

// sandboxOf returns the sandbox of a session, reading its file at first use.
func (h *Registry) sandboxOf(e *Handle) *sandboxInfo {
	if b := e.sandbox.Load(); b != nil {
		return b
	}
	r, err := h.spawner.SandboxOf(e.rec.ID)
	if err != nil {
		h.log.Warn("sandbox of a session", "session", e.rec.ID, "err", err)
	}
	b := &sandboxInfo{view: spawn.ViewOf(r)}
	if r != nil && r.Rules != nil {
		b.programs, b.askUnlisted = r.Rules.Programs, r.Rules.AsksOnDifference
		if b.drafts = r.Rules.DraftDirs(); b.drafts != nil {
			b.outsideDraft, b.draftSize = r.Rules.DraftLimits(), r.Rules.DraftSize
		}
	}
	e.sandbox.CompareAndSwap(nil, b)
	return b
}

// CheckSandbox rejects a line for a session outside the requested sandbox or a stricter one.
func (h *Registry) CheckSandbox(e *Handle, profile, onDifference string) error {
	return h.spawner.CheckWithin(e.rec.ID, e.Record().Name, profile, onDifference)
}

// SandboxReport returns the sandbox in which a session was started, or nil.
func (h *Registry) SandboxReport(e *Handle) (*sandbox.Report, error) {
	return h.spawner.SandboxOf(e.rec.ID)
}

// Drafts returns the drafts of sessions, also of removed ones.
func (h *Registry) Drafts() drafts.Drafts { return h.spawner.Drafts() }

// PlanDraft returns the draft in which a command would run, or why it cannot run in one. It starts nothing.
func (h *Registry) PlanDraft(n api.NewSession) (effects.Draft, error) { return h.spawner.PlanDraft(n) }

// PublishDraft publishes that a draft was committed or discarded. e is nil if its session was removed.
func (h *Registry) PublishDraft(e *Handle, kind string, r *api.DraftResult) {
	const maxPaths = 100
	short := *r
	short.Paths = short.Paths[:min(len(short.Paths), maxPaths)]
	event := api.Event{Kind: kind, Draft: &short}
	if e != nil {
		h.draftCounts.Invalidate(e.rec.ID)
		view := h.Describe(e, e.Session.Status())
		event.Session = &view
	}
	h.Bus.Send(event)
}

// publishDraftCount publishes a new number of changes in a session's draft.
func (h *Registry) publishDraftCount(id string) {
	if e := h.ByID(id); e != nil {
		h.publishStatus(e, "draft-changed", e.Session.Status)
	}
}

// NoteDraftCount records the number of changes in a session's draft by a scan that began at a time.
func (h *Registry) NoteDraftCount(id string, changes int, began time.Time) {
	if h.ByID(id) != nil {
		h.draftCounts.Set(id, changes, began)
	}
}

// RecountDraft starts a new count of the changes in a session's draft, in the background.
func (h *Registry) RecountDraft(e *Handle) {
	h.draftCounts.Invalidate(e.rec.ID)
	st := e.Session.Status()
	h.DraftOf(e, &st)
}

// CountDrafts counts the changes of drafts that may have changed since the last count, for the next descriptions of their
// sessions. It stops waiting when ctx ends; the counts continue in the background.
func (h *Registry) CountDrafts(ctx context.Context, list []*Handle) {
	var counts []<-chan struct{}
	for _, e := range list {
		if h.sandboxOf(e).drafts == nil || !h.Drafts().Has(e.rec.ID) {
			continue
		}
		st := e.Session.Status()
		written := st.Ended
		if st.State == session.Running {
			written = time.Now()
		}
		if c := h.draftCounts.Refresh(e.rec.ID, st.State == session.Running, written); c != nil {
			counts = append(counts, c)
		}
	}
	for _, c := range counts {
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
	}
}

// lineCountTime is how long the result of a line waits for the number of changes.
const lineCountTime = 300 * time.Millisecond

// DraftAfterLine returns the summary of a running session's draft after a line of its shell, or nil if it has no changes. The
// number of changes is absent if the count takes long.
func (h *Registry) DraftAfterLine(ctx context.Context, e *Handle) *api.DraftSummary {
	st := e.Session.Status()
	v := h.draftSummary(e, &st)
	if v == nil {
		return nil
	}
	h.draftCounts.Invalidate(e.rec.ID)
	ctx, cancel := context.WithTimeout(ctx, lineCountTime)
	defer cancel()
	if h.CountDrafts(ctx, []*Handle{e}); ctx.Err() != nil {
		return v
	}
	if v.Changes = h.draftCounts.Get(e.rec.ID); v.Changes != nil && *v.Changes == 0 {
		return nil
	}
	return v
}

// DraftOf returns the summary of a session's draft, or nil, with the number of changes at the last count. If the programs have
// printed or ended since, it starts another in the background.
func (h *Registry) DraftOf(e *Handle, st *session.Status) *api.DraftSummary {
	v := h.draftSummary(e, st)
	if v == nil {
		return nil
	}
	written := st.LastOutput
	if st.State != session.Running {
		written = st.Ended
	}
	h.draftCounts.Refresh(e.rec.ID, st.State == session.Running, written)
	v.Changes = h.draftCounts.Get(e.rec.ID)
	return v
}

// draftSummary returns the summary of a session's draft without the number of changes, or nil.
func (h *Registry) draftSummary(e *Handle, st *session.Status) *api.DraftSummary {
	b := h.sandboxOf(e)
	if b.drafts == nil || !h.Drafts().Has(e.rec.ID) {
		return nil
	}
	v := &api.DraftSummary{Session: e.rec.ID, Started: st.Started, Roots: b.drafts, State: string(draft.StateEnded), Limit: b.draftSize}
	if st.State == session.Running {
		v.State = string(draft.StateOpen)
	}
	return v
}

// NotHeld returns the files that the draft of a session does not cover.
func (h *Registry) NotHeld(e *Handle) []string { return h.sandboxOf(e).outsideDraft }

// DraftLimit returns the most space that changes in the draft of a session may take, in bytes, or 0.
func (h *Registry) DraftLimit(e *Handle) int64 { return h.sandboxOf(e).draftSize }

// EndDraft removes the draft of a session that has ended if it holds no changes. Otherwise it returns its summary.
func (h *Registry) EndDraft(ctx context.Context, e *Handle) *api.DraftSummary {
	st, began := e.Session.Status(), time.Now()
	v := h.draftSummary(e, &st)
	if v == nil {
		return nil
	}
	n, err := h.Drafts().DropEmpty(ctx, e.rec.ID)
	switch {
	case err != nil: // its changes are still there, but not counted
		h.log.Error("count the changes of a draft", "session", e.rec.ID, "err", err)
		return v
	case n == 0:
		return nil
	}
	h.draftCounts.Set(e.rec.ID, n, began)
	v.Changes = &n
	return v
}

// CheckNoDraft rejects the removal of a session whose draft holds changes.
func (h *Registry) CheckNoDraft(ctx context.Context, e *Handle) error {
	if !h.Drafts().Has(e.rec.ID) {
		return nil
	}
	d, err := h.Drafts().Open(e.rec.ID, e.Session.Status().State == session.Running)
	if err != nil {
		return err
	}
	c, err := d.Changes(ctx)
	if err != nil {
		return drafts.Error(e.rec.ID, err)
	}
	if n := len(c.Changes); n > 0 {
		name := e.Record().Name
		return api.Errorf(api.CodeConflict, "session %s has a draft with %d changes", name, n).
			WithHint("see `longterm changes %s`; commit or discard them, or remove them with the session by --discard-draft", name)
	}
	return nil
}
