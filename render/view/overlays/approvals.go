package overlays

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/bars"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Reply is what a person answers to an approval.
type Reply struct {
	Answer   string // once, session, always, reject
	Feedback string // of a rejection, for who asked
	Rule     string // of always: what is written
}

// replies are the rows to choose from, by keys 1 to 4.
var replies = [...]struct{ answer, label, brief string }{
	{"once", "yes, once", "once"}, {"session", "yes, for this session", "session"},
	{"always", "yes, always", "always"}, {"reject", "no, and say why", "no"},
}

const (
	replyAlways = 2
	replyReject = 3
)

// Approvals is the panel in which a person answers what waits for an approval. One is shown at a time, with
// all that it would do; the others are a key away. It allows only what was on the screen when the key came:
// one that ended elsewhere stays, with how it ended, until a key acknowledges it.
type Approvals struct {
	Items  func() []model.Approval // that wait, the oldest first; asked for before every drawing and key
	Ending func(id string) string  // how one ended that does not wait any more
	Answer func(ids []string, r Reply)
	Home   string
	Now    func() time.Time

	all     []model.Approval // those of a group beside each other
	at      int              // the one that is shown, while it waits
	shown   model.Approval
	drawn   string   // id of the one that the person has seen
	offered []string // those of its group that were counted then
	gone    bool     // the one shown waits no more
	whole   bool     // the answer is for all of its group
	choice  int
	first   int   // row of the text shown first
	more    int   // rows of the text below what is shown
	page    int   // rows of the text that are shown
	line    *line // a rule or a reason that is typed
	area    panelArea
}

// panelArea is where the rows to choose from were last drawn.
type panelArea struct{ x, y, w, h int }

// refresh takes what waits now.
func (p *Approvals) refresh() {
	p.all = byGroup(p.Items())
	if p.shown.ID == "" {
		p.show(0)
		return
	}
	at := slices.IndexFunc(p.all, func(a model.Approval) bool { return a.ID == p.shown.ID })
	if at < 0 {
		p.gone, p.line, p.whole = true, nil, false
		return
	}
	p.at, p.shown, p.gone = at, p.all[at], false
}

// byGroup puts approvals of one group beside each other, the group of the oldest first.
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

// show goes to one of those that wait.
func (p *Approvals) show(at int) {
	p.shown, p.gone, p.whole, p.line = model.Approval{}, false, false, nil
	p.choice, p.first, p.drawn = 0, 0, ""
	if len(p.all) > 0 {
		p.at = min(max(at, 0), len(p.all)-1)
		p.shown = p.all[p.at]
	}
}

// alike are the ids that an answer is for: none that came after the person saw how many there are.
func (p *Approvals) alike() []string {
	if !p.whole {
		return []string{p.shown.ID}
	}
	return slices.DeleteFunc(slices.Clone(p.offered), func(id string) bool {
		return !slices.ContainsFunc(p.all, func(a model.Approval) bool { return a.ID == id })
	})
}

// grouped is how many of the shown one's group wait.
func (p *Approvals) grouped() (n int) {
	for i := range p.all {
		if p.all[i].Group == p.shown.Group {
			n++
		}
	}
	return n
}

// Key answers, or goes to another one. Escape leaves all of them waiting.
func (p *Approvals) Key(k input.Key) Result {
	p.refresh()
	ctrl := k.Mods&input.Ctrl != 0
	leaves := k.Code == input.KeyEscape || ctrl && (k.Code == 'c' || k.Code == 'g')
	switch {
	case p.line != nil:
		return p.lineKey(k, leaves)
	case leaves || p.shown.ID == "":
		return closed
	case p.gone && len(p.all) == 0:
		return closed
	case p.gone:
		p.show(p.at)
		return Result{}
	case p.drawn != p.shown.ID:
		return Result{} // it was not seen yet: the key was meant for another one
	}
	return p.shownKey(k)
}

