package overlays

import (
	"fmt"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// Sizes of the panel of hints, in columns.
const (
	hintKeyWidth = 8
	hintWidth    = 23
)

// hintCell is a line of the panel: a group's name, a key, or a blank line between groups.
type hintCell struct {
	group string
	row   *keymap.Row
}

func hintCells(rows []keymap.Row) []hintCell {
	var out []hintCell
	group := ""
	for i := range rows {
		r := &rows[i]
		if r.Short == "" || r.Label() == "" {
			continue
		}
		if r.Group != group {
			group = r.Group
			out = append(out, hintCell{group: group})
		}
		out = append(out, hintCell{row: r})
	}
	return out
}

// hintColumns breaks the cells into columns of at most lines rows. A group's heading never ends a column.
func hintColumns(cells []hintCell, lines int) [][]hintCell {
	var out [][]hintCell
	var column []hintCell
	for i, c := range cells {
		last := len(column) == lines-1
		if len(column) == lines || last && c.row == nil && lines > 1 && i < len(cells)-1 {
			out, column = append(out, column), nil
		}
		column = append(column, c)
	}
	return append(out, column)
}

// wholeColumns puts the groups into columns of at most lines rows, each group in one column. It returns false if a
// group is longer.
func wholeColumns(cells []hintCell, lines int) (out [][]hintCell, fits bool) {
	for len(cells) > 0 {
		n := 1
		for n < len(cells) && cells[n].row != nil {
			n++
		}
		group := cells[:n]
		cells = cells[n:]
		switch last := len(out) - 1; {
		case n > lines:
			return nil, false
		case last >= 0 && len(out[last])+n <= lines:
			out[last] = append(out[last], group...)
		default:
			out = append(out, append([]hintCell(nil), group...))
		}
	}
	return out, true
}

// hintsInWhole returns columns of whole groups within the given numbers of columns and lines, or nil.
func hintsInWhole(cells []hintCell, fit, most int) [][]hintCell {
	for lines := 1; lines <= most; lines++ {
		if columns, ok := wholeColumns(cells, lines); ok && len(columns) <= fit {
			return columns
		}
	}
	return nil
}

// omitOrder lists the groups that small terminals omit, the first ones first; help has all.
var omitOrder = []string{keymap.CopyMode, keymap.Typing, keymap.Tabs, keymap.Viewer, keymap.Panes}

// DrawHints shows the keys that may follow the prefix, or a mode's keys, over the panes' area. A group is shown as a
// whole or omitted; the panel names omitted groups.
func DrawHints(s *Screen, area layout.Rect, mode *keymap.Mode) {
	cols, _ := s.Canvas.Size()
	rows, after := s.Keys.Prefix, s.Keys.PrefixName
	if mode != nil {
		rows, after = mode.Rows(), mode.Label()+" ("+mode.Name+")"
	}
	cells := hintCells(rows)
	fit := max(1, area.W/hintWidth)
	lines, left := hintLines(cells, fit, area.H-1), 0
	for _, g := range omitOrder {
		if lines < area.H || area.H < 2 {
			break
		}
		before := len(cells)
		cells = withoutGroup(cells, g)
		left += max(0, before-len(cells)-1)
		lines = hintLines(cells, fit, area.H-1)
	}
	lines = min(lines, max(1, area.H-1))
	columns := hintsInWhole(cells, fit, area.H*2/3)
	if columns == nil {
		columns = hintColumns(cells, lines)
	}
	lines = 0
	for _, c := range columns {
		lines = max(lines, len(c))
	}
	lines = min(lines, max(1, area.H-1))
	top := area.Y + area.H - lines
	th := s.Theme
	if top > 0 {
		title := fmt.Sprintf(" %s, then", after)
		if left > 0 {
			more := fmt.Sprintf("%d more: %s", left, s.Keys.PrefixLabel("help"))
			title = firstThatFits(cols, title+" ("+more+")", " "+more)
		}
		s.Canvas.Text(0, top-1, cols, cut(title, cols), th.PanelTitle)
	}
	for y := range lines {
		s.Canvas.Fill(0, top+y, cols, th.Panel)
	}
	width := max(hintWidth, min(area.W/len(columns), hintWidth+8))
	for i, column := range columns {
		for y, c := range column[:min(len(column), lines)] {
			x := i*width + 1
			switch {
			case x+hintKeyWidth >= cols:
			case c.row == nil:
				s.Canvas.Text(x, top+y, min(width-1, cols-x), cut(c.group, min(width-1, cols-x)), th.PanelDim)
			default:
				room := min(width-hintKeyWidth-1, cols-x-hintKeyWidth)
				s.Canvas.Text(x, top+y, hintKeyWidth, fmt.Sprintf(" %6s ", cut(c.row.Label(), 6)), th.PanelKey)
				s.Canvas.Text(x+hintKeyWidth, top+y, room, cut(c.row.Short, room), th.Panel)
			}
		}
	}
}

// hintLines returns the column height that needs at most the given number of columns. A result above most means that no
// height does.
func hintLines(cells []hintCell, columns, most int) int {
	lines := 1
	for lines <= most && len(hintColumns(cells, lines)) > columns {
		lines++
	}
	return lines
}

func withoutGroup(cells []hintCell, group string) (out []hintCell) {
	now := ""
	for _, c := range cells {
		if c.row == nil {
			now = c.group
		}
		if now != group {
			out = append(out, c)
		}
	}
	return out
}
