package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"maps"
	"math"
	"slices"

	xdraw "golang.org/x/image/draw"

	"github.com/longterm-dev/longterm/render/termimage"
	"github.com/longterm-dev/longterm/vterm"
)

const (
	// Cell size in pixels of an emulator without other settings: an image of that size is shown pixel by pixel.
	joinCellWidth, joinCellHeight = 8, 16
	// maxDense is the largest ratio of an image's pixels to those of its cells, per side.
	maxDense = 3
	// maxChunk is the largest part of an image in one sequence, in base64 (kitty graphics protocol, "Remote client").
	maxChunk = 4096
)

// joinImages appends a frame's images, drawn over their cells, and repaints the text that covers parts of them. The
// images are re-encoded PNGs, cropped to the screen. named keeps their ids, by which programs remove them.
func joinImages(dst []byte, f *vterm.Frame, named bool) []byte {
	drawn, size, ids := 0, 0, map[uint32]bool{}
	for _, index := range slices.Sorted(maps.Keys(f.Placed)) { // an image placed later covers those before
		if drawn == maxImages || size >= maxImageBytes || index >= len(f.Images) || f.Images[index].Image == nil {
			continue
		}
		p, at := &f.Images[index], f.Placed[index]
		top, bottom := max(at.Row, 0), min(at.Row+p.Rows, f.Rows)
		cells := image.Rect(at.Col, top, min(at.Col+p.Cols, f.Cols), bottom)
		data := partOf(p.Image, at, cells)
		if data == nil {
			continue
		}
		drawn, size = drawn+1, size+len(data)
		dst = appendCUP(dst, top, at.Col)
		dst = fmt.Appendf(dst, "\x1b_Ga=T,f=100,t=d,q=2,C=1,c=%d,r=%d,z=%d,", cells.Dx(), cells.Dy(), p.Z)
		if id := p.Image.ID; named && id != 0 && !ids[id] { // a second one of an id would take the first away
			ids[id] = true
			dst = fmt.Appendf(dst, "i=%d,p=%d,", id, p.ID)
		}
		dst = appendChunks(dst, data)
		dst = uncover(dst, f, cells)
	}
	return dst
}

// uncover redraws the text cells within an image's area.
func uncover(dst []byte, f *vterm.Frame, cells image.Rectangle) []byte {
	for row := cells.Min.Y; row < cells.Max.Y && row < len(f.Lines); row++ {
		line := f.Lines[row].Cells
		for col := cells.Min.X; col < cells.Max.X; col++ {
			if col < len(line) && (line[col]&vterm.CellImage != 0 || isTail(line, col)) {
				continue
			}
			dst = AppendCell(appendCUP(dst, row, col), f, row, col)
		}
	}
	return dst
}

// partOf returns the part of a placed image in these cells, or nil.
func partOf(img *vterm.Image, at vterm.Place, cells image.Rectangle) []byte {
	if cells.Empty() || at.Cols <= 0 || at.Rows <= 0 {
		return nil
	}
	pic, err := termimage.Decode(img)
	if err != nil {
		return nil
	}
	dense := min(max(1, int(math.Ceil(float64(pic.Rect.Dx())/at.Cols/joinCellWidth))), maxDense)
	for ; dense > 0; dense-- {
		w, h := float64(dense*joinCellWidth), float64(dense*joinCellHeight)
		out := image.NewNRGBA(image.Rect(0, 0, cells.Dx()*int(w), cells.Dy()*int(h)))
		whole := image.Rect(0, 0, int(math.Round(at.Cols*w)), int(math.Round(at.Rows*h))).Add(image.Pt(0, (at.Row-cells.Min.Y)*int(h)))
		xdraw.BiLinear.Scale(out, whole, pic, pic.Rect, xdraw.Src, nil)
		var b bytes.Buffer
		enc := png.Encoder{CompressionLevel: png.BestSpeed}
		if enc.Encode(&b, out) == nil && b.Len() <= termimage.MaxBytes {
			return b.Bytes()
		}
	}
	return nil
}

// appendChunks appends the rest of a kitty graphics command in as many chunks as its data needs.
func appendChunks(dst, data []byte) []byte {
	text := base64.StdEncoding.EncodeToString(data)
	for len(text) > maxChunk {
		dst = append(append(append(dst, "m=1;"...), text[:maxChunk]...), "\x1b\\\x1b_G"...)
		text = text[maxChunk:]
	}
	return append(append(append(dst, "m=0;"...), text...), "\x1b\\"...)
}
