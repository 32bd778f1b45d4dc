package statusbar

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// Bar draws the status bar, the terminal's last row: tabs, flags, alerts and hints. The zero value is ready.
type Bar struct {
	drawn string // content as last drawn
	tabs  []tabSpan
}

// tabSpan is the range of columns that a tab covers.
type tabSpan struct{ from, to, tab int }

// State holds the content of the bar.
type State struct {
	Model    *model.Model
	Keys     *keymap.Map
	Message  string       // shown in place of everything else
	Prefix   bool         // the prefix was pressed: the bar shows the keys that may follow
	Mode     *keymap.Mode // the active mode, or nil
	Locked   bool         // all keys go to the session
	Panes    int          // number of panes on the screen
	CopyMode string       // hints for copy mode; empty if the focused pane is not in copy mode
	NoHints  bool
	Now      time.Time
}

// Forget makes the next Draw draw the bar in any case.
func (b *Bar) Forget() { b.drawn = "" }

// Tab returns the tab at a column.
func (b *Bar) Tab(x int) (tab int, ok bool) {
	for _, t := range b.tabs {
		if x >= t.from && x < t.to {
			return t.tab, true
		}
	}
	return 0, false
}

// Draw draws the bar if its content changed.
func (b *Bar) Draw(c *canvas.Canvas, th *theme.Theme, s *State) {
	w, h := c.Size()
	_, bar := Split(w, h)
	if bar.H == 0 {
		return
	}
	left, right, background := b.segments(th, s, w)
	key := ""
	for _, seg := range append(append([]segment{}, left...), right...) {
		key += seg.text + "\x00"
	}
	key += fmt.Sprint(background, s.Model.Current)
	if b.drawn != key {
		b.drawn = key
		row(c, bar.X, bar.Y, bar.W, left, right, background)
	}
}

// DrawText fills the bar with one text.
func (b *Bar) DrawText(c *canvas.Canvas, text string, st tcell.Style) {
	w, h := c.Size()
	_, bar := Split(w, h)
	if bar.H == 0 {
		bar = layout.Rect{X: 0, Y: h - 1, W: w, H: 1}
	}
	b.drawn = ""
	c.Text(bar.X, bar.Y, bar.W, text, st)
	c.HideCursor()
}

// Line is a line being typed in the bar.
type Line struct {
	Label, Text string
	At          int    // the cursor, in runes
	Note        string // text after the line
}

// DrawLine draws a line being typed, with its cursor visible.
func (b *Bar) DrawLine(c *canvas.Canvas, th *theme.Theme, l Line) {
	w, h := c.Size()
	y := h - 1
	b.drawn = ""
	right := []segment{}
	if room := w - len(l.Label) - 12; l.Note != "" && room > 0 {
		if r := []rune(l.Note); len(r) > room {
			l.Note = string(r[:room-1]) + "…"
		}
		right = []segment{{" " + l.Note + " ", th.BarDim}}
	}
	before := string([]rune(l.Text)[:l.At])
	room := max(1, w-len(l.Label)-2-segmentsWidth(right))
	hidden := canvas.OverflowBytes(before, room)
	before, l.Text = before[hidden:], l.Text[hidden:]
	row(c, 0, y, w, []segment{{" " + l.Label, th.BarKey}, {l.Text, th.Bar}}, right, th.Bar)
	c.ShowCursor(min(w-1, 1+len(l.Label)+canvas.TextWidth(before)), y, tcell.CursorStyleDefault)
}

