package grid

import "unicode/utf8"

// maxCluster limits the bytes of one grapheme cluster; further marks are dropped.
const maxCluster = 128

// The variation selectors for text or emoji.
const (
	TextVariation  = 0xfe0e // VS15
	EmojiVariation = 0xfe0f // VS16
)

// Tables are the side tables that the cells of a terminal's screens and scrollback refer to, and the version for rows
// that change now.
type Tables struct {
	Version  uint64
	Styles   StyleTable
	Clusters ClusterTable
	Links    LinkTable

	symbols symbolTable
}

// StyleTable assigns ids to styles. It only grows; ids stay the same until the whole table is rebuilt (compact.go).
type StyleTable struct {
	List  []Style
	slots []uint64 // open addressing: hash in the high half, id+1 in the low; 0 is free
	limit int      // size at which the table is rebuilt, if above StyleLimit

	filter *styleFilter // created when Lacks first needs it
}

// Init resets the table to the default style.
func (s *StyleTable) Init() {
	s.List = append(make([]Style, 0, 8), Style{})
	s.slots, s.filter = nil, nil
}

// ID returns a style's id, assigning one if needed. It takes a pointer because copying a style that was just written is
// slow.
func (s *StyleTable) ID(st *Style) StyleID {
	if st.IsZero() {
		return 0
	}
	if 2*len(s.List) >= len(s.slots) {
		s.Grow()
	}
	h := hashStyle(st)
	mask := uint64(len(s.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			s.List = append(s.List, *st)
			if s.filter != nil {
				s.filter.add(h)
			}
			s.slots[i] = h&^0xffffffff | uint64(len(s.List))
			return StyleID(len(s.List) - 1)
		}
		if (slot^h)>>32 == 0 && s.List[uint32(slot)-1].equal(st) {
			return StyleID(uint32(slot) - 1)
		}
	}
}

// Find returns the ID of a style, or false if it has none.
func (s *StyleTable) Find(st *Style) (StyleID, bool) {
	h := hashStyle(st)
	if h == 0 || len(s.slots) == 0 {
		return 0, st.IsZero()
	}
	mask := uint64(len(s.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			return 0, st.IsZero()
		}
		if (slot^h)>>32 == 0 && s.List[uint32(slot)-1].equal(st) {
			return StyleID(uint32(slot) - 1), true
		}
	}
}

// equal compares styles field by field, faster than ==.
func (s *Style) equal(o *Style) bool {
	return s.FG == o.FG && s.BG == o.BG && s.ULColor == o.ULColor && s.Attrs == o.Attrs &&
		s.Underline == o.Underline && s.Link == o.Link
}

// set assigns o field by field. Copying a whole style would wait until a recent write of a part has left the processor.
func (s *Style) set(o *Style) {
	if s.FG != o.FG {
		s.FG = o.FG
	}
	if s.BG != o.BG {
		s.BG = o.BG
	}
	if s.ULColor != o.ULColor || s.Attrs != o.Attrs || s.Underline != o.Underline || s.Link != o.Link {
		*s = *o
	}
}

// IsZero reports whether the style is the default one.
func (s *Style) IsZero() bool {
	return uint32(s.FG|s.BG|s.ULColor)|uint32(s.Attrs)|uint32(s.Underline)|uint32(s.Link) == 0
}

// Grow makes room for more styles and rehashes those in List.
func (s *StyleTable) Grow() {
	s.slots = make([]uint64, nextPow2(max(32, 4*len(s.List))))
	mask := uint64(len(s.slots) - 1)
	for id := range s.List[1:] {
		h := hashStyle(&s.List[id+1])
		i := h >> 32 & mask
		for s.slots[i] != 0 {
			i = (i + 1) & mask
		}
		s.slots[i] = h&^0xffffffff | uint64(id+2)
	}
}

func nextPow2(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func hashStyle(s *Style) uint64 {
	return hashRest(uint64(s.FG)<<32|uint64(s.BG), uint64(s.ULColor)<<32|uint64(s.Link)<<16^uint64(s.Attrs)<<3^uint64(s.Underline))
}

// hashRest returns the hash of a style from its colours and the rest.
func hashRest(colors, rest uint64) uint64 {
	h := (colors^colors>>29)*0xff51afd7ed558ccd ^ rest
	return (h ^ h>>31) * 0x9e3779b97f4a7c15
}

// ClusterTable assigns indices to grapheme clusters of several code points.
type ClusterTable struct {
	List  []string
	index map[string]uint32
	bytes int
	// sizes at which the table is rebuilt, if above ClusterLimit and clusterBytes
	limit, byteLimit int
}

// ID returns a cluster's index, assigning one if needed. A full table returns 0, a blank.
func (c *ClusterTable) ID(b []byte) uint32 {
	if i, ok := c.index[string(b)]; ok {
		return i
	}
	if c.index == nil {
		c.index = make(map[string]uint32)
	}
	if len(c.List) >= clusterMax || len(b) == 0 {
		return 0
	}
	if len(c.List) == 0 {
		c.List = append(c.List, "") // index 0 would look blank
	}
	s := string(b)
	i := uint32(len(c.List))
	c.List = append(c.List, s)
	c.index[s] = i
	c.bytes += len(s)
	return i
}

// LinkTable assigns ids to hyperlinks; entry 0 is no link.
type LinkTable struct {
	List  []Link
	index map[Link]LinkID
	bytes int
}

// ID returns a link's id, assigning one if needed. A full table adds no links.
func (l *LinkTable) ID(link Link) LinkID {
	if id, ok := l.index[link]; ok {
		return id
	}
	if l.index == nil {
		l.index = make(map[Link]LinkID)
		l.List = append(l.List, Link{})
	}
	if l.bytes > linkBytesMax {
		return 0
	}
	id := LinkID(len(l.List))
	l.List = append(l.List, link)
	l.index[link] = id
	l.bytes += len(link.ID) + len(link.URI)
	return id
}

// Extend returns a cell with one more character.
func (tb *Tables) Extend(c Cell, r rune) Cell {
	var buf [maxCluster + utf8.UTFMax]byte
	b := buf[:0]
	if c&CellCluster != 0 {
		b = append(b, tb.Clusters.List[c.Content()]...)
	} else {
		b = utf8.AppendRune(b, c.Rune())
	}
	if b = utf8.AppendRune(b, r); len(b) > maxCluster {
		return c
	}
	i := tb.Clusters.ID(b)
	if i == 0 {
		return c
	}
	return c&^cellContentMask | CellCluster | Cell(i)
}
