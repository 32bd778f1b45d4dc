//go:build unix

package webpage

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// menu opens the session's menu and chooses an entry.
func menu(p *browser.Page, entry string) {
	p.Click("button[title=More]")
	p.Eval(fmt.Sprintf(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === %q).click()`, entry), nil)
}

// inTheme calls f in the dark and the light theme, on a desktop and on a phone.
func inTheme(p *browser.Page, f func(name string)) {
	for name, s := range map[string]browser.Screen{"desk": browser.Desk, "phone": browser.Phone} {
		p.Show(s)
		for _, theme := range []string{"light", "dark"} {
			p.Eval(fmt.Sprintf(`void (document.documentElement.dataset.theme = %q)`, theme), nil)
			f(name + "-" + theme)
		}
	}
	p.Show(browser.Desk)
}

// TestShareDialog shares a session from its menu. The dialog shows the link and its QR code, lists the session's links,
// and ends one, which ends its reader's page.
//
// FEATURES: R83
func TestShareDialog(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "shown", "--", "sh", "-c", "echo hello; exec cat")
	i.Run("new", "-n", "hidden", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "shown")
	menu(p, "Share…")
	p.Wait("that there are no links", `document.querySelector('dialog .shares')?.textContent.includes('No links')`)
	inTheme(p, func(name string) { keep(t, p, "share-new-"+name) })
	p.Eval(`(() => { const f = document.querySelector('dialog form'); f.elements.access.value = 'Type'; f.elements.hours.value = '8'; f.requestSubmit(); })()`, nil)
	p.Wait("the link and its code", `document.querySelector('.made input')?.value && document.querySelector('.made .qr path').getAttribute('d')`)
	p.Wait("the link in the list", `document.querySelectorAll('.shares .share').length === 1`)
	inTheme(p, func(name string) { keep(t, p, "share-made-"+name) })
	var made struct{ Link, Row, Title string }
	p.Eval(`({ Link: document.querySelector('.made input').value, Row: document.querySelector('.share').textContent, Title: [...document.querySelectorAll('.share time')].at(-1).title })`, &made)
	if !strings.Contains(made.Row, "View and type") || !strings.Contains(made.Row, "ends in 7 h") && !strings.Contains(made.Row, "ends in 8 h") || !strings.HasPrefix(made.Title, "Ends ") {
		t.Errorf("the list has %+v", made)
	}
	reader := b.Page(browser.Desk)
	reader.Go(made.Link)
	reader.Wait("logged in", `globalThis.longterm?.store.loaded`)
	shows(reader, "hello")
	reader.Click("button[title=More]")
	reader.Wait("a menu without Share", `document.querySelector('.menu') && !document.querySelector('.menu').textContent.includes('Share')`)
	p.Eval(`document.querySelector('.share button').click()`, nil)
	reader.Wait("its end", `document.body.innerText.includes('The login has ended')`)
	p.Wait("an empty list", `document.querySelector('.shares').textContent.includes('No links')`)
	if all := e2e.Decode[[]api.Token](t, i.Run("token", "ls", "--json")); len(all) != 1 { // the page's login
		t.Errorf("tokens: %+v", all)
	}
	quiet(t, b, "401")
}

// TestShareDialog_ShowsErrors requests a link through an unreachable relay. The dialog shows the reason, and keeps the
// choices.
//
// FEATURES: R83
func TestShareDialog_ShowsErrors(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "shown", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "shown")
	menu(p, "Share…")
	p.Wait("the form", `document.querySelector("dialog form")`)
	p.Eval(`(() => { const f = document.querySelector('dialog form'); f.elements.relay.value = 'ftp://nowhere'; f.elements.access.value = 'Type'; f.requestSubmit(); })()`, nil)
	p.Wait("the reason", `document.querySelector('dialog [role=alert]').textContent.length > 10`)
	p.Wait("what was chosen", `document.querySelector('dialog form').elements.access.value === 'Type'`)
	keep(t, p, "share-error")
	looks := open(i, b, browser.Desk, "--may", "look,type,manage")
	show(i, looks, "shown")
	looks.Click("button[title=More]")
	looks.Wait("a menu without Share", `document.querySelector('.menu')?.textContent.includes('Rename') && !document.querySelector('.menu').textContent.includes('Share')`)
	quiet(t, b, "422", "ERR_CONNECTION_REFUSED") // the second login moved the page to another port
}

// TestPage_LabelsTimesAndStates checks that times have a label and a full form, that states are words, and that the
// list shows a command which waits for approval.
//
// FEATURES: R83, R112
func TestPage_LabelsTimesAndStates(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "bad", "--", "sh", "-c", "echo broken; exit 7")
	i.Run("new", "-n", "build", "--", "sh", "-c", "echo compiling the whole project; exec sleep 1000")
	i.Run("new", "-n", "asks", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a`)
	i.Run("config", "set", "policy.agents", "readonly")
	i.Run("new", "-n", "agent", "--", "sh")
	i.Run("exec", "agent", "-b", "--agent", "claude", "touch build/output")
	p := open(i, b, browser.Desk)
	p.Wait("the command to be approved", `[...document.querySelectorAll('.item .what.run')].some((e) => e.textContent === 'touch build/output')`)
	p.Wait("labelled times", `((all) => all.length > 2 && all.every((e) => /^(started|ended|output) (now|.* ago)$/.test(e.textContent) && /^(Started|Ended|Output) .*\d\d/.test(e.title)))([...document.querySelectorAll('.item time')])`)
	p.Wait("words of states", `[...document.querySelectorAll('.item .word')].every((e) => e.textContent)`)
	inTheme(p, func(name string) { keep(t, p, "list-"+name) })
	p.Eval(`void (location.hash = '#/tiles')`, nil)
	p.Wait("the tiles", `[...document.querySelectorAll('.tile')].length === 4 && ![...document.querySelectorAll('.tile .row')].every((r) => !r.textContent) && !document.querySelector('.tile .loading')`)
	inTheme(p, func(name string) {
		p.Wait("readable text", `[...document.querySelectorAll('.tile .rows')].every((r) => { const s = r.getBoundingClientRect().height / r.offsetHeight; return s * 12 >= 8.9; })`)
		keep(t, p, "tiles-"+name)
	})
	show(i, p, "bad")
	p.Wait("when it ended", `/ended (now|.* ago)/.test(document.querySelector('.head .what').textContent) && /^Ended /.test(document.querySelector('.head time').title)`)
	inTheme(p, func(name string) { keep(t, p, "session-"+name) })
	p.Eval(`void (location.hash = '#/approvals')`, nil)
	p.Wait("the inbox", `document.querySelector('.ask time')?.textContent.startsWith('asked')`)
	inTheme(p, func(name string) { keep(t, p, "inbox-"+name) })
	quiet(t, b)
}

