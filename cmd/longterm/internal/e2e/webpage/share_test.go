//go:build unix

package webpage

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
)

// A link that shares a session shows that one, to type if that was said, until its token is revoked; the token stands
// in no address afterwards.
//
// FEATURES: R83
func TestSharedLink(t *testing.T) {
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
