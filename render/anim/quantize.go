package anim

import (
	"cmp"
	"image"
	"slices"
)

// colorCount is a colour, 0xRRGGBB, and the number of pixels that have it.
type colorCount struct {
	color uint32
	count int
}

const (
	maxColors = 256
	// exactColors is the number of the most frequent colours that are kept exactly if there are too many: those of the
	// terminal. The others are edges of characters.
	exactColors = 160
)

// quantize returns at most 256 colours for a picture, and the index of each pixel's colour.
func quantize(img *image.RGBA) (palette []uint32, indexes []byte) {
	counts := map[uint32]int{}
	each(img, func(c uint32) { counts[c]++ })
	tints := make([]colorCount, 0, len(counts))
	for c, n := range counts {
		tints = append(tints, colorCount{c, n})
	}
	slices.SortFunc(tints, func(a, b colorCount) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.color, b.color))
	})
	kept := len(tints)
	if kept > maxColors {
		kept = exactColors
	}
	for _, t := range tints[:kept] {
		palette = append(palette, t.color)
	}
	if rest := tints[kept:]; len(rest) > 0 {
		palette = append(palette, medianCut(rest, maxColors-kept)...)
	}
	index := make(map[uint32]byte, len(tints))
	for i, t := range tints {
		if i < kept {
			index[t.color] = byte(i)
		} else {
			index[t.color] = nearest(palette, t.color)
		}
	}
	each(img, func(c uint32) { indexes = append(indexes, index[c]) })
	return palette, indexes
}

// each calls f for the pixels, row by row.
func each(img *image.RGBA, f func(color uint32)) {
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride : y*img.Stride+4*img.Rect.Dx()]
		for ; len(row) >= 4; row = row[4:] {
			f(uint32(row[0])<<16 | uint32(row[1])<<8 | uint32(row[2]))
		}
	}
}

func channel(c uint32, shift int) int { return int(c >> shift & 0xff) }

// medianCut splits colours into n boxes, always the one with the widest range at the
// median of its pixels, and gives each box's mean.
func medianCut(tints []colorCount, n int) []uint32 {
	boxes := [][]colorCount{tints}
	for len(boxes) < n {
		best, at, axis := 0, -1, 0
		for i, b := range boxes {
			if width, shift := widest(b); width > best {
				best, at, axis = width, i, shift
			}
		}
		if at < 0 {
			break
		}
		left, right := split(boxes[at], axis)
		boxes[at] = left
		boxes = append(boxes, right)
	}
	var out []uint32
	for _, b := range boxes {
		out = append(out, mean(b))
	}
	return out
}

// widest returns the largest range of a channel, and the channel's shift.
func widest(b []colorCount) (width, shift int) {
	for s := 0; s <= 16; s += 8 {
		low, high := 255, 0
		for _, t := range b {
			c := channel(t.color, s)
			low, high = min(low, c), max(high, c)
		}
		if high-low > width {
			width, shift = high-low, s
		}
	}
	return width, shift
}

func split(b []colorCount, shift int) (left, right []colorCount) {
	slices.SortFunc(b, func(x, y colorCount) int { return channel(x.color, shift) - channel(y.color, shift) })
	total := 0
	for _, t := range b {
		total += t.count
	}
	half, at := 0, 0
	for half < total/2 && at < len(b)-2 {
		half += b[at].count
		at++
	}
	return b[:max(at, 1)], b[max(at, 1):]
}

func mean(b []colorCount) uint32 {
	var sum [3]int
	total := 0
	for _, t := range b {
		for i := range sum {
			sum[i] += channel(t.color, 8*i) * t.count
		}
		total += t.count
	}
	return uint32(sum[0]/total) | uint32(sum[1]/total)<<8 | uint32(sum[2]/total)<<16
}

func nearest(palette []uint32, c uint32) byte {
	best, at := 1<<30, 0
	for i, p := range palette {
		d := 0
		for s := 0; s <= 16; s += 8 {
			n := channel(p, s) - channel(c, s)
			d += n * n
		}
		if d < best {
			best, at = d, i
		}
	}
	return byte(at)
}
