//go:build unix

package webpage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestTiles checks that tiles show live screens, mark prompts, and lead to their sessions.
//
// FEATURES: R83, R112
func TestTiles(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo first; exec cat")
	i.Run("new", "-n", "two", "--", "bash", "-c", `read -p "Go on? [y/N] " a`)
	p := open(i, b, browser.Desk)
	p.Eval(`void (location.hash = '#/tiles')`, nil)
	tile := func(name, text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('.tile')].some((x) => x.querySelector('b').textContent === %q && [...x.querySelectorAll('.row')].some((r) => r.textContent.includes(%q)))`, name, text)
	}
	p.Wait("a screen", tile("one", "first"))
	p.Wait("another", tile("two", "Go on?"))
	p.Wait("all columns", `[...document.querySelectorAll('.tile .mini')].every((m) => {
		const edge = m.getBoundingClientRect().right - 8, rows = m.querySelector('.rows').getBoundingClientRect();
		return rows.width > 0 && rows.right <= edge + 1;
	})`)
	p.Wait("which asks", `[...document.querySelectorAll('.tile.calls b')].some((b) => b.textContent === 'two')`)
	i.Run("send", "one", "--enter", "second")
	p.Wait("what came", tile("one", "second"))
	p.Eval(`[...document.querySelectorAll('.tile')].find((x) => x.querySelector('b').textContent === 'one').click()`, nil)
	shows(p, "second")
	quiet(t, b)
}

// TestDownloads downloads images, text and recordings of a session.
//
// FEATURES: R36, R83
func TestDownloads(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "kept", "--", "sh", "-c", "echo to be kept; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "kept")
	shows(p, "to be kept")
	p.Eval(`(() => {
		const make = URL.createObjectURL;
		let last;
		globalThis.kept = {};
		URL.createObjectURL = (blob) => make(last = blob);
		HTMLAnchorElement.prototype.click = function () {
			last.arrayBuffer().then((a) => { kept[this.download] = String.fromCharCode(...new Uint8Array(a).slice(0, 10000)); });
		};
	})()`, nil)
	for entry, file := range map[string]string{"Download picture": "kept.png", "Download text": "kept.txt", "Download recording": "kept.cast"} {
		p.Click("button[title=More]")
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === %q).click()`, entry), nil)
		p.Wait(file, fmt.Sprintf(`kept[%q]`, file))
	}
	var kept map[string]string
	p.Eval(`kept`, &kept)
	if !strings.HasPrefix(kept["kept.png"], "\u0089PNG\r\n") {
		t.Errorf("picture: %.20q", kept["kept.png"])
	}
	if !strings.Contains(kept["kept.txt"], "to be kept") {
		t.Errorf("text: %.200q", kept["kept.txt"])
	}
	head, rest, _ := strings.Cut(kept["kept.cast"], "\n")
	var h struct{ Version, Width, Height int }
	if err := json.Unmarshal([]byte(head), &h); err != nil || h.Version != 2 || h.Width != 80 || !strings.Contains(rest, "to be kept") {
		t.Errorf("recording: %v, %.300q", err, kept["kept.cast"])
	}
}

// TestNotices checks that the system notifies of a session that needs the user while the page is in the background, and
// not of the session in view.
//
// FEATURES: R83
func TestNotices(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	p.Call("Browser.grantPermissions", map[string]any{"permissions": []string{"notifications"}}, nil)
	p.Wait("leave to tell", `Notification.permission === 'granted'`)
	p.Eval(`navigator.serviceWorker.ready.then((r) => { globalThis.notices = []; ServiceWorkerRegistration.prototype.showNotification = async (title, o) => { notices.push(title + ': ' + o.body + ' ' + o.data.hash); }; })`, nil)
	asks := func(name string) {
		i.Run("new", "-n", name, "--", "bash", "-c", `read -p "Deploy? [y/N] " a; exec cat`)
		p.Wait("it asks", fmt.Sprintf(`[...longterm.store.sessions.values()].some((s) => s.name === %q && s.needs_input && s.needs_input.kind !== 'screen')`, name))
	}
	asks("seen")
	p.Eval(`Object.defineProperty(document, 'hidden', { get: () => true, configurable: true })`, nil)
	asks("unseen")
	p.Wait("a notice", fmt.Sprintf(`notices.some((n) => n.startsWith('unseen asks') && n.endsWith('#/s/%s'))`, i.Info("unseen").ID))
	var all []string
	p.Eval(`notices`, &all)
	for _, n := range all {
		if strings.HasPrefix(n, "seen") {
			t.Errorf("%q was looked at", n)
		}
	}
	quiet(t, b)
}

