//go:build unix

package webpage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
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

// TestKeys types keys with modifiers, by an input method, a soft keyboard and a paste. They arrive encoded by the
// program's modes.
//
// FEATURES: R83, R112
func TestKeys(t *testing.T) {
	tier.Full(t)
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

// TestMouse sends mouse events only to a program that enabled them.
//
// FEATURES: R83, R112
func TestMouse(t *testing.T) {
	tier.Full(t)
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

// TestPhone uses the page on a phone: a tap is a click for programs that use the mouse, and a row has the keys that
// soft keyboards lack. The session keeps its size.
//
// FEATURES: R96, R112
func TestPhone(t *testing.T) {
	tier.Full(t)
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
	p.Click("button[title=Time]")
	p.Wait("the time bar, as wide as the phone", `document.querySelector('.track input').offsetWidth > 0.8 * innerWidth`)
	keep(t, p, "time-phone")
	p.Click("button[title=Time]")
	p.Show(browser.Screen{Width: 844, Height: 390, Phone: true})
	p.Wait("another layout", `innerWidth === 844`)
	keep(t, p, "phone-wide")
	if now := i.Info("phone"); now.Cols != before.Cols || now.Rows != before.Rows {
		t.Errorf("%d×%d was, %d×%d is", before.Cols, before.Rows, now.Cols, now.Rows)
	}
	quiet(t, b)
}

// TestThinFrames checks that typed input causes delta frames that show the session's screen. A delta that does not
// apply causes a full frame, and nothing of it is shown.
//
// FEATURES: R83, R112
func TestThinFrames(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "thin", "--", "sh", "-c", `printf '\033[1;32mready\033[m $ '; exec cat`)
	p := open(i, b, browser.Desk)
	s := show(i, p, "thin")
	shows(p, "ready $")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	p.Compose("w", "word")
	shows(p, "ready $ word")
	p.Key("Backspace", "Backspace", 0)
	p.Key("Enter", "Enter", 0)
	p.Wait("the line came back", `longterm.page.term.text()[1] === 'wor' && longterm.page.term.screen.cursor.x === 0`)
	var drawn []string
	p.Eval(`(() => {
		const { link, page: { term } } = longterm;
		link.heard(term.sub.id.toString(36) + '\x012\x020,3,1\x040,2\x06f\x042,0\x06new\x07[999,{"a":1}]\x043,2,0\x05rr\x06ld');
		return [...term.text().slice(0, 4), String(term.screen.rows[3].spans.at(-1).st.a), term.screen.cursor.x + ',' + term.screen.cursor.y];
	})()`, &drawn)
	if want := "wof||new|wold|1|4,3"; strings.Join(drawn, "|") != want {
		t.Errorf("a thin frame makes %q, not %q", drawn, want)
	}
	var known int // styles belong to a connection, and a closed one may have been the first to get one
	p.Eval(`(longterm.link.heard('zz\x07[998,{"a":1}]'), longterm.link.styles.get(998)?.a ?? 0)`, &known)
	if known != 1 {
		t.Error("a style that was sent to no connection is not known")
	}
	for n, bad := range []string{"\x04zz,0\x06x", "\x040,zz\x06x", "\x05zzz\x06x", "\x051", "\x061\x07", "\x04a\x06x", "\x06", "\x041,0,zz\x06x", "\x07[1"} {
		p.Eval(fmt.Sprintf(`void longterm.link.heard(longterm.page.term.sub.id.toString(36) + %s)`, quote("\x040,0\x06faulty"+bad)), nil)
		word := fmt.Sprint("after", n)
		i.Run("send", "thin", "--enter", word)
		p.Wait("the line twice", fmt.Sprintf(`longterm.page.term.text().filter((l) => l === %q).length === 2`, word))
	}
	var text []string
	p.Eval(`longterm.page.term.text()`, &text)
	for n, want := range strings.Split(strings.TrimSpace(i.Run("screen", s.ID)), "\n") {
		if text[n] != strings.TrimRight(want, " ") {
			t.Errorf("row %d is %q, not %q", n, text[n], want)
		}
	}
	quiet(t, b)
}
