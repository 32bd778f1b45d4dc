package graphics

// Limits of a Store.
const (
	BytesMax          = 32 << 20 // size of all images; the oldest are dropped first
	ImagesMax         = 1024
	firstNumbered     = 1 << 30 // first id assigned to an image that only has a number
	PlacementsMax     = 1 << 16
	PlacementCellsMax = 1 << 20 // rows times columns of one placement
	pendingMax        = 16 << 20
)

// Store holds images and placements. Frames share the list of placements, so it is only appended to, and replaced when
// it is full.
type Store struct {
	Images     []*Image
	Placements []Placement
	Bytes      int
	Numbers    map[uint32]uint32 // ids by number (I=) in the kitty protocol
}

// Clear removes all images and placements.
func (s *Store) Clear() { *s = Store{} }

// Add stores an image. Beyond the limits it removes the older half at once, which spreads the cost of updating the
// placements.
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

// Place stores a placement and returns its index, which image cells contain, or false if there are too many. Index 0 is
// never used.
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

// Number assigns a free id to a numbered image.
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

// IDOf returns the id of the image that a kitty command refers to, or 0.
func (s *Store) IDOf(g *Command) uint32 {
	if n := g.Number('I'); n != 0 {
		return s.Numbers[n]
	}
	return g.Number('i')
}

// Remove removes images. Their placements stay, without a picture.
func (s *Store) Remove(images ...*Image) {
	set := make(map[*Image]bool, len(images))
	for _, img := range images {
		set[img] = true
	}
	s.RemoveSet(set)
}

// RemoveSet removes a set of images.
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

// Find returns the newest image with an id, or nil.
func (s *Store) Find(id uint32) *Image {
	for i := len(s.Images) - 1; i >= 0; i-- {
		if s.Images[i].ID == id && id != 0 {
			return s.Images[i]
		}
	}
	return nil
}