// thousand gives the page a thousand sessions, of which 700 run.
const thousand = `void longterm.link.heard(JSON.stringify({ t: 'sessions', first: true, list: Array.from({ length: 1000 }, (_, n) => ({ id: 'id' + n, name: 'many' + n,
	state: n < 700 ? 'running' : 'exited', exit_code: 0, command: 'x', argv: [], labels: {}, cwd: '/', created: '2026-01-01T00:00:00.' + String(n).padStart(3, '0') + 'Z' })) }))`

// TestManyTiles opens a thousand sessions. Only visible tiles exist, and each can be reached.
//
// FEATURES: R83
func TestManyTiles(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	p.Eval(`void (location.hash = '#/tiles')`, nil)
	p.Eval(thousand, nil)
	const (
		few   = `document.querySelectorAll('.tile').length < 60 && longterm.link.subs.size <= 32`
		shown = `((all) => [...document.querySelectorAll('.tile')].filter((e) => { const r = e.getBoundingClientRect(); return r.bottom > all.top && r.top < all.bottom; }).map((e) => e.querySelector('b').textContent))(document.querySelector('.page').getBoundingClientRect())`
		at    = `document.querySelector('.page').scrollTop`
	)
	p.Wait("the first", shown+`.includes('many0') && `+few)
	p.Eval(`void document.querySelector('.tile').focus({ preventScroll: true })`, nil)
	for n := range 9 { // in pieces: the focused entry keeps the focus, and is far away in the end
		p.Eval(fmt.Sprintf(`void (%s = %d)`, at, 300*n), nil)
	}
	p.Wait("the focus stays where it is, out of sight", `!`+shown+`.includes('many0') && document.activeElement.textContent.includes('many0')`)
	p.Eval(`void document.activeElement.blur()`, nil)
	p.Eval(`void (`+at+` = 1e6)`, nil)
	p.Wait("the last", shown+`.includes('many999') && `+few)
	p.Eval(`void (`+at+` /= 2)`, nil)
	p.Wait("those between", `((all) => all.length > 3 && all.every((n) => /^many[3-6]/.test(n)))(`+shown+`) && `+few)
	p.Eval(`((f) => { f.value = 'many777'; f.dispatchEvent(new Event('input')); longterm.store.emit('change'); })(document.querySelector('[type=search]'))`, nil)
	p.Wait("the one that is looked for", shown+`.join() === 'many777'`)
	keep(t, p, "tiles-many")
	quiet(t, b)
}

