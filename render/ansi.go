package render

import "github.com/longterm-dev/longterm/vterm"

// ANSIOptions say how a frame becomes control sequences.
type ANSIOptions struct {
	// Repaint draws the frame on a real terminal from scratch, cursor and title included.
	// Without it the frame is dumped: rows ended by newlines, to be printed or stored.
	Repaint bool
	// Exact says that the terminal to repaint has the frame's size. Then wrapped lines are
	// wrapped by the terminal too, which can copy and reflow them, and a cursor that waits
	// behind the last column does so there. Elsewhere it would garble the picture.
	Exact bool
	// NoColor leaves colours out; attributes stay.
	NoColor bool

	images joinedImages
}

// joinedImages say what a repaint has of images.
type joinedImages uint8

const (
	imagesNone    joinedImages = iota // a person's terminal may not know them
	imagesUnnamed                     // those of a screen behind another one, whose images may have the same ids
	imagesNamed
)

// AppendANSI appends a frame's text and styles as they would have to be printed. The text
// comes from cells, never from the program's own sequences, and control characters in it
// are replaced: nothing hostile reaches the terminal.
func AppendANSI(dst []byte, f *vterm.Frame, o ANSIOptions) []byte {
	p := pen{f: f, noColor: o.NoColor}
	if o.Repaint {
		return appendRepaint(dst, f, &p, &o)
	}
	lines := f.Lines
	for len(lines) > 0 && len(trimPadding(lines[len(lines)-1].Cells)) == 0 {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		cells := trimPadding(lines[i].Cells)
		for col := range cells {
			dst = p.cell(dst, cells, col)
		}
		dst = append(p.change(dst, vterm.Style{}), '\n')
	}
	return dst
}

// pen writes cells and remembers the style the terminal is in.
type pen struct {
	f       *vterm.Frame
	noColor bool
	id      vterm.StyleID // of now, to save looking it up
	now     vterm.Style
}

func (p *pen) cell(dst []byte, cells []vterm.Cell, i int) []byte {
	if id := cells[i].Style(); id != p.id && !isTail(cells, i) {
		dst = p.change(dst, p.f.Style(cells[i]))
		p.id = id
	}
	return appendCell(dst, p.f, cells, i)
}

// change puts the terminal into a style.
func (p *pen) change(dst []byte, st vterm.Style) []byte {
	p.id = 0
	if p.noColor {
		st.FG, st.BG, st.ULColor = 0, 0, 0
	}
	if st.Link != p.now.Link {
		dst = p.link(dst, st.Link)
	}
	dst = AppendSGR(dst, p.now, st)
	p.now = st
	return dst
}

// link is OSC 8.
func (p *pen) link(dst []byte, id vterm.LinkID) []byte {
	l := linkOf(p.f, id)
	dst = append(dst, "\x1b]8;"...)
	if l.URI != "" && l.ID != "" {
		dst = append(dst, "id="...)
		dst = appendPrintable(dst, []byte(l.ID))
	}
	dst = append(dst, ';')
	dst = appendPrintable(dst, []byte(l.URI))
	return append(dst, "\x1b\\"...)
}

// AppendCell appends one cell of a frame that has all rows, as it would have to be printed on a terminal whose pen is the
// default one, and leaves it so. What was never written is erased.
func AppendCell(dst []byte, f *vterm.Frame, row, col int) []byte {
	if row >= len(f.Lines) || col >= len(f.Lines[row].Cells) {
		return append(dst, "\x1b[X"...)
	}
	p, cells := pen{f: f}, f.Lines[row].Cells
	if padding(cells, col) {
		dst = append(p.change(dst, f.Style(cells[col])), "\x1b[X"...)
	} else {
		dst = p.cell(dst, cells, col)
	}
	return p.change(dst, vterm.Style{})
}
