package vterm

import (
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/vterm/internal/color"
	"github.com/longterm-dev/longterm/vterm/internal/graphics"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
)

func (c *codec) screens(t *Terminal) {
	alt := t.alternate != nil
	c.flag(&alt)
	shown := t.scr != t.primary
	c.flag(&shown)
	if c.reading {
		t.primary = grid.NewScreen(&t.tables, t.cols, t.rows)
		t.scr = t.primary
		if alt {
			t.alternate = grid.NewScreen(&t.tables, t.cols, t.rows)
		}
		if shown && alt {
			t.scr = t.alternate
		}
	}
	c.rows(t, t.primary)
	if alt {
		c.rows(t, t.alternate)
	}
}

func (c *codec) rows(t *Terminal, s *grid.Screen) {
	var blank grid.Row
	for i, r := range s.Window() {
		if c.r.Bad {
			return
		}
		if !c.reading {
			if r == nil { // and stays so: idle sessions are written to the disk, too
				r = &blank
			}
			rec := t.tables.EncodeRow(nil, r)
			c.bytes(&rec)
			continue
		}
		var rec []byte
		c.bytes(&rec)
		if !s.RestoreRow(s.Raw(i), rec, len(t.images.Placements)) {
			c.fail()
		}
	}
}

func (c *codec) scrollback(t *Terminal) {
	h := t.scrollback
	base := h.FirstID()
	unsigned(c, &base, anyUint/2)
	stale := h.StaleCode()
	unsigned(c, &stale, 1<<30)
	c.flag(&h.Wrapped)
	signed(c, &h.Widest, 0, grid.MaxCols)
	n := h.Len()
	signed(c, &n, 0, 1<<30)
	if !c.reading {
		c.w = slices.Grow(c.w, h.BytesKept())
	}
	for i := 0; i < n && !c.r.Bad; i++ {
		if !c.reading {
			rec := h.Record(i)
			c.bytes(&rec)
			continue
		}
		rec := c.r.Bytes(c.r.Uvarint())
		if !h.Restore(rec, len(t.images.Placements)) {
			c.fail()
			return
		}
	}
	if c.reading {
		h.Base = base
		h.SetStaleCode(stale)
	}
}

func (c *codec) settings(t *Terminal) {
	if tabs := len(t.tabs); c.reading || tabs > 0 {
		list(c, (*[]uint64)(&t.tabs), (MaxCols+63)/64, func(w *uint64) { unsigned(c, w, anyUint) })
	}
	if c.reading && len(t.tabs) < (t.cols+63)/64 {
		c.fail()
		t.resetTabs()
	}
	signed(c, &t.top, 0, t.rows-1)
	signed(c, &t.bottom, t.top, t.rows-1)
	signed(c, &t.left, 0, t.cols-1)
	signed(c, &t.right, t.left, t.cols-1)
	c.shape(&t.shape)
	for i := range t.kitty {
		k := &t.kitty[i]
		signed(c, &k.n, 0, kittyDepth-1)
		for j := range k.entries {
			unsigned(c, &k.entries[j], KittyFlagsAll)
		}
	}
	for i := range t.keyFormat.resources {
		signed(c, &t.keyFormat.resources[i], 0, 4)
	}
	unsigned(c, &t.keyFormat.modifyOther, 2)
	unsigned(c, &t.keyFormat.formatOther, 1)
	signed(c, &t.conform.level, 1, levelMax)
	c.flag(&t.bit8)
	unsigned(c, &t.guard, uint64(guardISO))
	signed(c, &t.conform.checksum, 0, 1<<16)
	signed(c, &t.rectExtent, 0, 1<<16)
	c.str(&t.clipboard)
	c.titles(t)
}

// chosenBlock is the code of a block cursor that a program chose. Older versions reject snapshots that contain it, as
// with fitBit.
const chosenBlock = CursorBar + 1

func (c *codec) shape(s *cursorStyle) {
	n := s.shape
	if n == CursorBlock && s.chosen {
		n = chosenBlock
	}
	unsigned(c, &n, uint64(chosenBlock))
	if s.shape, s.chosen = n, n != CursorBlock; n == chosenBlock {
		s.shape = CursorBlock
	}
}

func (c *codec) titles(t *Terminal) {
	c.str(&t.title.window)
	c.str(&t.title.icon)
	list(c, &t.title.stack, titleStackMax, func(s *[2]string) { c.str(&s[0]); c.str(&s[1]) })
	c.flag(&t.title.setHex)
	c.flag(&t.title.queryHex)
}

func (c *codec) rgb(v *uint32) { unsigned(c, v, 0xffffff) }

