package overlays

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Help lists the keys in as many columns as fit the terminal. Typed text is searched; arrows scroll.
type Help struct {
	top   int
	lines int
	area  layout.Rect
	line  line
}

// helpLine is a key with its action, or a heading. names are searched but not shown. A continuation line has neither
// key nor heading.
type helpLine struct{ key, text, heading, names string }

// helpGroup is a heading with its lines.
type helpGroup struct {
	name  string
	lines []helpLine
}

func helpGroups(keys *keymap.Map) []helpGroup {
	var groups []helpGroup
	add := func(group, key, text, names string) {
		if n := len(groups); n == 0 || groups[n-1].name != group {
			groups = append(groups, helpGroup{name: group})
		}
		g := &groups[len(groups)-1]
		g.lines = append(g.lines, helpLine{key: key, text: text, names: names})
	}
	for i := range keys.Prefix {
		r := &keys.Prefix[i]
		if len(r.Chords) == 0 {
			continue // without a key, or in a mode only
		}
		add(r.Group, r.Labels(), r.Help, r.Name()+" "+r.Short)
	}
	for i := range keys.Modes {
		m := &keys.Modes[i]
		group := "Without " + keys.PrefixName
		if m.Key != "" {
			group = m.Label() + ", then (" + m.Name + ")"
		}
		for _, r := range m.Rows() {
			add(group, r.Labels(), r.Help, r.Name()+" "+r.Short)
		}
		if l := keys.Mode(keymap.Locked); l != nil && m.Name == keymap.Direct {
			add(group, l.Label(), "send all keys to the session until pressed again", "lock "+l.Name)
		}
	}
	for i := range keys.Scroll {
		r := &keys.Scroll[i]
		add("In copy mode, without "+keys.PrefixName, r.Labels(), r.Help, r.Name()+" "+r.Short)
	}
	add("Mouse", "click", "focus a pane, select a tab", "")
	add("Mouse", "drag", "select and copy; Alt: a rectangle; a border: move it", "")
	add("Mouse", "2 or 3 clicks", "select and copy a word, a row", "")
	add("Mouse", "wheel", "copy mode, or scroll the program", "")
	add("The prefix", keys.PrefixName+" twice", "sends "+keys.PrefixName+" to the session", "")
	return groups
}

// findLines returns the groups with the lines that match all words.
func findLines(groups []helpGroup, words []string) []helpGroup {
	var out []helpGroup
	for _, g := range groups {
		var kept []helpLine
		for _, l := range g.lines {
			text := strings.ToLower(g.name + " " + l.key + " " + l.text + " " + l.names)
			fits := true
			for _, w := range words {
				fits = fits && strings.Contains(text, strings.ToLower(w))
			}
			if fits {
				kept = append(kept, l)
			}
		}
		if len(kept) > 0 {
			out = append(out, helpGroup{g.name, kept})
		}
	}
	return out
}

// Sizes of the help, in cells.
const (
	helpKeyWidth = 19
	helpColumn   = 76 // a column wide enough for each entry to fit one line
	helpRoom     = 24 // the smallest width of a text beside its key; with less, it is below the key
)

// helpLines returns the lines of a column.
func helpLines(groups []helpGroup, width int) []helpLine {
	var out []helpLine
	for i, g := range groups {
		if i > 0 {
			out = append(out, helpLine{})
		}
		out = append(out, helpLine{heading: g.name})
		for _, l := range g.lines {
			room := width - helpKeyWidth - 2
			if room < helpRoom {
				out = append(out, helpLine{key: l.key})
				l.key, room = "", width-3
			}
			for n, t := range wrapWords(l.text, room) {
				if n > 0 {
					l.key = ""
				}
				out = append(out, helpLine{key: l.key, text: t})
			}
		}
	}
	return out
}

// wrapWords wraps a text into rows between words.
func wrapWords(text string, w int) (rows []string) {
	row := ""
	for _, word := range strings.Fields(text) {
		switch {
		case row == "":
			row = word
		case canvas.TextWidth(row)+1+canvas.TextWidth(word) <= w:
			row += " " + word
		default:
			rows, row = append(rows, row), word
		}
	}
	return append(rows, row)
}

// helpColumns divides lines among columns of one height; a heading is not left alone at the end of one.
func helpColumns(lines []helpLine, n int) [][]helpLine {
	height := (len(lines) + n - 1) / n
	for ; ; height++ {
		var out [][]helpLine
		left := lines
		for len(left) > 0 {
			take := min(height, len(left))
			for take > 1 && take < len(left) && left[take-1].heading != "" {
				take--
			}
			column := left[:take]
			left = left[take:]
			if len(column) > 0 && column[0] == (helpLine{}) {
				column = column[1:]
			}
			out = append(out, column)
		}
		if len(out) <= n {
			return out
		}
	}
}

