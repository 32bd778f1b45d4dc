package view

import (
	"context"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// openApprovals opens the panel of pending approvals, at the one with an id, or at the oldest.
func openApprovals(v *viewer, id string) {
	switch {
	case v.o.Approver == nil:
		v.message = "approvals cannot be answered here"
	case len(v.pendingApprovals()) == 0:
		v.message = "no pending approvals"
	default:
		v.open(&overlays.Approvals{Items: v.pendingApprovals, Outcome: v.m.ApprovalOutcome, Answer: v.answer, Home: v.o.Home, Now: v.o.Now, First: id})
	}
}

// pendingApprovals returns the pending approvals that were not answered here.
func (v *viewer) pendingApprovals() []model.Approval {
	return slices.DeleteFunc(slices.Clone(v.m.Approvals), func(a model.Approval) bool { return v.answered[a.ID] })
}

// answer sends an answer. If that fails, the approvals stay pending.
func (v *viewer) answer(ids []string, r overlays.Reply) {
	for _, id := range ids {
		v.answered[id] = true
	}
	v.runAsync(func(ctx context.Context) func() {
		err := v.o.Approver.Answer(ctx, ids, r)
		return func() {
			what := ids[0]
			if n := len(ids); n > 1 {
				what = fmt.Sprintf("%d approvals", n)
			}
			if err != nil {
				for _, id := range ids {
					delete(v.answered, id)
				}
				v.message = what + " not answered: " + err.Error()
				return
			}
			v.message = what + ": " + map[string]string{
				"once": "allowed once", "session": "allowed for the session", "always": "allowed always", "reject": "rejected",
			}[r.Answer]
		}
	})
}

// noteNewApprovals announces approvals that were not pending before.
func (v *viewer) noteNewApprovals(before []model.Approval) {
	known := func(list []model.Approval, id string) bool {
		return slices.ContainsFunc(list, func(a model.Approval) bool { return a.ID == id })
	}
	for id := range v.answered {
		if !known(v.m.Approvals, id) {
			delete(v.answered, id)
		}
	}
	var fresh []model.Approval
	for _, a := range v.m.Approvals {
		if !known(before, a.ID) {
			fresh = append(fresh, a)
		}
	}
	p, open := v.overlay.(*overlays.Approvals)
	if open && p.Empty() {
		v.closeOverlay()
	}
	if len(fresh) == 0 || v.m.DisabledAlerts.NoApproval {
		v.updateAnnouncement(known)
		return
	}
	if !open && v.o.Approver != nil {
		v.announce(fresh)
	}
	if !v.m.DisabledAlerts.NoBell {
		_ = v.o.Screen.Beep()
	}
}

// announce shows the pending approvals in the status bar.
func (v *viewer) announce(list []model.Approval) {
	text := fmt.Sprintf("%s to approve: %s, requested by %s", v.keys.Chord("approvals"), canvas.Printable(list[0].What), list[0].Requester)
	if n := len(list); n > 1 {
		text = fmt.Sprintf("%s to approve: %d more commands", v.keys.Chord("approvals"), n)
	}
	v.message, v.announced = text, announcement{text, list}
}

// announcement is a text about approvals in the status bar, with the approvals that it names.
type announcement struct {
	text      string
	approvals []model.Approval
}

// updateAnnouncement drops approvals that are no longer pending from the announcement: another client answered, or the caller
// disconnected.
func (v *viewer) updateAnnouncement(known func([]model.Approval, string) bool) {
	if v.announced.text == "" || v.message != v.announced.text { // another message replaced it
		return
	}
	left := slices.DeleteFunc(slices.Clone(v.announced.approvals), func(a model.Approval) bool { return !known(v.m.Approvals, a.ID) })
	switch len(left) {
	case len(v.announced.approvals):
	case 0:
		v.message, v.announced = "", announcement{}
	default:
		v.announce(left)
	}
}
