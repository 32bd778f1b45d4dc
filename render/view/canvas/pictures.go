package canvas

import (
	"fmt"
	"image"
	"os"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/layout"
	"github.com/longterm-dev/longterm/render/view/picture"
)

// AskMeans asks a terminal which images it can draw; able is told, from a goroutine of the screen's, of all that it
// answers. Some terminals print a question that they do not know. tmux, which passes no images of kitty's on, would have its
// question for the pane's title.
func AskMeans(screen tcell.Screen, able func(picture.Means)) {
	switch term := os.Getenv("TERM"); {
	case term == "linux", term == "dumb", strings.HasPrefix(term, "vt"), os.Getenv("STY") != "":
		return
	}
	if tty, _ := screen.Tty(); tty != nil {
		if h, ok := tty.(*hearing); ok {
			h.mu.Lock()
			h.able = able
			h.answers.Asked()
			h.mu.Unlock()
			ask := picture.Ask
			if term := os.Getenv("TERM"); os.Getenv("TMUX") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen") {
				ask = picture.AskOthers
			}
			_ = write(screen, ask)
		}
	}
}

const (
	// maxDrawn bounds the bytes that are kept of images as they were drawn.
	maxDrawn = 8 << 20
	// maxAtOnce is the pixels of an image that is encoded while a frame is drawn: that takes less than a few milliseconds.
	maxAtOnce = 1 << 15
)

// pictures are images over cells. What stands in the cells is drawn again where they are taken away.
type pictures struct {
	means picture.Means
	want  []want  // of the next Show
	shown []drawn // of the last one
	ids   uint32
	kept  map[picture.Part][]byte // parts encoded, at 0, 0: lines scroll, and panes move; nil: that one cannot be drawn
	bytes int                     // of kept

	beside func(work func() (then func())) // nil: all is done at once
	busy   bool                            // an image is encoded beside
	era    int                             // counts what the terminal was said to draw
}

// Beside has large images encoded by work, on another goroutine, and then run on the canvas's own; a Show has to follow. Until
// then their cells are seen.
func (c *Canvas) Beside(beside func(work func() (then func()))) { c.pictures.beside = beside }

// want is an image that shall be shown.
type want struct {
	picture.Part
	pic *image.NRGBA
}

// drawn is an image that is.
type drawn struct {
	want
	id uint32
}

// Draws says what the terminal can draw; nothing can be to begin with.
func (c *Canvas) Draws(m picture.Means) {
	c.Undraw()
	c.pictures.means, c.pictures.kept, c.pictures.bytes = m, nil, 0
	c.pictures.era++
	if tty, ok := c.screen.Tty(); ok && m.Kind != picture.None {
		if ws, err := tty.WindowSize(); err == nil {
			if cell := picture.CellOf(ws.PixelWidth, ws.PixelHeight, ws.Width, ws.Height); cell != (image.Point{}) {
				c.pictures.means.Cell = cell
			}
		}
	}
}

// DrawsPictures reports that the terminal can draw images.
func (c *Canvas) DrawsPictures() bool { return c.pictures.means.Kind != picture.None }

// Undraw takes all images away: the terminal is given to others.
func (c *Canvas) Undraw() {
	c.touched = c.touched || len(c.pictures.shown) > 0
	c.pictures.forget(c.screen)
}

// Picture shows a row of an image's cells from the next Show on, until the one after that; what lies below something else
// is left out. Rows come from the top to the bottom. The last row has none: terminals scroll behind a sixel image.
func (c *Canvas) Picture(row picture.Part, pic *image.NRGBA) {
	_, h := c.screen.Size()
	if row.Y < 0 || row.Y >= h-1 || pic.Rect.Empty() {
		return
	}
	left := []picture.Part{row}
	for _, over := range c.under {
		if row.Y < over.Y || row.Y >= over.Y+over.H {
			continue
		}
		var rest []picture.Part
		for _, p := range left {
			rest = append(rest, p.Cut(over.X, over.X+over.W)...)
		}
		left = rest
	}
	for _, p := range left {
		c.pictures.want = append(c.pictures.want, want{p, pic})
	}
}

