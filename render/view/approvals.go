package view

import (
	"context"
	"fmt"
	"slices"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/overlays"
)

// openApprovals shows what waits for the person's approval.
func openApprovals(v *viewer) {
	switch {
	case v.o.Approver == nil:
		v.message = "approvals cannot be answered here"
	case len(v.waiting()) == 0:
		v.message = "nothing waits for your approval"
	default:
		v.open(&overlays.Approvals{Items: v.waiting, Ending: v.m.Ending, Answer: v.answer, Home: v.o.Home, Now: v.o.Now})
	}
}

// waiting are the approvals that wait and were not answered here.
func (v *viewer) waiting() []model.Approval {
	return slices.DeleteFunc(slices.Clone(v.m.Approvals), func(a model.Approval) bool { return v.answered[a.ID] })
}

// answer hands an answer on. Where that fails the approvals wait as before.
func (v *viewer) answer(ids []string, r overlays.Reply) {
	for _, id := range ids {
		v.answered[id] = true
	}
	v.beside(func(ctx context.Context) func() {
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

// askings tells of approvals that were not asked for before.
func (v *viewer) askings(before []model.Approval) {
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
	p, open := v.over.(*overlays.Approvals)
	if open && p.Empty() {
		v.closeOverlay()
	}
	if len(fresh) == 0 || v.m.Quiet.NoApproval {
		v.announced(known)
		return
	}
	if !open && v.o.Approver != nil {
		v.announce(fresh)
	}
	if !v.m.Quiet.NoBell {
		_ = v.o.Screen.Beep()
	}
}

// announce says in the bar what waits.
func (v *viewer) announce(list []model.Approval) {
	text := fmt.Sprintf("%s to approve: %s, asked by %s", v.keys.Chord("approvals"), canvas.Printable(list[0].What), list[0].Who)
	if n := len(list); n > 1 {
		text = fmt.Sprintf("%s to approve: %d more commands", v.keys.Chord("approvals"), n)
	}
	v.message, v.asks = text, announcement{text, list}
}

// announcement is what the bar says of approvals, and which those are.
type announcement struct {
	text string
	of   []model.Approval
}

// announced has the bar say no more than what still waits: others may have answered, or who asked went away.
func (v *viewer) announced(known func([]model.Approval, string) bool) {
	if v.asks.text == "" || v.message != v.asks.text { // it says something else by now
		return
	}
	left := slices.DeleteFunc(slices.Clone(v.asks.of), func(a model.Approval) bool { return !known(v.m.Approvals, a.ID) })
	switch len(left) {
	case len(v.asks.of):
	case 0:
		v.message, v.asks = "", announcement{}
	default:
		v.announce(left)
	}
}
