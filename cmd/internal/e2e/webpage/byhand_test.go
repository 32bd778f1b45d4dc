//go:build unix

package webpage

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestKeyboardAlone moves the focus by the keyboard. The terminal keeps Tab for the program, so keys lead out of it: to
// a panel and its time bar, from tab to tab, and out of the terminal on windows without room for the list.
//
// FEATURES: R112
func TestKeyboardAlone(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "echo ready; exec cat")
	p := open(i, b, browser.Screen{Width: 700, Height: 700}) // as a desk's window is at 200 %
	show(i, p, "one")
	shows(p, "ready")
	focused := func(what, selector string) {
		p.Wait(what+" has the focus", fmt.Sprintf(`document.activeElement.matches(%q)`, selector))
	}
	focused("the terminal", ".ime")
	p.Key("Home", "Home", alt|ctrl)
	focused("what is first in its head", ".head a")
	press := func(selector string) {
		p.Eval(fmt.Sprintf(`document.querySelector(%q).focus()`, selector), nil)
		p.Key(" ", "Space", 0)
	}
	press("[title=Commands]")
	focused("the panel", ".panel [aria-selected=true]")
	press(".panel [role=tab]:last-child")
	focused("the panel of jobs", ".panel [aria-selected=true]:last-child")
	p.Key("Escape", "Escape", 0)
	focused("the terminal", ".ime")
	press("[title=Time]")
	focused("the time bar", ".track input")
	quiet(t, b)
}

// TestScreenReader_AnnouncesRepeatedOutput checks that a screen reader announces repeated output, and output without a
// pause.
//
// FEATURES: R112
func TestScreenReader_AnnouncesRepeatedOutput(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "stty -echo; echo ready; while read l; do echo \"$l\"; done")
	p := open(i, b, browser.Desk)
	show(i, p, "one")
	shows(p, "ready")
	p.Wait("what is there is known", `longterm.page.heard && !longterm.page.since`)
	p.Eval(`void (globalThis.told = [], new MutationObserver((all) => {
		for (const m of all) for (const n of m.addedNodes) told.push(n.textContent);
	}).observe(document.getElementById('live'), { childList: true }))`, nil)
	for n := range 26 { // more than there are rows: in the end one like it leaves with each
		line := []string{"the same", "the other"}[n%2]
		i.Run("send", "one", "--enter", line)
		p.Wait("it is told again", fmt.Sprintf(`told.length === %d && told.at(-1) === %q`, n+1, line))
	}
	p.Eval(`void (told = [])`, nil)
	i.Run("resize", "one", "100x24") // redraws everything
	p.Wait("its size", `longterm.page.term.screen.cols === 100 && !longterm.page.since`)
	p.Eval(`void longterm.link.ws.close()`, nil)
	i.Run("send", "one", "--enter", "another")
	p.Wait("what is new alone", `told.join() === 'another'`)
	// a frame each 50 ms leaves no rest
	p.Eval(`void (told = [], globalThis.on = setInterval(() => {
		const { screen } = longterm.page.term;
		screen.rows[0] = { ...screen.rows[0], text: 'line ' + told.length };
		longterm.page.announce(longterm.page.term);
	}, 50))`, nil)
	p.Wait("it is told meanwhile", `told.length > 0`)
	p.Eval(`clearInterval(on)`, nil)
	quiet(t, b)
}

// TestHalfAnAnswerStays checks that a partly typed answer stays while another prompt appears and the daemon is
// replaced.
//
// FEATURES: R63, R112
func TestHalfAnAnswerStays(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "asks", "--", "bash", "-c", `read; read -sp "Password: " a; exec cat`)
	i.Run("config", "set", "policy.agents", "readonly")
	p := open(i, b, browser.Desk)
	s := show(i, p, "asks")
	i.Run("keys", "asks", "Enter") // this daemon sends the prompt alone, and the next daemon the whole session
	p.Wait("it asks", `document.querySelector('.question input[type=password]')`)
	p.Eval(`document.querySelector('.question input').focus()`, nil)
	p.Type("half")
	p.Eval(`void (globalThis.before = longterm.link.ws)`, nil)
	p.Eval(fmt.Sprintf(`(() => {
		const a = { id: 'a77', state: 'pending', kind: 'exec', line: 'touch x', risk: 'low', asked: new Date().toISOString(), session: %[1]q, name: 'asks' };
		longterm.store.approvals.set(a.id, a);
		longterm.store.sessions.get(%[1]q).needs_approval = [a.id];
		longterm.store.emit('change');
	})()`, s.ID), nil)
	p.Wait("an approval, too", `document.querySelector('.asking .ask')`)
	const half = `((f) => f?.value === 'half' && f === document.activeElement)(document.querySelector('.question input'))`
	p.Wait("what is half typed, in the focus", half)
	p.Eval(`void (globalThis.field = document.activeElement)`, nil)
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	i.Run("ls")
	p.Wait("the next daemon", `longterm.link.ws !== before && longterm.link.state === 'open'`)
	i.Run("rename", "asks", "still")
	p.Wait("what it tells", `longterm.page.s.name === 'still' && !longterm.page.s.needs_approval`)
	p.Wait("what is half typed still", half+` && document.activeElement === field`)
	quiet(t, b, "WebSocket", "Failed to load resource") // while no daemon serves
}

