//go:build unix

package registry

import (
	"context"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/drafts"
	"github.com/longterm-dev/longterm/session/daemon/spawn"
	"github.com/longterm-dev/longterm/session/draft"
	"github.com/longterm-dev/longterm/session/sandbox"
)

// sandboxInfo is the sandbox in which a session was started; view is nil without one.
type sandboxInfo struct {
	view         *api.Sandbox
	programs     []string // programs that its profile lists
	differ       bool     // other programs need approval
	drafts       []string // directories of its draft, when it was started
	outsideDraft []string // files that its draft does not cover
}

// Sandbox returns the restrictions of a session's programs, or nil.
func (h *Registry) Sandbox(e *Handle) *api.Sandbox { return h.sandboxOf(e).view }

// sandboxOf returns the sandbox of a session, reading its file at first use.
func (h *Registry) sandboxOf(e *Handle) *sandboxInfo {
	if b := e.box.Load(); b != nil {
		return b
	}
	r, err := h.spawner.SandboxOf(e.rec.ID)
	if err != nil {
		h.log.Warn("sandbox of a session", "session", e.rec.ID, "err", err)
	}
	b := &sandboxInfo{view: spawn.ViewOf(r)}
	if r != nil && r.Rules != nil {
		b.programs, b.differ = r.Rules.Programs, r.Rules.Ask
		if b.drafts = r.Rules.DraftDirs(); b.drafts != nil {
			b.outsideDraft = r.Rules.DraftLimits()
		}
	}
	e.box.CompareAndSwap(nil, b)
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

// DraftRoot returns the directory of the draft in which a command would run, or why it cannot run in one. It starts nothing.
func (h *Registry) DraftRoot(n api.NewSession) (string, error) { return h.spawner.DraftRoot(n) }

// PublishDraft publishes that a draft was committed or discarded. e is nil if its session was removed.
func (h *Registry) PublishDraft(e *Handle, kind string, r *api.DraftResult) {
	const maxPaths = 100
	short := *r
	short.Paths = short.Paths[:min(len(short.Paths), maxPaths)]
	event := api.Event{Kind: kind, Draft: &short}
	if e != nil {
		view := h.Describe(e, e.Session.Status())
		event.Session = &view
	}
	h.Bus.Send(event)
}

// DraftOf returns the summary of a session's draft, or nil. It does not count the changes.
func (h *Registry) DraftOf(e *Handle, st *session.Status) *api.DraftSummary {
	b := h.sandboxOf(e)
	if b.drafts == nil || !h.Drafts().Has(e.rec.ID) {
		return nil
	}
	v := &api.DraftSummary{Session: e.rec.ID, Started: st.Started, Roots: b.drafts, State: string(draft.StateEnded)}
	if st.State == session.Running {
		v.State = string(draft.StateOpen)
	}
	return v
}

// NotHeld returns the files that the draft of a session does not cover.
func (h *Registry) NotHeld(e *Handle) []string { return h.sandboxOf(e).outsideDraft }

// EndDraft removes the draft of a session that has ended if it holds no changes. Otherwise it returns its summary.
func (h *Registry) EndDraft(ctx context.Context, e *Handle) *api.DraftSummary {
	st := e.Session.Status()
	v := h.DraftOf(e, &st)
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
