package view

import (
	"fmt"

	"github.com/longterm-dev/longterm/render/view/keymap"
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

func (v *viewer) hintCells() []hintCell {
	var out []hintCell
	group := ""
	for i := range v.keys.Prefix {
		r := &v.keys.Prefix[i]
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

// drawHints shows what can follow the prefix, some time after it was pressed.
func (v *viewer) drawHints() {
	cols, _ := v.canvas.Size()
	area := v.paneArea()
	cells := v.hintCells()
	fit := max(1, area.W/hintWidth)
	lines := 1
	for lines < area.H-1 && len(hintColumns(cells, lines)) > fit {
		lines++
	}
	columns := hintColumns(cells, lines)
	top := area.Y + area.H - lines
	th := v.theme
	if top > 0 {
		v.canvas.Text(0, top-1, cols, fmt.Sprintf(" %s, then", v.keys.PrefixName), th.PanelTitle)
	}
	for y := range lines {
		v.canvas.Fill(0, top+y, cols, th.Panel)
	}
	width := max(hintWidth, min(area.W/len(columns), hintWidth+8))
	for i, column := range columns {
		for y, c := range column {
			x := i*width + 1
			switch {
			case x+hintKeyWidth >= cols:
			case c.row == nil:
				v.canvas.Text(x, top+y, min(width-1, cols-x), c.group, th.PanelDim)
			default:
				v.canvas.Text(x, top+y, hintKeyWidth, fmt.Sprintf(" %6s ", c.row.Label()), th.PanelKey)
				v.canvas.Text(x+hintKeyWidth, top+y, min(width-hintKeyWidth-1, cols-x-hintKeyWidth), c.row.Short, th.Panel)
			}
		}
	}
}