// Draw draws the part that fits.
func (h *Help) Draw(s *Screen) {
	cols, rows := s.Canvas.Size()
	n := max(1, min(3, (cols-2)/helpColumn))
	width := min(helpColumn, cols-2)
	if cols < framedFrom {
		width = cols
	}
	groups := findLines(helpGroups(s.Keys), strings.Fields(h.line.String()))
	columns := helpColumns(helpLines(groups, width), n)
	all := helpColumns(helpLines(helpGroups(s.Keys), width), n)
	h.lines = 0
	for _, c := range columns {
		h.lines = max(h.lines, len(c))
	}
	tall := 0
	for _, c := range all { // the size does not depend on the search
		tall = max(tall, len(c))
	}
	box := s.box(width*n, min(tall+2, rows), "Keys: after "+s.Keys.PrefixName)
	h.area = layout.Rect{X: box.X, Y: box.Y + 1, W: box.W, H: max(0, box.H-1)}
	h.top = max(0, min(h.top, h.lines-h.area.H))
	h.drawQuery(s, layout.Rect{X: box.X, Y: box.Y, W: box.W, H: 1})
	for i, column := range columns {
		at := layout.Rect{X: h.area.X + i*width, Y: h.area.Y, W: min(width, h.area.W-i*width), H: h.area.H}
		for y := range at.H {
			if h.top+y < len(column) {
				drawHelpLine(s, layout.Rect{X: at.X, Y: at.Y + y, W: at.W, H: 1}, column[h.top+y])
			}
		}
	}
	if len(columns) == 0 && h.area.H > 0 {
		s.Canvas.Text(h.area.X+1, h.area.Y, h.area.W-1, cut("No matching key.", h.area.W-1), s.Theme.PanelDim)
	}
}

func (h *Help) drawQuery(s *Screen, at layout.Rect) {
	th := s.Theme
	more := ""
	if n := h.lines - h.area.H; n > 0 {
		more = fmt.Sprintf(" %d%% ", (h.top*100+n/2)/n)
	}
	s.Canvas.Text(at.X, at.Y, at.W-len(more), cut(" › "+h.line.String(), at.W-len(more)), th.PanelKey)
	if len(h.line.text) == 0 {
		room := at.W - 3 - len(more)
		s.Canvas.Text(at.X+3, at.Y, room, firstThatFits(room, "type to find  ↑↓ PageUp PageDown scroll  Esc closes", "type to find  Esc closes", "type to find"), th.PanelDim)
	}
	s.Canvas.Text(at.X+at.W-len(more), at.Y, len(more), more, th.PanelDim)
	s.Canvas.ShowCursor(min(at.X+3+canvas.TextWidth(string(h.line.text[:h.line.at])), at.X+at.W-1), at.Y, tcell.CursorStyleDefault)
}

func drawHelpLine(s *Screen, at layout.Rect, l helpLine) {
	th := s.Theme
	switch {
	case l.heading != "":
		s.Canvas.Text(at.X+1, at.Y, at.W-1, cut(l.heading, at.W-1), th.PanelDim.Bold(true))
		return
	case at.W-helpKeyWidth-2 < helpRoom && l.key != "":
		s.Canvas.Text(at.X+1, at.Y, at.W-1, cut(l.key, at.W-1), th.PanelKey)
	case at.W-helpKeyWidth-2 < helpRoom:
		s.Canvas.Text(at.X+3, at.Y, at.W-3, cut(l.text, at.W-3), th.Panel)
	default:
		s.Canvas.Text(at.X+2, at.Y, helpKeyWidth, cut(l.key, helpKeyWidth-1), th.PanelKey)
		s.Canvas.Text(at.X+2+helpKeyWidth, at.Y, at.W-2-helpKeyWidth, cut(l.text, at.W-2-helpKeyWidth), th.Panel)
	}
}

// Key scrolls, closes, or edits the search text.
func (h *Help) Key(k input.Key) Result {
	switch ctrl := k.Mods&input.Ctrl != 0; {
	case k.Code == input.KeyEscape || k.Code == input.KeyEnter || ctrl && (k.Code == 'c' || k.Code == 'g'):
		return closed
	case k.Code == input.KeyUp:
		h.top--
	case k.Code == input.KeyDown:
		h.top++
	case k.Code == input.KeyPageUp:
		h.top -= h.area.H
	case k.Code == input.KeyPageDown:
		h.top += h.area.H
	case k.Code == input.KeyHome:
		h.top = 0
	case k.Code == input.KeyEnd:
		h.top = h.lines
	case h.line.edit(k):
		h.top = 0
	}
	return Result{}
}

// Paste adds to the search text.
func (h *Help) Paste(text string) Result {
	h.line.insert(text)
	h.top = 0
	return Result{}
}

// Mouse scrolls or closes.
func (h *Help) Mouse(e *tcell.EventMouse, held tcell.ButtonMask) Result {
	switch b := e.Buttons(); {
	case b&tcell.WheelUp != 0:
		h.top -= 3
	case b&tcell.WheelDown != 0:
		h.top += 3
	case b&tcell.ButtonPrimary != 0 && held == 0:
		return closed
	}
	return Result{}
}
