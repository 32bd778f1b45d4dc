package render

import "github.com/longterm-dev/longterm/vterm"

// ANSIOptions configures the conversion of a frame to control sequences.
type ANSIOptions struct {
	// Repaint draws the frame on a real terminal from scratch, cursor and title included.
	// Without it the frame is dumped: rows ended by newlines, to be printed or stored.
	Repaint bool
	// Exact promises that the repainted terminal has the frame's size. Then the terminal wraps lines itself, so that it
	// can copy and reflow them, and a pending wrap is kept. On another size this would garble the screen.
	Exact bool
	// NoColor omits colours; attributes are kept.
	NoColor bool

	images joinedImages
}

// joinedImages selects the images in a repaint.
type joinedImages uint8

const (
	imagesNone    joinedImages = iota // a user's terminal may not know them
	imagesUnnamed                     // images of a screen behind another one, which may use the same IDs
	imagesNamed
)

// AppendANSI appends a frame as text with control sequences. The text comes from cells, never from the program's own
// sequences, and control characters in it are replaced, so nothing hostile reaches the terminal.
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

// pen writes cells and tracks the terminal's current style.
type pen struct {
	f       *vterm.Frame
	noColor bool
	styleID vterm.StyleID // id of the current style, to avoid a lookup
	style   vterm.Style   // current style of the terminal
}

func (p *pen) cell(dst []byte, cells []vterm.Cell, i int) []byte {
	if id := cells[i].Style(); id != p.styleID && !isTail(cells, i) {
		dst = p.change(dst, p.f.Style(cells[i]))
		p.styleID = id
	}
	return appendCell(dst, p.f, cells, i)
}

// change changes the terminal's style to st.
func (p *pen) change(dst []byte, st vterm.Style) []byte {
	p.styleID = 0
	if p.noColor {
		st.FG, st.BG, st.ULColor = 0, 0, 0
	}
	if st.Link != p.style.Link {
		dst = p.link(dst, st.Link)
	}
	dst = AppendSGR(dst, p.style, st)
	p.style = st
	return dst
}

// link appends OSC 8.
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

// AppendCell appends one cell of a full frame, for a terminal whose pen is the default one, and resets the pen. It
// erases a cell that was never written.
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
