package overlays

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Reply is a user's answer to an approval request.
type Reply struct {
	Answer   string // once, session, always, reject
	Feedback string // the reason of a rejection, for the requester
	Rule     string // for always: the rule to write
}

// replies lists the possible answers, chosen by keys 1 to 4.
var replies = [...]struct{ answer, label, brief string }{
	{"once", "yes, once", "once"}, {"session", "yes, for this session", "session"},
	{"always", "yes, always", "always"}, {"reject", "no, with a reason", "no"},
}

const (
	replyAlways = 2
	replyReject = 3
)

// Approvals is the panel in which the user answers approval requests. It shows one at a time with all its effects. It
// accepts an answer only for a request that was on the screen when the key arrived. A request that ended elsewhere
// stays, with how it ended, until a key acknowledges it.
type Approvals struct {
	Items   func() []model.Approval // returns the pending approvals, oldest first; called before every drawing and key
	Outcome func(id string) string  // returns how an approval ended that is no longer pending
	Answer  func(ids []string, r Reply)
	Home    string
	Now     func() time.Time
	First   string // id of the approval to show first; "": the oldest

	all         []model.Approval // pending approvals, with those of a group next to each other
	index       int              // index of the shown one, while it is pending
	shown       model.Approval
	seenID      string   // id of the approval that the user has seen
	seenGroup   []string // ids of its group at that time
	ended       bool     // the shown one is no longer pending
	forGroup    bool     // the answer applies to the whole group
	choice      int      // index of the selected answer
	first       int      // first visible row of the text
	rowsBelow   int      // number of rows below the visible ones
	visibleRows int      // number of visible rows
	line        *line    // a rule or a reason being typed
	area        panelArea
}

// panelArea is the area in which the answers were last drawn.
type panelArea struct{ x, y, w, h int }

// refresh updates the pending approvals.
func (p *Approvals) refresh() {
	p.all = byGroup(p.Items())
	if p.shown.ID == "" {
		p.show(slices.IndexFunc(p.all, func(a model.Approval) bool { return a.ID == p.First }))
		return
	}
	at := slices.IndexFunc(p.all, func(a model.Approval) bool { return a.ID == p.shown.ID })
	if at < 0 {
		p.ended, p.line, p.forGroup = true, nil, false
		return
	}
	p.index, p.shown, p.ended = at, p.all[at], false
}

// byGroup sorts approvals so that those of a group are adjacent, the group of the oldest first.
func byGroup(list []model.Approval) []model.Approval {
	order := map[string]int{}
	for i := range list {
		if _, known := order[list[i].Group]; !known {
			order[list[i].Group] = i
		}
	}
	slices.SortStableFunc(list, func(a, b model.Approval) int { return order[a.Group] - order[b.Group] })
	return list
}

// show selects a pending approval.
func (p *Approvals) show(index int) {
	p.shown, p.ended, p.forGroup, p.line = model.Approval{}, false, false, nil
	p.choice, p.first, p.seenID = 0, 0, ""
	if len(p.all) > 0 {
		p.index = min(max(index, 0), len(p.all)-1)
		p.shown = p.all[p.index]
	}
}

// answeredIDs returns the ids to which an answer applies. Requests that arrived after the user saw the number are not
// included.
func (p *Approvals) answeredIDs() []string {
	if !p.forGroup {
		return []string{p.shown.ID}
	}
	return slices.DeleteFunc(slices.Clone(p.seenGroup), func(id string) bool {
		return !slices.ContainsFunc(p.all, func(a model.Approval) bool { return a.ID == id })
	})
}

// groupSize returns the number of pending requests in the shown one's group.
func (p *Approvals) groupSize() (n int) {
	for i := range p.all {
		if p.all[i].Group == p.shown.Group {
			n++
		}
	}
	return n
}

// Key answers a request or selects another. Escape leaves all pending.
func (p *Approvals) Key(k input.Key) Result {
	p.refresh()
	ctrl := k.Mods&input.Ctrl != 0
	leaves := k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g')
	switch {
	case p.line != nil:
		return p.lineKey(k, leaves)
	case leaves || p.shown.ID == "":
		return closed
	case p.ended && len(p.all) == 0:
		return closed
	case p.ended:
		p.show(p.index)
		return Result{}
	case p.seenID != p.shown.ID:
		return Result{} // the user has not seen it yet: the key was meant for the previous one
	}
	return p.shownKey(k)
}

// shownKey handles a key for the shown approval.
func (p *Approvals) shownKey(k input.Key) Result {
	back := k.Mods&input.Shift != 0
	switch {
	case len(k.Text) == 1 && k.Text[0] >= '1' && k.Text[0] <= '4':
		return p.pick(int(k.Text[0] - '1'))
	case k.Code == input.KeyEnter:
		return p.pick(p.choice)
	case k.Code == input.KeyUp:
		p.choice = (p.choice + len(replies) - 1) % len(replies)
	case k.Code == input.KeyDown:
		p.choice = (p.choice + 1) % len(replies)
	case k.Code == input.KeyLeft:
		p.show((p.index + len(p.all) - 1) % len(p.all))
	case k.Code == input.KeyRight:
		p.show((p.index + 1) % len(p.all))
	case k.Code == input.KeyTab:
		p.nextGroup(back)
	case k.Code == input.KeyPageDown:
		p.first += min(p.rowsBelow, max(1, p.visibleRows))
	case k.Code == input.KeyPageUp:
		p.first = max(0, p.first-max(1, p.visibleRows))
	case k.Text == "a":
		p.forGroup = !p.forGroup && p.groupSize() > 1
	}
	return Result{}
}

