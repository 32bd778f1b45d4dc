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
}

// apc runs an application program command; the kitty graphics protocol is the only one.
func (t *Terminal) apc(p []byte) {
	if len(p) == 0 || p[0] != 'G' {
		return
	}
	head, payload, _ := bytes.Cut(p[1:], []byte{';'})
	control := readControl(string(head))
	g := &t.collector
	if g.control == nil {
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

// kittyCommand carries out a command whose data is complete.
func (t *Terminal) kittyCommand(g *graphics) {
	switch action := g.control['a']; action {
	case "q":
		_, err := readImage(g)
		t.answerKitty(g, err)
	case "", "t", "T":
		img, err := readImage(g)
		if err == "" {
			if old := t.images.find(img.ID); old != nil {
				t.images.remove(old)
			}
			t.images.add(img)
			if action == "T" {
				t.placeKitty(g, img)
			}
		}
		t.answerKitty(g, err)
	case "p":
		img := t.images.find(g.number('i'))
		if img == nil {
			t.answerKitty(g, "ENOENT:no such image")
			return
		}
		t.placeKitty(g, img)
		t.answerKitty(g, "")
	case "d":
		t.deleteKitty(g)
	}
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

func (t *Terminal) placeKitty(g *graphics, img *Image) {
	p := Placement{Image: img, ID: g.number('p')}
	z, _ := strconv.ParseInt(g.control['z'], 10, 32)
	p.Z = int32(z)
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

// deleteKitty is a=d. Lower case keeps the images, upper case forgets them too.
func (t *Terminal) deleteKitty(g *graphics) {
	what := g.control['d']
	if what == "" {
		what = "a"
	}
	id, placement := g.number('i'), g.number('p')
	free := what[0] < 'a'
	switch what[0] | 0x20 {
	case 'a':
		t.eraseImages(func(p *Placement) bool { return true })
		if free {
			t.images.remove(t.images.list...)
		}
	case 'i':
		t.eraseImages(func(p *Placement) bool {
			return p.Image != nil && p.Image.ID == id && (placement == 0 || p.ID == placement)
		})
		if img := t.images.find(id); free && img != nil && placement == 0 {
			t.images.remove(img)
		}
	case 'z':
		z := int32(g.number('z'))
		t.eraseImages(func(p *Placement) bool { return p.Z == z })
	}
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
	for _, k := range []byte("iIp") {
		if n := g.number(k); n != 0 {
			keys += fmt.Sprintf(",%c=%d", k, n)
		}
	}
	t.reply('_', "G"+strings.TrimPrefix(keys, ",")+";"+err+t.terminator())
}