// TestStartedAgain types into a restarted session where it is shown.
//
// FEATURES: R83
func TestStartedAgain(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "again", "--", "sh", "-c", "echo ready; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "again")
	shows(p, "ready")
	i.Run("kill", "again")
	p.Wait("its end", `longterm.page.s.state !== 'running'`)
	p.Click("button[title=More]")
	p.Eval(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === 'Start again…').click()`, nil)
	p.Wait("what would run", `document.querySelector('dialog').textContent.includes("sh -c 'echo ready; exec cat'")`)
	p.Click("dialog .primary")
	p.Wait("it runs", `longterm.page.s.state === 'running' && longterm.page.term.screen.state === 'running'`)
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("hello\n")
	e2e.Eventually(t, "what was typed", func() bool { return strings.Count(i.Run("screen", "again"), "hello") == 2 })
	quiet(t, b)
}

// TestCommandPanel_UpdatesDuration checks that the panel of commands updates the duration of a running command.
//
// FEATURES: R83
func TestCommandPanel_UpdatesDuration(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "shell", "--", "bash")
	i.Run("exec", "shell", "-b", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "shell")
	p.Click("button[title=Commands]")
	const took = `document.querySelector('.entry .meta span:nth-child(2)')?.textContent`
	p.Wait("it runs", took)
	p.Eval(`void (globalThis.first = `+took+`)`, nil)
	p.Wait("for longer by now", took+` !== first`)
	quiet(t, b)
}

// TestFormsStayWhereTheyFail checks that an error appears at its form, and that the typed text stays.
//
// FEATURES: R83, R112
func TestFormsStayWhereTheyFail(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "one")
	p.Click("button[title=More]")
	p.Eval(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === 'Rename…').click()`, nil)
	p.Wait("the form", `document.activeElement.matches('dialog input')`)
	p.Type("a b/c\n")
	p.Wait("why not, there", `document.querySelector('dialog [role=alert]').textContent`)
	p.Wait("what was typed", `document.querySelector('dialog input').value === 'a b/c' && !document.querySelector('.toast')`)
	p.Eval(`document.querySelector('dialog input').select()`, nil)
	p.Type("two\n")
	p.Wait("its new name, and no form", `longterm.page.s.name === 'two' && !document.querySelector('dialog')`)
}

// TestWhatIsNotFoundIsNotShown filters ended sessions by their heading. A rejected search shows its error and no
// earlier hits.
//
// FEATURES: R112
func TestWhatIsNotFoundIsNotShown(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "over", "--", "true")
	i.Run("new", "-n", "goes-on", "--", "sh", "-c", "echo a needle here; exec cat")
	i.Run("wait", "over", "--for", "exit")
	i.Run("wait", "goes-on", "--for", "text=needle")
	p := open(i, b, browser.Desk)
	const input = `((f) => { f.value = %q; f.dispatchEvent(new Event('input')); })(document.querySelector('%s [type=search]'))`
	p.Wait("both", `document.querySelectorAll('.item').length === 2`)
	p.Eval(fmt.Sprintf(input, "ended", ".list"), nil)
	p.Wait("the one that ended", `[...document.querySelectorAll('.item b')].map((e) => e.textContent).join() === 'over'`)
	p.Eval(fmt.Sprintf(input, "", ".list"), nil)
	p.Eval(`void (location.hash = '#/search')`, nil)
	p.Wait("the search", `document.querySelector('main [type=search]')`)
	p.Eval(fmt.Sprintf(input, "needle", "main"), nil)
	p.Wait("a line", `document.querySelector('main .entry mark') || document.querySelector('main .note').textContent.startsWith('Nothing') && void document.querySelector('main form').requestSubmit()`)
	p.Eval(`document.querySelector('main .ticks input').click()`, nil) // a pattern
	p.Eval(fmt.Sprintf(input, "needle(", "main"), nil)
	p.Wait("why not, and no line", `!document.querySelector('main .entry') && document.querySelector('main .note').textContent.includes('needle(')`)
}