// TestPage_ShowsLoading holds answers back: the page shows that it loads the list, a session's screen, a panel and a
// past moment.
//
// FEATURES: R112
func TestPage_ShowsLoading(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo first; exec cat")
	p := open(i, b, browser.Desk)
	id := i.Info("one").ID
	const loads = `document.querySelector(%q)?.textContent.startsWith(%q)`
	p.Eval(`(() => {
		const { store, link } = longterm;
		globalThis.had = new Map(store.sessions);
		store.loaded = false;
		store.sessions.clear();
		store.emit('change');
	})()`, nil)
	p.Wait("loading the list", fmt.Sprintf(loads, ".list .loading", "Loading sessions"))
	p.Eval(fmt.Sprintf(`void (location.hash = '#/s/%s')`, id), nil)
	p.Wait("loading the session", fmt.Sprintf(loads, "main .loading", "Loading the session"))
	keep(t, p, "loading-list")
	p.Eval(`(() => { // no frame is shown until they are let through
		const { store, link } = longterm;
		const { heard } = link;
		globalThis.held = [];
		link.heard = (data) => held.push(data);
		globalThis.through = () => { delete link.heard; for (const d of held) heard.call(link, d); };
		store.loaded = true;
		for (const [k, v] of had) store.sessions.set(k, v);
		store.emit('change');
	})()`, nil)
	p.Wait("loading its screen", fmt.Sprintf(loads, ".term .loading", "Loading the screen"))
	p.Wait("a moment of it", `getComputedStyle(document.querySelector('.term .loading')).visibility === 'visible'`)
	keep(t, p, "loading-screen")
	p.Eval(`through()`, nil)
	shows(p, "first")
	p.Wait("no sign any more", `!document.querySelector('.term .loading')`)
	p.Eval(`(() => { const { link } = longterm; const { heard } = link; globalThis.held = []; link.heard = (d) => held.push(d); globalThis.through = () => { delete link.heard; for (const d of held) heard.call(link, d); }; })()`, nil)
	p.Click("button[title=Time]")
	p.Eval(`(() => { const r = longterm.page.time.range; r.value = 0; r.dispatchEvent(new Event('input')); })()`, nil)
	p.Wait("loading the past", fmt.Sprintf(loads, ".term .loading", "Loading that moment"))
	p.Eval(`through()`, nil)
	p.Wait("the past", `!document.querySelector('.term .loading') && longterm.page.term.screen.at !== undefined`)
	quiet(t, b)
}
