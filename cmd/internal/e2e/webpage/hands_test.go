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

// rowAt returns the middle of the left edge of a row with a text, above the screen or on it.
func rowAt(p *browser.Page, text string) (x, y float64) {
	find := fmt.Sprintf(`[...document.querySelectorAll('.history .row, .rows .row')].find((r) => r.textContent === %q)`, text)
	p.Wait("the row "+text, find)
	var at [2]float64
	p.Eval(fmt.Sprintf(`((r) => [r.left, r.top + r.height / 2])(%s.getBoundingClientRect())`, find), &at)
	return at[0], at[1]
}

// drag selects from one place to another.
func drag(p *browser.Page, x1, y1, x2, y2 float64) {
	p.Eval(`getSelection().removeAllRanges()`, nil) // else the selection would be dragged
	p.Mouse("mousePressed", "left", x1, y1)
	for n := range 5 {
		p.Mouse("mouseMoved", "left", x1+(x2-x1)*float64(n+1)/5, y1+(y2-y1)*float64(n+1)/5)
	}
	p.Mouse("mouseReleased", "left", x2, y2)
}

// TestSelecting selects text with the mouse, past the ends of rows too. Rows stay in place, typed text goes to the
// program, and Ctrl+Shift+C copies.
//
// FEATURES: R83, R112
func TestSelecting(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "rows", "--", "sh", "-c", "seq -f 'row %g' 1 300; exec sleep 1000")
	p := open(i, b, browser.Screen{Width: 1280, Height: 800})
	show(i, p, "rows")
	shows(p, "row 300")
	_, before := rowAt(p, "row 292")
	p.Mouse("mouseMoved", "none", 600, before)
	p.Wait("what is above", `longterm.page.term.history.total > 200 && document.querySelector('.history').offsetHeight > 2000`)
	if _, after := rowAt(p, "row 292"); after != before {
		t.Errorf("row 292 was at %v and is at %v", before, after)
	}
	p.Call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": 600, "y": before, "deltaX": 0, "deltaY": -500}, nil)
	p.Wait("that one has scrolled", `((s) => s.scrollTop === s.scrollHeight - s.clientHeight - 500)(longterm.page.term.scroller)`)
	p.Wait("rows above", `[...document.querySelectorAll('.history .row')].some((r) => r.textContent === 'row 260' && r.getBoundingClientRect().top > 100)`)
	x, y := rowAt(p, "row 260")
	_, below := rowAt(p, "row 261")
	for name, c := range map[string]struct {
		x, y float64
		want string
	}{
		"within a row":       {x + 300, y, "row 260"},
		"to the next":        {x + 400, below, "row 260\nrow 261"},
		"to the left margin": {x + 3, below, "row 260\n"},
	} {
		drag(p, x+1, y, c.x, c.y)
		var got string
		p.Eval(`(() => { const d = new DataTransfer(); longterm.page.term.scroller.dispatchEvent(new ClipboardEvent('copy', { clipboardData: d, bubbles: true, cancelable: true })); return d.getData('text/plain'); })()`, &got)
		if got != c.want {
			t.Errorf("%s: %q is selected, not %q", name, got, c.want)
		}
	}
	p.Eval(`void (globalThis.copied = [], navigator.clipboard.writeText = async (x) => { copied.push(x); })`, nil)
	drag(p, x+1, y, x+300, y)
	p.Key("C", "KeyC", ctrl|shift)
	p.Wait("it was copied", `copied[0] === 'row 260'`)
	drag(p, x+1, y, x+300, y)
	p.Key("c", "KeyC", ctrl)
	p.Wait("and by Ctrl+C, while something is selected", `copied[1] === 'row 260'`)
	drag(p, x+1, y, x+300, y)
	p.Type("zz")
	shows(p, "zz")
	p.Wait("the focus", `document.activeElement === longterm.page.term.area`)
	quiet(t, b)
}

