package view

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// drawBar draws the last row: tabs, what is special, what there is to say, and hints.
func (v *viewer) drawBar() {
	w, h := v.canvas.Size()
	_, bar := split(w, h)
	if bar.H == 0 {
		return
	}
	left, right, ground := v.barSegments()
	key := ""
	for _, s := range append(append([]segment{}, left...), right...) {
		key += s.text + "\x00"
	}
	key += fmt.Sprint(ground, v.m.Current)
	if v.bar != key {
		v.bar = key
		v.row(bar.X, bar.Y, bar.W, left, right, ground)
	}
}

// drawBarText fills the bar with one text.
func (v *viewer) drawBarText(text string, st tcell.Style) {
	w, h := v.canvas.Size()
	_, bar := split(w, h)
	if bar.H == 0 {
		bar = layout.Rect{X: 0, Y: h - 1, W: w, H: 1}
	}
	v.bar = ""
	v.canvas.Text(bar.X, bar.Y, bar.W, text, st)
	v.canvas.HideCursor()
}

// drawPrompt draws a line that is being typed into the bar.
func (v *viewer) drawPrompt(label, text string, at int, note string) {
	w, h := v.canvas.Size()
	y := h - 1
	v.bar = ""
	th := v.theme
	right := []segment{}
	if room := w - len(label) - 12; note != "" && room > 0 {
		if r := []rune(note); len(r) > room {
			note = string(r[:room-1]) + "…"
		}
		right = []segment{{" " + note + " ", th.BarDim}}
	}
	before := string([]rune(text)[:at])
	room := max(1, w-len(label)-2-segmentsWidth(right))
	for canvas.TextWidth(before) > room { // the cursor stays in sight
		_, size := utf8.DecodeRuneInString(before)
		before, text = before[size:], text[size:]
	}
	v.row(0, y, w, []segment{{" " + label, th.BarKey}, {text, th.Bar}}, right, th.Bar)
	v.canvas.ShowCursor(min(w-1, 1+len(label)+canvas.TextWidth(before)), y, tcell.CursorStyleDefault)
}

func (v *viewer) barSegments() (left, right []segment, ground tcell.Style) {
	th := v.theme
	prefix := v.prefixName()
	whole := func(text string, st tcell.Style) ([]segment, []segment, tcell.Style) {
		v.barTabs = nil
		return []segment{{text, st}}, nil, st
	}
	all := len(v.m.Shown())
	switch {
	case v.mode == modePrefix:
		left := v.hintSegments()
		v.barTabs = nil
		return left, nil, th.Bar
	case v.message != "":
		return whole(" "+v.message, th.Message)
	case v.m.Away != "" && v.o.Now().Sub(v.m.AwaySince) >= awayTime:
		return whole(" reconnecting… "+v.m.Away, th.Message)
	case !v.m.Loaded:
		return whole(" looking for sessions…", th.BarDim)
	case all == 0 && len(v.m.Tabs) == 1:
		return whole(" "+v.keys.PrefixLabel("new")+": new session  "+v.keys.PrefixLabel("quit")+": quit", th.BarDim)
	}
	left = append(v.tabSegments(), v.flagSegments()...)
	hint := " " + prefix + ": commands, then " + v.keys.PrefixLabel("help") + ": help"
	if v.o.NoHints {
		hint = ""
	}
	switch hidden := len(v.panes) < all; {
	case v.focused() != nil && v.focused().look.standsStill():
		hint = v.lookHint(v.focused().look)
	case v.m.Zoomed && all > 1:
		hint = fmt.Sprintf(" zoomed; %s shows all %d", v.chord("zoom"), all)
	case hidden:
		hint = fmt.Sprintf(" %d of %d sessions fit; %s goes on", len(v.panes), all, v.chord("next"))
	}
	if len(left) == 0 {
		left = []segment{{hint, th.BarDim}}
	} else {
		right = append(right, segment{hint + " ", th.BarDim})
	}
	return left, append(v.alertSegments(), right...), th.Bar
}

func (v *viewer) lookHint(l *look) string {
	key := v.keys.ScrollLabel
	switch {
	case !l.keys:
		return " looking back; typing or Escape: back to the present"
	case l.search != nil && l.search.Pattern != "":
		return fmt.Sprintf(" %s %s  %s %s  %s search  %s back", l.search.Pattern, l.search.Count(),
			key("scroll-match-up"), key("scroll-match-down"), key("scroll-search"), key("scroll-leave"))
	case l.sel != nil:
		return fmt.Sprintf(" %s copies  Escape ends the selection", key("scroll-copy"))
	}
	return fmt.Sprintf(" %s search  %s select  %s copy  %s %s commands  %s copy output  %s back", key("scroll-search"), key("scroll-select"),
		key("scroll-copy"), key("scroll-command-up"), key("scroll-command-down"), key("scroll-copy-output"), key("scroll-leave"))
}