func (b *Bar) segments(th *theme.Theme, s *State, width int) (left, right []segment, background tcell.Style) {
	b.tabs = nil
	whole := func(text string, st tcell.Style) ([]segment, []segment, tcell.Style) {
		return []segment{{text, st}}, nil, st
	}
	all := len(s.Model.ShownPanes())
	switch {
	case s.Prefix:
		return hintSegments(th, s.Keys, width), nil, th.Bar
	case s.Mode != nil && s.Message == "":
		return modeSegments(th, s.Mode, width), nil, th.Bar
	case s.Message != "":
		return whole(" "+Cut(s.Message, width-1), th.Message)
	case s.Model.Unavailable != "" && s.Now.Sub(s.Model.UnavailableSince) >= UnreachableTime:
		return whole(" reconnecting… "+s.Model.Unavailable, th.Message)
	case !s.Model.Loaded:
		return whole(" loading sessions…", th.BarDim)
	case all == 0 && len(s.Model.Tabs) == 1:
		left, _, _ = whole(" "+s.Keys.PrefixLabel("new")+": new session  "+s.Keys.PrefixLabel("quit")+": quit", th.BarDim)
		return left, append(approvalSegments(th, s, width), unreachableSegments(th, s, width)...), th.Bar
	}
	flags, tabs := flagSegments(th, s), newTabList(th, s.Model)
	right = append(approvalSegments(th, s, width), unreachableSegments(th, s, width)...)
	room := width - segmentsWidth(flags) - segmentsWidth(right)
	summary := summarySegments(th, s, width)
	if width >= summaryFrom {
		room -= segmentsWidth(summary)
	}
	alert := alertSegments(th, s, width, room-tabs.desiredWidth(width, len(flags) > 0))
	if width < summaryFrom && segmentsWidth(summary) > room-tabs.minWidth(width)-segmentsWidth(alert) {
		summary = nil
	}
	room = width - segmentsWidth(flags) - segmentsWidth(right) - segmentsWidth(alert) - segmentsWidth(summary)
	right = slices.Concat(right, alert, overflowSegments(th, s, room-tabs.width(), room-tabs.minWidth(width)-min(len(tabs.all), 1)), summary)
	room = width - segmentsWidth(flags) - segmentsWidth(right)
	if left = flags; room >= tabs.minWidth(width) || len(flags) == 0 { // where keys go is not cut for what happened elsewhere
		left = append(b.tabSegments(th, &tabs, room), flags...)
	}
	room = width - segmentsWidth(left) - segmentsWidth(right)
	for _, hint := range s.hints(all) {
		if hint = wholeGroups(hint, room-1); hint == "" {
			continue
		}
		if len(left) == 0 {
			left = []segment{{hint, th.BarDim}}
		} else {
			right = append(right, segment{hint + " ", th.BarDim})
		}
		break
	}
	return left, right, th.Bar
}

// hints returns key hints, longest first.
func (s *State) hints(all int) []string {
	goesOn := s.Keys.Chord("next")
	floats := s.Model.HiddenFloats() // which have room, and were hidden
	switch hidden := s.Panes < all-floats; {
	case s.CopyMode != "":
		return []string{s.CopyMode}
	case s.Model.Zoomed && all > 1:
		return []string{fmt.Sprintf(" zoomed; %s shows all %d", s.Keys.Chord("zoom"), all), " zoomed"}
	case hidden:
		return []string{fmt.Sprintf(" %d of %d sessions fit; %s shows the next", s.Panes, all, goesOn), fmt.Sprintf(" %d of %d sessions fit", s.Panes, all), fmt.Sprintf(" %d of %d sessions", s.Panes, all)}
	case s.NoHints || s.Locked:
		return nil
	case floats > 0:
		text := " " + Count(floats, "floating pane") + " hidden"
		return []string{text + "; " + s.Keys.Chord("floats") + " shows " + map[bool]string{true: "it", false: "them"}[floats == 1], text}
	}
	help := s.Keys.PrefixLabel("help")
	return []string{
		" " + s.Keys.PrefixName + ": commands, then " + help + ": help", " " + s.Keys.PrefixName + " " + help + ": help",
		" " + s.Keys.PrefixName + " " + help,
	}
}

// wholeGroups returns the leading groups of a text, divided by two blanks, that fit in w columns.
func wholeGroups(text string, w int) string {
	out := ""
	for g := range strings.SplitSeq(text, "  ") {
		next := g
		if out != "" {
			next = out + "  " + g
		}
		if canvas.TextWidth(next) > w {
			break
		}
		out = next
	}
	return out
}

