package graphics

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Command is a command of the kitty graphics protocol (https://sw.kovidgoyal.net/kitty/graphics-protocol/). The data of
// an image arrives in chunks, which Collect joins.
type Command struct {
	Control map[byte]string // keys of the first chunk; nil between images
	Data    []byte          // still in base64
	TooLong bool            // the data exceeded the limit and was dropped
	ID      uint32          // id of the image, once known
}

// Collect handles the body of an application program command. It returns a complete command, or false while chunks are
// missing.
func (g *Command) Collect(p []byte) (done Command, complete bool) {
	if len(p) == 0 || p[0] != 'G' {
		return done, false
	}
	head, payload, _ := bytes.Cut(p[1:], []byte{';'})
	control := readControl(string(head))
	if g.Control == nil || g.isFile() || control['a'] == "d" { // a deletion drops an incomplete image
		*g = Command{Control: control}
	}
	if len(g.Data)+len(payload) > pendingMax {
		g.Data, g.TooLong = nil, true
	}
	if !g.TooLong {
		g.Data = append(g.Data, payload...)
	}
	if control['m'] == "1" {
		return done, false
	}
	done = *g
	*g = Command{}
	return done, true
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

// Number returns an unsigned value of the control data, 0 if omitted.
func (g *Command) Number(key byte) uint32 {
	v, _ := strconv.ParseUint(g.Control[key], 10, 32)
	return uint32(v)
}

// Signed returns a signed value of the control data, 0 if omitted.
func (g *Command) Signed(key byte) int32 {
	v, _ := strconv.ParseInt(g.Control[key], 10, 32)
	return int32(v)
}

// Image returns the sent image, or an error in the protocol's form. It accepts only inline data: with files or shared
// memory, output could choose what the terminal reads.
func (g *Command) Image() (*Image, string) {
	if m := g.Control['t']; m != "" && m != "d" {
		return nil, "EINVAL:only direct transmission is supported"
	}
	if g.TooLong {
		return nil, "EFBIG:too much data"
	}
	img := &Image{ID: g.Number('i'), Width: int(g.Number('s')), Height: int(g.Number('v')), Deflated: g.Control['o'] == "z"}
	data := strings.TrimRight(string(g.Data), "=")
	raw, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return nil, "EINVAL:bad base64"
	}
	img.Data = raw
	pixel := 0
	switch g.Control['f'] {
	case "", "32":
		img.Format, pixel = RGBA, 4
	case "24":
		img.Format, pixel = RGB, 3
	case "100":
		img.Format = PNG
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

// Placement returns the placement that the command requests, on a screen with cells of this pixel size.
func (g *Command) Placement(img *Image, cellWidth, cellHeight int) Placement {
	p := Placement{Image: img, ID: g.Number('p'), Z: g.Signed('z')}
	p.Cols = int(min(g.Number('c'), sideMax))
	p.Rows = int(min(g.Number('r'), sideMax))
	if p.Cols == 0 {
		p.Cols = CellsFor(img.Width, cellWidth)
	}
	if p.Rows == 0 {
		p.Rows = CellsFor(img.Height, cellHeight)
	}
	return p
}

// sideMax limits the sides of a placement, in cells.
const sideMax = 4096

// CellsFor returns the number of cells that cover a length in pixels.
func CellsFor(pixels, cell int) int { return min(max(1, (pixels+cell-1)/cell), sideMax) }

// SelectsID reports whether the command selects images by a range that contains id.
func (g *Command) SelectsID(id uint32) bool {
	return g.Number('x') <= id && id <= g.Number('y') && id != 0
}

// Answer returns the body of the answer, success or an error; wanted is false if q= suppresses it.
func (g *Command) Answer(err string) (body string, wanted bool) {
	quiet := g.Control['q']
	if quiet == "2" || quiet == "1" && err == "" || g.Control['i'] == "" && g.Control['I'] == "" {
		return "", false
	}
	if err == "" {
		err = "OK"
	}
	keys := ""
	id := g.Number('i')
	if id == 0 {
		id = g.ID
	}
	for _, k := range []struct {
		name string
		v    uint32
	}{{"i", id}, {"I", g.Number('I')}, {"p", g.Number('p')}} {
		if k.v != 0 {
			keys += fmt.Sprintf(",%s=%d", k.name, k.v)
		}
	}
	return "G" + strings.TrimPrefix(keys, ",") + ";" + err, true
}
