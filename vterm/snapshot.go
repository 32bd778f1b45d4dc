package vterm

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

// A snapshot is
//
//	magic "LTVT" · version, one byte · body · CRC-32 of all before, little endian
//
// where the body is the fields below in order. Numbers are varints. Rows are records as
// in the scrollback. What the owner has not yet drained, events and replies, is
// not part of it.
const (
	snapshotMagic   = "LTVT"
	snapshotVersion = 2
)

// firstVersion is the oldest readable version. It encodes 24-bit text colours like any other style.
const firstVersion = 1

const anyUint = 1<<64 - 1

// AppendSnapshot implements Engine.
func (t *Terminal) AppendSnapshot(dst []byte) []byte {
	t.scr.Flush()
	start := len(dst)
	c := &codec{w: append(append(dst, snapshotMagic...), snapshotVersion)}
	c.terminal(t)
	return binary.LittleEndian.AppendUint32(c.w, crc32.ChecksumIEEE(c.w[start:]))
}

// AppendScreenSnapshot implements Engine. Lines that scroll off later get the ids they
// would have had.
func (t *Terminal) AppendScreenSnapshot(dst []byte) []byte {
	full := t.scrollback
	defer func() { t.scrollback = full }()
	t.scrollback = full.EmptyCopy()
	return t.AppendSnapshot(dst)
}

// Restore implements Engine.
func (t *Terminal) Restore(b []byte) error {
	t.start()
	n := len(b) - 4
	head := len(snapshotMagic) + 1
	if n < head || string(b[:head-1]) != snapshotMagic || b[head-1] < firstVersion || b[head-1] > snapshotVersion ||
		crc32.ChecksumIEEE(b[:n]) != binary.LittleEndian.Uint32(b[n:]) {
		return errSnapshot
	}
	c := &codec{r: grid.Reader{B: b[head:n]}, reading: true}
	c.terminal(t)
	if c.r.Bad || len(c.r.B) > 0 {
		t.start()
		return errSnapshot
	}
	t.deriveState()
	return nil
}

// deriveState computes the state that a snapshot does not contain.
func (t *Terminal) deriveState() {
	t.penChanged()
	t.updateSimple()
	t.tablesVersion = t.tables.Version
	t.primary.Moved = t.tables.Version
	if t.alternate != nil {
		t.alternate.Moved = t.tables.Version
	}
	t.syncing = t.modes&modeSync != 0
	t.lastModes = t.Modes()
}

// terminal codes the whole terminal.
func (c *codec) terminal(t *Terminal) {
	signed(c, &t.cols, MinCols, MaxCols)
	signed(c, &t.rows, MinRows, MaxRows)
	unsigned(c, &t.tables.Version, anyUint/2)
	unsigned(c, &t.written, anyUint/2)
	c.tables(t)
	c.images(t)
	c.screens(t)
	c.scrollback(t)
	c.cursorState(t)
	c.modes(t)
	c.settings(t)
	c.palette(t)
	c.parser(t)
	c.additions(t)
}

func (c *codec) color(v *Color) {
	unsigned(c, v, uint64(ColorRGB)<<24|0xffffff)
}

func (c *codec) style(s *Style, links int) {
	c.color(&s.FG)
	c.color(&s.BG)
	c.color(&s.ULColor)
	unsigned(c, &s.Attrs, uint64(Overline)<<1-1)
	unsigned(c, &s.Underline, uint64(UnderlineDashed))
	unsigned(c, &s.Link, uint64(max(links-1, 0)))
}

// tables codes links and the lasting styles. The rows contain other styles and clusters.
func (c *codec) tables(t *Terminal) {
	links := t.tables.Links.List
	list(c, &links, 1<<22, func(l *Link) { c.str(&l.ID); c.str(&l.URI) })
	styles := t.tables.Styles.List[:min(len(t.tables.Styles.List), grid.LastingStyles)]
	list(c, &styles, grid.LastingStyles, func(s *Style) { c.style(s, len(links)) })
	if !c.reading {
		return
	}
	for i, l := range links {
		if i > 0 {
			t.tables.Links.ID(l)
		}
	}
	t.tables.Styles.List = styles
	if len(styles) == 0 || styles[0] != (Style{}) || len(t.tables.Links.List) != len(links) {
		c.fail()
		t.tables.Styles.Init()
	}
	t.tables.Styles.Grow()
}

func (c *codec) position(p *grid.Cursor, t *Terminal) {
	signed(c, &p.Row, 0, t.rows-1)
	signed(c, &p.Col, 0, t.cols-1)
	c.flag(&p.Pending)
}

func (c *codec) charsets(s *charsets) {
	for i := range s.g {
		unsigned(c, &s.g[i], uint64(len(charsetTables)-1))
	}
	unsigned(c, &s.gl, 3)
	unsigned(c, &s.gr, 3)
	unsigned(c, &s.single, 3)
}

func (c *codec) cursorState(t *Terminal) {
	links := len(t.tables.Links.List)
	c.position(&t.cur, t)
	c.style(&t.pen, links)
	unsigned(c, &t.protect, uint64(CellProtected|CellISOGuard))
	c.charsets(&t.charsets)
	for i := range t.saved {
		s := &t.saved[i]
		c.flag(&s.set)
		c.position(&s.cur, t)
		c.style(&s.pen, links)
		unsigned(c, &s.protect, uint64(CellProtected|CellISOGuard))
		c.charsets(&s.charsets)
		c.flag(&s.origin)
	}
	list(c, &t.sgrStack, sgrStackMax, func(s *savedSGR) {
		c.style(&s.pen, links)
		list(c, &s.mask, 64, func(m *int) { signed(c, m, 0, 1<<16) })
	})
	signed(c, &t.lastRune, 0, 0x10ffff)
	unsigned(c, &t.join, 0xff)
	t.protect &= CellProtected | CellISOGuard
}

// modes codes modes by their numbers, which are stable, unlike the bits.
func (c *codec) modes(t *Terminal) {
	var set []int
	for i := range modeTable {
		if m := &modeTable[i]; m.bit != 0 && t.modes&m.bit != 0 {
			set = append(set, modeKey(m))
		}
	}
	list(c, &set, len(modeTable), func(k *int) { signed(c, k, 0, 1<<17) })
	var saved []int
	for n, on := range t.savedModes {
		saved = append(saved, n<<1|boolInt(on))
	}
	slices.Sort(saved)
	list(c, &saved, len(modeTable), func(k *int) { signed(c, k, 0, 1<<17) })
	if !c.reading {
		return
	}
	t.modes = 0
	for _, k := range set {
		if m := findMode(k>>1, k&1 == 1); m != nil {
			t.modes |= m.bit
		}
	}
	for _, k := range saved {
		if t.savedModes == nil {
			t.savedModes = make(map[int]bool)
		}
		t.savedModes[k>>1] = k&1 == 1
	}
}

func modeKey(m *mode) int { return m.number<<1 | boolInt(m.ansi) }

func (c *codec) parser(t *Terminal) {
	var state []byte
	if !c.reading {
		state = t.parser.AppendSnapshot(nil)
	}
	c.bytes(&state)
	partial := t.decoder.Partial()
	c.bytes(&partial)
	if !c.reading {
		return
	}
	rest, ok := t.parser.Restore(state)
	if !ok || len(rest) > 0 || !t.decoder.Restore(partial) || t.parser.VT52 != (t.modes&modeANSI == 0) {
		c.fail()
		t.parser.Reset()
		return
	}
}
