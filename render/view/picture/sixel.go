package picture

import (
	"cmp"
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strconv"
)

// maxColors limits the colours of a sixel image: more make no visible difference.
const maxColors = 256

// appendSixel appends an image as sixels (VT340, "Sixel Graphics") with at most colors colours. Transparent pixels
// leave the terminal unchanged.
func appendSixel(dst []byte, pic *image.NRGBA, colors int) []byte {
	if colors < 2 {
		colors = maxColors
	}
	pal := toPaletted(pic, min(colors, maxColors))
	w, h := pic.Rect.Dx(), pic.Rect.Dy()
	dst = append(dst, "\x1bP0;1;0q\"1;1;"...)
	dst = append(strconv.AppendInt(dst, int64(w), 10), ';')
	dst = strconv.AppendInt(dst, int64(h), 10)
	for i, c := range pal.Palette {
		r, g, b, _ := c.RGBA()
		dst = append(strconv.AppendInt(append(dst, '#'), int64(i), 10), ";2"...)
		for _, v := range []uint32{r, g, b} {
			dst = strconv.AppendInt(append(dst, ';'), int64((v*100+0x7fff)/0xffff), 10)
		}
	}
	bits := make([][]byte, len(pal.Palette)) // of a band, by colour
	for top := 0; top < h; top += 6 {
		var used []int
		var seen [maxColors]bool
		for y := top; y < min(top+6, h); y++ {
			for x := range w {
				if pic.Pix[y*pic.Stride+x*4+3] < 0x80 {
					continue
				}
				c := int(pal.Pix[y*pal.Stride+x])
				if !seen[c] {
					seen[c] = true
					used = append(used, c)
					if bits[c] == nil {
						bits[c] = make([]byte, w)
					}
					clear(bits[c])
				}
				bits[c][x] |= 1 << (y - top)
			}
		}
		for i, c := range used {
			if i > 0 {
				dst = append(dst, '$')
			}
			dst = appendRuns(strconv.AppendInt(append(dst, '#'), int64(c), 10), bits[c])
		}
		dst = append(dst, '-')
	}
	if h > 0 {
		dst = dst[:len(dst)-1]
	}
	return append(dst, "\x1b\\"...)
}

// appendRuns appends the sixels of a colour, run-length encoded, without empty ones at the end.
func appendRuns(dst, bits []byte) []byte {
	end := len(bits)
	for end > 0 && bits[end-1] == 0 {
		end--
	}
	for i := 0; i < end; {
		n := 1
		for i+n < end && bits[i+n] == bits[i] {
			n++
		}
		c := '?' + bits[i]
		i += n
		if n > 3 {
			dst = append(strconv.AppendInt(append(dst, '!'), int64(n), 10), c)
			continue
		}
		for range n {
			dst = append(dst, c)
		}
	}
	return dst
}

// fewColors is the number of colours below which an image is dithered: with more, dithering is invisible and slow.
const fewColors = 64

// toPaletted returns an image reduced to a number of colours. An image with fewer keeps its own.
func toPaletted(pic *image.NRGBA, colors int) *image.Paletted {
	shift := 0
	all := count(pic, colors)
	if len(all) > colors { // what differs by less is the same, from here on
		shift = roundedBy
		all = countRounded(pic)
	}
	var pal color.Palette
	stand := medianCut(slices.Clone(all), colors)
	for _, c := range stand {
		pal = append(pal, color.NRGBA{c[0], c[1], c[2], 0xff})
	}
	if len(pal) == 0 {
		pal = color.Palette{color.NRGBA{A: 0xff}}
	}
	out := image.NewPaletted(pic.Rect, pal)
	if shift > 0 && colors <= fewColors {
		draw.FloydSteinberg.Draw(out, out.Rect, solid{pic}, pic.Rect.Min)
		return out
	}
	if shift > 0 {
		index := make([]uint8, roundedColors)
		for i := range all {
			index[roundedIndex(all[i].rgb[:])] = nearest(stand, all[i].rgb)
		}
		for y := range pic.Rect.Dy() {
			row, to := pic.Pix[y*pic.Stride:], out.Pix[y*out.Stride:]
			for x := range pic.Rect.Dx() {
				to[x] = index[roundedIndex(row[x*4:])]
			}
		}
		return out
	}
	index := make(map[[3]uint8]uint8, len(all))
	for i := range all {
		index[all[i].rgb] = nearest(stand, all[i].rgb)
	}
	var last [3]uint8
	at := index[last]
	for y := range pic.Rect.Dy() {
		row, to := pic.Pix[y*pic.Stride:], out.Pix[y*out.Stride:]
		for x := range pic.Rect.Dx() {
			if c := [3]uint8(row[x*4:]); c != last { // neighbours are often of one colour
				last, at = c, index[c]
			}
			to[x] = at
		}
	}
	return out
}

// nearest returns the index of the colour nearest to c, of at most 256.
func nearest(list [][3]uint8, c [3]uint8) (index uint8) {
	best := math.MaxInt
	for i := range list {
		r, g, b := int(list[i][0])-int(c[0]), int(list[i][1])-int(c[1]), int(list[i][2])-int(c[2])
		if d := r*r + g*g + b*b; d < best {
			best, index = d, uint8(i)
		}
	}
	return index
}

