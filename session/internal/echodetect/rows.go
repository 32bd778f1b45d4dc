package echodetect

import (
	"strings"

	"github.com/longterm-dev/longterm/vterm"
)

// StripRow returns a row's text without typed input. id is the row's.
func StripRow(f *vterm.Frame, l *vterm.Line, id uint64, typed []TypedText) string {
	text := func(cells []vterm.Cell) string {
		var b []byte
		for _, c := range cells {
			b = f.AppendText(b, c)
		}
		return string(b)
	}
	for i := range typed {
		t := &typed[i]
		row, col := t.Row, t.Col
		for _, part := range t.Lines {
			for {
				room := max(f.Cols-col, 1)
				here := firstCells(part, room)
				if row == id && col <= len(l.Cells) {
					if rest, ok := strings.CutPrefix(text(l.Cells[col:]), here); ok && here != "" {
						return text(l.Cells[:col]) + rest
					}
				}
				part = part[len(here):]
				row, col = row+1, 0
				if part == "" {
					break
				}
			}
			if row > id {
				break
			}
		}
	}
	return text(l.Cells)
}

// firstCells returns the start of a text that fits n cells if all characters are one cell wide. With wide characters
// the result is still a prefix.
func firstCells(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
