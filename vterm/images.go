package vterm

import (
	"github.com/longterm-dev/longterm/vterm/internal/graphics"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
)

// ImageFormat is the encoding of an Image's data.
type ImageFormat = graphics.Format

// Image formats.
const (
	ImageSixel = graphics.Sixel // the body of the DCS, as sent
	ImagePNG   = graphics.PNG
	ImageRGB   = graphics.RGB  // 3 bytes a pixel
	ImageRGBA  = graphics.RGBA // 4 bytes a pixel
	ImageJPEG  = graphics.JPEG
	ImageGIF   = graphics.GIF // the first frame
)

// Image is a picture as a program sent it, not decoded.
type Image = graphics.Image

// Placement is an image on the screen. The content of an image cell is the index of its placement in Frame.Images.
type Placement = graphics.Placement

// placeImage covers cells from the cursor on with a placement. It moves the cursor to the placement's last row and
// scrolls like text.
func (t *Terminal) placeImage(p Placement, scroll bool) {
	p.Cols = min(max(p.Cols, 1), t.cols-t.cur.Col)
	p.Rows = min(max(p.Rows, 1), graphics.PlacementCellsMax/p.Cols)
	if !scroll {
		p.Rows = min(p.Rows, t.rows-t.cur.Row)
	}
	index, ok := t.images.Place(p)
	if !ok {
		return
	}
	col := t.cur.Col
	for i := range p.Rows {
		t.scr.MutableRow(t.cur.Row).PutImage(col, col+p.Cols, index, t.cols)
		if i < p.Rows-1 {
			t.index()
			t.cur.Col = col
		}
	}
}

// eachImageCell calls f for each screen cell that shows an image.
func (t *Terminal) eachImageCell(f func(p *Placement, row, col int)) {
	t.scr.EachImage(func(index, row, col int) { f(&t.images.Placements[index], row, col) })
}

// Place is the position of a placement's first cell, 0-based, and the number of cells that its image covers: fractions
// for images shown pixel by pixel. Rows above the screen are negative.
type Place struct {
	Row, Col   int
	Cols, Rows float64
}

// findPlacements returns the places of the placements on a screen. The top of a placement may have scrolled away.
func (t *Terminal) findPlacements(s *grid.Screen) (all map[int]Place) {
	s.EachImage(func(index, row, col int) { all = t.recordCell(all, index, row, col) })
	if s == t.primary && all != nil {
		most := 0
		for index := range all {
			most = max(most, t.images.Placements[index].Rows)
		}
		h := t.Recent(most)
		t.findStarts(h, all, 0, h.Len())
	}
	return all
}

// placedAbove returns the places of the placements in a range of history lines.
func (t *Terminal) placedAbove(from, to int) (all map[int]Place) {
	if len(t.images.Placements) == 0 || from < 0 || from >= to {
		return nil
	}
	h := t.History()
	for n := from; n < min(to, h.Len()); n++ {
		t.imagesOf(h, n, func(index, col int) { all = t.recordCell(all, index, n, col) })
	}
	if all != nil {
		t.findStarts(h, all, from, from)
	}
	return all
}

// recordCell records that a placement has this cell. Rows are visited from top to bottom.
func (t *Terminal) recordCell(all map[int]Place, index, row, col int) map[int]Place {
	p, known := all[index]
	switch {
	case known && col >= p.Col:
		return all
	case known:
		p.Col = col
	default:
		if all == nil {
			all = map[int]Place{}
		}
		p = Place{Row: row, Col: col}
		p.Cols, p.Rows = t.coveredCells(&t.images.Placements[index])
	}
	all[index] = p
	return all
}

// imagesOf calls f for each cell of a history line that shows an image.
func (t *Terminal) imagesOf(h History, line int, f func(index, col int)) {
	var l Line
	h.Line(line, &l)
	for col, c := range l.Cells {
		if index := int(c.Content()); c&CellImage != 0 && index < len(t.images.Placements) {
			f(index, col)
		}
	}
}

// findStarts finds the first row of each placement whose topmost known row is first. It may be above that row, by fewer
// lines than the placement has rows. above is the number of lines of h above that row.
func (t *Terminal) findStarts(h History, all map[int]Place, first, above int) {
	open := map[int]int{} // in how many lines above each was seen, of those whose beginning was not
	for index, p := range all {
		if p.Row == first && t.images.Placements[index].Rows > 1 {
			open[index] = 0
		}
	}
	found := func(index, n int) {
		p := all[index]
		p.Row = first - n
		all[index] = p
		delete(open, index)
	}
	for n := 1; n <= above && len(open) > 0; n++ {
		t.imagesOf(h, above-n, func(index, _ int) {
			if seen, is := open[index]; is && seen == n-1 {
				open[index] = n
			}
		})
		for index, seen := range open {
			if seen < n || n+1 >= t.images.Placements[index].Rows {
				found(index, seen)
			}
		}
	}
	var dropped map[int]int
	if len(open) > 0 && h.FirstID() > 0 { // an image began above the oldest line that is kept
		dropped = t.droppedRows(h, open)
	}
	for index := range open {
		found(index, above+dropped[index])
	}
}