// summarySegments counts the sessions by state. A narrow bar counts only those that need attention.
func summarySegments(th *theme.Theme, s *State, width int) []segment {
	run, asks, failed := 0, 0, 0
	for i := range s.Model.Sessions {
		x := &s.Model.Sessions[i]
		if x.PlaybackOf != "" { // it shows the output of another session
			continue
		}
		switch x.Attention() {
		case model.AttentionNeeds:
			if x.Needs != model.NeedsApproval || len(s.Model.Approvals) == 0 { // approvals have their own count
				asks++
			}
		case model.AttentionFailed:
			if s.Model.Attention(x) == model.AttentionFailed {
				failed++
			}
		case model.AttentionRuns:
			run++
		}
	}
	if width < summaryFrom {
		run = 0
	}
	if len(s.Model.Sessions) < 2 || run+asks+failed == 0 {
		return nil
	}
	var out []segment
	for _, c := range []struct {
		n    int
		text string
		look tcell.Style
	}{{run, "run", th.On(th.Bar, th.Busy)}, {asks, "asks", th.On(th.Bar, th.Wants).Bold(true)}, {failed, "failed", th.On(th.Bar, th.Bad).Bold(true)}} {
		if c.n > 0 {
			out = append(out, segment{fmt.Sprintf("  %d %s", c.n, c.text), c.look})
		}
	}
	return append(out, segment{"  ", th.Bar})
}

// summaryFrom is the smallest width for counts of running sessions.
const summaryFrom = 100

// approvalSegments shows the number of pending approvals.
func approvalSegments(th *theme.Theme, s *State, width int) []segment {
	n := len(s.Model.Approvals)
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf(" ! %d ", n)
	if width >= wideBar {
		text = fmt.Sprintf(" ! %d to approve (%s) ", n, s.Keys.Chord("approvals"))
	}
	return []segment{{text, th.Alarm}}
}

// unreachableSegments returns the name of the unreachable host, for how long and why, or the number of several ones.
func unreachableSegments(th *theme.Theme, s *State, width int) []segment {
	cut := s.Model.Unreachable
	if len(cut) == 0 {
		return nil
	}
	text := fmt.Sprintf(" %d hosts cut off ", len(cut))
	if len(cut) == 1 {
		c := &cut[0]
		host := cmp.Or(c.Host, "this host")
		text = fmt.Sprintf(" %s cut off %s ", Cut(host, max(8, width/4)), Duration(max(0, s.Now.Sub(c.Since))))
		if room := width/2 - canvas.TextWidth(text); room > 16 && c.Why != "" {
			text += Cut("("+canvas.Printable(c.Why)+")", room-1) + " "
		}
	}
	return []segment{{text, th.On(th.Bar, th.Bad).Bold(true)}}
}

// tabList holds the tabs in the bar. It is empty if the only tab has no name.
type tabList struct {
	all     []segment
	widths  []int
	current int
}

func newTabList(th *theme.Theme, m *model.Model) (l tabList) {
	if len(m.Tabs) == 1 && m.Tabs[0].Name == "" {
		return l
	}
	l.current = m.Current
	for i, t := range m.Tabs {
		st := th.Tab
		if i == m.Current {
			st = th.TabActive
		}
		text := fmt.Sprintf(" %d %s ", i+1, Cut(m.Title(i), tabWidth))
		if worst := m.Worst(m.SessionsOf(t)); worst != model.AlertNone && i != m.Current {
			text += worst.Sign() + " "
			st = th.On(st, AlertColor(th, worst)).Bold(true)
		}
		l.all = append(l.all, segment{text, st})
		l.widths = append(l.widths, canvas.TextWidth(text))
	}
	return l
}

// width returns the width of all tabs with the blank after them.
func (l *tabList) width() (w int) {
	if len(l.all) > 0 {
		w = 1
	}
	for _, n := range l.widths {
		w += n
	}
	return w
}

