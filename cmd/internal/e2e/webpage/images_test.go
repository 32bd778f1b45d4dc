//go:build unix

package webpage

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// painted draws the images of the rows on a canvas and reads the pixel in the middle of a cell.
const painted = `(async (row, col) => {
	const t = longterm.page.term, line = typeof row === 'number' ? t.grid.rows.children[row] : row, el = [...line?.querySelectorAll('.pic') ?? []].find((e) => {
		const left = Math.round((e.getBoundingClientRect().left - t.grid.rows.getBoundingClientRect().left) / t.m.w);
		return col >= left && col < left + Math.round(parseFloat(e.style.width) / t.m.w);
	});
	if (!el || !el.style.backgroundImage) return 'none';
	const left = Math.round((el.getBoundingClientRect().left - t.grid.rows.getBoundingClientRect().left) / t.m.w);
	const img = new Image();
	img.src = el.style.backgroundImage.slice(5, -2);
	await img.decode();
	const px = (s) => s.split(' ').map(parseFloat), size = px(el.style.backgroundSize), at = px(el.style.backgroundPosition);
	const c = document.createElement('canvas').getContext('2d');
	c.imageSmoothingEnabled = false;
	c.drawImage(img, at[0] - (col - left) * t.m.w, at[1], size[0], size[1]);
	return c.getImageData(t.m.w / 2, t.m.h / 2, 1, 1).data.join();
})`