// droppedRows returns how many rows were dropped above the oldest history line, for each placement that it shows.
func (t *Terminal) droppedRows(h History, open map[int]int) (dropped map[int]int) {
	kept := map[int]int{}
	count := func(index, line int) {
		if _, is := open[index]; is && kept[index] == line {
			kept[index]++
		}
	}
	lines := h.Len()
	for n, more := 0, true; n < lines && more; n++ {
		more = false
		t.imagesOf(h, n, func(index, _ int) {
			count(index, n)
			more = more || kept[index] > n
		})
	}
	t.primary.EachImage(func(index, row, _ int) { count(index, lines+row) })
	dropped = map[int]int{}
	for index, n := range kept {
		dropped[index] = max(0, t.images.Placements[index].Rows-n)
	}
	return dropped
}

// coveredCells returns the number of cells that an image covers. An image that fills its last cells only partly is not
// stretched, and a sixel image wider than the screen is cropped.
func (t *Terminal) coveredCells(p *Placement) (cols, rows float64) {
	cols, rows = float64(p.Cols), float64(p.Rows)
	if p.Image == nil || p.Image.Width <= 0 || p.Image.Height <= 0 {
		return cols, rows
	}
	wide := graphics.CellsFor(p.Image.Width, t.opts.CellWidth)
	if p.Image.Fit && (wide != p.Cols || graphics.CellsFor(p.Image.Height, t.opts.CellHeight) != p.Rows) {
		w, h := float64(p.Image.Width)/float64(t.opts.CellWidth), float64(p.Image.Height)/float64(t.opts.CellHeight)
		by := min(cols/w, rows/h)
		return w * by, h * by
	}
	if wide != p.Cols && (p.Image.Format != ImageSixel || wide < p.Cols) {
		return cols, rows
	}
	if graphics.CellsFor(p.Image.Height, t.opts.CellHeight) == p.Rows {
		rows = float64(p.Image.Height) / float64(t.opts.CellHeight)
	}
	return float64(p.Image.Width) / float64(t.opts.CellWidth), rows
}

// eraseImages erases the cells of matching placements.
func (t *Terminal) eraseImages(match func(p *Placement, row, col int) bool) {
	t.scr.EraseImages(func(index, row, col int) bool { return match(&t.images.Placements[index], row, col) })
}

// sixel stores a sixel picture undecoded and covers its cells. As in xterm the cursor moves to the picture's last line,
// below its left edge, so a line feed must precede text. In mode 8452 it moves to the right of the picture.
func (t *Terminal) sixel(s *parse.Seq, data []byte) {
	img, wide, high := graphics.SixelImage(data, s.Param(0, 0))
	if img == nil {
		return
	}
	t.images.Add(img)
	p := Placement{
		Image: img,
		Cols:  graphics.CellsFor(wide, t.opts.CellWidth), Rows: graphics.CellsFor(high, t.opts.CellHeight),
	}
	at := t.cur
	if t.modes&modeSixelDisplay != 0 { // DECSDM: at the top left, cursor unmoved
		t.moveTo(0, 0)
		t.placeImage(p, false)
		t.cur = at
		return
	}
	t.placeImage(p, true)
	col := at.Col
	if t.modes&modeSixelRight != 0 {
		if col += p.Cols; col > t.right {
			t.index()
			col = t.left
		}
	}
	t.moveTo(t.cur.Row, col)
}

// graphicsAttributes implements XTSMGRAPHICS: 256 registers, and the size of the screen.
func (t *Terminal) graphicsAttributes(s *parse.Seq) {
	item, action := s.Param(0, 0), s.Param(1, 0)
	switch {
	case item == 1 && action >= 1 && action <= 4:
		t.replyCSI("?1;0;256S")
	case item == 2 && (action == 1 || action == 4):
		t.replyCSI("?2;0;%d;%dS", t.cols*t.opts.CellWidth, t.rows*t.opts.CellHeight)
	default:
		t.replyCSI("?%d;%dS", item, 1+boolInt(item == 1 || item == 2))
	}
}

// oscFile handles file data of OSC 1337. A complete image is shown at the cursor, which then moves below its last row.
func (t *Terminal) oscFile(s string) {
	g, complete := t.collector.CollectFile(s)
	if !complete {
		return
	}
	img := g.File()
	if img == nil {
		return
	}
	t.images.Add(img)
	at := t.cur
	p := g.FilePlacement(img, t.cols, t.rows, t.cols-t.cur.Col, t.opts.CellWidth, t.opts.CellHeight)
	t.placeImage(p, !g.KeepsCursor())
	if g.KeepsCursor() {
		t.cur = at
		return
	}
	t.moveTo(t.cur.Row, t.cur.Col+p.Cols)
}

// apc runs an application program command. Only the kitty graphics protocol is supported.
func (t *Terminal) apc(p []byte) {
	if done, ok := t.collector.Collect(p); ok {
		t.kittyCommand(&done)
	}
}