// uncover has the cells drawn again whose images are not wanted any more, or not there.
func (p *pictures) uncover(screen tcell.Screen) (any bool) {
	p.join()
	p.shown = slices.DeleteFunc(p.shown, func(d drawn) bool {
		if slices.Contains(p.want, d.want) {
			return false
		}
		p.take(screen, &d)
		any = true
		return true
	})
	return any
}

// join makes rectangles of the rows that are wanted.
func (p *pictures) join() {
	if len(p.want) == 0 {
		return
	}
	pics := map[string]*image.NRGBA{}
	parts := make([]picture.Part, 0, len(p.want))
	for _, w := range p.want {
		pics[w.Key] = w.pic
		parts = append(parts, w.Part)
	}
	p.want = p.want[:0]
	for _, part := range picture.Join(parts) {
		p.want = append(p.want, want{part, pics[part.Key]})
	}
}

// take takes an image away.
func (p *pictures) take(screen tcell.Screen, d *drawn) {
	screen.LockRegion(d.X, d.Y, d.W, d.H, false)
	if text := p.means.Remove(d.id); text != "" {
		write(screen, text)
	}
}

// forget takes all images away, as the screen is drawn anew.
func (p *pictures) forget(screen tcell.Screen) {
	for i := range p.shown {
		p.take(screen, &p.shown[i])
	}
	p.shown = nil
}

// draw draws what is wanted and not there. No cell below an image is drawn until it is taken away.
func (p *pictures) draw(screen tcell.Screen) {
	var out []byte
	for _, w := range p.want {
		if slices.ContainsFunc(p.shown, func(d drawn) bool { return d.want == w }) {
			continue
		}
		b := p.of(&w)
		if b == nil {
			continue
		}
		if out == nil {
			out = append(out, "\x1b7\x1b[0m"...) // DECSC
		}
		for y := range w.H { // the cells' own characters would be seen through the image
			out = fmt.Appendf(out, "\x1b[%d;%dH\x1b[%dX", w.Y+y+1, w.X+1, w.W)
		}
		p.ids++
		out = p.means.Draw(fmt.Appendf(out, "\x1b[%d;%dH", w.Y+1, w.X+1), &w.Part, b, p.ids)
		screen.LockRegion(w.X, w.Y, w.W, w.H, true)
		p.shown = append(p.shown, drawn{w, p.ids})
	}
	p.want = p.want[:0]
	if out != nil {
		write(screen, string(append(out, "\x1b8"...))) // DECRC
	}
}

// of is an image encoded; nil: it cannot be drawn, or not yet.
func (p *pictures) of(w *want) []byte {
	at := w.Part
	at.X, at.Y = 0, 0
	if b, known := p.kept[at]; known {
		return b
	}
	if p.beside == nil || p.means.Pixels(&at) <= maxAtOnce {
		return p.keep(at, p.means.Encode(&at, w.pic))
	}
	if p.busy { // one at a time, and then one that is still wanted
		return nil
	}
	p.busy = true
	means, pic, era := p.means, w.pic, p.era
	p.beside(func() func() {
		b := means.Encode(&at, pic)
		return func() {
			p.busy = false
			if p.era == era {
				p.keep(at, b)
			}
		}
	})
	return nil
}

func (p *pictures) keep(at picture.Part, b []byte) []byte {
	if p.kept == nil || p.bytes+len(b) > maxDrawn {
		p.kept, p.bytes = map[picture.Part][]byte{}, 0
	}
	p.kept[at], p.bytes = b, p.bytes+len(b)
	return b
}

// PictureRow has the row of a pane's line that stands at a place of the terminal show its images; wanted is asked for
// those by their keys, and says false of one that is not there yet.
func (c *Canvas) PictureRow(at layout.Rect, parts []picture.Part, wanted func(key string) (*image.NRGBA, bool)) {
	for _, p := range parts {
		from, end := max(p.X, at.X), min(p.X+p.W, at.X+at.W)
		if from >= end {
			continue
		}
		p.FromX += from - p.X
		p.X, p.W, p.Y, p.H = from, end-from, at.Y, 1
		if pic, ok := wanted(p.Key); ok {
			c.Picture(p, pic)
		}
	}
}
