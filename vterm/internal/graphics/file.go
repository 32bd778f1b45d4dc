package graphics

import (
	"bytes"
	"encoding/base64"
	"image/jpeg"
	"strconv"
	"strings"
)

// Images of iTerm2 (https://iterm2.com/documentation-images.html): whole, "File=args:base64", or "MultipartFile=args",
// "FilePart=base64" and so on, "FileEnd".

// fileArgs is the key in Control that holds a file's arguments. The kitty protocol has no key NUL, because no terminal
// string contains one.
const fileArgs = 0

// isFile reports whether a file of iTerm2 is being collected.
func (g *Command) isFile() bool {
	_, is := g.Control[fileArgs]
	return is
}

// CollectFile reads the data of an OSC 1337 about a file, and returns the file once it is complete.
func (g *Command) CollectFile(s string) (done Command, complete bool) {
	what, rest, _ := strings.Cut(s, "=")
	switch {
	case what == "File":
		args, data, _ := strings.Cut(rest, ":")
		g.beginFile(args)
		g.addFile(data)
	case what == "MultipartFile":
		g.beginFile(rest)
		return done, false
	case !g.isFile():
		return done, false
	case what == "FilePart":
		g.addFile(rest)
		return done, false
	case s != "FileEnd":
		return done, false
	}
	done = *g
	*g = Command{}
	return done, true
}

// fileArgsMax limits the arguments, which include the name, in bytes.
const fileArgsMax = 4096

func (g *Command) beginFile(args string) {
	*g = Command{Control: map[byte]string{fileArgs: strings.Clone(args[:min(len(args), fileArgsMax)])}}
}

func (g *Command) addFile(data string) {
	if len(g.Data)+len(data) > pendingMax {
		g.Data, g.TooLong = nil, true
	}
	if !g.TooLong {
		g.Data = append(g.Data, data...)
	}
}

// arg returns an argument of a file, or "".
func (g *Command) arg(name string) string {
	for kv := range strings.SplitSeq(g.Control[fileArgs], ";") {
		if k, v, _ := strings.Cut(kv, "="); k == name {
			return v
		}
	}
	return ""
}

// File returns the image in a file, or nil for a download, which no program may start here, and for unsupported images.
func (g *Command) File() *Image {
	if g.TooLong || g.arg("inline") != "1" {
		return nil
	}
	data := bytes.TrimRight(g.Data, "=")
	raw := make([]byte, base64.RawStdEncoding.DecodedLen(len(data)))
	n, err := base64.RawStdEncoding.Decode(raw, data)
	if err != nil {
		return nil
	}
	img := &Image{Data: raw[:n], Fit: g.arg("preserveAspectRatio") != "0"}
	switch raw = img.Data; {
	case bytes.HasPrefix(raw, []byte("\x89PNG\r\n\x1a\n")):
		img.Format = PNG
		img.Width, img.Height = pngSize(raw)
	case len(raw) >= 10 && bytes.HasPrefix(raw, []byte("GIF8")):
		img.Format = GIF
		img.Width, img.Height = int(raw[6])|int(raw[7])<<8, int(raw[8])|int(raw[9])<<8
	case bytes.HasPrefix(raw, []byte("\xff\xd8\xff")):
		img.Format = JPEG
		if c, err := jpeg.DecodeConfig(bytes.NewReader(raw)); err == nil {
			img.Width, img.Height = c.Width, c.Height
		}
	}
	if img.Width <= 0 || img.Height <= 0 {
		return nil
	}
	return img
}

// KeepsCursor reports whether the cursor must not move (WezTerm).
func (g *Command) KeepsCursor() bool { return g.arg("doNotMoveCursor") == "1" }

// FilePlacement returns the placement of a file's image on a screen of cols×rows cells of this pixel size, with right
// columns to the right of the cursor.
func (g *Command) FilePlacement(img *Image, cols, rows, right, cellWidth, cellHeight int) Placement {
	wide, high := float64(img.Width), float64(img.Height)
	w, h := side(g.arg("width"), cols, cellWidth), side(g.arg("height"), rows, cellHeight)
	switch {
	case w == 0 && h == 0:
		w, h = wide, high
	case w == 0 && img.Fit:
		w = h * wide / high
	case w == 0:
		w = wide
	case h == 0 && img.Fit:
		h = w * high / wide
	case h == 0:
		h = high
	case img.Fit:
		by := min(w/wide, h/high)
		w, h = wide*by, high*by
	}
	if room := float64(right * cellWidth); w > room {
		if img.Fit {
			h *= room / w
		}
		w = room
	}
	return Placement{Image: img, Cols: cellsFor(w, cellWidth), Rows: cellsFor(h, cellHeight)}
}

// side returns a length in pixels, given in cells, pixels ("px") or percent of the screen ("%"). 0 means the image's
// own.
func side(s string, cells, cell int) float64 {
	unit := float64(cell)
	if n, ok := strings.CutSuffix(s, "px"); ok {
		s, unit = n, 1
	} else if n, ok := strings.CutSuffix(s, "%"); ok {
		s, unit = n, float64(cells*cell)/100
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil { // "auto", too
		return 0
	}
	return float64(n) * unit
}

// cellsFor is CellsFor for computed pixels: up to a hundredth of a pixel more takes no extra cell.
func cellsFor(pixels float64, cell int) int {
	return CellsFor(int(min(pixels, sideMax*float64(cell))+0.99), cell)
}
