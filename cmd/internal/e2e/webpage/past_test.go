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

// TestScrollback scrolls through all printed rows, which are fetched as needed and stay in place while output arrives.
//
// FEATURES: R112
func TestScrollback(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "long", "--", "sh", "-c", "stty -echo; seq -f 'line %g.' 1 5000; while read n; do seq -f 'more %g.' 1 $n; done")
	p := open(i, b, browser.Desk)
	show(i, p, "long")
	shows(p, "line 5000.")
	p.Eval(`longterm.page.term.measure()`, nil)
	p.Wait("how much there is above", `longterm.page.term.history.total >= 4970`)
	p.Eval(`void (longterm.page.term.scroller.scrollTop = 0)`, nil)
	const first = `document.querySelector('.history .row')?.textContent`
	p.Wait("the oldest line", first+` === 'line 1.'`)
	p.Eval(`void (longterm.page.term.scroller.scrollTop = 1000 * longterm.page.term.m.h)`, nil)
	const at1000 = `[...document.querySelectorAll('.history .row')].some((r) => {
		const box = r.getBoundingClientRect(), view = longterm.page.term.scroller.getBoundingClientRect();
		return r.textContent === 'line 1001.' && box.top > view.top - box.height && box.bottom < view.top + 3 * box.height;
	})`
	p.Wait("lines in the middle", at1000)
	i.Run("send", "long", "--enter", "200")
	shows(p, "more 200.")
	p.Wait("what was added is above, too", `longterm.page.term.history.total >= 5170`)
	p.Wait("lines in the middle, still", at1000)
	p.Click(".to-end")
	p.Wait("the end", `longterm.page.term.stuck`)
	var texts []string
	p.Eval(`(() => { longterm.page.term.scroller.scrollTop -= 30 * longterm.page.term.m.h; })()`, nil)
	p.Wait("the seam", `document.querySelector('.history .row:last-child')?.textContent.startsWith('more')`)
	p.Eval(`[...document.querySelectorAll('.history .row, .rows .row')].map((r) => r.textContent).filter(Boolean)`, &texts)
	for n := 1; n < len(texts); n++ {
		var a, c int
		_, errA := fmt.Sscanf(strings.TrimLeft(texts[n-1], "lineor "), "%d.", &a)
		_, errC := fmt.Sscanf(strings.TrimLeft(texts[n], "lineor m"), "%d.", &c)
		if errA == nil && errC == nil && c != a+1 && c != 1 {
			t.Errorf("%q is followed by %q", texts[n-1], texts[n])
		}
	}
	keep(t, p, "scrollback")
	quiet(t, b)
}

// TestPast opens earlier screens by the time bar, a search hit and a command. Typing waits until the live screen is
// back.
//
// FEATURES: R112
func TestPast(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "past", "--", "sh")
	i.Run("exec", "past", "echo needle-one; clear")
	i.Try("exec", "past", "echo second; false") // it exits as the line does
	i.Run("exec", "past", "clear; echo third")
	p := open(i, b, browser.Desk)
	show(i, p, "past")
	shows(p, "third")
	p.Click("button[title=Search]")
	p.Eval(`(() => { const f = document.querySelector('.panel input[type=search]'); f.value = 'needle-one'; f.dispatchEvent(new Event('input')); })()`, nil)
	p.Wait("hits", `document.querySelectorAll('.panel .entry mark').length`)
	p.Eval(`[...document.querySelectorAll('.panel .entry')].find((e) => e.textContent.startsWith('needle-one')).querySelector('.line').click()`, nil)
	shows(p, "needle-one")
	p.Wait("it is the past", `longterm.page.term.screen.at !== undefined && document.querySelector('.timebar.past')`)
	keep(t, p, "past")
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("x")
	p.Wait("a word about it", `[...document.querySelectorAll('.toast')].some((e) => e.textContent.includes('past'))`)
	p.Eval(`[...document.querySelectorAll('.timebar button')].find((b) => b.textContent === 'Now').click()`, nil)
	shows(p, "third")
	p.Wait("now", `longterm.page.term.screen.at === undefined`)

	p.Eval(`[...document.querySelectorAll('.panel [role=tab]')].find((b) => b.textContent === 'Commands').click()`, nil)
	p.Wait("commands with their statuses", `(() => { const all = [...document.querySelectorAll('.panel .entry')].map((e) => e.textContent); return all.length === 3 && all[1].includes('echo second; false') && all[1].includes('exit 1') && all[0].includes('ok'); })()`)
	keep(t, p, "commands")
	p.Eval(`void (globalThis.copied = '', navigator.clipboard.writeText = async (x) => { copied = x; })`, nil)
	p.Eval(`document.querySelectorAll('.panel .entry')[1].querySelector('[title="Copy output"]').click()`, nil)
	p.Wait("the output was copied", `copied.trim() === 'second'`)
	p.Eval(`document.querySelectorAll('.panel .entry')[1].querySelector('.line').click()`, nil)
	shows(p, "second")
	i.Run("exec", "past", "clear; echo third # again")
	p.Wait("a command that came while they are looked at", `document.querySelector('.panel .entry').textContent.includes('# again')`)

	p.Eval(`(() => { const r = document.querySelector('.timebar input'); r.value = 0; r.dispatchEvent(new Event('input')); })()`, nil)
	p.Wait("the beginning", `longterm.page.term.screen.at !== undefined && !longterm.page.term.text().join('').includes('third') && !longterm.page.time.busy`)
	p.Click(".timebar [title=Play]")
	shows(p, "third")
	p.Wait("it played to the end", `longterm.page.term.screen.at === undefined && !longterm.page.time.playing`)

	p.Eval(`void (location.hash = '#/jobs')`, nil)
	p.Wait("what was run", `document.querySelectorAll('.page .entry').length >= 3`)
	var jobs string
	if p.Eval(`document.querySelector('.page').textContent`, &jobs); strings.Contains(jobs, "in background") {
		t.Errorf("an ended session continues: %s", jobs)
	}
	quiet(t, b)
}

