package pixel

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// browserScreen has every kind of content with a visible position: backgrounds, boxes, wide characters, decorations, a
// cursor.
const browserScreen = "\x1b[41mred\x1b[42mgreen\x1b[48;2;9;99;199mrgb\x1b[m plain \x1b[7minverse\x1b[m\r\n" +
	"┌──┬──┐ ╔══╗ ▀▄█▌▐░▒▓ ⣿⣿\r\n│  │  │ ║  ║ \x1b[31m████\x1b[m\r\n└──┴──┘ ╚══╝\r\n" +
	"\x1b[44m你好\x1b[m世界 x e\u0301 \x1b[4munder   lined\x1b[m\r\n" +
	"<script>document.body.remove()</script>\r\n\x1b[45m\x1b[K\x1b[m\r\n$ \x1b[2 q"

// browserCell is the expected content of a cell: the colour that fills it or surrounds its ink, and whether there is
// ink.
type browserCell struct {
	back uint32
	ink  bool
}

// TestBrowser checks that a browser shows the HTML and the SVG of a screen like the PNG: the same background in each
// cell, and ink in the same cells.
// FEATURES: R30, R32, R36
func TestBrowser(t *testing.T) {
	tier.Full(t)
	chromium := tier.Path(t, "chromium")
	const cols, rows = 40, 9
	s := screenOf(cols, rows, browserScreen)
	look := lookOf(t, "dark", 1)
	want := paint(t, s, look)
	for ext, doc := range map[string][]byte{
		"html": render.AppendHTML(nil, s, look.PictureOptions),
		"svg":  render.AppendSVG(nil, s, look.PictureOptions),
	} {
		t.Run(ext, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "screen."+ext)
			fail(t, os.WriteFile(page, doc, 0o600))
			got := screenshot(t, chromium, page, cols*render.CellWidth, rows*render.CellHeight)
			var wrong []string
			for row := range rows {
				for col := range cols {
					if a, b := lookAt(got, col, row), lookAt(want, col, row); !alike(a, b) {
						wrong = append(wrong, fmt.Sprintf("row %d, column %d: the browser shows %06x, ink %v; the PNG %06x, ink %v", row, col, a.back, a.ink, b.back, b.ink))
					}
				}
			}
			if len(wrong) > 0 {
				t.Errorf("%d cells differ:\n%s", len(wrong), strings.Join(wrong[:min(len(wrong), 10)], "\n"))
			}
		})
	}
}

func screenshot(t *testing.T, chromium, page string, width, height int) image.Image {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "shot.png")
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--force-device-scale-factor=1", "--user-data-dir="+filepath.Join(dir, "profile"),
		fmt.Sprintf("--window-size=%d,%d", max(width, 600), max(height, 400)), "--screenshot="+file, "file://"+page)
	cmd.WaitDelay = 10 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, out)
	}
	f, err := os.Open(file)
	fail(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	fail(t, err)
	return img
}

// lookAt judges a cell by its inside: its background is the colour most of its edge has,
// and there is ink if enough pixels are far from that.
func lookAt(img image.Image, col, row int) browserCell {
	const w, h = render.CellWidth, render.CellHeight
	at := func(x, y int) uint32 {
		r, g, b, _ := img.At(col*w+x, row*h+y).RGBA()
		return r>>8<<16 | g>>8<<8 | b>>8
	}
	counts := map[uint32]int{}
	for y := 1; y < h-1; y++ {
		for x := 1; x < w-1; x++ {
			counts[at(x, y)]++
		}
	}
	var c browserCell
	for color, n := range counts {
		if n > counts[c.back] || n == counts[c.back] && color < c.back {
			c.back = color
		}
	}
	far := 0
	for color, n := range counts {
		if distance(color, c.back) > 60 {
			far += n
		}
	}
	c.ink = far > 2
	return c
}

func distance(a, b uint32) int {
	d := 0
	for shift := 0; shift <= 16; shift += 8 {
		n := int(a>>shift&0xff) - int(b>>shift&0xff)
		d = max(d, n, -n)
	}
	return d
}

// alike allows for rounding of colours that are half covered.
func alike(a, b browserCell) bool { return a.ink == b.ink && distance(a.back, b.back) <= 4 }
