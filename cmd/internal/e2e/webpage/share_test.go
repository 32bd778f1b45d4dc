//go:build unix

package webpage

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/relay"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestSharedLink opens a share link, which shows one session, read-write if requested, until its token is revoked. The
// token is in no address afterwards.
//
// FEATURES: R83
func TestSharedLink(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("web", "--json", "--listen", "127.0.0.1:0")
	i.Run("new", "-n", "shown", "--", "sh", "-c", "echo hello; exec cat")
	i.Run("new", "-n", "hidden", "--", "cat")
	shared := e2e.Decode[api.Shared](t, i.Run("share", "shown", "--type", "--json"))
	p := b.Page(browser.Desk)
	p.Go(shared.Link)
	p.Wait("logged in", `globalThis.longterm?.store.loaded`)
	shows(p, "hello")
	var about struct {
		Sessions int
		Address  string
	}
	p.Eval(`({ Sessions: longterm.store.sessions.size, Address: location.href })`, &about)
	if about.Sessions != 1 || strings.Contains(about.Address, "token") {
		t.Errorf("%+v", about)
	}
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("typed\n")
	shows(p, "typed")
	i.Run("token", "revoke", shared.Token.Name)
	p.Wait("its end", `document.body.innerText.includes('The login has ended')`)
}

// TestSharedLinkBesideALogin opens a share link in a logged-in browser. It applies to its tab only; other tabs keep the
// login, also after a reload, and both work in parallel.
//
// FEATURES: R83
func TestSharedLinkBesideALogin(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "shown", "--", "sh", "-c", "echo hello; exec cat")
	i.Run("new", "-n", "hidden", "--", "cat")
	owner := open(i, b, browser.Desk)
	shared := e2e.Decode[api.Shared](t, i.Run("share", "shown", "--json"))
	p := b.Page(browser.Desk)
	p.Go(shared.Link)
	const loaded = `!globalThis.old && globalThis.longterm?.link.state === 'open' && longterm.store.loaded && longterm.store.me.name `
	for range 2 {
		for _, c := range []struct {
			page *browser.Page
			who  string
			n    int
		}{{p, shared.Token.Name, 1}, {owner, "web-", 2}} {
			c.page.Wait("logged in as "+c.who, fmt.Sprintf(`%s.startsWith(%q) && longterm.store.sessions.size === %d`, loaded, c.who, c.n))
			c.page.Eval(`void (globalThis.old = true, location.reload())`, nil)
		}
	}
	p.Wait("loaded anew", loaded)
	i.Run("token", "revoke", shared.Token.Name)
	p.Wait("its end", `document.body.innerText.includes('The login has ended')`)
	p.Eval(`void (globalThis.old = true, location.reload())`, nil)
	p.Wait("the way back", loaded+`.startsWith('web-')`)
}

// TestSharedThroughARelay uses a session through a relay. The relay sees neither screen, input nor key, finds the
// session again after a restart of the daemon, and rejects a revoked link.
//
// FEATURES: R111
func TestSharedThroughARelay(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	var mu sync.Mutex
	var saw bytes.Buffer
	r := relay.New()
	r.OnForward = func(piece []byte) {
		mu.Lock()
		defer mu.Unlock()
		saw.Write(piece)
	}
	at := httptest.NewServer(r)
	t.Cleanup(at.Close)
	i.Run("new", "-n", "shown", "--", "sh", "-c", "seq -f 'line %g.' 1 3000; echo shibboleth; exec cat")
	i.Run("new", "-n", "hidden", "--", "cat")
	shared := e2e.Decode[api.Shared](t, i.Run("share", "shown", "--type", "--relay", at.URL, "--json"))
	_, secret, ok := strings.Cut(shared.Link, "#relay=")
	if !ok || !strings.HasPrefix(shared.Link, at.URL+"/#") {
		t.Fatalf("link %s", shared.Link)
	}
	p := b.Page(browser.Desk)
	p.Go(shared.Link)
	p.Wait("logged in", `globalThis.longterm?.store.loaded`)
	shows(p, "shibboleth")
	p.Eval(`longterm.page.term.focus()`, nil)
	i.Run("wait", "shown", "--for", "input", "--timeout", "60s")
	p.Type("passphrase\n")
	shows(p, "passphrase")
	var asked []api.Approval // the effect of a line in a program is unknown
	e2e.Eventually(t, "an approval request is pending", func() bool {
		asked = e2e.Decode[[]api.Approval](t, i.Run("approvals", "ls", "--json"))
		return len(asked) == 1
	})
	i.Run("approvals", "answer", asked[0].ID, "once")
	e2e.Eventually(t, "the program has it", func() bool { return strings.Count(i.Run("screen", "shown"), "passphrase") == 2 })
	p.Eval(`void (longterm.page.term.measure(), longterm.page.term.scroller.scrollTop = 0)`, nil)
	p.Wait("how much there is above", `longterm.page.term.history.total > 2900`)
	p.Eval(`void (longterm.page.term.scroller.scrollTop = 0)`, nil)
	p.Wait("the oldest line", `document.querySelector('.history .row')?.textContent === 'line 1.'`)
	p.Eval(`longterm.page.term.bottom()`, nil)
	same(i, p, "shown")
	var about struct {
		Sessions int
		Address  string
	}
	p.Eval(`({ Sessions: longterm.store.sessions.size, Address: location.href })`, &about)
	if about.Sessions != 1 || strings.Contains(about.Address, "relay=") {
		t.Errorf("%+v", about)
	}
	p.Eval(`void (longterm.link.opened = 0, longterm.link.on('state', (s) => { if (s === 'open') longterm.link.opened++; }))`, nil)
	if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.Wait("it is noticed", `longterm.link.state !== 'open' || longterm.link.opened`)
	p.Wait("connected again", `longterm.link.opened && longterm.link.state === 'open'`)
	i.Run("wait", "shown", "--for", "input", "--timeout", "60s") // until the new daemon knows which process reads there
	p.Type("again\n")
	shows(p, "again")
	same(i, p, "shown")
	_, key, _ := strings.Cut(secret, ".")
	mu.Lock()
	passed := saw.Bytes()
	if len(passed) < 10_000 {
		t.Errorf("it saw %d bytes", len(passed))
	}
	for _, clear := range []string{"shibboleth", "passphrase", "shown", "styles", "v1/", key} {
		if bytes.Contains(passed, []byte(clear)) {
			t.Errorf("the relay sees %q", clear)
		}
	}
	mu.Unlock()

	other := b.Page(browser.Desk)
	other.Go(shared.Link[:len(shared.Link)-3] + "AAA")
	other.Wait("that the link is not whole", `document.body.innerText.includes('not whole')`)
	i.Run("token", "revoke", shared.Token.Name)
	p.Wait("its end", `document.body.innerText.includes('The login has ended')`)
	late := b.Page(browser.Desk)
	late.Go(shared.Link)
	late.Wait("that it is over", `document.body.innerText.includes('Nobody shares this now')`)
}
