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

// TestInbox checks that the inbox shows prompts and, below them, sessions that ended, sent a message or opened a port
// unseen. It counts all, and entries are answered, marked, snoozed and shown again there. Sessions list their ports.
//
// FEATURES: R112, R128, R130
func TestInbox(t *testing.T) {
	tier.Full(t)
	tier.Need(t, "python3")
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "deploy", "--", "bash", "-c", `read -p "Deploy to production? [y/N] " a; echo "you said $a"; exec sleep 1000`)
	i.Run("new", "-n", "prog", "--", "sh", "-c", "exit 7")
	i.Run("new", "-n", "msg", "--", "sh", "-c", `printf '\033]9;Build done\033\\'; exec sleep 1000`)
	i.Run("new", "-n", "web", "--", "python3", "-c", `import socket, time; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(); print("ready", flush=True); time.sleep(1000)`)
	i.Run("run", "--background", "--policy", "readonly", "--", "touch", i.Dir+"/made")
	i.Run("wait", "deploy", "--for", "input")
	i.Run("wait", "prog", "--for", "exit")
	i.Run("wait", "web", "--for", "port")
	var port string
	e2e.Eventually(t, "all entries", func() bool {
		kinds := map[string]bool{}
		for _, it := range e2e.Decode[[]api.InboxItem](t, i.Run("inbox", "--json")) {
			if kinds[it.Kind] = true; it.Kind == api.InboxPort {
				port = fmt.Sprint(":", it.Port)
			}
		}
		return len(kinds) == 5
	})
	p := open(i, b, browser.Desk)
	p.Wait("the count", `document.querySelector('.badge').textContent === '5' && !document.querySelector('.badge.calm')`)
	p.Wait("the port in the list", fmt.Sprintf(`[...document.querySelectorAll('.item .what')].some((e) => e.textContent.startsWith('%s '))`, port))
	p.Click("a[title=Inbox]")
	p.Wait("what asks, and the news", `document.querySelectorAll('.asks .ask, .asks .question').length === 2 && document.querySelectorAll('main .entry').length === 3`)
	entry := func(text string) string {
		return fmt.Sprintf(`[...document.querySelectorAll('main .entry, .ask, .question')].find((e) => e.textContent.includes(%q))`, text)
	}
	tap := func(text, label string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`[...%s.querySelectorAll('button')].find((b) => b.textContent === %q).click()`, entry(text), label), nil)
	}
	for _, text := range []string{"exit 7' failed with status 7", "Build done", "listens on port " + port[1:]} {
		p.Wait(text, entry(text))
	}
	keep(t, p, "inbox-desk")
	p.Show(browser.Phone)
	keep(t, p, "inbox-phone")
	p.Show(browser.Desk)

	tap("failed with status 7", "Done")
	p.Wait("it is gone", `!`+entry("failed with status 7"))
	tap("/made", "Snooze")
	p.Wait("for how long", `document.querySelector('dialog select')`)
	keep(t, p, "inbox-snooze-desk")
	p.Eval(`document.querySelector('dialog form').requestSubmit()`, nil)
	p.Wait("it is hidden", `!document.querySelector('dialog') && !`+entry("/made")+` && document.querySelector('.more').textContent === 'Show 1 snoozed'`)
	p.Click("main .more")
	p.Wait("it is back", entry("/made"))
	tap("/made", "Reject")
	tap("Deploy to", "Yes")
	p.Wait("only news are left", `document.querySelector('.badge.calm')?.textContent === '2' && !document.querySelector('.asks .ask, .asks .question')`)
	e2e.Eventually(t, "the answer", func() bool { return strings.Contains(i.Run("screen", "deploy"), "you said y") })
	p.Eval(`document.documentElement.dataset.theme = 'light'`, nil)
	keep(t, p, "inbox-news-desk-light")

	// A session that the page shows has no news.
	p.Eval(entry("Build done")+`.querySelector('a').click()`, nil)
	p.Wait("its session", `longterm.page.s?.name === 'msg'`)
	p.Wait("it was seen", `document.querySelector('.badge').textContent === '1'`)
	show(i, p, "web")
	p.Wait("its port", fmt.Sprintf(`document.querySelector('.head .what').textContent.includes(%q)`, port))
	keep(t, p, "ports-desk")
	p.Eval(`void (location.hash = '#/approvals')`, nil)
	p.Wait("nothing is left", `document.querySelector('.asks .none') && document.querySelector('.badge').hidden`)
	quiet(t, b)
}
