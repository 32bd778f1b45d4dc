//go:build unix

package remote

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPageOfHostsOverSSH shows the sessions of configured ssh hosts on the page, which connects only when one is
// opened. Their pages open through this one with the same login; an unreachable host is named with the reason. A
// view-only login sees none.
//
// FEATURES: R94
func TestPageOfHostsOverSSH(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := browser.New(t)
	h := newHost(t, true)
	h.here.Run("config", "set", "hosts.names", "far", "closed")
	h.here.Run("config", "set", "hosts.ssh", "--", "ssh", "-F", filepath.Join(h.dir, "ssh_config"))
	h.Run("new", "-n", "there", "--", "cat")
	h.here.Run("new", "-n", "here", "--", "cat")
	link := e2e.Decode[api.WebLink](t, h.here.Run("web", "--json", "--listen", "127.0.0.1:0"))
	p := b.Page(browser.Desk)
	p.Go(link.Link)
	p.Wait("the hosts", `document.querySelector('.others summary')?.textContent.includes('Hosts over ssh')`)
	if list := h.here.Run("hosts"); strings.Contains(list, "connected") {
		t.Errorf("before any client looks:\n%s", list)
	}
	p.Eval(`document.querySelector('.others summary').click()`, nil)
	const other = `[...document.querySelectorAll('.others a')].find((a) => a.textContent.includes('far/there'))`
	p.Wait("the other host's session", other)
	p.Wait("that one cannot be reached, and why", `[...document.querySelectorAll('.others .item')].some((e) => /^closed.*(connection|Connection).*cannot be reached$/.test(e.textContent))`)
	p.Eval(other+`.click()`, nil)
	p.Wait("its screen on the other host's page", `decodeURIComponent(location.pathname) === '/h/ssh:far/' && globalThis.longterm?.page?.term?.screen.v`)
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("typed over there\n")
	h.Run("wait", "there", "--for", "text=typed over there", "--timeout", "60s")
	p.Wait("its echo", `document.querySelector('.term .rows').textContent.includes('typed over there')`)
	const key = `{ 'Longterm-Page': localStorage.getItem('longterm.key:/'), 'Content-Type': 'application/json' }`
	var status int
	p.Eval(`fetch('v1/sessions', { method: 'POST', headers: `+key+`, body: '{"argv": ["cat"], "name": "later"}' }).then((r) => r.status)`, &status)
	if audit := h.Run("audit", "--json"); status != 200 || !strings.Contains(audit, "ssh:") {
		t.Errorf("%d, or the host does not know its author:\n%s", status, audit)
	}
	p.Eval(`document.querySelector('[title="All hosts"]').click()`, nil)
	p.Wait("this host's own page", `location.pathname === '/' && globalThis.longterm?.store.loaded && document.querySelector('.list').textContent.includes('here')`)
	p.Wait("they stand open", `document.querySelector('.others details').open`)
	p.Eval(`longterm.store.far.set('x', { ssh: true, way: 'x', host: 'x', id: 'x', name: 'x' }); document.querySelector('.others summary').click()`, nil)
	p.Wait("what is asked on hosts that are closed is shown no more", `!longterm.store.far.size`)
	for _, e := range b.Errors() {
		if !strings.Contains(e, "503") { // the browser's error for the unreachable host
			t.Errorf("the page shows: %s", e)
		}
	}
	look := e2e.Decode[api.WebLink](t, h.here.Run("web", "--json", "--may", "look"))
	q := b.Page(browser.Desk)
	q.Go(look.Link)
	q.Wait("logged in", `globalThis.longterm?.store.loaded`)
	q.Eval(`fetch('v1/hosts/far/sessions', { headers: `+key+` }).then((r) => r.status)`, &status)
	if status != 403 {
		t.Errorf("a view-only login gets status %d", status)
	}
}
