//go:build unix

package webpage

import (
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e/browser"
)

// echoBytes is a program that shows the bytes it gets, visibly, and first sets modes.
func echoBytes(modes string) []string {
	return []string{"--", "sh", "-c", "stty raw -echo opost onlcr; printf '" + modes + "ready\\r\\n'; exec cat -vt"}
}

// With the modifiers of DevTools.
const (
	alt   = 1
	ctrl  = 2
	shift = 8
)

// Keys with their modifiers, an input method, a soft keyboard and a paste arrive as bytes of the program's modes.
//
// FEATURES: R83, R112
func TestKeys(t *testing.T) {
	b := browser.New(t)
	i := e2e.New(t)
	i.Run(append([]string{"new", "-n", "keys", "--"}, echoBytes(`\033[?2004h`)[1:]...)...)
	p := open(i, b, browser.Desk)
	show(i, p, "keys")
	shows(p, "ready")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	typed := ""
	for _, k := range []struct {
		key, code string
		mods      int
		want      string
	}{
		{"a", "KeyA", 0, "a"}, {"A", "KeyA", shift, "A"}, {"é", "KeyE", 0, "M-CM-)"}, {"-", "Minus", 0, "-"}, {" ", "Space", 0, " "},
		{"Enter", "Enter", 0, "^M"}, {"Tab", "Tab", 0, "^I"}, {"Tab", "Tab", shift, "^[[Z"}, {"Escape", "Escape", 0, "^["}, {"Backspace", "Backspace", 0, "^?"},
		{"c", "KeyC", ctrl, "^C"}, {"z", "KeyZ", ctrl, "^Z"}, {"x", "KeyX", alt, "^[x"}, {"b", "KeyB", alt | ctrl, "^[^B"}, {" ", "Space", ctrl, "^@"},
		{"ArrowUp", "ArrowUp", 0, "^[[A"}, {"ArrowLeft", "ArrowLeft", ctrl, "^[[1;5D"}, {"Home", "Home", 0, "^[[H"}, {"End", "End", shift, "^[[1;2F"},
		{"PageUp", "PageUp", 0, "^[[5~"}, {"Delete", "Delete", 0, "^[[3~"}, {"F1", "F1", 0, "^[OP"}, {"F5", "F5", 0, "^[[15~"},
	} {
		p.Key(k.key, k.code, k.mods)
		typed += k.want
		if len(typed) > 55 { // a line of the screen would be full
			p.Key("j", "KeyJ", ctrl)
			shows(p, k.want)
			typed = ""
			continue
		}
		shows(p, typed)
	}
	p.Key("j", "KeyJ", ctrl)
	p.Compose("ni", "你好")
	shows(p, "M-dM-=M- M-eM-%M-=")
	p.Call("Input.insertText", map[string]any{"text": "soft"}, nil)
	shows(p, "soft")
	p.Eval(`(() => {
		const data = new DataTransfer();
		data.setData('text/plain', 'two\nlines');
		longterm.page.term.area.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
	})()`, nil)
	shows(p, "^[[200~two^Mlines^[[201~")
	quiet(t, b)
}

// A program that asked for the mouse hears of it, and one that did not does not.
//
// FEATURES: R83, R112
func TestMouse(t *testing.T) {
	b := browser.New(t)
	i := e2e.New(t)
	i.Run(append([]string{"new", "-n", "mouse", "--"}, echoBytes(`\033[?1002h\033[?1006h`)[1:]...)...)
	p := open(i, b, browser.Desk)
	show(i, p, "mouse")
	shows(p, "ready")
	p.Wait("the program listens", `longterm.page.term.screen.mouse`)
	at := func(col, row int) (x, y float64) {
		var place [2]float64
		p.Eval(fmt.Sprintf(`(() => { const t = longterm.page.term, b = t.grid.rows.getBoundingClientRect(); return [b.left + (%d.5) * t.m.w, b.top + (%d.5) * t.m.h]; })()`, col, row), &place)
		return place[0], place[1]
	}
	x, y := at(4, 2)
	p.Mouse("mousePressed", "left", x, y)
	shows(p, "^[[<0;5;3M")
	x, y = at(6, 3)
	p.Mouse("mouseMoved", "left", x, y)
	p.Mouse("mouseReleased", "left", x, y)
	shows(p, "^[[<32;7;4M^[[<0;7;4m")
	p.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": -48}, nil)
	shows(p, "^[[<64;7;4M^[[<64;7;4M")
	quiet(t, b)
}

// A phone's fingers: a tap is a click for who listens to the mouse, and the row of keys has what soft keyboards lack.
// The session's size is its own.
//
// FEATURES: R96, R112
func TestPhone(t *testing.T) {
	b := browser.New(t)
	i := e2e.New(t)
	i.Run(append([]string{"new", "-n", "phone", "--"}, echoBytes(`\033[?1000h\033[?1006h`)[1:]...)...)
	before := i.Info("phone")
	p := open(i, b, browser.Phone)
	show(i, p, "phone")
	shows(p, "ready")
	p.Wait("the program listens", `longterm.page.term.screen.mouse`)
	var place [2]float64
	p.Eval(`(() => { const t = longterm.page.term, b = t.grid.rows.getBoundingClientRect(); return [b.left + 2.5 * t.m.w, b.top + 5.5 * t.m.h]; })()`, &place)
	p.Tap(place[0], place[1])
	shows(p, "^[[<0;3;6M^[[<0;3;6m")
	key := func(text string) {
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll('.keys button')].find((b) => b.textContent === %q).click()`, text), nil)
	}
	key("Esc")
	key("↑")
	shows(p, "^[^[[A")
	key("Ctrl")
	p.Call("Input.insertText", map[string]any{"text": "c"}, nil)
	shows(p, "^[^[[A^C")
	p.Call("Input.insertText", map[string]any{"text": "c"}, nil)
	shows(p, "^[^[[A^Cc")
	p.Show(browser.Screen{Width: 844, Height: 390, Phone: true})
	p.Wait("another layout", `innerWidth === 844`)
	keep(t, p, "phone-wide")
	if now := i.Info("phone"); now.Cols != before.Cols || now.Rows != before.Rows {
		t.Errorf("%d×%d was, %d×%d is", before.Cols, before.Rows, now.Cols, now.Rows)
	}
	quiet(t, b)
}