// tabSpan is where a tab stands in the bar.
type tabSpan struct{ from, to, tab int }

func (v *viewer) tabSegments() []segment {
	v.barTabs = nil
	if len(v.m.Tabs) == 1 && v.m.Tabs[0].Name == "" {
		return nil
	}
	var out []segment
	at := 0
	for i, t := range v.m.Tabs {
		st := v.theme.Tab
		if i == v.m.Current {
			st = v.theme.TabActive
		}
		text := " " + canvas.Printable(v.m.Title(i)) + " "
		ids := v.m.Visible()
		if !t.Auto {
			ids = t.Tree.Sessions()
		}
		if worst := v.m.Worst(ids); worst != model.AlertNone && i != v.m.Current {
			text = " " + canvas.Printable(v.m.Title(i)) + " " + worst.Sign() + " "
			st = theme.On(st, v.theme.Wants).Bold(true)
		}
		out = append(out, segment{text, st})
		w := canvas.TextWidth(text)
		v.barTabs = append(v.barTabs, tabSpan{at, at + w, i})
		at += w
	}
	return append(out, segment{" ", v.theme.Bar})
}

func (v *viewer) flagSegments() []segment {
	var out []segment
	for _, f := range []struct {
		on   bool
		text string
	}{{v.m.Tab().Sync, " SYNC: typing goes to all panes "}, {v.m.ReadOnly, " READ-ONLY "}, {v.m.Follow, " FOLLOW "}} {
		if f.on {
			out = append(out, segment{f.text, v.theme.Alarm}, segment{" ", v.theme.Bar})
		}
	}
	return out
}

// awayTime is how long the source may be away before it is worth a word: a daemon that
// restarts is back sooner.
const awayTime = 500 * time.Millisecond

// wideBar is the width from which on the bar has room for explanations.
const wideBar = 60

// alertSegments name the session that wants attention most, and those in no tab.
func (v *viewer) alertSegments() []segment {
	var out []segment
	if id := v.m.NextAlert(); id != "" {
		s, a := v.m.Session(id), v.m.Alerts[id]
		text := fmt.Sprintf(" %s %s %s ", a.Kind.Sign(), canvas.Printable(s.Name), a.Kind.Words())
		if n := len(v.m.Alerts); n > 1 {
			text += fmt.Sprintf("+%d ", n-1)
		}
		if w, _ := v.canvas.Size(); w >= wideBar {
			text += "(" + v.chord("next-alert") + ") "
		}
		out = append(out, segment{text, theme.On(v.theme.Bar, v.theme.Wants).Bold(true)})
	}
	if n := v.m.Hidden(); n > 0 {
		out = append(out, segment{fmt.Sprintf(" +%d elsewhere (%s) ", n, v.keys.PrefixLabel("pick")), v.theme.BarDim})
	}
	return out
}

// hintSegments are what the most wanted keys do after the prefix.
func (v *viewer) hintSegments() []segment {
	var out []segment
	for _, a := range []string{"new", "split-right", "split-down", "tab-new", "pick", "zoom", "kill", "scroll", "search", "shell", "palette", "help", "quit"} {
		for i := range v.keys.Prefix {
			if r := &v.keys.Prefix[i]; string(r.Action) == a && r.Label() != "" {
				out = append(out, segment{" " + r.Label(), v.theme.BarKey}, segment{" " + r.Short + " ", v.theme.Bar})
			}
		}
	}
	return out
}

// drawEmpty tells what to do where there is nothing.
func (v *viewer) drawEmpty() {
	prefix := v.prefixName()
	lines := []string{"No session runs here.", "", v.keys.PrefixLabel("new") + "  start one", v.keys.PrefixLabel("quit") + "  quit", "", "Later: " + prefix + ", then " + v.keys.PrefixLabel("help") + " for help"}
	w, h := v.canvas.Size()
	area, _ := split(w, h)
	width := 0
	for _, l := range lines {
		width = max(width, canvas.TextWidth(l))
	}
	x, y := max(0, (area.W-width)/2), max(0, (area.H-len(lines))/2)
	for i := 0; i < len(lines) && y+i < area.H; i++ {
		v.canvas.Text(x, y+i, min(width, area.W), lines[i], canvas.Plain)
	}
}

// minBarHeight is the height from which on the last row is kept for the bar.
const minBarHeight = 4

// split divides the terminal: panes above, the bar below. A bar without height is not
// shown.
func split(w, h int) (panes, bar layout.Rect) {
	if h < minBarHeight {
		return layout.Rect{X: 0, Y: 0, W: w, H: h}, layout.Rect{X: 0, Y: h, W: w, H: 0}
	}
	return layout.Rect{X: 0, Y: 0, W: w, H: h - 1}, layout.Rect{X: 0, Y: h - 1, W: w, H: 1}
}
