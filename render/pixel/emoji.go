package pixel

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/png"
	"io"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/font/sfnt"
)

// bitmapEmoji is a font with PNG pictures (OpenType tables CBLC and CBDT), such as Noto Color Emoji.
type bitmapEmoji struct {
	font      *sfnt.Font
	index     []byte            // CBLC
	data      *io.SectionReader // CBDT
	ligatures map[uint16][]ligature
}

// newBitmapEmoji reads a font file. It returns nil for another kind of file.
func newBitmapEmoji(file io.ReaderAt) *bitmapEmoji {
	f, err := sfnt.ParseReaderAt(file)
	if err != nil {
		return nil
	}
	index, data := table(file, "CBLC"), table(file, "CBDT")
	if index == nil || data == nil {
		return nil
	}
	return &bitmapEmoji{font: f, index: readTable(index), data: data, ligatures: ligatures(readTable(table(file, "GSUB")))}
}

// table returns a table of a font file, or nil if it is missing.
func table(file io.ReaderAt, tag string) *io.SectionReader {
	head := make([]byte, 12)
	if _, err := file.ReadAt(head, 0); err != nil {
		return nil
	}
	entry := make([]byte, 16)
	for i := range int64(binary.BigEndian.Uint16(head[4:])) {
		if _, err := file.ReadAt(entry, 12+16*i); err != nil {
			return nil
		}
		if string(entry[:4]) == tag {
			return io.NewSectionReader(file, int64(binary.BigEndian.Uint32(entry[8:])), int64(binary.BigEndian.Uint32(entry[12:])))
		}
	}
	return nil
}

// maxTable limits a table that is read completely, in bytes.
const maxTable = 4 << 20

// readTable returns a complete table, or nil if it is missing or truncated.
func readTable(table *io.SectionReader) []byte {
	if table == nil {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(table, maxTable))
	if err != nil {
		return nil
	}
	return b
}

// slice returns a range of data, or nil if it is truncated.
func slice(data []byte, from, n uint32) []byte {
	end := uint64(from) + uint64(n)
	if end > uint64(len(data)) {
		return nil
	}
	return data[from:end]
}

// draw draws an emoji in the middle of a box. Of a sequence without a ligature in the font it draws the first emoji.
func (e *bitmapEmoji) draw(text string, w, h int) *image.RGBA {
	var buf sfnt.Buffer
	var sequence []uint16
	for _, r := range text {
		if r == 0xfe0f || r == 0xfe0e { // how the ones before are shown is settled
			continue
		}
		g, err := e.font.GlyphIndex(&buf, r)
		if err != nil || g == 0 {
			return nil
		}
		sequence = append(sequence, uint16(g))
	}
	if len(sequence) == 0 {
		return nil
	}
	picture := e.picture(join(sequence, e.ligatures)[0])
	config, err := png.DecodeConfig(bytes.NewReader(picture))
	if err != nil || config.Width < 1 || config.Height < 1 || config.Width > maxEmoji || config.Height > maxEmoji {
		return nil
	}
	src, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return nil
	}
	scale := min(float64(w)/float64(config.Width), float64(h)*0.95/float64(config.Height))
	size := image.Pt(int(float64(config.Width)*scale), int(float64(config.Height)*scale))
	corner := image.Pt((w-size.X)/2, (h-size.Y)/2)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	xdraw.CatmullRom.Scale(out, image.Rectangle{Min: corner, Max: corner.Add(size)}, src, src.Bounds(), xdraw.Src, nil)
	return out
}

// maxEmoji limits a picture in a font, in pixels per side.
const maxEmoji = 1024

// picture returns a glyph's PNG (OpenType, "CBLC" and "CBDT").
func (e *bitmapEmoji) picture(g uint16) []byte {
	be := binary.BigEndian
	sizes := slice(e.index, 4, 4)
	if sizes == nil {
		return nil
	}
	for i := range be.Uint32(sizes) {
		size := slice(e.index, 8+48*i, 48)
		if size == nil {
			return nil
		}
		list, n := be.Uint32(size), be.Uint32(size[8:])
		for j := range n {
			entry := slice(e.index, list+8*j, 8)
			if entry == nil {
				break
			}
			if first, last := be.Uint16(entry), be.Uint16(entry[2:]); g >= first && g <= last {
				return e.fromSubtable(list+be.Uint32(entry[4:]), uint32(g-first), g)
			}
		}
	}
	return nil
}

// fromSubtable finds a glyph by an index subtable: offsets of 4 bytes (format 1), of 2
// (format 3), or one size for all (formats 2 and 5).
func (e *bitmapEmoji) fromSubtable(at, n uint32, g uint16) []byte {
	be := binary.BigEndian
	head := slice(e.index, at, 8)
	if head == nil {
		return nil
	}
	base := be.Uint32(head[4:])
	var offset uint32
	switch be.Uint16(head) {
	case 1:
		if p := slice(e.index, at+8+4*n, 4); p != nil {
			offset = be.Uint32(p)
		}
	case 3:
		if p := slice(e.index, at+8+2*n, 2); p != nil {
			offset = uint32(be.Uint16(p))
		}
	case 2:
		if p := slice(e.index, at+8, 4); p != nil {
			offset = n * be.Uint32(p)
		}
	default:
		return nil
	}
	return e.payload(be.Uint16(head[2:]), base+offset)
}

// payload returns the PNG after the metrics of an image format.
func (e *bitmapEmoji) payload(format uint16, at uint32) []byte {
	skip, ok := map[uint16]int64{17: 5, 18: 8, 19: 0}[format]
	if !ok {
		return nil
	}
	length := make([]byte, 4)
	if _, err := e.data.ReadAt(length, int64(at)+skip); err != nil {
		return nil
	}
	n := binary.BigEndian.Uint32(length)
	if n > maxTable {
		return nil
	}
	picture := make([]byte, n)
	if _, err := e.data.ReadAt(picture, int64(at)+skip+4); err != nil {
		return nil
	}
	return picture
}
