//go:build unix

// Package webpage tests the page of longterm web in a browser, against the daemon as users have it.
package webpage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/isolate"
)

func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }

// open logs a page in.
func open(i *e2e.Instance, b *browser.Browser, s browser.Screen, flags ...string) *browser.Page {
	i.T.Helper()
	link := e2e.Decode[api.WebLink](i.T, i.Run(append([]string{"web", "--json", "--listen", "127.0.0.1:0"}, flags...)...))
	p := b.Page(s)
	p.Go(link.Link)
	p.Wait("logged in", `longterm.store.loaded`)
	return p
}

// show makes a page show a session.
func show(i *e2e.Instance, p *browser.Page, name string) api.Session {
	i.T.Helper()
	s := i.Info(name)
	p.Eval(fmt.Sprintf(`void (location.hash = '#/s/%s')`, s.ID), nil)
	p.Wait("the session's screen", fmt.Sprintf(`longterm.page.id === %q && longterm.page.term.screen.v && longterm.page.term.frames`, s.ID))
	return s
}

// shows waits until a text is on the page's screen, as elements.
func shows(p *browser.Page, text string) {
	p.Wait(fmt.Sprintf("%q on the screen", text), fmt.Sprintf(`[...document.querySelectorAll('.term .rows .row')].some((r) => r.textContent.includes(%s))`, quote(text)))
}

func quote(s string) string {
	b, _ := json.Marshal(s) // of a string it cannot fail
	return string(b)
}

// quiet fails a test for errors that the page threw or logged.
func quiet(t *testing.T, b *browser.Browser, but ...string) {
	t.Helper()
	for _, e := range b.Errors() {
		known := false
		for _, x := range but {
			known = known || strings.Contains(e, x)
		}
		if !known {
			t.Errorf("the page shows: %s", e)
		}
	}
}

// keep saves a screenshot of a page in the directory SCREENSHOTS, for manual review.
func keep(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	dir := os.Getenv("SCREENSHOTS")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), p.PNG(), 0o600); err != nil {
		t.Error(err)
	}
}
