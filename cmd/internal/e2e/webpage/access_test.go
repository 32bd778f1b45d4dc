//go:build unix

package webpage

import (
	"fmt"
	"slices"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// controls are roles that people act on.
var controls = []string{"button", "link", "textbox", "searchbox", "checkbox", "slider", "tab", "menuitem", "combobox"}

// nameless are controls that a screen reader would have no name for.
func nameless(p *browser.Page) (bad []string, n int) {
	type text struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored bool `json:"ignored"`
			Role    text `json:"role"`
			Name    text `json:"name"`
			Node    int  `json:"backendDOMNodeId"`
		} `json:"nodes"`
	}
	p.Call("Accessibility.getFullAXTree", map[string]any{}, &tree)
	for _, x := range tree.Nodes {
		role, _ := x.Role.Value.(string)
		if x.Ignored || !slices.Contains(controls, role) {
			continue
		}
		n++
		if name, _ := x.Name.Value.(string); name == "" {
			bad = append(bad, fmt.Sprintf("%s (node %d)", role, x.Node))
		}
	}
	return bad, n
}

// stillNameless returns the elements without a name once the page is idle: a replacement is in the tree for a moment
// without its content.
func stillNameless(p *browser.Page) (bad []string, n int) {
	for range 100 {
		if bad, n = nameless(p); len(bad) == 0 {
			break
		}
		p.Eval(`new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))`, nil)
	}
	return bad, n
}

// TestWithoutEyesAndMouse uses the page with a screen reader and without a mouse: each control has a name, the focus
// can leave the terminal, and output is announced.
//
// FEATURES: R112
func TestWithoutEyesAndMouse(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "one", "--", "sh", "-c", "stty -echo; echo ready; while read l; do echo \"heard $l\"; done")
	p := open(i, b, browser.Desk)
	for _, page := range []string{"#/", "#/search", "#/approvals", "#/jobs"} {
		p.Eval(fmt.Sprintf(`void (location.hash = %q)`, page), nil)
		p.Wait("the page", `document.querySelector('main')`)
		if bad, n := stillNameless(p); len(bad) > 0 || n < 5 {
			t.Errorf("%s: of %d controls these have no name: %v", page, n, bad)
		}
	}
	show(i, p, "one")
	shows(p, "ready")
	p.Click("button[title=Time]")
	p.Click("button[title=Commands]")
	p.Click("button[title=More]")
	p.Wait("the menu", `document.querySelector('.menu')`)
	if bad, n := stillNameless(p); len(bad) > 0 || n < 20 {
		t.Errorf("a session: of %d controls these have no name: %v", n, bad)
	}
	p.Key("Escape", "Escape", 0)
	p.Wait("the menu is gone", `!document.querySelector('.menu')`)
	p.Eval(`longterm.page.term.focus()`, nil)
	p.Type("me\n")
	shows(p, "heard me")
	p.Wait("it is told", `document.getElementById('live').textContent.includes('heard me')`)
	p.Key("Home", "Home", alt|ctrl)
	p.Wait("the terminal was left", `document.activeElement !== longterm.page.term.area && document.activeElement !== document.body`)
	p.Eval(`document.querySelector('.item').focus()`, nil)
	p.Key("Enter", "Enter", 0)
	p.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-reduced-motion", "value": "reduce"}}}, nil)
	p.Wait("nothing blinks", `getComputedStyle(document.querySelector('.cursor')).animationName === 'none'`)
	quiet(t, b)
}

// TestOldBrowser opens the page in a browser that lacks required features. The page reports that.
//
// FEATURES: R83
func TestOldBrowser(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	link := e2e.Decode[struct{ Link string }](t, i.Run("web", "--json", "--listen", "127.0.0.1:0"))
	for _, c := range []struct{ without, says string }{{"WebSocket", "lacks WebSocket"}, {"Object.hasOwn", "lacks ES2022"}} {
		p := b.Page(browser.Desk)
		p.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "delete globalThis." + c.without}, nil)
		p.Go(link.Link)
		p.Wait("a word about it", fmt.Sprintf(`document.getElementById('lacks').textContent.includes(%q) && document.body.innerText.includes(%[1]q)`, c.says))
	}
	quiet(t, b)
}