// TestLongList opens a thousand sessions. Only visible list elements exist, and each can be reached.
//
// FEATURES: R83
func TestLongList(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	p.Eval(`void (location.hash = '#/approvals')`, nil) // tiles would request the sessions' screens
	p.Wait("the list and no tiles", `!document.querySelector('.tiles')`)
	p.Eval(thousand, nil)
	const (
		few   = `document.querySelectorAll('.items > *').length < 150`
		shown = `[...document.querySelectorAll('.item')].filter((e) => { const r = e.getBoundingClientRect(), all = e.parentNode.getBoundingClientRect(); return r.bottom > all.top && r.top < all.bottom; }).map((e) => e.querySelector('b').textContent)`
	)
	p.Wait("the first", shown+`.includes('many0') && `+few)
	p.Eval(`void (document.querySelector('.item').focus(), document.querySelector('.items').scrollTop = 3000)`, nil)
	p.Wait("the focus stays where it is, out of sight", shown+`.includes('many60') && document.activeElement.textContent.includes('many0')`)
	p.Eval(`void document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }))`, nil)
	p.Wait("the next", shown+`.includes('many1') && document.activeElement.textContent.includes('many1')`)
	p.Eval(`void document.activeElement.blur()`, nil)
	p.Eval(`void (document.querySelector('.items').scrollTop = 1e6)`, nil)
	p.Wait("the last", shown+`.includes('many999') && `+few)
	p.Eval(`void (document.querySelector('.items').scrollTop /= 2)`, nil)
	p.Wait("those between", `((all) => all.length > 3 && all.every((n) => /^many[3-6]/.test(n)))(`+shown+`) && `+few)
	var same bool
	p.Eval(`((was) => { longterm.store.emit('change'); return was === `+shown+`.join(); })(`+shown+`.join())`, &same)
	if !same {
		t.Error("the list shows other entries after a redraw")
	}
	p.Eval(`((f) => { f.value = 'many777'; f.dispatchEvent(new Event('input')); })(document.querySelector('[type=search]'))`, nil)
	p.Wait("the one that is looked for", `document.querySelectorAll('.item').length === 1 && `+shown+`[0] === 'many777'`)
	quiet(t, b)
}

// TestOldPage opens a page older than the daemon's. It reports that and reloads on request, or once in the background
// unless text is partly typed.
//
// FEATURES: R112
func TestOldPage(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	newer := func(hash string) {
		p.Eval(fmt.Sprintf(`void (globalThis.old = true, longterm.link.heard(JSON.stringify({ ...longterm.link.told, page: %q })))`, hash), nil)
	}
	const offers = `document.querySelectorAll('.toast button.small').length`
	loaded := `!globalThis.old && globalThis.longterm?.store.loaded && ` + offers + ` === 0`
	newer("one")
	newer("one")
	p.Wait("one offer", offers+` === 1`)
	keep(t, p, "newer")
	p.Eval(`document.querySelector('.toast button.small').click()`, nil)
	p.Wait("the page of now", loaded)
	hide := func() {
		p.Eval(`void Object.defineProperty(document, 'hidden', { value: true, configurable: true })`, nil)
	}
	leave := func() { p.Eval(`void document.dispatchEvent(new Event('visibilitychange'))`, nil) }
	p.Eval(`void (location.hash = '#/search')`, nil)
	p.Wait("what can be ticked, which is nothing typed", `document.querySelector('[type=checkbox]')`)
	p.Eval(`void (document.querySelector('[type=search]').value = 'half')`, nil)
	newer("two")
	hide()
	leave()
	p.Wait("it stays", `sessionStorage.getItem('longterm.renewed') !== 'two' && `+offers+` === 1`)
	p.Eval(`void (document.querySelector('[type=search]').value = '')`, nil)
	leave()
	p.Wait("the page of now", loaded)
	hide()
	newer("two")
	p.Eval(`fetch(location.href).then((r) => r.text()).then(() => 0)`, nil) // which takes as long as loading it
	p.Wait("it is not loaded again and again", `globalThis.old && `+offers+` === 1`)
	quiet(t, b)
}

// TestOffline opens a loaded page again without a daemon. It reports that the daemon is missing.
//
// FEATURES: R83
func TestOffline(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	var at string
	p.Eval(`location.origin + '/'`, &at)
	p.Eval(`navigator.serviceWorker.ready.then(() => 0)`, nil)
	p.Go(at)
	p.Wait("it is kept", `navigator.serviceWorker.controller && longterm.store.loaded`)
	i.Run("web", "--off")
	p.Go(at)
	p.Wait("a word about it", `document.body.innerText.includes('cannot be reached')`)
}
