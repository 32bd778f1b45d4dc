//go:build unix

package webpage

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// flooded makes the page draw its screen as in a flood, on the canvas, and keeps it so.
const flooded = `(() => {
	const { grid, screen } = longterm.page.term;
	for (let n = 0; n < 9; n++) {
		screen.rows = screen.rows.map((r) => ({ ...r }));
		grid.draw(screen);
	}
	clearTimeout(grid.calm);
	return !!grid.canvas;
})()`

// styles is a screen with all kinds of content; the cursor does not blink.
const styles = `\033[2 q` + `\033[1mbold\033[m \033[3mitalic\033[m \033[1;3mboth\033[m \033[2mdim\033[m \033[2;7mdimmed inverse\033[m \033[8mhidden\033[m \033[8;44mhidden\033[m\r\n` +
	`\033[4mone\033[m \033[4:3mcurly\033[m \033[9mstrike\033[m \033[53mover\033[m and plain\r\n` +
	`\033[31mred\033[42mongreen\033[m \033[38;5;208morange\033[m \033[38;2;1;2;3;48;2;250;251;252mtrue\033[m \033[95mbright\033[7minverse\033[m\r\n` +
	`wide 漢字 \033[41m漢字\033[m half é combined e\314\201 family 👩‍👩‍👧 flag 🇩🇪 שלום عربي end\r\n` +
	`┌─┬─┐ ╔═╗ ╭─╮ ▀▄█▌▐░▒▓ ⣿ \033[33;45m├─┼─┤\033[m\r\n` +
	`\033]8;;https://example.org/a\033\\good\033]8;;\033\\ fi -> != == ===\r\n` +
	`\033#6double\r\n\033[44m\033[K\033[m\r\nthe end`

// TestFloodLooksTheSame compares the canvas used in a flood with the elements: all styles, widths and shapes, in all
// themes, also on a high-density screen.
//
// FEATURES: R112
func TestFloodLooksTheSame(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "styles", "--", "sh", "-c", "printf '"+styles+"'; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "styles")
	shows(p, "the end")
	for _, scale := range []float64{1, 2} {
		p.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 900, "height": 600, "deviceScaleFactor": scale, "mobile": false}, nil)
		// Under this emulation only elements are aligned to whole CSS pixels: cells of such a size are.
		p.Eval(`((t) => { for (let z = 0.7, whole = false; !whole; z += 0.05) { t.setZoom(z); whole = t.m.w % 1 === 0 && t.m.h % 1 === 0 || z > 2; } })(longterm.page.term)`, nil)
		for _, theme := range []string{"dark", "light", "high-contrast"} {
			name := fmt.Sprintf("%s at %g", theme, scale)
			p.Eval(fmt.Sprintf(`document.documentElement.dataset.theme = %q`, theme), nil)
			p.Wait("it is drawn", fmt.Sprintf(`longterm.page.term.m.ratio === %g && !longterm.page.term.due`, scale))
			elements, at := picture(t, p), [4]float64{}
			p.Eval(`((r) => [r.left, r.top, r.right, r.bottom])(longterm.page.term.grid.el.getBoundingClientRect())`, &at)
			r := image.Rect(int(at[0]*scale), int(at[1]*scale), int(at[2]*scale), int(at[3]*scale)).Intersect(elements.Bounds())
			keep(t, p, name+" elements")
			var on bool
			if p.Eval(flooded, &on); !on {
				t.Fatalf("%s: no canvas", name)
			}
			canvas := picture(t, p)
			keep(t, p, name+" canvas")
			p.Eval(`longterm.page.term.grid.rest()`, nil)
			far, all := differ(r, elements, canvas)
			t.Logf("%s: of %d pixels of text or colour %d are far off", name, all, far)
			if all < 5000 || far > all/100 {
				t.Errorf("%s: %d of %d pixels are others", name, far, all)
			}
		}
	}
	quiet(t, b)
}

func picture(t *testing.T, p *browser.Page) image.Image {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(p.PNG()))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// differ counts the pixels of a place that are far from those of another picture, and those that are not the background.
func differ(r image.Rectangle, a, b image.Image) (far, all int) {
	bg := a.At(r.Max.X-1, r.Min.Y)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if a.At(x, y) != bg {
				all++
			}
			r1, g1, b1, _ := a.At(x, y).RGBA()
			r2, g2, b2, _ := b.At(x, y).RGBA()
			for _, d := range []int{int(r1) - int(r2), int(g1) - int(g2), int(b1) - int(b2)} {
				if max(d, -d) > 0x3000 {
					far++
					break
				}
			}
		}
	}
	return far, all
}

