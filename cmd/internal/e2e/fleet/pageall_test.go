//go:build unix

package fleet

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPageOverTheFleet answers approvals of other hosts on one host's page, searches their output, and shows it in
// tiles. Approvals answered elsewhere disappear.
//
// FEATURES: R63, R94, R112
func TestPageOverTheFleet(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := browser.New(t)
	one, two := e2e.New(t), e2e.New(t)
	found(t, one)
	two.Run("fleet", "join", strings.TrimSpace(one.Run("fleet", "invite")), "--name", "two")
	connected(t, one, 2)
	two.Run("new", "-n", "there", "--", "sh", "-c", "echo needle over there; exec cat")
	for _, name := range []string{"first", "second"} {
		two.Run("run", "--background", "--policy", "readonly", "--", "touch", filepath.Join(two.Dir, name))
	}
	link := e2e.Decode[api.WebLink](t, one.Run("web", "--json", "--listen", "127.0.0.1:0"))
	p := b.Page(browser.Phone)
	p.Go(link.Link)
	p.Wait("logged in", `longterm.store.loaded`)
	to := func(hash string) { p.Eval(fmt.Sprintf(`void (location.hash = %q)`, hash), nil) }

	to("#/approvals")
	p.Wait("what waits there", `document.querySelectorAll('.ask').length === 2 && [...document.querySelectorAll('.ask')].every((e) => e.textContent.includes('two'))`)
	p.Eval(`[...document.querySelectorAll('.ask')].find((e) => e.textContent.includes('/first')).querySelector('.answers button').click()`, nil)
	p.Wait("one waits", `document.querySelectorAll('.ask').length === 1`)
	for _, a := range e2e.Decode[[]api.Approval](t, two.Run("approvals", "ls", "--all", "--json")) {
		if first := strings.Contains(strings.Join(a.Argv, " "), "/first"); first != (a.Answer == "once") {
			t.Errorf("there: %+v", a)
		}
		if a.State == "pending" {
			two.Run("approvals", "answer", a.ID, "reject")
		}
	}
	p.Wait("what was answered there is gone", `document.querySelector('.asks .none')`)

	to("#/tiles")
	const tile = `[...document.querySelectorAll('.tile')].find((e) => e.textContent.includes('two/there'))`
	p.Wait("its screen in small", tile+`?.querySelector('.rows').textContent.includes('needle over there')`)
	two.Run("send", "there", "--enter", "and more")
	p.Wait("what is added there", tile+`.querySelector('.rows').textContent.includes('and more')`)

	to("#/search/needle")
	const hit = `[...document.querySelectorAll('.search .entry')].find((e) => e.textContent.includes('two/there'))`
	p.Wait("what the other finds", hit)
	p.Eval(hit+`.querySelector('.line').click()`, nil)
	p.Wait("the screen of that moment on the other host's page", `location.pathname === '/h/two/' && globalThis.longterm?.page?.term?.screen.at !== undefined`)
	for _, e := range b.Errors() {
		t.Errorf("the page shows: %s", e)
	}
}