// minWidth returns the width of the current tab with its overflow marks, at most half of the bar.
func (l *tabList) minWidth(bar int) int {
	if len(l.all) == 0 {
		return 0
	}
	return min(l.width(), l.widths[l.current]+3, bar/2)
}

// desiredWidth returns the width that alerts leave to the tabs: half of the bar, or all of it if whole is set.
func (l *tabList) desiredWidth(bar int, whole bool) int {
	if whole {
		return l.width()
	}
	return min(l.width(), max(l.minWidth(bar), bar/2))
}

// visibleTabs returns the range of tabs that fit in room columns. It includes the current tab.
func (l *tabList) visibleTabs(room int) (from, to int) {
	if l.width() <= room+1 {
		return 0, len(l.all)
	}
	from, to = l.current, l.current+1
	used := l.widths[l.current]
	fits := func(i, signs int) bool { return used+l.widths[i]+signs <= room }
	sign := func(there bool) int {
		if there {
			return 1
		}
		return 0
	}
	for from > 0 && fits(from-1, sign(from > 1)+sign(to < len(l.all))) {
		from--
		used += l.widths[from]
	}
	for to < len(l.all) && fits(to, sign(from > 0)+sign(to < len(l.all)-1)) {
		used += l.widths[to]
		to++
	}
	return from, to
}

// tabSegments shows as many tabs around the current one as fit. Marks show that more follow on either side.
func (b *Bar) tabSegments(th *theme.Theme, l *tabList, room int) []segment {
	if len(l.all) == 0 {
		return nil
	}
	var out []segment
	from, to := l.visibleTabs(room)
	at := 0
	if from > 0 {
		out, at = append(out, segment{"…", th.BarDim}), 1
	}
	for i := from; i < to; i++ {
		out = append(out, l.all[i])
		b.tabs = append(b.tabs, tabSpan{at, at + l.widths[i], i})
		at += l.widths[i]
	}
	if to < len(l.all) {
		out, at = append(out, segment{"…", th.BarDim}), at+1
	}
	if at < room {
		out = append(out, segment{" ", th.Bar})
	}
	return out
}

// tabWidth is the longest displayed name of a tab.
const tabWidth = 24

// flagSegments shows the unusual states.
func flagSegments(th *theme.Theme, s *State) []segment {
	var out []segment
	m, locked := s.Model, ""
	if s.Locked {
		locked = " LOCKED: " + s.Keys.Mode(keymap.Locked).Label() + " unlocks "
	}
	for _, f := range []struct {
		on   bool
		text string
	}{{m.Tab().Sync, " SYNC: typing goes to all panes "}, {m.ReadOnly, " READ-ONLY "}, {m.Follow, " FOLLOW "}, {s.Locked, locked}} {
		if f.on {
			out = append(out, segment{f.text, th.Alarm}, segment{" ", th.Bar})
		}
	}
	return out
}

// UnreachableTime is how long the source may be unreachable before the bar shows it: a daemon restart takes less.
const UnreachableTime = 500 * time.Millisecond

// wideBar is the smallest width for explanations.
const wideBar = 60

// alertSegments names the session that needs attention most, in room columns if possible.
func alertSegments(th *theme.Theme, s *State, width, room int) []segment {
	var out []segment
	counted := model.AlertNone
	if len(s.Model.Approvals) > 0 { // they have their own count
		counted = model.AlertApproval
	}
	if id, n := s.Model.NextAlertBut(counted); id != "" {
		a := s.Model.Alerts[id]
		name, more := alertName(s.Model.Session(id), &a, width), ""
		if n > 1 {
			more = fmt.Sprintf("+%d ", n-1)
		}
		text := fmt.Sprintf(" %s %s %s %s", a.Kind.Sign(), Cut(name, max(8, width/3)), a.Kind.Words(), more)
		short := fmt.Sprintf(" %s %s %s", a.Kind.Sign(), Cut(s.Model.Session(id).Name, 8), more)
		switch key := "(" + s.Keys.Chord("next-alert") + ") "; {
		case width >= wideBar && canvas.TextWidth(text+key) <= room:
			text += key
		case canvas.TextWidth(text) <= room:
		default:
			text = short
		}
		out = append(out, segment{text, th.On(th.Bar, AlertColor(th, a.Kind)).Bold(true)})
	}
	return out
}