// roundedBy is the number of low bits dropped from colours of an image with too many of them, and roundedColors the
// resulting number: few enough for arrays, as maps are too slow for every pixel.
const (
	roundedBy     = 3
	roundedColors = 1 << (3 * (8 - roundedBy))
)

// roundedIndex returns a pixel's colour without its low bits, as an index.
func roundedIndex(at []byte) int {
	return int(at[0]>>roundedBy)<<(2*(8-roundedBy)) | int(at[1]>>roundedBy)<<(8-roundedBy) | int(at[2]>>roundedBy)
}

// countRounded counts an image's colours without their low bits.
func countRounded(pic *image.NRGBA) []colorCount {
	counts := make([]int32, roundedColors)
	for y := range pic.Rect.Dy() {
		row := pic.Pix[y*pic.Stride:][:pic.Rect.Dx()*4]
		for i := 0; i < len(row); i += 4 {
			if row[i+3] >= 0x80 {
				counts[roundedIndex(row[i:])]++
			}
		}
	}
	var all []colorCount
	for i, n := range counts {
		if n > 0 {
			const mask, half = 1<<(8-roundedBy) - 1, 1 << (roundedBy - 1)
			channel := func(shift int) uint8 { return uint8(i>>shift&mask<<roundedBy | half) }
			all = append(all, colorCount{[3]uint8{channel(2 * (8 - roundedBy)), channel(8 - roundedBy), channel(0)}, int(n)})
		}
	}
	return all
}

// count counts an image's colours. It stops after one more than most.
func count(pic *image.NRGBA, most int) []colorCount {
	counts := map[[3]uint8]int{}
	for y := range pic.Rect.Dy() {
		row := pic.Pix[y*pic.Stride:][:pic.Rect.Dx()*4]
		for i := 0; i < len(row) && len(counts) <= most; {
			c, n := [3]uint8(row[i:]), 0
			for ; i < len(row) && [3]uint8(row[i:]) == c; i += 4 { // neighbours are often of one colour
				if row[i+3] >= 0x80 {
					n++
				}
			}
			if n > 0 {
				counts[c] += n
			}
		}
	}
	all := make([]colorCount, 0, len(counts))
	for rgb, n := range counts {
		all = append(all, colorCount{rgb, n})
	}
	slices.SortFunc(all, func(a, b colorCount) int { return slices.Compare(a.rgb[:], b.rgb[:]) }) // the same picture each time
	return all
}

// solid is an image without transparency; transparent pixels are omitted later.
type solid struct{ *image.NRGBA }

func (s solid) At(x, y int) color.Color {
	c := s.NRGBAAt(x, y)
	c.A = 0xff
	return c
}

// colorCount is a colour and the number of pixels that have it.
type colorCount struct {
	rgb [3]uint8
	n   int
}

// medianCut returns at most colors colours that represent all. It halves boxes of colours by their number of pixels,
// first the box with the largest product of pixels and longest side.
func medianCut(all []colorCount, colors int) [][3]uint8 {
	if len(all) == 0 {
		return nil
	}
	boxes := []box{newBox(all)}
	for len(boxes) < colors {
		i := 0
		for j := range boxes {
			if boxes[j].weight() > boxes[i].weight() {
				i = j
			}
		}
		if boxes[i].weight() == 0 {
			break // each has one colour
		}
		a, b := boxes[i].halves()
		boxes[i] = a
		boxes = append(boxes, b)
	}
	out := make([][3]uint8, 0, len(boxes))
	for i := range boxes {
		out = append(out, boxes[i].mean())
	}
	return out
}

// box is a set of similar colours.
type box struct {
	list []colorCount
	n    int // pixels
	axis int // channel with the largest range
	side int // size of that range
}

func newBox(list []colorCount) box {
	b := box{list: list}
	for axis := range 3 {
		lo, hi := uint8(255), uint8(0)
		for i := range list {
			lo, hi = min(lo, list[i].rgb[axis]), max(hi, list[i].rgb[axis])
		}
		if side := int(hi) - int(lo); side > b.side {
			b.axis, b.side = axis, side
		}
	}
	for i := range list {
		b.n += list[i].n
	}
	return b
}

func (b *box) weight() int { return b.n * b.side }

// halves splits a box into two of about as many pixels. Each has at least one colour.
func (b *box) halves() (lower, upper box) {
	slices.SortFunc(b.list, func(x, y colorCount) int {
		return cmp.Or(cmp.Compare(x.rgb[b.axis], y.rgb[b.axis]), slices.Compare(x.rgb[:], y.rgb[:]))
	})
	at, n := 0, 0
	for at < len(b.list)-1 && (at == 0 || n+b.list[at].n <= b.n/2) {
		n += b.list[at].n
		at++
	}
	return newBox(b.list[:at]), newBox(b.list[at:])
}

func (b *box) mean() (rgb [3]uint8) {
	for axis := range rgb {
		sum := 0
		for i := range b.list {
			sum += int(b.list[i].rgb[axis]) * b.list[i].n
		}
		rgb[axis] = uint8((sum + b.n/2) / b.n)
	}
	return rgb
}