// TestAnswers answers a prompt, and an approval, with one tap.
//
// FEATURES: R63, R83, R112
func TestAnswers(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "deploy", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a; echo "you said $a"; read -s -p "Password: " p; echo; echo "${#p} letters"; read -p "Continue connecting (yes/no/[fingerprint])? " c; echo "then $c"; read -p "Press Enter to go on: " d; echo "after <$d>"; read -p "Overwrite? [Y/n] " e; read -p "Name: " f`)
	p := open(i, b, browser.Phone)
	p.Wait("it is said to ask", `document.querySelector('.items h2')?.textContent === 'Needs you1'`)
	keep(t, p, "list-phone")
	show(i, p, "deploy")
	p.Wait("the question", `[...document.querySelectorAll('.question button')].some((b) => b.textContent === 'Yes')`)
	keep(t, p, "question-phone")
	question := func(want string) {
		t.Helper()
		p.Wait(want, fmt.Sprintf(`[...document.querySelectorAll('.question')].some((q) => q.textContent.includes(%q))`, want[:strings.Index(want, "|")]))
		var got string
		p.Eval(`((q) => q.querySelector('.note').textContent.replace(/.*: "(.*)"$/, '$1') + '|' + [...q.querySelectorAll('button')].map((b) => (b.className && '*') + b.textContent))(document.querySelector('.question'))`, &got)
		if got != want {
			t.Errorf("the prompt is %q, want %q", got, want)
		}
	}
	question(`Deploy to production? [y/N]|Yes,*No`)
	p.Eval(`[...document.querySelectorAll('.question button')].find((b) => b.textContent === 'Yes').click()`, nil)
	shows(p, "you said y")
	p.Wait("a field for a password", `document.querySelector('.question input[type=password]')`)
	p.Eval(`(() => { const f = document.querySelector('.question input'); f.value = 'geheim'; f.form.requestSubmit(); })()`, nil)
	shows(p, "6 letters")
	tap := func(text string) {
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll('.question button')].find((b) => b.textContent === %q).click()`, text), nil)
	}
	question(`Continue connecting (yes/no/[fingerprint])?|Yes,No`)
	tap("Yes")
	shows(p, "then yes")
	question(`Press Enter to go on:|*Enter`)
	tap("Enter")
	shows(p, "after <>")
	question(`Overwrite? [Y/n]|*Yes,No`)
	tap("No")

	i.Run("run", "--background", "--policy", "readonly", "--", "touch", i.Dir+"/made")
	p.Eval(`void (location.hash = '#/approvals')`, nil)
	p.Wait("what asks", `[...document.querySelectorAll('.ask pre')].some((e) => e.textContent.includes('/made'))`)
	keep(t, p, "approvals-phone")
	p.Eval(`[...document.querySelectorAll('.ask button')].find((b) => b.textContent === 'Allow once').click()`, nil)
	p.Wait("it does not wait", `!document.querySelector('.ask') && document.querySelectorAll('.asks .question').length === 1`)
	answered := e2e.Decode[[]api.Approval](t, i.Run("approvals", "ls", "--all", "--json"))
	if len(answered) != 1 || answered[0].Answer != "once" {
		t.Errorf("%+v", answered)
	}
	quiet(t, b)
}