// kittyCommand carries out a command whose data is complete.
func (t *Terminal) kittyCommand(g *graphics.Command) {
	if g.Number('i') != 0 && g.Number('I') != 0 {
		t.answerKitty(g, "EINVAL:i and I at once")
		return
	}
	switch action := g.Control['a']; action {
	case "q":
		_, err := g.Image()
		t.answerKitty(g, err)
	case "", "t", "T":
		t.transmitKitty(g, action == "T")
	case "p":
		g.ID = t.images.IDOf(g)
		img := t.images.Find(g.ID)
		if img == nil {
			t.answerKitty(g, "ENOENT:no such image")
			return
		}
		t.placeKitty(g, img)
		t.answerKitty(g, "")
	case "d":
		t.deleteKitty(g)
	default:
		t.answerKitty(g, "EINVAL:no such action, or one of animation, which is not supported")
	}
}

// transmitKitty stores an image, replacing one with the same id, and shows it if show is set. An image with only a
// number (I=) gets a free id.
func (t *Terminal) transmitKitty(g *graphics.Command, show bool) {
	img, err := g.Image()
	if err == "" {
		if n := g.Number('I'); n != 0 {
			img.ID = t.images.Number(n)
		}
		g.ID = img.ID
		if old := t.images.Find(img.ID); old != nil {
			t.images.Remove(old)
		}
		t.images.Add(img)
		if show {
			t.placeKitty(g, img)
		}
	}
	t.answerKitty(g, err)
}

// placeKitty shows an image at the cursor. A virtual placement (U=1) is drawn by
// placeholder characters that the program prints, so nothing is placed here.
func (t *Terminal) placeKitty(g *graphics.Command, img *Image) {
	if g.Control['U'] == "1" {
		return
	}
	at := t.cur
	p := g.Placement(img, t.opts.CellWidth, t.opts.CellHeight)
	t.placeImage(p, g.Control['C'] != "1")
	if g.Control['C'] == "1" {
		t.cur = at
		return
	}
	t.moveTo(t.cur.Row, t.cur.Col+p.Cols)
}

// deleteKitty implements a=d: it removes the placements that d= selects. Upper case also removes their images, except
// images selected by id or number together with a placement.
func (t *Terminal) deleteKitty(g *graphics.Command) {
	what := g.Control['d']
	if what == "" {
		what = "a"
	}
	kind := what[0] | 0x20
	match := t.deletion(kind, g)
	if match == nil {
		return
	}
	gone := make(map[*Image]bool)
	if g.ID = t.images.IDOf(g); (kind == 'i' || kind == 'n') && g.Number('p') == 0 {
		gone[t.images.Find(g.ID)] = true
	}
	t.eraseImages(func(p *Placement, row, col int) bool {
		hit := match(p, row, col)
		if hit && p.Image != nil {
			gone[p.Image] = true
		}
		return hit
	})
	if what[0] >= 'a' {
		return
	}
	for _, img := range t.images.Images {
		if kind == 'a' && img.ID != 0 || kind == 'r' && g.SelectsID(img.ID) {
			gone[img] = true
		}
	}
	delete(gone, nil)
	t.images.RemoveSet(gone)
}

// deletion returns the match function for the placements that d= selects, or nil for unknown kinds. Rows and columns
// are 1-based on the wire, and any cell of a placement may match.
func (t *Terminal) deletion(kind byte, g *graphics.Command) func(p *Placement, row, col int) bool {
	id, placement, z := t.images.IDOf(g), g.Number('p'), g.Signed('z')
	x, y := int(g.Number('x'))-1, int(g.Number('y'))-1
	switch kind {
	case 'a':
		return func(p *Placement, _, _ int) bool { return p.Image == nil || p.Image.ID != 0 }
	case 'i', 'n':
		return func(p *Placement, _, _ int) bool {
			return p.Image != nil && p.Image.ID == id && id != 0 && (placement == 0 || p.ID == placement)
		}
	case 'r':
		return func(p *Placement, _, _ int) bool { return p.Image != nil && g.SelectsID(p.Image.ID) }
	case 'z':
		return func(p *Placement, _, _ int) bool { return p.Z == z }
	case 'c':
		x, y = t.cur.Col, t.cur.Row
		return t.covering(x, y, func(*Placement) bool { return true })
	case 'p':
		return t.covering(x, y, func(*Placement) bool { return true })
	case 'q':
		return t.covering(x, y, func(p *Placement) bool { return p.Z == z })
	case 'x':
		return t.covering(x, -1, func(*Placement) bool { return true })
	case 'y':
		return t.covering(-1, y, func(*Placement) bool { return true })
	}
	return nil
}

// covering returns a match function for placements that cover a cell; -1 matches any column or row.
func (t *Terminal) covering(x, y int, match func(*Placement) bool) func(*Placement, int, int) bool {
	found := make(map[*Placement]bool)
	t.eachImageCell(func(p *Placement, row, col int) {
		if (x < 0 || col == x) && (y < 0 || row == y) && match(p) {
			found[p] = true
		}
	})
	return func(p *Placement, _, _ int) bool { return found[p] }
}

func (a *replyQueue) answerKitty(g *graphics.Command, err string) {
	if body, wanted := g.Answer(err); wanted {
		a.reply('_', body+a.terminator())
	}
}
