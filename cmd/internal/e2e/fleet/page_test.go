//go:build unix

package fleet

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPageOfSeveralHosts opens the page of a fleet's host. It lists the sessions of other hosts below its own, shows
// one and types into it with one login, and leads back.
//
// FEATURES: R94
func TestPageOfSeveralHosts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := browser.New(t)
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	one.Run("new", "-n", "here", "--", "cat")
	two.Run("new", "-n", "there", "--", "cat")
	link := e2e.Decode[api.WebLink](t, one.Run("web", "--json", "--listen", "127.0.0.1:0"))
	p := b.Page(browser.Desk)
	p.Go(link.Link)
	p.Wait("logged in", `longterm.store.loaded`)
	const other = `[...document.querySelectorAll('.others a')].find((a) => a.textContent.includes('two/there'))`
	p.Wait("the other host's session", other)
	var text string
	if p.Eval(`document.querySelector('.others').textContent`, &text); strings.Contains(text, "one/here") {
		t.Errorf("the host's own sessions are listed as another's: %s", text)
	}
	p.Eval(other+`.click()`, nil)
	p.Wait("its screen on the other host's page", `location.pathname === '/h/two/' && globalThis.longterm?.page?.term?.screen.v`)
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("typed over there\n")
	two.Run("wait", "there", "--for", "text=typed over there", "--timeout", "60s")
	p.Wait("its echo", `document.querySelector('.term .rows').textContent.includes('typed over there')`)
	two.Run("new", "-n", "later", "--", "cat")
	p.Wait("what else begins there", `document.querySelector('.list').textContent.includes('later')`)
	p.Eval(`document.querySelector('[title="All hosts"]').click()`, nil)
	p.Wait("this host's own page", `location.pathname === '/' && globalThis.longterm?.store.loaded && document.querySelector('.list').textContent.includes('here')`)
	for _, e := range b.Errors() {
		t.Errorf("the page shows: %s", e)
	}
}
