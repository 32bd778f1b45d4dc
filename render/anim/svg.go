package anim

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render"
)

// Limits of an animated SVG, which is in memory completely, here and in its viewer.
const (
	maxSVGBytes = 64 << 20
	maxSVGShots = 20000
)

// NewSVG writes an SVG animated by CSS. Text stays text; repeated lines are written once. Readers with reduced motion
// see the last screen.
func NewSVG(w io.Writer, cols, rows int, title string, o render.PictureOptions) Writer {
	return &svgWriter{
		w: w, o: o, cols: cols, rows: rows, lines: map[string]int{},
		doc: render.NewSVG(cols, rows, title, o),
	}
}

// svgWriter arranges screens on a sheet, in columns of screensPerColumn, which moves in steps behind a window of a screen's size. A
// single column would exceed the coordinates that browsers compute exactly.
type svgWriter struct {
	w          io.Writer
	o          render.PictureOptions
	doc        *render.SVG
	cols, rows int
	lines      map[string]int // element numbers of the lines
	defs       strings.Builder
	sheet      strings.Builder
	last       string // the newest screen on the sheet
	starts     []time.Duration
}

func (f *svgWriter) Add(s Shot) error {
	o := f.o
	o.Theme = s.Theme
	var screen strings.Builder
	if s.Theme.BG != f.o.Theme.BG {
		fmt.Fprintf(&screen, `<rect width="%d" height="%d" fill="#%06x"/>`, f.cols*render.CellWidth, f.rows*render.CellHeight, s.Theme.BG)
	}
	for i, row := range f.doc.Rows(s.Screen, &o) {
		if len(row) == 0 || i >= f.rows {
			continue
		}
		fmt.Fprintf(&screen, `<use href="#l%d" y="%d"/>`, f.line(row), i*render.CellHeight)
	}
	if screen.String() == f.last && len(f.starts) > 0 {
		return nil
	}
	f.last = screen.String()
	x, y := f.place(len(f.starts))
	fmt.Fprintf(&f.sheet, `<g transform="translate(%d %d)">%s</g>`+"\n", x, y, f.last)
	f.starts = append(f.starts, s.At)
	if f.defs.Len()+f.sheet.Len() > maxSVGBytes || len(f.starts) > maxSVGShots {
		return fmt.Errorf("svg: recording too long (limit %d MiB, %d screens): use a part of it, fewer frames per second, or GIF",
			maxSVGBytes>>20, maxSVGShots)
	}
	return nil
}

const screensPerColumn = 100

// place returns the position of a screen on the sheet.
func (f *svgWriter) place(n int) (x, y int) {
	return n / screensPerColumn * f.cols * render.CellWidth, n % screensPerColumn * f.rows * render.CellHeight
}

// line returns the number of a line's element.
func (f *svgWriter) line(row []byte) int {
	n, ok := f.lines[string(row)]
	if !ok {
		n = len(f.lines)
		f.lines[string(row)] = n
		fmt.Fprintf(&f.defs, `<g id="l%d">%s</g>`+"\n", n, row)
	}
	return n
}

func (f *svgWriter) Close(end time.Duration) error {
	end = max(end, time.Millisecond)
	var rules strings.Builder
	step := func(percent string, n int) {
		x, y := f.place(n)
		fmt.Fprintf(&rules, "%s{transform:translate(%dpx,%dpx)}", percent, -x, -y)
	}
	rules.WriteString("@keyframes film{")
	for i, start := range f.starts {
		step(strconv.FormatFloat(min(100*float64(start)/float64(end), 100), 'f', 5, 64)+"%", i)
	}
	last := max(len(f.starts)-1, 0)
	step("100%", last)
	rules.WriteString("}\n")
	step(".film", last)
	fmt.Fprintf(&rules, "\n.film{animation:film %dms step-end infinite}\n", end.Milliseconds())
	rules.WriteString("@media(prefers-reduced-motion:reduce){.film{animation:none}}")
	f.doc.Style(rules.String())
	f.doc.Element([]byte("<defs>\n" + f.defs.String() + "</defs>\n"))
	f.doc.Element(fmt.Appendf(nil, `<svg width="%d" height="%d"><g class="film">`+"\n", f.cols*render.CellWidth, f.rows*render.CellHeight))
	f.doc.Element([]byte(f.sheet.String() + "</g></svg>\n"))
	_, err := f.w.Write(f.doc.Append(nil))
	return err
}