// TestPageShowsImages checks that images are at their cells, move with their rows, and are requested once.
//
// FEATURES: R112
func TestPageShowsImages(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	// Red above green, in sixels; blue pixels of the kitty protocol, spread over 6 columns and 3 rows.
	sixel := `\033Pq"1;1;40;36#1;2;100;0;0!40~-!40~-!40~-#2;2;0;100;0!40~-!40~-!40~\033\\`
	kitty := `\033_Ga=T,f=24,s=1,v=1,c=6,r=3;AAD/\033\\`
	i.Run("new", "-n", "pics", "--cols", "60", "--rows", "14", "--", "sh", "-c", "printf 'one\r\n"+sixel+"\r\nafter "+kitty+" end\r\n'; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "pics")
	shows(p, "end")
	p.Wait("images", `document.querySelectorAll('.term .pic').length >= 4 && [...document.querySelectorAll('.term .pic')].every((e) => e.style.backgroundImage)`)
	keep(t, p, "images")
	pixel := func(row, col int, want string) {
		t.Helper()
		var got string
		p.Eval(fmt.Sprintf("%s(%d, %d)", painted, row, col), &got)
		if got != want {
			t.Errorf("row %d, column %d shows %s, want %s", row, col, got, want)
		}
	}
	var rows int
	p.Eval(`longterm.page.term.grid.rows.children.length && [...longterm.page.term.grid.rows.children].findIndex((r) => r.textContent.includes('after'))`, &rows)
	pixel(1, 0, "255,0,0,255")
	pixel(2, 1, "0,255,0,255")
	pixel(3, 1, "0,0,0,0") // the image fills a quarter of its last row
	pixel(rows, 8, "0,0,255,255")
	pixel(rows+2, 11, "0,0,255,255")
	i.Run("send", "pics", "--enter", "1\r2\r3\r4\r5\r6\r7\r8\r9\rlast")
	shows(p, "last")
	var moved string // found and read in one go: more may scroll
	p.Eval(painted+`([...longterm.page.term.grid.rows.children].findIndex((r) => r.textContent.includes('after')), 8)`, &moved)
	if moved != "none" && moved != "0,0,255,255" {
		t.Errorf("an image that scrolled shows %s", moved)
	}
	// The reloaded page has none, and requests it again.
	p.Eval(`void location.reload()`, nil)
	p.Wait("images after a reload", `globalThis.longterm?.page?.term && [...document.querySelectorAll('.term .pic')].every((e) => e.style.backgroundImage)`)
	quiet(t, b)
}

// TestPageShowsManyImages fills a screen with images. The page requests no more at a time than the daemon answers, and
// none is missing.
//
// FEATURES: R112
func TestPageShowsManyImages(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	const rows, cols = 18, 12 // 216 images of one pixel, each of another colour and two cells wide
	var out strings.Builder
	for r := range rows {
		for c := range cols {
			pixel := base64.StdEncoding.EncodeToString([]byte{byte(10 * r), byte(20 * c), 99})
			fmt.Fprintf(&out, "\x1b_Ga=T,q=2,f=24,s=1,v=1,c=2,r=1;%s\x1b\\ ", pixel)
		}
		out.WriteString("\r\n")
	}
	// The last is a file of iTerm2: a yellow pixel, spread over 4 columns and 2 rows.
	var file bytes.Buffer
	if err := png.Encode(&file, image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.NRGBA{255, 255, 0, 255}})); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&out, "\x1b]1337;File=inline=1;width=4;height=2;preserveAspectRatio=0:%s\x07all", base64.StdEncoding.EncodeToString(file.Bytes()))
	path := filepath.Join(t.TempDir(), "many")
	if err := os.WriteFile(path, []byte(out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	i.Run("new", "-n", "many", "--cols", "60", "--rows", "24", "--", "sh", "-c", `cat "$0"; exec cat`, path)
	p := open(i, b, browser.Desk)
	show(i, p, "many")
	shows(p, "all")
	p.Wait("images", fmt.Sprintf(`document.querySelectorAll('.term .pic').length === %d && [...document.querySelectorAll('.term .pic')].every((e) => e.style.backgroundImage)`, rows*cols+2))
	for _, at := range [][2]int{{0, 0}, {0, cols - 1}, {rows / 2, 3}, {rows - 1, cols - 1}} {
		var got string
		p.Eval(fmt.Sprintf("%s(%d, %d)", painted, at[0], 3*at[1]), &got)
		if want := fmt.Sprintf("%d,%d,99,255", 10*at[0], 20*at[1]); got != want {
			t.Errorf("row %d, image %d is %s, want %s", at[0], at[1], got, want)
		}
	}
	var last string
	if p.Eval(fmt.Sprintf("%s(%d, 3)", painted, rows+1), &last); last != "255,255,0,255" {
		t.Errorf("the file shows %s", last)
	}
	quiet(t, b)
}

// TestImagesInScrollback checks images in the scrollback: for a page opened later, in a playback, and over a lost
// connection. The page marks images that are no longer stored.
//
// FEATURES: R112
func TestImagesInScrollback(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	script := `stty -echo; echo first; printf 'ab\033_Ga=T,q=2,i=7,f=24,s=1,v=1,c=6,r=3;AAD/\033\\ end\r\n'; seq 200; while read x; do printf '\033_Ga=d,d=I,q=2,i=7\033\\'; seq 20; echo "$x"; done`
	i.Run("new", "-n", "above", "--cols", "60", "--rows", "14", "--", "sh", "-c", script)
	i.Run("wait", "above", "--for", "text=200", "--timeout", "60s")
	p := open(i, b, browser.Desk)
	show(i, p, "above")
	shows(p, "200")
	const pics = `[...document.querySelectorAll('.history .pic')]`
	// top scrolls to the oldest line, repeatedly, as the page follows the screen until it has noticed the scrolling.
	top := func(what, each string) {
		t.Helper()
		p.Wait(what, `(({ history: h, screen, scroller }) => {
			if (h.at !== screen.at || h.total < 180) longterm.page.term.measure();
			else scroller.scrollTop = 0;
		})(longterm.page.term) || `+pics+`.length === 3 && `+pics+`.every((e) => `+each+`)`)
	}
	pixels := func(what string) {
		t.Helper()
		top("images "+what, `e.style.backgroundImage`)
		var got []string
		p.Eval(`Promise.all(`+pics+`.map((e, n) => `+painted+`(e.parentNode, 2 + 2 * n)))`, &got)
		if strings.Join(got, " ") != strings.Repeat("0,0,255,255 ", 2)+"0,0,255,255" {
			t.Errorf("%s: %s", what, got)
		}
	}
	pixels("above the screen")
	keep(t, p, "scrollback-images")
	p.Eval(`void location.reload()`, nil)
	p.Wait("the page", `globalThis.longterm?.page?.term?.screen.rows.some((r) => r.text === '200')`)
	pixels("after a reload")
	var offset int
	p.Eval(`fetch('v1/sessions/above/output/text', { headers: { 'Longterm-Page': localStorage.getItem('longterm.key:/') } }).then((r) => r.json()).then((o) => o.next)`, &offset)
	i.Run("send", "above", "--enter", "deleted")
	i.Run("wait", "above", "--for", "text=deleted", "--timeout", "60s")
	p.Eval(`void location.reload()`, nil)
	p.Wait("the page", `globalThis.longterm?.page?.term?.screen.rows.some((r) => r.text === 'deleted')`)
	top("images that are said to be gone", `e.classList.contains('gone') && e.title`)
	keep(t, p, "scrollback-images-gone")
	p.Eval(fmt.Sprintf(`longterm.page.goTo(%d)`, offset), nil)
	p.Wait("the past", `longterm.page.term.screen.at !== undefined`)
	pixels("in the past")
	quiet(t, b)
}