// TestRulesAreShownFirst checks that the first tap on an answer for the session, or for always, shows its full effect,
// and the second gives it. A rule can be edited before. Answers to approvals and to prompts look different.
//
// FEATURES: R63, R83, R112
func TestRulesAreShownFirst(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "deploy", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a; echo "you said $a"; exec sleep 1000`)
	i.Run("config", "set", "policy.agents", "readonly")
	p := open(i, b, browser.Phone)
	ask := func(line string) {
		name, _, _ := strings.Cut(line, " ")
		i.Run("new", "-n", name, "--", "sh") // one for each: an allowed command may still run
		i.Run("exec", name, "-b", "--agent", "claude", line)
		p.Eval(`void (location.hash = '#/approvals')`, nil)
		p.Wait("what asks", fmt.Sprintf(`[...document.querySelectorAll('.ask pre')].some((e) => e.textContent === %q)`, line))
	}
	tap := func(text string) {
		find := fmt.Sprintf(`[...document.querySelectorAll('.ask button')].find((b) => b.textContent === %q)`, text)
		p.Wait(text, find)
		p.Eval(find+`.click()`, nil)
	}
	const second = `document.querySelectorAll('.ask pre')[1]`
	pending := func() int {
		n := 0
		p.Eval(`longterm.store.approvals.size`, &n)
		return n
	}
	long := "rm -rf " + strings.Repeat("one/two/three/", 40) + "last"
	ask(long)
	p.Wait("nothing is marked", `!document.querySelector('.ask .primary')`)
	tap("Always")
	p.Wait("the rule, whole", fmt.Sprintf(`%s?.textContent.endsWith(%q) && %[1]s.scrollHeight <= %[1]s.clientHeight + 1`, second, long))
	keep(t, p, "always-phone")
	tap("Always")
	if pending() != 1 {
		t.Error("the first tap answers")
	}
	tap("Reject")
	p.Wait("nothing waits for leave", `longterm.store.approvals.size === 0`)
	ask("touch one two")
	tap("Always")
	p.Wait("the rule", second+`?.textContent === 'touch'`)
	p.Eval(fmt.Sprintf(`void (%s.textContent = 'exactly touch one two')`, second), nil)
	tap("Allow")
	p.Wait("nothing waits for leave", `longterm.store.approvals.size === 0`)
	if rules := i.Run("policy", "show"); !strings.Contains(rules, "exactly touch one two") {
		t.Errorf("the rules:\n%s", rules)
	}
	ask("mkdir sub")
	tap("For this session")
	p.Wait("what it would allow", second+`?.textContent.startsWith('mkdir')`)
	if pending() != 1 {
		t.Error("the first tap answers")
	}
	tap("Allow")
	p.Wait("nothing waits for leave", `longterm.store.approvals.size === 0`)
	if grants := i.Run("approvals", "ls", "--grants"); !strings.Contains(grants, "mkdir") {
		t.Errorf("grants: %s", grants)
	}

	p.Wait("what a program asks is there, too, with its session", `document.querySelector('.asks .question a')?.textContent === 'deploy' && !document.querySelector('.asks .none')`)
	p.Wait("and is counted", `document.querySelector('.badge').textContent === '1'`)
	p.Wait("the default, No, is marked", `document.querySelectorAll('.question .answers button').length === 2 && document.querySelector('.question .primary')?.textContent === 'No'`)
	keep(t, p, "question-approvals-phone")
	p.Eval(`[...document.querySelectorAll('.question button')].find((b) => b.textContent === 'Yes').click()`, nil)
	p.Wait("nothing waits", `document.querySelector('.asks .none') && document.querySelector('.badge').hidden`)
	e2e.Eventually(t, "the answer", func() bool { return strings.Contains(i.Run("screen", "deploy"), "you said y") })
	quiet(t, b)
}

// TestNothingStays logs out. Nothing that the login saw stays on the page: no dialog, notice, title, or text for a
// screen reader.
//
// FEATURES: R83
func TestNothingStays(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "hushhush", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "hushhush")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	p.Type("shibboleth\n")
	p.Wait("it is told", `document.getElementById('live').textContent.includes('shibboleth')`)
	p.Click("button[title=More]")
	p.Eval(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent.startsWith('Make it as large')).click()`, nil)
	p.Wait("a notice", `document.getElementById('toasts').textContent.includes('hushhush')`)
	p.Click("button[title=More]")
	p.Eval(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === 'End…').click()`, nil)
	p.Wait("a dialog", `document.querySelector('dialog').textContent.includes('hushhush')`)
	p.Eval(`void longterm.page.announce({ screen: { rows: [{ text: 'shibboleth, late' }] } })`, nil) // announced when output has settled
	i.Run("token", "revoke", e2e.Decode[[]api.Token](t, i.Run("token", "ls", "--json"))[0].Name)
	p.Wait("its end", `document.body.innerText.includes('The login has ended')`)
	p.Wait("no dialog", `!document.querySelector('dialog')`)
	p.Eval(`new Promise((done) => setTimeout(done, 500))`, nil) // longer than the settling time
	var left string
	p.Eval(`document.title + document.documentElement.outerHTML + longterm.store.sessions.size`, &left)
	if strings.Contains(left, "shibboleth") || strings.Contains(left, "hushhush") || !strings.HasSuffix(left, "0") {
		t.Errorf("rest: %s", left)
	}
}

// TestCaughtUp checks that a page which has caught up shows no notice of a delay.
//
// FEATURES: R112
func TestCaughtUp(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "late", "--", "cat")
	p := open(i, b, browser.Desk)
	show(i, p, "late")
	p.Eval(`void longterm.page.term.frame({ behind: 1700, n: 1 }, new Map())`, nil)
	p.Wait("that it is behind", `document.querySelector('.late').textContent === '1.7 s behind' && !document.querySelector('.late').hidden`)
	p.Wait("it is not any more", `document.querySelector('.late').hidden`)
	quiet(t, b)
}

// TestSettings logs out by a button, and checks that a dialog closes when another page opens.
//
// FEATURES: R83
func TestSettings(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	p.Click("button[title=Settings]")
	p.Wait("who is logged in", `document.querySelector('dialog').textContent.includes('look, type, approve, manage')`)
	p.Eval(`void (location.hash = '#/jobs')`, nil)
	p.Wait("the other page alone", `document.querySelector('h1 + .panel-body') && !document.querySelector('dialog')`)
	p.Click("button[title=Settings]")
	keep(t, p, "settings")
	p.Eval(`void (globalThis.old = true, [...document.querySelectorAll('dialog button')].find((b) => b.textContent === 'Log out').click())`, nil)
	p.Wait("the login, loaded anew", `!globalThis.old && document.querySelector('.login') && !document.querySelector('dialog')`)
	if all := e2e.Decode[[]api.Token](t, i.Run("token", "ls", "--json")); len(all) > 0 {
		t.Errorf("still there: %+v", all)
	}
	p.Eval(`((f) => { f.querySelector('input').value = 'lt_wrong'; f.requestSubmit(); })(document.querySelector('.login'))`, nil)
	p.Wait("why not, in a sentence that is seen", `((e) => /^[A-Z][^.]*\. [^a-z]/.test(e.textContent) && getComputedStyle(e).color !== getComputedStyle(document.querySelector('.login > p')).color)(document.querySelector('[role=alert]'))`)
}

// TestTilesAreWhole checks that a tile shows no row partly.
//
// FEATURES: R112
func TestTilesAreWhole(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "lines", "--", "sh", "-c", "seq -f 'line %g' 1 500; exec cat")
	p := open(i, b, browser.Desk)
	p.Eval(`void (location.hash = '#/tiles')`, nil)
	p.Wait("its last row", `[...document.querySelectorAll('.tile .row')].some((r) => r.textContent === 'line 500')`)
	p.Wait("only whole rows", `((all, clip) => all.length > 5 && clip === 'inset(8px)' && all.every((r) => r.cut < 0.1))(
		[...document.querySelectorAll('.tile .row')].map((r) => ({ box: r.getBoundingClientRect(), in: r.closest('.mini').getBoundingClientRect() }))
			.filter((r) => r.box.bottom > r.in.top + 8.1 && r.box.top < r.in.bottom - 8).map((r) => ({ cut: r.in.top + 8 - r.box.top })),
		getComputedStyle(document.querySelector('.mini')).clipPath)`)
	keep(t, p, "tiles-whole")
	quiet(t, b)
}

// TestSelectionStays keeps a selection during output: it moves with its rows, is cut where they leave the screen, and
// ends with the last of them. Output elsewhere on a row of several does not change it. All selected text is copied, and
// no Ctrl+C that copies reaches the program.
//
// FEATURES: R83, R112
func TestSelectionStays(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "goes-on", "--rows", "24", "--", "sh", "-c", `stty -echo; seq -f 'row %g' 1 40; printf '\033[31mred\033[m and plain'; while read -r l; do printf "$l"; done`)
	p := open(i, b, browser.Desk)
	show(i, p, "goes-on")
	shows(p, "and plain")
	says := func(text string) { i.Run("send", "goes-on", "--enter", text) }
	selected := func() (text string) {
		p.Wait("it is drawn", `!longterm.page.term.due`)
		p.Eval(`((d) => { longterm.page.term.scroller.dispatchEvent(new ClipboardEvent('copy', { clipboardData: d, bubbles: true, cancelable: true })); return d.getData('text/plain'); })(new DataTransfer())`, &text)
		return text
	}
	var w float64
	p.Eval(`longterm.page.term.m.w`, &w)
	x, y := rowAt(p, "row 30")
	_, last := rowAt(p, "red and plain")
	drag(p, x+4.2*w, y, x+7.2*w, last)
	const want = "30\nrow 31\nrow 32\nrow 33\nrow 34\nrow 35\nrow 36\nrow 37\nrow 38\nrow 39\nrow 40\nred and"
	if got := selected(); got != want {
		t.Fatalf("%q is selected, not %q", got, want)
	}
	says(` at the end`) // the last row has changed
	shows(p, "at the end")
	if got := selected(); got != want {
		t.Errorf("after its last row changed %q is selected", got)
	}
	says(`\nnext\nand next`)
	shows(p, "and next")
	if got := selected(); got != want {
		t.Errorf("after two new rows %q is selected", got)
	}
	keep(t, p, "selection-stays")
	says(strings.Repeat(`\n`, 12) + "later")
	shows(p, "later")
	var left string
	p.Eval(`String(getSelection())`, &left)
	if !strings.HasPrefix(left, "row 32\n") {
		t.Errorf("after its first rows scrolled away, the visible selection is %q", left)
	}
	if got := selected(); got != want {
		t.Errorf("after its first rows scrolled away, the copy is %q", got)
	}
	says(strings.Repeat(`\n`, 30) + "the end")
	shows(p, "the end")
	if got := selected(); got != want {
		t.Errorf("after all of its rows scrolled away, the copy is %q", got)
	}
	p.Eval(`void (globalThis.copied = [], navigator.clipboard.writeText = async (x) => { copied.push(x); })`, nil)
	p.Key("c", "KeyC", ctrl)
	p.Wait("it was copied", `getSelection().isCollapsed && copied.length === 1`)
	says(`\nstill here`) // it would have ended
	shows(p, "still here")
	drag(p, x, y, x, y)
	if got := selected(); got != "" {
		t.Errorf("after a click %q is copied", got)
	}
	p.Key("c", "KeyC", ctrl)
	i.Run("wait", "goes-on", "--for", "exit")
	quiet(t, b)
}
