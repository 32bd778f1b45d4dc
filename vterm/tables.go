package vterm

import "unicode/utf8"

// maxCluster bounds the bytes of one grapheme cluster; marks beyond are dropped.
const maxCluster = 128

const (
	textPresentation  = 0xfe0e // VS15
	emojiPresentation = 0xfe0f // VS16
)

// tables are the side tables that the cells of a terminal's screens and scrollback refer to,
// and the version that rows get which change now.
type tables struct {
	version  uint64
	styles   styleTable
	clusters clusterTable
	links    linkTable
}

// styleTable gives styles their ids. It only grows; a style's id stays what it is until
// the whole table is rebuilt (compact.go).
type styleTable struct {
	list  []Style
	slots []uint64 // open addressing: hash in the high half, id+1 in the low; 0 is free
	limit int      // size at which it is rebuilt, when above styleLimit
}

func (s *styleTable) init() {
	s.list = append(make([]Style, 0, 8), Style{})
	s.slots = nil
}

// lookup finds a style's id or gives it one. It takes a pointer because a style that was
// just written is slow to copy.
func (s *styleTable) lookup(st *Style) StyleID {
	if st.isZero() {
		return 0
	}
	if 2*len(s.list) >= len(s.slots) {
		s.grow()
	}
	h := hashStyle(st)
	mask := uint64(len(s.slots) - 1)
	for i := h >> 32 & mask; ; i = (i + 1) & mask {
		slot := s.slots[i]
		if slot == 0 {
			s.list = append(s.list, *st)
			s.slots[i] = h&^0xffffffff | uint64(len(s.list))
			return StyleID(len(s.list) - 1)
		}
		if (slot^h)>>32 == 0 && s.list[uint32(slot)-1].equal(st) {
			return StyleID(uint32(slot) - 1)
		}
	}
}

// equal is ==, field by field.
func (s *Style) equal(o *Style) bool {
	return s.FG == o.FG && s.BG == o.BG && s.ULColor == o.ULColor && s.Attrs == o.Attrs &&
		s.Underline == o.Underline && s.Link == o.Link
}

func (s *Style) isZero() bool {
	return uint32(s.FG|s.BG|s.ULColor)|uint32(s.Attrs)|uint32(s.Underline)|uint32(s.Link) == 0
}

func (s *styleTable) grow() {
	s.slots = make([]uint64, nextPow2(max(32, 4*len(s.list))))
	mask := uint64(len(s.slots) - 1)
	for id := range s.list[1:] {
		h := hashStyle(&s.list[id+1])
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
	h := uint64(s.FG)<<32 | uint64(s.BG)
	h = (h ^ h>>29) * 0xff51afd7ed558ccd
	h ^= uint64(s.ULColor)<<32 | uint64(s.Link)<<16 ^ uint64(s.Attrs)<<3 ^ uint64(s.Underline)
	return (h ^ h>>31) * 0x9e3779b97f4a7c15
}

// clusterTable gives grapheme clusters of several code points their indices.
type clusterTable struct {
	list  []string
	index map[string]uint32
	bytes int
	// sizes at which it is rebuilt, when above clusterLimit and clusterBytes
	limit, byteLimit int
}

// intern gives a cluster its index; a full table gives 0, a blank.
func (c *clusterTable) intern(b []byte) uint32 {
	if i, ok := c.index[string(b)]; ok {
		return i
	}
	if c.index == nil {
		c.index = make(map[string]uint32)
	}
	if len(c.list) >= clusterMax || len(b) == 0 {
		return 0
	}
	if len(c.list) == 0 {
		c.list = append(c.list, "") // index 0 would look blank
	}
	s := string(b)
	i := uint32(len(c.list))
	c.list = append(c.list, s)
	c.index[s] = i
	c.bytes += len(s)
	return i
}

// linkTable gives hyperlinks their ids; entry 0 is no link.
type linkTable struct {
	list  []Link
	index map[Link]LinkID
	bytes int
}

// intern gives a link its id; when the table is full there are no new links.
func (l *linkTable) intern(link Link) LinkID {
	if id, ok := l.index[link]; ok {
		return id
	}
	if l.index == nil {
		l.index = make(map[Link]LinkID)
		l.list = append(l.list, Link{})
	}
	if l.bytes > linkBytesMax {
		return 0
	}
	id := LinkID(len(l.list))
	l.list = append(l.list, link)
	l.index[link] = id
	l.bytes += len(link.ID) + len(link.URI)
	return id
}

// extended is a cell with one more character.
func (tb *tables) extended(c Cell, r rune) Cell {
	var buf [maxCluster + utf8.UTFMax]byte
	b := buf[:0]
	if c&CellCluster != 0 {
		b = append(b, tb.clusters.list[c.Content()]...)
	} else {
		b = utf8.AppendRune(b, c.Rune())
	}
	if b = utf8.AppendRune(b, r); len(b) > maxCluster {
		return c
	}
	i := tb.clusters.intern(b)
	if i == 0 {
		return c
	}
	return c&^cellContentMask | CellCluster | Cell(i)
}
