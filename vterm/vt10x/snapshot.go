package vt10x

import (
	"encoding/binary"
	"hash/crc32"
	"unicode/utf8"

	vt "github.com/hinshun/vt10x"

	"github.com/longterm-dev/longterm/vterm"
)

// A snapshot is
//
//	"LTVX" | format (1 byte) | fields, in the order of Engine.code | CRC-32C of all before
//
// Numbers are unsigned varints, signed ones zigzag; texts are a length and bytes; each row
// of a screen is its age and runs of equal glyphs. Events and replies not fetched yet
// are not part of it.
const (
	snapshotMagic  = "LTVX"
	snapshotFormat = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendScreenSnapshot appends the state; the engine has no scrollback.
func (e *Engine) AppendScreenSnapshot(dst []byte) []byte { return e.AppendSnapshot(dst) }

// AppendSnapshot appends the state.
func (e *Engine) AppendSnapshot(dst []byte) []byte {
	e.sync()
	start := len(dst)
	w := coder{buf: append(append(dst, snapshotMagic...), snapshotFormat), write: true}
	e.code(&w)
	return binary.LittleEndian.AppendUint32(w.buf, crc32.Checksum(w.buf[start:], castagnoli))
}

// code writes the engine to c, or reads it from c: one list of fields serves both.
func (e *Engine) code(c *coder) {
	codeSize(c, e)
	c.uint64(&e.read)
	c.uint64(&e.version)
	c.uint64(&e.full)
	e.scanner.code(c)
	e.tables.code(c)
	e.codePens(c)
	e.codeModes(c)
	e.codeLibrary(c)
	codePalette(c, &e.palette)
	c.text(&e.title)
	for screen := range 2 {
		e.codeScreen(c, screen)
	}
}

// codeSize creates the grid before its content is read.
func codeSize(c *coder, e *Engine) {
	cols, rows := e.cols, e.rows
	c.int(&cols, vterm.MinCols, vterm.MaxCols)
	c.int(&rows, vterm.MinRows, vterm.MaxRows)
	// A row takes three bytes at least, so that a short snapshot cannot claim many.
	c.check(c.write || len(c.buf) >= 2*3*rows)
	if c.err == nil && !c.write && (cols != e.cols || rows != e.rows) {
		e.cols, e.rows, e.grid = cols, rows, newGrid(cols, rows)
		e.versions.start(rows)
	}
}

func (s *scanner) code(c *coder) {
	codeByte(c, (*byte)(&s.state))
	c.check(s.state < numStates)
	codeByte(c, &s.kind)
	c.bytes(&s.seq, maxStr)
	c.bool(&s.long)
	part := s.part[:s.parts]
	c.bytes(&part, len(s.part)-1)
	s.parts = copy(s.part[:], part)
	c.check(s.parts == 0 || s.state == ground && !utf8.FullRune(part))
	c.check(s.state < csi || s.state > csiIgnore || len(s.seq) <= maxCSI)
}

func (t *tables) code(c *coder) {
	codeSlice(c, &t.links, 2, func(l *vterm.Link) { c.text(&l.ID); c.text(&l.URI) })
	codeSlice(c, &t.clusters, 1, c.text)
	codeSlice(c, &t.styles, 7, func(s *vterm.Style) { t.codeStyle(c, s) })
	c.check(len(t.styles) > 0 && t.styles[0] == vterm.Style{})
	c.int(&t.live, 0, 1<<30)
	c.int(&t.liveText, 0, 1<<30)
	if !c.write && c.err == nil {
		t.index()
	}
}

// index creates the maps that find entries.
func (t *tables) index() {
	links, clusters, styles := t.links, t.clusters, t.styles
	if len(links) > 0 {
		t.linkIDs = make(map[vterm.Link]vterm.LinkID, len(links))
		for i, l := range links[1:] {
			t.linkIDs[l] = vterm.LinkID(i + 1)
			t.text += len(l.ID) + len(l.URI)
		}
	}
	if len(clusters) > 0 {
		t.clusterIDs = make(map[string]int, len(clusters))
		for i, s := range clusters {
			t.clusterIDs[s] = i
			t.text += len(s)
		}
	}
	if len(styles) > 1 {
		t.styleIDs = make(map[vterm.Style]vterm.StyleID, len(styles))
		for i, s := range styles[1:] {
			t.styleIDs[s] = vterm.StyleID(i + 1)
		}
	}
}

func (t *tables) codeStyle(c *coder, s *vterm.Style) {
	for _, v := range [...]*vterm.Color{&s.FG, &s.BG, &s.ULColor} {
		codeUint32(c, (*uint32)(v))
		c.check(v.Kind() <= vterm.ColorRGB)
	}
	attrs := uint32(s.Attrs)
	codeUint32(c, &attrs)
	s.Attrs = vterm.Attrs(attrs)
	codeByte(c, (*byte)(&s.Underline))
	c.check(s.Underline <= vterm.UnderlineDashed)
	codeUint32(c, (*uint32)(&s.Link))
	c.check(s.Link == 0 || int(s.Link) < len(t.links))
}

func (e *Engine) codePens(c *coder) {
	e.codeStyle(c, &e.pen)
	e.codeStyle(c, &e.saved.pen)
	for _, cs := range [...]*charsets{&e.cs, &e.saved.cs} {
		for i := range cs.g {
			codeByte(c, &cs.g[i])
		}
		codeByte(c, &cs.shift)
		codeByte(c, &cs.single)
		c.check(cs.shift < 4 && cs.single < 4)
	}
	codeRune(c, &e.lastRune)
}

func (e *Engine) codeModes(c *coder) {
	m := &e.modes
	for _, b := range [...]*bool{
		&m.AppCursor, &m.AppKeypad, &m.BracketedPaste, &m.FocusEvents, &m.ReverseVideo, &m.NewLine,
		&m.BackarrowBS, &m.AltScreen, &m.AltScroll, &m.Sync, &m.InBandResize, &m.SchemeReports,
		&e.insert, &e.cursor.Visible, &e.cursor.Blink,
	} {
		c.bool(b)
	}
	mouse, enc := int(m.Mouse), int(m.MouseEncoding)
	c.int(&mouse, 0, 1<<16-1)
	c.int(&enc, 0, 1<<16-1)
	m.Mouse, m.MouseEncoding = vterm.MouseTracking(mouse), vterm.MouseEncoding(enc)
	codeByte(c, &m.ModifyOtherKeys)
	codeByte(c, &m.FormatOtherKeys)
	codeByte(c, (*byte)(&e.cursor.Shape))
	c.check(e.cursor.Shape <= vterm.CursorBar)
	for i := range e.kitty {
		k := &e.kitty[i]
		codeByte(c, &k.active)
		codeByte(c, &k.n)
		c.check(k.n <= maxKitty)
		for j := range k.pushed {
			codeByte(c, &k.pushed[j])
		}
	}
}

// codeLibrary codes the library's state without its cells.
func (e *Engine) codeLibrary(c *coder) {
	g := &e.grid
	for _, cur := range [...]*vt.Cursor{g.cur, g.saved} {
		c.int(&cur.X, 0, 1<<20)
		c.int(&cur.Y, 0, 1<<20)
		codeByte(c, &cur.State)
		if !c.write {
			*cur = e.clampCursor(*cur)
			cur.Attr = vt.Glyph{FG: vt.DefaultFG, BG: kindErased}
		}
	}
	c.int(g.top, 0, e.rows-1)
	c.int(g.bottom, 0, e.rows-1)
	c.check(*g.top <= *g.bottom)
	mode := uint32(*g.mode & modeBits)
	codeUint32(c, &mode)
	if *g.mode = vt.ModeFlag(mode) & modeBits; e.modes.AltScreen {
		*g.mode |= vt.ModeAltScreen
	} else {
		*g.mode &^= vt.ModeAltScreen
	}
	for i := range *g.tabs {
		c.bool(&(*g.tabs)[i])
	}
}

// codePalette codes a palette, if it is not the default one.
func codePalette(c *coder, p **vterm.Palette) {
	own := *p != nil
	if c.bool(&own); !own || c.err != nil {
		return
	}
	if !c.write {
		*p = new(vterm.Palette)
	}
	for i := range (*p).Colors {
		codeUint32(c, &(*p).Colors[i])
	}
	codeUint32(c, &(*p).Foreground)
	codeUint32(c, &(*p).Background)
	codeUint32(c, &(*p).Cursor)
}

// codeScreen codes the rows of a screen, each with the number of versions since its last change.
func (e *Engine) codeScreen(c *coder, screen int) {
	for y, row := range e.grid.screen(screen == 1) {
		at := &e.rowsAt[screen][y]
		age := e.version - at.version
		c.uint64(&age)
		c.check(age < max(e.version, 1))
		if c.err != nil {
			return
		}
		e.codeRow(c, row)
		if !c.write {
			*at = rowVersion{digest(appendCells(nil, row)), e.version - age}
		}
	}
}

func (e *Engine) codeRow(c *coder, row []vt.Glyph) {
	for x := 0; x < len(row) && c.err == nil; {
		g, n := row[x], 1
		for c.write && x+n < len(row) && row[x+n] == g {
			n++
		}
		c.int(&n, 1, len(row)-x)
		e.codeGlyph(c, &g)
		if !c.write && c.err == nil {
			for i := range n {
				row[x+i] = g
			}
		}
		x += n
	}
}

func (e *Engine) codeGlyph(c *coder, g *vt.Glyph) {
	// erased cells of the default style, by far the most, take one byte
	id, kind := uint32(g.FG), uint32(g.BG)
	if g.FG == vt.DefaultFG {
		id = 0
	}
	if g.BG == kindErased {
		kind = 0
	}
	head := kind<<1 | uint32(bit(g.Mode&attrWrap != 0)) | id<<4
	codeUint32(c, &head)
	if kind = head >> 1 & 7; kind != 0 {
		codeRune(c, &g.Char)
	}
	if c.write {
		return
	}
	id = head >> 4
	c.check(int(id) < len(e.styles) && kind <= uint32(kindWideCluster))
	*g = vt.Glyph{Char: g.Char, Mode: int16(head&1) * attrWrap, FG: vt.Color(id), BG: vt.Color(kind)}
	if id == 0 {
		g.FG = vt.DefaultFG
	}
	if kind == 0 {
		g.Char, g.BG = ' ', kindErased
	}
	if g.BG == kindCluster || g.BG == kindWideCluster {
		c.check(int(g.Char) < len(e.clusters))
	} else {
		c.check(g.Char >= ' ')
	}
}
