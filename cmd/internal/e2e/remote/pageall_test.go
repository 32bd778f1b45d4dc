//go:build unix

package remote

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPageOverAllHosts answers approvals of an ssh host on the local page, searches there too, and shows its sessions
// as live tiles, once the user enables ssh hosts.
//
// FEATURES: R63, R94, R112
func TestPageOverAllHosts(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	b := browser.New(t)
	h := newHost(t, true)
	h.here.Run("config", "set", "hosts.names", "far", "closed")
	h.here.Run("config", "set", "hosts.ssh", "--", "ssh", "-F", filepath.Join(h.dir, "ssh_config"))
	h.Run("new", "-n", "there", "--", "sh", "-c", "echo needle over there; exec cat")
	h.here.Run("new", "-n", "here", "--", "sh", "-c", "echo needle here; printf 'Name: '; exec cat")
	asking := filepath.Join(h.dir, "made")
	h.Run("run", "--background", "--policy", "readonly", "--", "touch", asking)
	link := e2e.Decode[api.WebLink](t, h.here.Run("web", "--json", "--listen", "127.0.0.1:0"))
	p := b.Page(browser.Desk)
	p.Go(link.Link)
	p.Wait("the hosts", `document.querySelector('.others summary')`)
	to := func(hash string) { p.Eval(fmt.Sprintf(`void (location.hash = %q)`, hash), nil) }

	to("#/approvals")
	p.Wait("hosts over ssh are offered", `document.querySelector('.page .offer')`)
	p.Click(".page .offer")
	p.Wait("what waits there", `[...document.querySelectorAll('.ask')].some((e) => e.textContent.includes('far') && e.querySelector('pre').textContent.includes('/made'))`)
	p.Wait("it is counted, with the question here", `document.querySelector('.badge:not([hidden])')?.textContent === '2'`)
	p.Eval(`[...document.querySelectorAll('.ask button')].find((b) => b.textContent === 'Allow once').click()`, nil)
	p.Wait("it does not wait", `!document.querySelector('.ask') && document.querySelector('.badge').textContent === '1'`)
	answered := e2e.Decode[[]api.Approval](t, h.Run("approvals", "ls", "--all", "--json"))
	if len(answered) != 1 || answered[0].Answer != "once" {
		t.Errorf("there: %+v", answered)
	}

	to("#/tiles")
	const tile = `[...document.querySelectorAll('.tile')].find((e) => e.textContent.includes('far/there'))`
	p.Wait("its screen in small", tile+`?.querySelector('.rows').textContent.includes('needle over there')`)
	h.Run("send", "there", "--enter", "and more")
	p.Wait("what is added there", tile+`.querySelector('.rows').textContent.includes('and more')`)
	p.Wait("that of this host", `[...document.querySelectorAll('.tile')].find((e) => e.textContent.includes('here')).querySelector('.rows').textContent.includes('needle here')`)

	to("#/search/needle")
	p.Wait("what this host finds", `[...document.querySelectorAll('.search .entry')].some((e) => e.textContent.includes('needle here'))`)
	const hit = `[...document.querySelectorAll('.search .entry')].find((e) => e.textContent.includes('far/there') && e.textContent.includes('needle over there'))`
	p.Wait("what the other finds", hit)
	p.Wait("how much that is", `[...document.querySelectorAll('.search h2')].some((e) => e.textContent === 'far 1 line')`)
	p.Wait("that one cannot be asked", `[...document.querySelectorAll('.search h2')].some((e) => e.textContent.startsWith('closed'))`)
	p.Wait("all have answered", `!document.querySelector('.search h2 ~ .note[role=status]').textContent`)
	p.Eval(hit+`.querySelector('.line').click()`, nil)
	p.Wait("the screen of that moment on the other host's page", `decodeURIComponent(location.pathname) === '/h/ssh:far/' && globalThis.longterm?.page?.term?.screen.at !== undefined`)
}
