//go:build unix

package daemon

import (
	"net/http"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// TestKeysBehindPendingLine_Rejected checks that input behind a line that waits for approval is rejected with an error:
// it is neither run later, when the line is allowed, nor appended to a rejected one. Input after the answer is typed.
//
// FEATURES: R63, R83
func TestKeysBehindPendingLine_Rejected(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"once", "reject"} {
		t.Run(how, func(t *testing.T) {
			d := startDaemon(t, testDirs(t))
			get[api.Session](d, "POST", "/sessions", api.NewSession{Name: "s", Argv: []string{"cat"}})
			d.openWeb(api.OpenWeb{})
			shared := get[api.Shared](d, "POST", "/sessions/s/share", api.Share{Type: true})
			at, secret, _ := strings.Cut(shared.Link, "#token=")
			guest := d.browser(at)
			if code := guest.login("token", secret); code != http.StatusOK {
				t.Fatal(code)
			}
			page := guest.open(0)
			page.say(map[string]any{"t": "sub", "id": 1, "s": "s"})
			page.until("a frame", func(m said) bool { return m.T == "f" && m.ID == 1 })
			q := int64(0)
			types := func(text, key string) {
				for _, m := range []map[string]any{{"t": "text", "text": text}, {"t": "key", "k": key}} {
					q++
					m["id"], m["q"] = 1, q
					page.say(m)
				}
			}
			types("first", "Enter")
			types("behind", "Enter")
			for n := range int64(2) {
				page.until("that it was not typed", func(m said) bool { return m.T == "err" && m.Q == 3+n && m.Code == api.CodeNeedsApproval })
			}
			asked := get[[]api.Approval](d, "GET", "/approvals", nil)
			if len(asked) != 1 {
				t.Fatalf("%+v", asked)
			}
			d.answer(asked[0].ID, how, "")
			said := page.until("what became of the line", func(m said) bool { return m.Q == 2 })
			if refused := said.T == "err"; refused != (how == "reject") {
				t.Errorf("%+v", said)
			}
			if how == "once" { // the line, and cat's output of it
				page.shows(1, "first\nfirst\n")
			}
			types(" and then", "Tab")
			page.shows(1, " and then")
			if text := page.text(1); strings.Contains(text, "behind") || strings.Count(text, "first") != map[string]int{"once": 2, "reject": 1}[how] {
				t.Errorf("%q", text)
			}
		})
	}
}
