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

// QueryImageSupport queries which images a terminal can draw. able receives each answer on a goroutine of the screen. Terminals
// that print unknown queries get none; tmux, which does not forward kitty images, gets no kitty query, because it would
// become the pane's title.
func QueryImageSupport(screen tcell.Screen, able func(picture.Support)) {
	switch term := os.Getenv("TERM"); {
	case term == "linux", term == "dumb", strings.HasPrefix(term, "vt"), os.Getenv("STY") != "":
		return
	}
	if tty, _ := screen.Tty(); tty != nil {
		if h, ok := tty.(*terminalTap); ok {
			h.mu.Lock()
			h.onImageSupport = able
			h.answers.ExpectReply()
			h.mu.Unlock()
			ask := picture.Query
			if term := os.Getenv("TERM"); os.Getenv("TMUX") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen") {
				ask = picture.QueryOthers
			}
			_ = write(screen, ask)
		}
	}
}

const (
	// maxDrawn limits the cached bytes of encoded images.
	maxDrawn = 8 << 20
	// maxAtOnce is the largest image, in pixels, that is encoded while a frame is drawn, in less than a few
	// milliseconds.
	maxAtOnce = 1 << 15
)

// pictures draws images over cells. When an image is removed, its cells are redrawn.
type pictures struct {
	support picture.Support
	wanted  []wantedImage // images for the next Show
	shown   []shownImage  // images of the last Show
	ids     uint32
	encoded map[picture.Part][]byte // encoded parts at position 0, 0, because lines scroll and panes move; nil: cannot be drawn
	bytes   int                     // size of the cached parts

	runAsync   func(work func() (then func())) // runs work in the background; nil: everything is encoded at once
	encoding   bool                            // an image is being encoded in the background
	generation int                             // number of changes of means
}

// SetAsync sets how large images are encoded: work runs on another goroutine, and the function that it returns on the
// canvas's goroutine, followed by a Show. Before that the cells below are visible.
func (c *Canvas) SetAsync(beside func(work func() (then func()))) { c.pictures.runAsync = beside }

// wantedImage is an image to be shown.
type wantedImage struct {
	picture.Part
	pic *image.NRGBA
}

// shownImage is an image on the terminal.
type shownImage struct {
	wantedImage
	id uint32
}

// SetImageSupport sets which images the terminal can draw; none before the first call.
func (c *Canvas) SetImageSupport(m picture.Support) {
	c.RemovePictures()
	c.pictures.support, c.pictures.encoded, c.pictures.bytes = m, nil, 0
	c.pictures.generation++
	if tty, ok := c.screen.Tty(); ok && m.Kind != picture.None {
		if ws, err := tty.WindowSize(); err == nil {
			if cell := picture.CellOf(ws.PixelWidth, ws.PixelHeight, ws.Width, ws.Height); cell != (image.Point{}) {
				c.pictures.support.Cell = cell
			}
		}
	}
}

// CanDrawImages reports whether the terminal can draw images.
func (c *Canvas) CanDrawImages() bool { return c.pictures.support.Kind != picture.None }

// RemovePictures removes all images, before the terminal is released to another program.
func (c *Canvas) RemovePictures() {
	c.touched = c.touched || len(c.pictures.shown) > 0
	c.pictures.forget(c.screen)
}

// Picture shows a row of an image's cells from the next Show until the one after it, without the parts below other
// panes. Rows must come from top to bottom. The last row of the screen gets no image: terminals scroll after a sixel
// image there.
func (c *Canvas) Picture(row picture.Part, pic *image.NRGBA) {
	_, h := c.screen.Size()
	if row.Y < 0 || row.Y >= h-1 || pic.Rect.Empty() {
		return
	}
	left := []picture.Part{row}
	for _, over := range c.covered {
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
		c.pictures.wanted = append(c.pictures.wanted, wantedImage{p, pic})
	}
}

// uncover redraws the cells of images that are no longer wanted or shown.
func (p *pictures) uncover(screen tcell.Screen) (any bool) {
	p.join()
	p.shown = slices.DeleteFunc(p.shown, func(d shownImage) bool {
		if slices.Contains(p.wanted, d.wantedImage) {
			return false
		}
		p.remove(screen, &d)
		any = true
		return true
	})
	return any
}

// join merges the wanted rows into rectangles.
func (p *pictures) join() {
	if len(p.wanted) == 0 {
		return
	}
	pics := map[string]*image.NRGBA{}
	parts := make([]picture.Part, 0, len(p.wanted))
	for _, w := range p.wanted {
		pics[w.Key] = w.pic
		parts = append(parts, w.Part)
	}
	p.wanted = p.wanted[:0]
	for _, part := range picture.Join(parts) {
		p.wanted = append(p.wanted, wantedImage{part, pics[part.Key]})
	}
}

// remove removes an image.
func (p *pictures) remove(screen tcell.Screen, d *shownImage) {
	screen.LockRegion(d.X, d.Y, d.W, d.H, false)
	if text := p.support.Remove(d.id); text != "" {
		write(screen, text)
	}
}

// forget removes all images before a full redraw.
func (p *pictures) forget(screen tcell.Screen) {
	for i := range p.shown {
		p.remove(screen, &p.shown[i])
	}
	p.shown = nil
}

// draw draws the wanted images that are not on the terminal. Cells below an image are not drawn until it is removed.
func (p *pictures) draw(screen tcell.Screen) {
	var out []byte
	for _, w := range p.wanted {
		if slices.ContainsFunc(p.shown, func(d shownImage) bool { return d.wantedImage == w }) {
			continue
		}
		b := p.encodedPart(&w)
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
		out = p.support.Draw(fmt.Appendf(out, "\x1b[%d;%dH", w.Y+1, w.X+1), &w.Part, b, p.ids)
		screen.LockRegion(w.X, w.Y, w.W, w.H, true)
		p.shown = append(p.shown, shownImage{w, p.ids})
	}
	p.wanted = p.wanted[:0]
	if out != nil {
		write(screen, string(append(out, "\x1b8"...))) // DECRC
	}
}

// encodedPart returns an encoded image, or nil if it cannot be drawn or is not ready.
func (p *pictures) encodedPart(w *wantedImage) []byte {
	at := w.Part
	at.X, at.Y = 0, 0
	if b, known := p.encoded[at]; known {
		return b
	}
	if p.runAsync == nil || p.support.Pixels(&at) <= maxAtOnce {
		return p.keep(at, p.support.Encode(&at, w.pic))
	}
	if p.encoding { // one at a time, and then one that is still wanted
		return nil
	}
	p.encoding = true
	means, pic, era := p.support, w.pic, p.generation
	p.runAsync(func() func() {
		b := means.Encode(&at, pic)
		return func() {
			p.encoding = false
			if p.generation == era {
				p.keep(at, b)
			}
		}
	})
	return nil
}

func (p *pictures) keep(at picture.Part, b []byte) []byte {
	if p.encoded == nil || p.bytes+len(b) > maxDrawn {
		p.encoded, p.bytes = map[picture.Part][]byte{}, 0
	}
	p.encoded[at], p.bytes = b, p.bytes+len(b)
	return b
}

// PictureRow shows the images in a row of a pane. wanted returns an image by its key, or false if it is not loaded yet.
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