// TestFloodIsSelected selects and copies text during a flood on the canvas until its rows are gone. The elements show
// the selection afterwards.
//
// FEATURES: R112
func TestFloodIsSelected(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "flood", "--", "sh", "-c", "echo begin; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "flood")
	shows(p, "begin")
	// Each frame of the browser has all rows of a frame as the daemon sends it. The clock is stopped: it is a flood on
	// a busy machine too.
	p.Eval(`void (() => {
		const { term } = longterm.page, now = performance.now;
		let n = 1000, on = true;
		performance.now = () => 1;
		const next = () => {
			if (!on) return;
			n++;
			term.frame({ n: 1, v: term.screen.v, e: term.screen.e, rows: term.screen.rows.map((_, y) => [y, 0, [0, 'line ' + (n + y) + ' of what is told'], [1, ' red']]) }, new Map([[1, { f: '#ff0000' }]]));
			requestAnimationFrame(next);
		};
		globalThis.calm = () => { on = false; performance.now = now; };
		next();
	})()`, nil)
	const grid = `longterm.page.term.grid`
	p.Wait("the canvas", grid+`.canvas`)
	p.Wait("elements under it are old", grid+`.rows.children[9].row !== longterm.page.term.screen.rows[9]`)
	var at [4]float64
	p.Eval(`(() => { const t = longterm.page.term, b = t.grid.rows.getBoundingClientRect(), row = (y) => b.top + (y + 0.5) * t.m.h; return [b.left + 5.1 * t.m.w, row(9), b.left + 16.1 * t.m.w, row(10)]; })()`, &at)
	var old, text, rows string
	p.Eval(grid+`.rows.children[9].row.text`, &old)
	p.Mouse("mousePressed", "left", at[0], at[1])
	p.Mouse("mouseMoved", "left", at[2], at[3])
	p.Eval(`String(getSelection()).replaceAll('\n', '|')`, &text)
	p.Eval(`[9, 10].map((y) => `+grid+`.rows.children[y].textContent).join('|')`, &rows)
	if want := rows[5:strings.LastIndex(rows, " told")] + " told"; !strings.HasPrefix(rows, "line ") || text != rows[5:5+len(text)] || len(text) < len(want)/2 {
		t.Errorf("%q is selected of %q", text, rows)
	}
	if strings.HasPrefix(rows, old) {
		t.Errorf("%q was there before the flood", old)
	}
	var canvas bool
	if p.Eval(`!!`+grid+`.canvas`, &canvas); canvas {
		t.Error("the selection is not visible")
	}
	p.Mouse("mouseReleased", "left", at[2], at[3])
	p.Wait("the selection goes with its rows", `!longterm.page.term.selecting && getSelection().isCollapsed`)
	p.Wait("the canvas", grid+`.canvas`)
	p.Eval(`calm()`, nil)
	p.Wait("elements", `!`+grid+`.canvas`)
	var off int
	p.Eval(`longterm.page.term.screen.rows.filter((r, y) => `+grid+`.rows.children[y].row !== r || `+grid+`.rows.children[y].textContent.trimEnd() !== r.text).length`, &off)
	if off > 0 {
		t.Errorf("%d rows differ from the last frame", off)
	}
	// A page that is closed during a flood leaves nothing behind.
	p.Eval(`((t) => { `+flooded+`; t.grid.calm = 0; t.grid.screen.rows = t.screen.rows.map((r) => ({ ...r })); t.grid.draw(t.screen); globalThis.ended = t; location.hash = '#/tiles'; })(longterm.page.term)`, nil)
	p.Wait("the tiles", `document.querySelector('.tile')`)
	p.Eval(`new Promise((done) => { ended.grid.draw = () => { throw new Error('drawn after its end'); }; setTimeout(done, 200); })`, nil) // longer than the pause after a flood before elements are drawn
	quiet(t, b)
}

// TestOneFrameAhead checks that one frame is in flight ahead of the drawn one, and that a page that draws nothing
// receives nothing.
//
// FEATURES: R112
func TestOneFrameAhead(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "ahead", "--", "sh", "-c", "echo begin; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "ahead")
	shows(p, "begin")
	p.Wait("rest", `!longterm.page.term.due`)
	var acked []int
	p.Eval(`(() => {
		const { term } = longterm.page, next = requestAnimationFrame, { write } = longterm.link, said = [];
		let draw;
		globalThis.requestAnimationFrame = (f) => { draw = f; return 1; };
		longterm.link.write = (m) => { if (m.t === 'ack') said.push(m.n); };
		const frames = (...all) => { for (const n of all) term.frame({ n, rows: [[0, 0, [0, 'frame ' + n]]] }, new Map()); };
		frames(101, 102, 103);
		said.push(0);
		draw();
		frames(104);
		said.push(0);
		draw();
		longterm.link.write = write;
		globalThis.requestAnimationFrame = next;
		return said;
	})()`, &acked)
	if want := []int{101, 0, 103, 104, 0}; !slices.Equal(acked, want) {
		t.Errorf("acknowledged: %v, want %v (0: it draws)", acked, want)
	}
	quiet(t, b)
}
