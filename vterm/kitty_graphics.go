package vterm

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// graphics collects an image of the kitty protocol that comes in chunks.
type graphics struct {
	control map[byte]string // of the first chunk; nil between images
	data    []byte          // still in base64
	tooLong bool
	id      uint32 // of the image, once it is known
}

// apc runs an application program command; the kitty graphics protocol is the only one.
func (t *Terminal) apc(p []byte) {
	if len(p) == 0 || p[0] != 'G' {
		return
	}
	head, payload, _ := bytes.Cut(p[1:], []byte{';'})
	control := readControl(string(head))
	g := &t.collector
	if g.control == nil || control['a'] == "d" { // a deletion drops what was begun
		*g = graphics{control: control}
	}
	if len(g.data)+len(payload) > pendingImageChunks {
		g.data, g.tooLong = nil, true
	}
	if !g.tooLong {
		g.data = append(g.data, payload...)
	}
	if control['m'] == "1" {
		return
	}
	done := *g
	*g = graphics{}
	t.kittyCommand(&done)
}

// readControl reads "a=T,f=100,…"; keys are one letter.
func readControl(s string) map[byte]string {
	m := make(map[byte]string)
	for _, kv := range strings.Split(s, ",") {
		if k, v, ok := strings.Cut(kv, "="); ok && len(k) == 1 && len(m) < 64 {
			m[k[0]] = v
		}
	}
	return m
}

func (g *graphics) number(key byte) uint32 {
	v, _ := strconv.ParseUint(g.control[key], 10, 32)
	return uint32(v)
}

func (g *graphics) signed(key byte) int32 {
	v, _ := strconv.ParseInt(g.control[key], 10, 32)
	return int32(v)
}

// kittyCommand carries out a command whose data is complete.
func (t *Terminal) kittyCommand(g *graphics) {
	if g.number('i') != 0 && g.number('I') != 0 {
		t.answerKitty(g, "EINVAL:i and I at once")
		return
	}
	switch action := g.control['a']; action {
	case "q":
		_, err := readImage(g)
		t.answerKitty(g, err)
	case "", "t", "T":
		t.transmitKitty(g, action == "T")
	case "p":
		g.id = t.images.idOf(g)
		img := t.images.find(g.id)
		if img == nil {
			t.answerKitty(g, "ENOENT:no such image")
			return
		}
		t.placeKitty(g, img)
		t.answerKitty(g, "")
	case "d":
		t.deleteKitty(g)
	default:
		t.answerKitty(g, "EINVAL:no such action, or one of animation, which is not supported")
	}
}

// transmitKitty keeps an image, in place of one with the same id, and may show it. An
// image that came with a number (I=) gets an id that is free.
func (t *Terminal) transmitKitty(g *graphics, show bool) {
	img, err := readImage(g)
	if err == "" {
		if n := g.number('I'); n != 0 {
			img.ID = t.images.number(n)
		}
		g.id = img.ID
		if old := t.images.find(img.ID); old != nil {
			t.images.remove(old)
		}
		t.images.add(img)
		if show {
			t.placeKitty(g, img)
		}
	}
	t.answerKitty(g, err)
}

// readImage checks what was sent. Only data sent in line is taken: files and shared
// memory would have the terminal read what output names.
func readImage(g *graphics) (*Image, string) {
	if m := g.control['t']; m != "" && m != "d" {
		return nil, "EINVAL:only direct transmission is supported"
	}
	if g.tooLong {
		return nil, "EFBIG:too much data"
	}
	img := &Image{ID: g.number('i'), Width: int(g.number('s')), Height: int(g.number('v')), Deflated: g.control['o'] == "z"}
	data := strings.TrimRight(string(g.data), "=")
	raw, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return nil, "EINVAL:bad base64"
	}
	img.Data = raw
	pixel := 0
	switch g.control['f'] {
	case "", "32":
		img.Format, pixel = ImageRGBA, 4
	case "24":
		img.Format, pixel = ImageRGB, 3
	case "100":
		img.Format = ImagePNG
		if img.Width == 0 {
			img.Width, img.Height = pngSize(raw)
		}
	default:
		return nil, "EINVAL:unknown format"
	}
	if pixel > 0 && !img.Deflated && uint64(len(raw)) != uint64(img.Width)*uint64(img.Height)*uint64(pixel) {
		return nil, "EINVAL:data does not match the size"
	}
	return img, ""
}

// pngSize reads the size from the IHDR chunk.
func pngSize(b []byte) (w, h int) {
	if len(b) < 24 || string(b[12:16]) != "IHDR" {
		return 0, 0
	}
	be := func(b []byte) int { return int(b[0])<<24 | int(b[1])<<16 | int(b[2])<<8 | int(b[3]) }
	return be(b[16:20]), be(b[20:24])
}

