package graphics

// Bounds of what is kept.
const (
	BytesMax          = 32 << 20 // of all images together; the oldest go first
	ImagesMax         = 1024
	firstNumbered     = 1 << 30 // the first id given to an image that has a number only
	PlacementsMax     = 1 << 16
	PlacementCellsMax = 1 << 20 // rows times columns that one placement may cover
	pendingMax        = 16 << 20
)

// Store holds the images and placements. The list of placements only grows, as
// frames share it, and starts anew when it is full.
type Store struct {
	Images     []*Image
	Placements []Placement
	Bytes      int
	Numbers    map[uint32]uint32 // ids by the numbers (I=) of the kitty protocol
}

// Clear forgets all images and placements.
func (s *Store) Clear() { *s = Store{} }

// Add keeps an image. When there are too many the older half goes at once, so that the
// cost of taking it out of the placements is spread.
func (s *Store) Add(img *Image) {
	if len(img.Data) > BytesMax {
		return
	}
	s.Images = append(s.Images, img)
	s.Bytes += len(img.Data)
	if s.Bytes <= BytesMax && len(s.Images) <= ImagesMax {
		return
	}
	n := 0
	for left := s.Bytes; n < len(s.Images)-1 && (left > BytesMax/2 || n < len(s.Images)/2); n++ {
		left -= len(s.Images[n].Data)
	}
	s.Remove(s.Images[:n]...)
}

// Place keeps a placement and returns its index, which image cells hold; false when there
// are too many. No placement has index 0.
func (s *Store) Place(p Placement) (index int, ok bool) {
	if len(s.Placements) >= PlacementsMax {
		return 0, false
	}
	if len(s.Placements) == 0 {
		s.Placements = append(s.Placements, Placement{})
	}
	s.Placements = append(s.Placements, p)
	return len(s.Placements) - 1, true
}

// Number gives a numbered image an id that is free.
func (s *Store) Number(n uint32) uint32 {
	id := uint32(firstNumbered)
	for s.Find(id) != nil {
		id++
	}
	if s.Numbers == nil || len(s.Numbers) > ImagesMax {
		s.Numbers = make(map[uint32]uint32)
	}
	s.Numbers[n] = id
	return id
}

// IDOf is the id of the image that a command of the kitty protocol names, or 0.
func (s *Store) IDOf(g *Command) uint32 {
	if n := g.Number('I'); n != 0 {
		return s.Numbers[n]
	}
	return g.Number('i')
}

// Remove forgets images; placements of them stay without a picture.
func (s *Store) Remove(gone ...*Image) {
	set := make(map[*Image]bool, len(gone))
	for _, img := range gone {
		set[img] = true
	}
	s.RemoveSet(set)
}

// RemoveSet is Remove.
func (s *Store) RemoveSet(set map[*Image]bool) {
	if len(set) == 0 {
		return
	}
	for img := range set {
		s.Bytes -= len(img.Data)
	}
	var list []*Image
	for _, img := range s.Images {
		if !set[img] {
			list = append(list, img)
		}
	}
	next := append([]Placement(nil), s.Placements...)
	for j := range next {
		if set[next[j].Image] {
			next[j].Image = nil
		}
	}
	s.Images, s.Placements = list, next
}

// Find is the newest image with an id, or nil.
func (s *Store) Find(id uint32) *Image {
	for i := len(s.Images) - 1; i >= 0; i-- {
		if s.Images[i].ID == id && id != 0 {
			return s.Images[i]
		}
	}
	return nil
}