// TestAnswerBehindHalfALine shows prompts in the session and in the list, also on a phone. An answer is not appended to
// partly typed input: the page reports that, and one more tap clears it.
//
// FEATURES: R112
func TestAnswerBehindHalfALine(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "deploy", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a; echo "you said <$a>"; exec sleep 600`)
	p := open(i, b, browser.Phone)
	p.Wait("it in the list", `document.querySelector('.item .what')?.textContent === 'Deploy to production? [y/N]'`)
	show(i, p, "deploy")
	p.Wait("what it asks", `((n) => n?.textContent === 'Deploy to production? [y/N]' && n.offsetHeight > 0)(document.querySelector('.question .note'))`)
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("maybe")
	shows(p, "[y/N] maybe")
	tap := func(text string) {
		p.Wait(text, fmt.Sprintf(`((b) => { b?.click(); return !!b; })([...document.querySelectorAll('.question button')].find((b) => b.textContent === %q))`, text))
	}
	tap("Yes")
	p.Wait("why not", `document.querySelector('.question [role=alert]')?.textContent === 'A line is half typed there.'`)
	keep(t, p, "half-typed-phone")
	if text := i.Run("screen", "deploy"); strings.Contains(text, "you said") {
		t.Errorf("it was answered:\n%s", text)
	}
	tap("Clear it and answer")
	shows(p, "you said <y>")
	p.Wait("it asks no more", `!document.querySelector('.question')`)
	quiet(t, b, "409") // that it was refused
}

// TestOneSession checks that a login for one session shows only that session, and that a view-only login cannot type.
//
// FEATURES: R83
func TestOneSession(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "shown", "--", "sh", "-c", "echo hello; exec cat")
	i.Run("new", "-n", "hidden", "--", "sh", "-c", "echo secret; exec cat")
	p := open(i, b, browser.Desk, "--session", "shown", "--may", "look")
	shows(p, "hello")
	p.Wait("it says so", `document.querySelector('.head .chip')?.textContent === 'read only'`)
	var about struct {
		Sessions int
		List     bool
		Text     string
	}
	p.Eval(`({ Sessions: longterm.store.sessions.size, List: !!document.querySelector('.list'), Text: document.body.innerText })`, &about)
	if about.Sessions != 1 || about.List || strings.Contains(about.Text, "hidden") {
		t.Errorf("%+v", about)
	}
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("nothing\n")
	p.Eval(`void longterm.link.write({ t: 'text', id: longterm.page.term.sub.id, text: 'forged' })`, nil)
	i.Run("send", "shown", "--enter", "typed elsewhere")
	shows(p, "typed elsewhere")
	if s := screenOf(i, "shown"); strings.Contains(i.Run("screen", "shown"), "nothing") || strings.Contains(i.Run("screen", "shown"), "forged") {
		t.Errorf("it was typed: %+v", s.Lines)
	}
	keep(t, p, "one-session")
}

// TestManage starts, renames, labels and ends sessions from the page.
//
// FEATURES: R83
func TestManage(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	p := open(i, b, browser.Desk)
	fill := func(values string) {
		p.Wait("a form", `document.querySelector('dialog[open]')`)
		p.Eval(fmt.Sprintf(`(() => { const f = document.querySelector('dialog form'); for (const [k, v] of Object.entries(%s)) f.elements[k].value = v; f.querySelector('.actions button:last-child').click(); })()`, values), nil)
		p.Wait("the form's end", `!document.querySelector('dialog[open]')`)
	}
	menu := func(entry string) {
		p.Click("button[title=More]")
		p.Eval(fmt.Sprintf(`[...document.querySelectorAll('.menu button')].find((b) => b.textContent === %q).click()`, entry), nil)
	}
	p.Click(`[title="New session"]`)
	fill(`{ name: 'made', line: 'echo made here; exec cat', cwd: '/' }`)
	shows(p, "made here")
	menu("Rename…")
	fill(`{ v: 'renamed' }`)
	p.Wait("its new name", `document.querySelector('.head h1').textContent === 'renamed' && document.querySelector('.item b').textContent === 'renamed'`)
	menu("Labels…")
	fill(`{ v: 'team=web tier=1' }`)
	e2e.Eventually(t, "labels", func() bool { return i.Info("renamed").Labels["team"] == "web" })
	p.Eval(`(() => { const f = document.querySelector('.list input'); f.value = 'tier=1'; f.dispatchEvent(new Event('input')); })()`, nil)
	p.Wait("it is found by a label", `document.querySelectorAll('.item').length === 1`)
	p.Eval(`(() => { const f = document.querySelector('.list input'); f.value = 'tier=2'; f.dispatchEvent(new Event('input')); })()`, nil)
	p.Wait("and not by another", `document.querySelectorAll('.item').length === 0 && document.querySelector('.list .none')`)
	menu("End…")
	fill(`{}`)
	e2e.Eventually(t, "its end", func() bool { return i.Info("renamed").State == "exited" })
	p.Wait("that it ended", `document.querySelector('.head .what').textContent.includes('SIG') || document.querySelector('.head .dot.bad, .head .dot.good')`)
	quiet(t, b)
}
