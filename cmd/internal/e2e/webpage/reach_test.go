//go:build unix

package webpage

import (
	"fmt"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestNoMouse reaches everything by the keyboard: the terminal takes Tab, so opened panels get the focus, keep it from
// part to part, and return it on Escape. A list is one step of Tab, and arrows move in it.
//
// FEATURES: R83, R112
func TestNoMouse(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	for n := range 3 {
		i.Run("new", "-n", fmt.Sprint("reach", n), "--", "sh")
	}
	i.Run("exec", "reach1", "echo done")
	p := open(i, b, browser.Desk)
	p.Wait("the list", `document.querySelectorAll('.item').length === 3`)
	press := func(key string) { p.Key(key, key, 0) }
	at := func(what, js string) {
		t.Helper()
		p.Wait(what, `((e) => `+js+`)(document.activeElement)`)
	}
	p.Eval(`document.querySelector('.filter input').focus()`, nil)
	press("Tab")
	at("the first of the list", `e === document.querySelectorAll('.item')[0]`)
	press("ArrowDown")
	at("the next", `e === document.querySelectorAll('.item')[1] && e.matches(':focus-visible')`)
	press("Tab")
	at("what is behind the list", `!e.closest('.list')`)
	p.Key("Tab", "Tab", shift)
	at("the list again", `e.matches('.item')`)
	p.Eval(`document.querySelectorAll('.item')[1].focus()`, nil)
	press("Enter")
	p.Wait("the session's screen", `longterm.page.term?.frames`)
	at("the terminal", `e === longterm.page.term.area`)
	p.Eval(`document.querySelector('.filter input').focus()`, nil)
	press("Tab")
	at("the one that is shown", `e === document.querySelectorAll('.item')[1]`)

	open := func(title string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`document.querySelector('.head [title=%s]').focus()`, title), nil)
		press("Enter")
	}
	open("Commands")
	p.Wait("its commands", `document.querySelector('.panel .entry')`)
	at("what opened", `e.role === 'tab' && e.textContent === 'Commands' && e.matches(':focus-visible')`)
	press("Tab")
	press("Tab")
	at("another part", `e.role === 'tab' && e.textContent === 'Jobs'`)
	press("Enter")
	at("it still", `e.role === 'tab' && e.textContent === 'Jobs' && e.ariaSelected === 'true'`)
	press("Escape")
	p.Wait("it is closed", `document.querySelector('.panel').hidden`)
	at("the terminal", `e === longterm.page.term.area`)
	open("Search")
	at("the field", `e.matches('.panel [type=search]')`)
	press("Escape")
	at("the terminal", `e === longterm.page.term.area`)

	open("Time")
	at("the moment", `e.matches('.timebar [type=range]')`)
	press("ArrowLeft")
	p.Wait("the past", `longterm.page.term.screen.at !== undefined`)
	press("Escape")
	p.Wait("it is closed, and now is shown", `!document.querySelector('.timebar') && longterm.page.term.screen.at === undefined`)
	at("the terminal", `e === longterm.page.term.area`)
	open("More")
	at("the menu", `e.role === 'menuitem'`)
	press("Escape")
	at("what opened it", `e.title === 'More'`)
	quiet(t, b)
}

// TestComposingAtTheCursor checks that an input method's composition and window are at the cursor, with space at the
// right edge.
//
// FEATURES: R112
func TestComposingAtTheCursor(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "compose", "--cols", "80", "--", "sh", "-c", `printf 'one\r\ntwo here'; exec cat`)
	p := open(i, b, browser.Desk)
	show(i, p, "compose")
	shows(p, "two here")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	p.Call("Input.imeSetComposition", map[string]any{"text": "にほ", "selectionStart": 2, "selectionEnd": 2}, nil)
	p.Wait("it at the cursor", `((a, c) => c.left > 100 && Math.abs(a.left - c.left) < 1 && Math.abs(a.top - c.top) < 1 && a.width > 100)(longterm.page.term.area.getBoundingClientRect(), document.querySelector('.session .cursor').getBoundingClientRect())`)
	keep(t, p, "composing")
	p.Call("Input.insertText", map[string]any{"text": "日本"}, nil)
	shows(p, "two here日本")
	p.Type("sixty more columns, and the cursor is not far from the edge")
	p.Wait("the cursor far right", `longterm.page.term.screen.cursor.x > 70 && !longterm.page.term.due`)
	var width [2]float64
	p.Call("Input.imeSetComposition", map[string]any{"text": "に", "selectionStart": 1, "selectionEnd": 1}, nil)
	p.Wait("it is shown", `longterm.page.term.area.offsetWidth > 100`)
	p.Eval(`((t) => [t.area.getBoundingClientRect().right, t.grid.rows.getBoundingClientRect().left + t.screen.cols * t.m.w])(longterm.page.term)`, &width)
	if width[0] > width[1]+1 {
		t.Errorf("it ends at %v, the screen at %v", width[0], width[1])
	}
	quiet(t, b)
}

// TestFirstSwipe checks that a finger's first swipe scrolls, because the rows above the screen are already known.
//
// FEATURES: R96, R112
func TestFirstSwipe(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "swipe", "--", "sh", "-c", "seq -f 'row %g' 1 300; exec cat")
	p := open(i, b, browser.Phone)
	show(i, p, "swipe")
	shows(p, "row 300")
	p.Wait("what is above", `longterm.page.term.history.total > 200`)
	touch := func(kind string, at ...map[string]float64) {
		p.Call("Input.dispatchTouchEvent", map[string]any{"type": kind, "touchPoints": append([]map[string]float64{}, at...)}, nil)
	}
	touch("touchStart", map[string]float64{"x": 200, "y": 200})
	for y := 220.0; y <= 600; y += 20 {
		touch("touchMove", map[string]float64{"x": 200, "y": y})
	}
	touch("touchEnd")
	p.Wait("rows above", `((s) => s.scrollTop < s.scrollHeight - s.clientHeight - 200)(longterm.page.term.scroller)`)
	quiet(t, b)
}

// TestAfterSleep returns to the page after an hour of sleep. A connection that only looks open is replaced at once,
// with all changes.
//
// FEATURES: R83, R112
func TestAfterSleep(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "sleep", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "sleep")
	p.Eval(`void (globalThis.old = longterm.link.ws, old.onmessage = () => {})`, nil) // messages sent there are lost
	p.Eval(`void document.dispatchEvent(new Event('visibilitychange'))`, nil)
	i.Run("send", "sleep", "--enter", "meanwhile")
	var same bool
	if p.Eval(`longterm.link.ws === old`, &same); !same {
		t.Error("an open connection is replaced")
	}
	p.Eval(`void ((now) => { Date.now = () => now() + 3600e3; })(Date.now)`, nil)
	p.Eval(`void document.dispatchEvent(new Event('visibilitychange'))`, nil)
	p.Wait("another connection", `longterm.link.ws !== old && longterm.link.state === 'open'`)
	shows(p, "meanwhile")
	quiet(t, b)
}
