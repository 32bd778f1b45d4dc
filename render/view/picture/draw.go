package picture

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math"
	"strconv"

	xdraw "golang.org/x/image/draw"
)

// defaultCell is the size of a cell in pixels if the terminal does not report it.
var defaultCell = image.Pt(8, 16)

// cell returns the size of a cell in pixels.
func (m *Support) cell() image.Point {
	if m.Cell == (image.Point{}) {
		return defaultCell
	}
	return m.Cell
}

// maxPart limits the pixels of a part that is drawn.
const maxPart = 1 << 23

// Pixels returns how many pixels a part has on the terminal. The cost of Encode grows with it.
func (m *Support) Pixels(p *Part) int {
	cell := m.cell()
	return p.W * cell.X * p.H * cell.Y
}

// Encode converts a part of an image for Draw. It returns nil if the part cannot be drawn. A large part takes tenths of
// a second.
func (m *Support) Encode(p *Part, pic *image.NRGBA) []byte {
	cell := m.cell()
	if m.Kind == None || pic.Rect.Empty() || p.W < 1 || p.H < 1 || p.H > maxPart/(cell.X*cell.Y)/p.W {
		return nil
	}
	part := crop(p, pic, cell)
	if part == nil {
		return nil
	}
	switch m.Kind {
	case Sixel:
		return appendSixel(nil, part, m.Colors)
	case ITerm:
		b := encode(part)
		return fmt.Appendf(nil, "\x1b]1337;File=inline=1;size=%d;width=%d;height=%d;preserveAspectRatio=0;doNotMoveCursor=1:%s\a",
			len(b), p.W, p.H, base64.StdEncoding.EncodeToString(b))
	case Kitty:
		return base64.StdEncoding.AppendEncode(nil, encode(part))
	}
	return nil
}

// Draw appends the sequence that draws a part at the cursor. id identifies it for terminals that number images from 1.
func (m *Support) Draw(dst []byte, p *Part, encoded []byte, id uint32) []byte {
	if m.Kind == Kitty {
		return appendKitty(dst, encoded, p, id)
	}
	return append(dst, encoded...)
}

// crop returns the pixels of a part's cells, or nil if it has none.
func crop(p *Part, pic *image.NRGBA, cell image.Point) *image.NRGBA {
	w, h := math.Round(p.Cols*float64(cell.X)), math.Round(p.Rows*float64(cell.Y))
	if !(w >= 1 && h >= 1 && w <= 1<<20 && h <= 1<<20) { // NaN neither
		return nil
	}
	from := image.Pt(p.FromX*cell.X, p.FromY*cell.Y)
	whole := image.Rect(0, 0, int(w), int(h)).Sub(from)
	out := image.NewNRGBA(image.Rect(0, 0, p.W*cell.X, p.H*cell.Y))
	if whole.Intersect(out.Rect).Empty() {
		return nil
	}
	// The better way to make an image smaller takes memory by its width; to make one larger both do.
	var by xdraw.Scaler = xdraw.ApproxBiLinear
	if whole.Dx() < pic.Rect.Dx() && whole.Dy() < pic.Rect.Dy() {
		by = xdraw.BiLinear
	}
	by.Scale(out, whole, pic, pic.Rect, xdraw.Src, nil)
	return out
}

func encode(pic *image.NRGBA) []byte {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	_ = enc.Encode(&b, pic) // memory takes all
	return b.Bytes()
}

// maxChunk is the largest part of an image in one sequence, in base64 (kitty graphics protocol, "Remote client").
const maxChunk = 4096

func appendKitty(dst, text []byte, p *Part, id uint32) []byte {
	dst = fmt.Appendf(dst, "\x1b_Ga=T,f=100,t=d,q=2,C=1,i=%d,c=%d,r=%d,", id, p.W, p.H)
	for len(text) > maxChunk {
		dst = append(append(append(dst, "m=1;"...), text[:maxChunk]...), "\x1b\\\x1b_G"...)
		text = text[maxChunk:]
	}
	return append(append(append(dst, "m=0;"...), text...), "\x1b\\"...)
}

// Remove returns what removes an image drawn over cells, or "" if overwriting the cells removes it.
func (m *Support) Remove(id uint32) string {
	if m.Kind != Kitty {
		return ""
	}
	return "\x1b_Ga=d,d=I,q=2,i=" + strconv.FormatUint(uint64(id), 10) + "\x1b\\"
}