// nextGroup selects the first approval of the next group, or of the previous one.
func (p *Approvals) nextGroup(back bool) {
	step := 1
	if back {
		step = len(p.all) - 1
	}
	at := p.index
	for range p.all {
		at = (at + step) % len(p.all)
		if p.all[at].Group != p.shown.Group {
			break
		}
	}
	for at > 0 && p.all[at-1].Group == p.all[at].Group {
		at--
	}
	p.show(at)
}

// pick chooses an answer. A rule is shown and can be edited before it is written, and a reason may be given.
func (p *Approvals) pick(choice int) Result {
	p.choice = choice
	switch {
	case p.unavailableReason(choice) != "":
		return Result{}
	case choice == replyAlways:
		rule := []rune(p.shown.Rule)
		p.line = &line{rule, len(rule)}
		return Result{}
	case choice == replyReject:
		p.line = &line{}
		return Result{}
	}
	return p.answer(Reply{Answer: replies[choice].answer})
}

// unavailableReason returns why an answer is unavailable, or "".
func (p *Approvals) unavailableReason(choice int) string {
	switch {
	case choice == 1 && p.shown.Session == "":
		return "no session yet"
	case choice == replyAlways && p.shown.NoRule != "":
		return "no rule can allow it: " + p.shown.NoRule
	}
	return ""
}

func (p *Approvals) lineKey(k input.Key, leaves bool) Result {
	switch {
	case leaves:
		p.line = nil
	case k.Code != input.KeyEnter:
		p.line.edit(k)
	case p.choice == replyReject:
		return p.answer(Reply{Answer: "reject", Feedback: strings.TrimSpace(p.line.String())})
	case strings.TrimSpace(p.line.String()) != "":
		return p.answer(Reply{Answer: "always", Rule: strings.TrimSpace(p.line.String())})
	}
	return Result{}
}

// answer sends an answer and selects the next approval.
func (p *Approvals) answer(r Reply) Result {
	ids := p.answeredIDs()
	p.all = slices.DeleteFunc(p.all, func(a model.Approval) bool { return slices.Contains(ids, a.ID) })
	at := p.index
	if p.forGroup {
		at = 0
	}
	if at >= len(p.all) {
		at = 0
	}
	p.show(at)
	return Result{Close: len(p.all) == 0, Then: func() { p.Answer(ids, r) }}
}

// Paste inserts text into a rule or a reason. It answers nothing.
func (p *Approvals) Paste(text string) Result {
	if p.line != nil {
		p.line.insert(text)
	}
	return Result{}
}

// Mouse chooses the clicked answer. The wheel scrolls the text.
func (p *Approvals) Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result {
	p.refresh()
	x, y := e.Position()
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		p.first = max(0, p.first-1)
	case b&tcell.WheelDown != 0:
		p.first += min(p.rowsBelow, 1)
	case b&tcell.ButtonPrimary == 0 || held != 0 || p.line != nil || p.ended || p.seenID != p.shown.ID:
	case p.area.h == len(replies) && x >= p.area.x && x < p.area.x+p.area.w && y >= p.area.y && y < p.area.y+p.area.h:
		return p.pick(y - p.area.y)
	}
	return Result{}
}

// Empty reports whether nothing is pending and no result is shown.
func (p *Approvals) Empty() bool {
	p.refresh()
	return len(p.all) == 0 && !p.ended
}

// about returns the rows that describe the shown approval.
func (p *Approvals) about() (rows []string) {
	a := &p.shown
	rows = append(rows, a.What)
	for _, e := range a.Effects {
		rows = append(rows, "→ "+e)
	}
	if len(a.Commands) > 1 || len(a.Commands) == 1 && a.Commands[0].Text != a.What {
		rows = append(rows, "", "commands:")
		for _, c := range a.Commands {
			rows = append(rows, map[string]string{"ask": "? ", "deny": "✗ "}[c.Verdict]+c.Text)
		}
	}
	rows = append(rows, "")
	if a.Why != "" {
		rows = append(rows, a.Why)
	}
	if a.Instead != "" {
		rows = append(rows, "instead: "+a.Instead)
	}
	if a.Started != "" {
		rows = append(rows, "started by: "+a.Started)
	}
	in := "in " + statusbar.ShortPath(a.Cwd, p.Home, 1<<10)
	if a.Cwd == "" {
		in = ""
	}
	if a.Name != "" {
		in = strings.TrimSpace(in + "  session " + a.Name)
	}
	if in != "" {
		rows = append(rows, in)
	}
	return append(rows, fmt.Sprintf("requested by %s %s ago", a.Requester, statusbar.Duration(max(0, p.Now().Sub(a.Asked)))))
}
