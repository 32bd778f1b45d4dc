package vterm

// ImageFormat says how the data of an Image is encoded.
type ImageFormat uint8

// Image formats.
const (
	ImageSixel ImageFormat = iota // the body of the DCS, as sent
	ImagePNG
	ImageRGB  // 3 bytes a pixel
	ImageRGBA // 4 bytes a pixel
)

// Image is a picture that a program sent, undecoded.
type Image struct {
	ID            uint32 // of the kitty protocol; 0 for sixels
	Format        ImageFormat
	Deflated      bool // Data is a zlib stream
	Width, Height int  // pixels; 0 when the data has to be asked
	Data          []byte
}

// Placement is an image put on the screen. An image cell's content is the index of its
// placement in Frame.Images.
type Placement struct {
	Image      *Image
	ID         uint32 // of the kitty protocol
	Cols, Rows int    // cells covered
	Z          int32
}

const (
	imageBytesMax      = 32 << 20 // of all images together; the oldest go first
	imageMax           = 1024
	firstNumbered      = 1 << 30 // the first id given to an image that has a number only
	placementMax       = 1 << 16
	placementCells     = 1 << 20 // rows times columns that one placement may cover
	pendingImageChunks = 16 << 20
)

// imageStore holds the images and placements. The list of placements only grows, as
// frames share it, and starts anew when it is full.
type imageStore struct {
	list       []*Image
	placements []Placement
	bytes      int
	numbers    map[uint32]uint32 // ids by the numbers (I=) of the kitty protocol
}

func (s *imageStore) clear() { *s = imageStore{} }

// add keeps an image. When there are too many the older half goes at once, so that the
// cost of taking it out of the placements is spread.
func (s *imageStore) add(img *Image) {
	if len(img.Data) > imageBytesMax {
		return
	}
	s.list = append(s.list, img)
	s.bytes += len(img.Data)
	if s.bytes <= imageBytesMax && len(s.list) <= imageMax {
		return
	}
	n := 0
	for left := s.bytes; n < len(s.list)-1 && (left > imageBytesMax/2 || n < len(s.list)/2); n++ {
		left -= len(s.list[n].Data)
	}
	s.remove(s.list[:n]...)
}

// number gives a numbered image an id that is free.
func (s *imageStore) number(n uint32) uint32 {
	id := uint32(firstNumbered)
	for s.find(id) != nil {
		id++
	}
	if s.numbers == nil || len(s.numbers) > imageMax {
		s.numbers = make(map[uint32]uint32)
	}
	s.numbers[n] = id
	return id
}

// idOf is the id of the image that a command of the kitty protocol names, or 0.
func (s *imageStore) idOf(g *graphics) uint32 {
	if n := g.number('I'); n != 0 {
		return s.numbers[n]
	}
	return g.number('i')
}

// remove forgets images; placements of them stay without a picture.
func (s *imageStore) remove(gone ...*Image) {
	set := make(map[*Image]bool, len(gone))
	for _, img := range gone {
		set[img] = true
	}
	s.removeSet(set)
}

func (s *imageStore) removeSet(set map[*Image]bool) {
	if len(set) == 0 {
		return
	}
	for img := range set {
		s.bytes -= len(img.Data)
	}
	var list []*Image
	for _, img := range s.list {
		if !set[img] {
			list = append(list, img)
		}
	}
	next := append([]Placement(nil), s.placements...)
	for j := range next {
		if set[next[j].Image] {
			next[j].Image = nil
		}
	}
	s.list, s.placements = list, next
}

// find is the newest image with an id, or nil.
func (s *imageStore) find(id uint32) *Image {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].ID == id && id != 0 {
			return s.list[i]
		}
	}
	return nil
}

// placeImage covers cells from the cursor on with a placement and leaves the cursor in
// the last row of it, scrolling as text would.
func (t *Terminal) placeImage(p Placement, scroll bool) {
	p.Cols = min(max(p.Cols, 1), t.cols-t.cur.col)
	p.Rows = min(max(p.Rows, 1), placementCells/p.Cols)
	if !scroll {
		p.Rows = min(p.Rows, t.rows-t.cur.row)
	}
	if len(t.images.placements) >= placementMax {
		return
	}
	if len(t.images.placements) == 0 {
		t.images.placements = append(t.images.placements, Placement{})
	}
	index := Cell(len(t.images.placements))
	t.images.placements = append(t.images.placements, p)
	col := t.cur.col
	for i := range p.Rows {
		r := t.row()
		r.fill(col, col+p.Cols, CellImage|index, t.cols)
		r.image = true
		if i < p.Rows-1 {
			t.index()
			t.cur.col = col
		}
	}
}

// eachImageCell visits the cells of the screen that show an image.
func (t *Terminal) eachImageCell(f func(p *Placement, row, col int)) {
	for i := range t.rows {
		r := t.scr.at(i)
		for col := 0; r.image && col < r.used; col++ {
			if c := r.cells[col]; c&CellImage != 0 {
				f(&t.images.placements[c.Content()], i, col)
			}
		}
	}
}

// eraseImages blanks the cells of the placements that match.
func (t *Terminal) eraseImages(match func(p *Placement, row, col int) bool) {
	t.eachImageCell(func(p *Placement, row, col int) {
		if match(p, row, col) {
			r := t.stamped(row)
			r.cells[col] = blanked(r.cells[col])
		}
	})
	for i := range t.rows {
		if r := t.scr.at(i); r.image {
			r.trim(r.used, 0)
		}
	}
}