// overflowSegments count the sessions in no tab: in words if they fit in room, else as a number if that fits in
// numberRoom.
func overflowSegments(th *theme.Theme, s *State, room, numberRoom int) []segment {
	n := s.Model.Hidden()
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf(" +%d elsewhere (%s) ", n, s.Keys.PrefixLabel("pick"))
	if canvas.TextWidth(text) > room {
		text = fmt.Sprintf(" +%d ", n)
		room = numberRoom
	}
	if canvas.TextWidth(text)-1 > room { // the tabs come first; the blank at the end may be cut
		return nil
	}
	return []segment{{text, th.BarDim}}
}

// alertName returns the session of an alert, with the command that it concerns.
func alertName(s *model.Session, a *model.Alert, width int) string {
	if a.Command == "" || width < wideBar {
		return s.Name
	}
	return s.Name + ": " + a.Command
}

// hintSegments shows the most useful keys after the prefix.
func hintSegments(th *theme.Theme, keys *keymap.Map, width int) []segment {
	var out []segment
	for _, a := range []string{"new", "split-right", "split-down", "tab-new", "pick", "zoom", "kill", "scroll", "search", "shell", "palette", "help", "quit"} {
		for i := range keys.Prefix {
			r := &keys.Prefix[i]
			if string(r.Action) != a || r.Label() == "" {
				continue
			}
			if width -= canvas.TextWidth(r.Label()+r.Short) + 3; width >= 0 {
				out = append(out, segment{" " + r.Label(), th.BarKey}, segment{" " + r.Short + " ", th.Bar})
			}
		}
	}
	return out
}

// modeSegments shows the active mode and as many of its keys as fit.
func modeSegments(th *theme.Theme, m *keymap.Mode, width int) []segment {
	out := []segment{{" " + m.Name + " ", th.Alarm}}
	width -= canvas.TextWidth(m.Name) + 2
	for _, r := range m.Rows() {
		if r.Short == "" {
			continue
		}
		if width -= canvas.TextWidth(r.Label()+r.Short) + 3; width < 0 {
			break
		}
		out = append(out, segment{" " + r.Label(), th.BarKey}, segment{" " + r.Short + " ", th.Bar})
	}
	return out
}

// DrawEmpty shows how to start when the view is empty.
func DrawEmpty(c *canvas.Canvas, keys *keymap.Map) {
	lines := []string{"No running sessions.", "", keys.PrefixLabel("new") + "  start one", keys.PrefixLabel("quit") + "  quit", "", "Later: " + keys.PrefixName + ", then " + keys.PrefixLabel("help") + " for help"}
	w, h := c.Size()
	area, _ := Split(w, h)
	width := 0
	for _, l := range lines {
		width = max(width, canvas.TextWidth(l))
	}
	x, y := max(0, (area.W-width)/2), max(0, (area.H-len(lines))/2)
	for i := 0; i < len(lines) && y+i < area.H; i++ {
		c.Text(x, y+i, min(width, area.W), lines[i], canvas.Plain)
	}
}

// minBarHeight is the smallest terminal height for a bar.
const minBarHeight = 4

// Split divides the terminal: panes above, the bar below. A bar without height is not
// shown.
func Split(w, h int) (panes, bar layout.Rect) {
	if h < minBarHeight {
		return layout.Rect{X: 0, Y: 0, W: w, H: h}, layout.Rect{X: 0, Y: h, W: w, H: 0}
	}
	return layout.Rect{X: 0, Y: 0, W: w, H: h - 1}, layout.Rect{X: 0, Y: h - 1, W: w, H: 1}
}
