//go:build ignore

// Command gen generates what the page takes from the drawing tables: the themes as a style sheet and, as a module, the
// palette and the arms of box-drawing characters. So each table exists once. It also builds the files that browsers
// receive.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"strconv"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/boxdraw"
	"github.com/longterm-dev/longterm/session/web/pack"
	"github.com/longterm-dev/longterm/vterm"
)

// mark is the first line of generated files.
const mark = "/* Made by gen.go from the tables of render; do not edit. */\n"

func main() {
	write("page/theme_gen.css", themes())
	write("page/tables_gen.js", tables())
	packPage()
}

// packPage writes the served files of the page.
func packPage() {
	files, err := pack.BuildPage("page")
	if err == nil {
		err = os.RemoveAll("packed")
	}
	if err == nil {
		err = os.Mkdir("packed", 0o755)
	}
	if err != nil {
		log.Fatal(err)
	}
	for name, b := range files {
		write("packed/"+name+".gz", compress(b))
	}
}

// compress returns b in gzip form.
func compress(b []byte) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(b)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

// write writes a file or exits.
func write(name string, b []byte) {
	if err := os.WriteFile(name, b, 0o644); err != nil {
		log.Fatal(err)
	}
}

// themes returns the colours as CSS custom properties: by system preference, and by name for a chosen theme.
func themes() []byte {
	var b bytes.Buffer
	b.WriteString(mark)
	rule := func(selector, scheme, name string) {
		t, err := render.ThemeFor(name, nil)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(&b, "%s{color-scheme:%s;--fg:#%06x;--bg:#%06x;--cursor:#%06x;--selection:#%06x", selector, scheme, t.FG, t.BG, t.Cursor, t.Selection)
		for i, c := range t.Colors {
			fmt.Fprintf(&b, ";--c%d:#%06x", i, c)
		}
		for i, c := range t.Colors[1:5] {
			fmt.Fprintf(&b, ";--u%d:#%06x", i+1, legible(c, t))
		}
		strong := strongest(t)
		fmt.Fprintf(&b, ";--strong:#%06x;--on-strong:#%06x}\n", strong, readable(strong))
	}
	rule(":root,[data-theme=dark]", "dark", "dark")
	b.WriteString("@media(prefers-color-scheme:light){")
	rule(":root:not([data-theme])", "light", "light")
	b.WriteString("}\n@media(prefers-contrast:more){")
	rule(":root:not([data-theme])", "dark", "high-contrast")
	b.WriteString("}\n")
	rule(`[data-theme=light]`, "light", "light")
	rule(`[data-theme=high-contrast]`, "dark", "high-contrast")
	return b.Bytes()
}

// strongest returns the colour of the primary button: the theme's blue, darkened until white is readable on it.
func strongest(t render.Theme) uint32 {
	c := t.Colors[4]
	for readable(c) != 0 && 1.05/(luminance(c)+0.05) < 4.6 {
		var darker uint32
		for shift := 0; shift < 24; shift += 8 {
			darker |= (c >> shift & 0xff) * 31 / 32 << shift
		}
		c = darker
	}
	return c
}

// legible returns a text colour: the theme's, moved towards the foreground until it is readable on the background and
// on raised areas (slightly more than AA of WCAG 2).
func legible(c uint32, t render.Theme) uint32 {
	raised := luminance(mix(t.BG, t.FG, 12))
	for step := 0; step < 32; step++ {
		now := mix(c, t.FG, float64(step)*100/32)
		a, b := luminance(now), raised
		if (max(a, b)+0.05)/(min(a, b)+0.05) >= 4.6 {
			return now
		}
	}
	return t.FG
}

// mix blends percent of another colour into c.
func mix(c, with uint32, percent float64) (out uint32) {
	for shift := 0; shift < 24; shift += 8 {
		a, b := float64(c>>shift&0xff), float64(with>>shift&0xff)
		out |= uint32(math.Round(a+(b-a)*percent/100)) << shift
	}
	return out
}

// readable returns black or white, whichever is readable on a colour; white if both are.
func readable(c uint32) uint32 {
	if luminance(c) > 0.3 {
		return 0
	}
	return 0xffffff
}

// luminance returns the relative luminance of WCAG 2.
func luminance(c uint32) float64 {
	part := func(shift int) float64 {
		v := float64(c>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// tables returns the palette and the arms of box-drawing characters as a module.
func tables() []byte {
	var arms string // two digits per character: up and right, down and left
	for i := range 128 {
		n, _ := strconv.ParseUint(cmp.Or(boxdraw.Arms(rune(0x2500+i)), "0"), 4, 8) // digits below 4
		arms += fmt.Sprintf("%02x", n)
	}
	p := vterm.DefaultPalette()
	var palette [16]string
	for i := range palette {
		palette[i] = fmt.Sprintf("#%06x", p.Colors[i])
	}
	var b bytes.Buffer
	b.WriteString(mark)
	for _, v := range []struct {
		name  string
		value any
	}{{"palette", palette}, {"arms", arms}} {
		text, err := json.Marshal(v.value)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Fprintf(&b, "export const %s = %s;\n", v.name, text)
	}
	return b.Bytes()
}
