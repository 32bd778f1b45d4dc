package overlays

import (
	"fmt"

	"github.com/longterm-dev/longterm/render/view/keymap"
	"github.com/longterm-dev/longterm/render/view/layout"
)

// Sizes of the panel with what can follow the prefix, in columns.
const (
	hintKeyWidth = 8
	hintWidth    = 23
)

// hintCell is a line of the panel: a group's name, a key, or nothing between groups.
type hintCell struct {
	group string
	row   *keymap.Row
}

func hintCells(keys *keymap.Map) []hintCell {
	var out []hintCell
	group := ""
	for i := range keys.Prefix {
		r := &keys.Prefix[i]
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

// hintColumns breaks the cells into columns of at most so many lines. A group's name is
// not left alone at the end of one.
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

// DrawHints shows what can follow the prefix, over the
// panes' area.
func DrawHints(s *Screen, area layout.Rect) {
	cols, _ := s.Canvas.Size()
	cells := hintCells(s.Keys)
	fit := max(1, area.W/hintWidth)
	lines := 1
	for lines < area.H-1 && len(hintColumns(cells, lines)) > fit {
		lines++
	}
	columns := hintColumns(cells, lines)
	top := area.Y + area.H - lines
	th := s.Theme
	if top > 0 {
		s.Canvas.Text(0, top-1, cols, fmt.Sprintf(" %s, then", s.Keys.PrefixName), th.PanelTitle)
	}
	for y := range lines {
		s.Canvas.Fill(0, top+y, cols, th.Panel)
	}
	width := max(hintWidth, min(area.W/len(columns), hintWidth+8))
	for i, column := range columns {
		for y, c := range column {
			x := i*width + 1
			switch {
			case x+hintKeyWidth >= cols:
			case c.row == nil:
				s.Canvas.Text(x, top+y, min(width-1, cols-x), c.group, th.PanelDim)
			default:
				s.Canvas.Text(x, top+y, hintKeyWidth, fmt.Sprintf(" %6s ", c.row.Label()), th.PanelKey)
				s.Canvas.Text(x+hintKeyWidth, top+y, min(width-hintKeyWidth-1, cols-x-hintKeyWidth), c.row.Short, th.Panel)
			}
		}
	}
}