// placeKitty shows an image at the cursor. A virtual placement (U=1) is drawn by
// placeholder characters that the program prints, so nothing is placed here.
func (t *Terminal) placeKitty(g *graphics, img *Image) {
	if g.control['U'] == "1" {
		return
	}
	p := Placement{Image: img, ID: g.number('p')}
	p.Z = g.signed('z')
	p.Cols = int(min(g.number('c'), MaxCols))
	p.Rows = int(min(g.number('r'), MaxRows))
	if p.Cols == 0 {
		p.Cols = cellsFor(img.Width, t.opts.CellWidth)
	}
	if p.Rows == 0 {
		p.Rows = cellsFor(img.Height, t.opts.CellHeight)
	}
	at := t.cur
	t.placeImage(p, g.control['C'] != "1")
	if g.control['C'] == "1" {
		t.cur = at
		return
	}
	t.moveTo(t.cur.row, t.cur.col+p.Cols)
}

func cellsFor(pixels, cell int) int { return min(max(1, (pixels+cell-1)/cell), MaxCols) }

// deleteKitty is a=d: placements that d= describes go. Upper case forgets their images,
// too, but for those named by id or number only when no placement was named.
func (t *Terminal) deleteKitty(g *graphics) {
	what := g.control['d']
	if what == "" {
		what = "a"
	}
	kind := what[0] | 0x20
	match := t.deletion(kind, g)
	if match == nil {
		return
	}
	gone := make(map[*Image]bool)
	if g.id = t.images.idOf(g); (kind == 'i' || kind == 'n') && g.number('p') == 0 {
		gone[t.images.find(g.id)] = true
	}
	t.eraseImages(func(p *Placement, row, col int) bool {
		hit := match(p, row, col)
		if hit && p.Image != nil {
			gone[p.Image] = true
		}
		return hit
	})
	if what[0] >= 'a' {
		return
	}
	for _, img := range t.images.list {
		if kind == 'a' && img.ID != 0 || kind == 'r' && between(g, img.ID) {
			gone[img] = true
		}
	}
	delete(gone, nil)
	t.images.removeSet(gone)
}

func between(g *graphics, id uint32) bool {
	return g.number('x') <= id && id <= g.number('y') && id != 0
}

// deletion says which placements d= describes; nil for what is not known. Rows and columns
// count from 1 on the wire, and a placement is hit when any of its cells is.
func (t *Terminal) deletion(kind byte, g *graphics) func(p *Placement, row, col int) bool {
	id, placement, z := t.images.idOf(g), g.number('p'), g.signed('z')
	x, y := int(g.number('x'))-1, int(g.number('y'))-1
	switch kind {
	case 'a':
		return func(p *Placement, _, _ int) bool { return p.Image == nil || p.Image.ID != 0 }
	case 'i', 'n':
		return func(p *Placement, _, _ int) bool {
			return p.Image != nil && p.Image.ID == id && id != 0 && (placement == 0 || p.ID == placement)
		}
	case 'r':
		return func(p *Placement, _, _ int) bool { return p.Image != nil && between(g, p.Image.ID) }
	case 'z':
		return func(p *Placement, _, _ int) bool { return p.Z == z }
	case 'c':
		x, y = t.cur.col, t.cur.row
		return t.covering(x, y, func(*Placement) bool { return true })
	case 'p':
		return t.covering(x, y, func(*Placement) bool { return true })
	case 'q':
		return t.covering(x, y, func(p *Placement) bool { return p.Z == z })
	case 'x':
		return t.covering(x, -1, func(*Placement) bool { return true })
	case 'y':
		return t.covering(-1, y, func(*Placement) bool { return true })
	}
	return nil
}

// covering matches the placements that cover a cell; -1 stands for any column or row.
func (t *Terminal) covering(x, y int, match func(*Placement) bool) func(*Placement, int, int) bool {
	found := make(map[*Placement]bool)
	t.eachImageCell(func(p *Placement, row, col int) {
		if (x < 0 || col == x) && (y < 0 || row == y) && match(p) {
			found[p] = true
		}
	})
	return func(p *Placement, _, _ int) bool { return found[p] }
}

// answerKitty reports success or an error, as far as q= wants it.
func (t *Terminal) answerKitty(g *graphics, err string) {
	quiet := g.control['q']
	if quiet == "2" || quiet == "1" && err == "" || g.control['i'] == "" && g.control['I'] == "" {
		return
	}
	if err == "" {
		err = "OK"
	}
	keys := ""
	id := g.number('i')
	if id == 0 {
		id = g.id
	}
	for _, k := range []struct {
		name string
		v    uint32
	}{{"i", id}, {"I", g.number('I')}, {"p", g.number('p')}} {
		if k.v != 0 {
			keys += fmt.Sprintf(",%s=%d", k.name, k.v)
		}
	}
	t.reply('_', "G"+strings.TrimPrefix(keys, ",")+";"+err+t.terminator())
}