// colors codes a palette as its differences from the default one.
func (c *codec) colors(p *Palette) {
	var changed []int
	for i, v := range p.Colors {
		if v != color.Defaults.Colors[i] {
			changed = append(changed, i)
		}
	}
	values := *p
	if c.reading {
		*p = *color.Defaults
	}
	list(c, &changed, 256, func(i *int) {
		signed(c, i, 0, 255)
		c.rgb(&values.Colors[*i])
		p.Colors[*i] = values.Colors[*i]
	})
	c.rgb(&p.Foreground)
	c.rgb(&p.Background)
	c.rgb(&p.Cursor)
}

func (c *codec) paletteState(s *color.State) {
	c.colors(&s.Palette)
	for i := range s.Special {
		c.rgb(&s.Special[i])
	}
	for i := range s.Dynamic {
		c.rgb(&s.Dynamic[i])
	}
}

func (c *codec) palette(t *Terminal) {
	p := &t.colors
	now := p.State()
	c.paletteState(&now)
	list(c, &p.Stack, color.StackMax, c.paletteState)
	if c.reading {
		p.SetState(&now)
	}
}

func (c *codec) images(t *Terminal) {
	s := &t.images
	list(c, &s.Images, graphics.ImagesMax, func(p **Image) {
		if c.reading {
			*p = new(Image)
		}
		img := *p
		unsigned(c, &img.ID, 1<<32-1)
		c.imageFormat(img)
		c.flag(&img.Deflated)
		signed(c, &img.Width, 0, 1<<32)
		signed(c, &img.Height, 0, 1<<32)
		c.bytes(&img.Data)
		if c.reading {
			s.Bytes += len(img.Data)
		}
	})
	index := make(map[*Image]int, len(s.Images))
	for i, img := range s.Images {
		index[img] = i + 1
	}
	list(c, &s.Placements, graphics.PlacementsMax+1, func(p *Placement) {
		i := index[p.Image]
		signed(c, &i, 0, len(s.Images))
		if c.reading && i > 0 {
			p.Image = s.Images[i-1]
		}
		unsigned(c, &p.ID, 1<<32-1)
		signed(c, &p.Cols, 0, MaxCols)
		signed(c, &p.Rows, 0, graphics.PlacementCellsMax)
		signed(c, &p.Z, -1<<31, 1<<31-1)
	})
	c.pendingImage(t)
}

// fitBit is a bit in the number of an image's format that earlier versions do not have. They reject a snapshot with it,
// or with an unknown format, like a damaged one; their daemon then replays the journal, which has all stored output.
const fitBit = 1 << 4

func (c *codec) imageFormat(img *Image) {
	n := uint8(img.Format)
	if img.Fit {
		n |= fitBit
	}
	unsigned(c, &n, fitBit|uint64(ImageGIF))
	img.Format, img.Fit = ImageFormat(n&^fitBit), n&fitBit != 0
	if img.Format > ImageGIF {
		c.fail()
	}
}

// pendingImage codes an image whose chunks are incomplete.
func (c *codec) pendingImage(t *Terminal) {
	g := &t.collector
	open := g.Control != nil
	c.flag(&open)
	if !open {
		return
	}
	var keys []byte
	for k := range 256 {
		if _, ok := g.Control[byte(k)]; ok {
			keys = append(keys, byte(k))
		}
	}
	if c.reading {
		g.Control = make(map[byte]string)
	}
	list(c, &keys, 64, func(k *byte) {
		unsigned(c, k, 255)
		v := g.Control[*k]
		c.str(&v)
		g.Control[*k] = v
	})
	c.bytes(&g.Data)
	c.flag(&g.TooLong)
}

// additions codes fields of later versions: the ids of numbered images, then the mouse pointer. It comes last and
// writes nothing if all are unset, so older snapshots can be read.
func (c *codec) additions(t *Terminal) {
	s := &t.images
	if c.reading && len(c.r.B) == 0 || !c.reading && len(s.Numbers) == 0 && t.pointer == "" {
		return
	}
	numbers := slices.Sorted(maps.Keys(s.Numbers))
	if c.reading {
		s.Numbers = map[uint32]uint32{}
	}
	list(c, &numbers, graphics.ImagesMax+1, func(n *uint32) {
		unsigned(c, n, 1<<32-1)
		id := s.Numbers[*n]
		unsigned(c, &id, 1<<32-1)
		s.Numbers[*n] = id
	})
	switch {
	case !c.reading && t.pointer != "" || c.reading && len(c.r.B) > 0:
		c.str(&t.pointer)
		if t.pointer == "" || len(t.pointer) > pointerMax {
			c.fail()
		}
	case len(s.Numbers) == 0:
		c.fail()
	}
}