// shownKey takes a key for the approval on the screen.
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
		p.show((p.at + len(p.all) - 1) % len(p.all))
	case k.Code == input.KeyRight:
		p.show((p.at + 1) % len(p.all))
	case k.Code == input.KeyTab:
		p.nextGroup(back)
	case k.Code == input.KeyPageDown:
		p.first += min(p.more, max(1, p.page))
	case k.Code == input.KeyPageUp:
		p.first = max(0, p.first-max(1, p.page))
	case k.Text == "a":
		p.whole = !p.whole && p.grouped() > 1
	}
	return Result{}
}

// nextGroup goes to the first one of the group after, or before.
func (p *Approvals) nextGroup(back bool) {
	step := 1
	if back {
		step = len(p.all) - 1
	}
	at := p.at
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

// pick takes an answer. A rule is shown and can be edited before it is written, and a reason may be given.
func (p *Approvals) pick(at int) Result {
	p.choice = at
	switch {
	case p.cannot(at) != "":
		return Result{}
	case at == replyAlways:
		rule := []rune(p.shown.Rule)
		p.line = &line{rule, len(rule)}
		return Result{}
	case at == replyReject:
		p.line = &line{}
		return Result{}
	}
	return p.answer(Reply{Answer: replies[at].answer})
}

// cannot says why an answer cannot be given; empty: it can.
func (p *Approvals) cannot(at int) string {
	switch {
	case at == 1 && p.shown.Session == "":
		return "there is no session"
	case at == replyAlways && p.shown.NoRule != "":
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

// answer hands an answer on, and goes to the next one.
func (p *Approvals) answer(r Reply) Result {
	ids := p.alike()
	p.all = slices.DeleteFunc(p.all, func(a model.Approval) bool { return slices.Contains(ids, a.ID) })
	at := p.at
	if p.whole {
		at = 0
	}
	if at >= len(p.all) {
		at = 0
	}
	p.show(at)
	return Result{Close: len(p.all) == 0, Do: func() { p.Answer(ids, r) }}
}

// Paste goes into a rule or a reason; nothing is answered by it.
func (p *Approvals) Paste(text string) Result {
	if p.line != nil {
		p.line.insert(text)
	}
	return Result{}
}

// Mouse takes the answer that is clicked; the wheel scrolls the text.
func (p *Approvals) Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result {
	p.refresh()
	x, y := e.Position()
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		p.first = max(0, p.first-1)
	case b&tcell.WheelDown != 0:
		p.first += min(p.more, 1)
	case b&tcell.ButtonPrimary == 0 || held != 0 || p.line != nil || p.gone || p.drawn != p.shown.ID:
	case p.area.h == len(replies) && x >= p.area.x && x < p.area.x+p.area.w && y >= p.area.y && y < p.area.y+p.area.h:
		return p.pick(y - p.area.y)
	}
	return Result{}
}

// Empty reports that nothing waits, and nothing is to be told.
func (p *Approvals) Empty() bool {
	p.refresh()
	return len(p.all) == 0 && !p.gone
}

// about is all that is told of the approval that is shown.
func (p *Approvals) about() (rows []string) {
	a := &p.shown
	rows = append(rows, a.What)
	if len(a.Commands) > 1 || len(a.Commands) == 1 && a.Commands[0].Text != a.What {
		rows = append(rows, "", "it would run:")
		for _, c := range a.Commands {
			rows = append(rows, map[string]string{"ask": "? ", "deny": "✗ "}[c.Verdict]+c.Text)
		}
	}
	rows = append(rows, "")
	if a.Why != "" {
		rows = append(rows, "why: "+a.Why)
	}
	if a.Instead != "" {
		rows = append(rows, "instead: "+a.Instead)
	}
	if a.Started != "" {
		rows = append(rows, "started by: "+a.Started)
	}
	in := "in " + bars.ShortPath(a.Cwd, p.Home, 1<<10)
	if a.Cwd == "" {
		in = ""
	}
	if a.Name != "" {
		in = strings.TrimSpace(in + "  session " + a.Name)
	}
	if in != "" {
		rows = append(rows, in)
	}
	return append(rows, fmt.Sprintf("asked by %s %s ago", a.Who, bars.Duration(max(0, p.Now().Sub(a.Asked)))))
}
