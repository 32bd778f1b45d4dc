//go:build unix

package webpage

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestFiles_PastedAndDropped checks that a pasted or dropped file is stored with the session, and its quoted path is
// pasted.
//
// FEATURES: R136
func TestFiles_PastedAndDropped(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run(append([]string{"new", "-n", "keys", "--"}, echoBytes("")[1:]...)...)
	p := open(i, b, browser.Desk)
	show(i, p, "keys")
	shows(p, "ready")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	for _, c := range []struct{ event, name, typed string }{
		{"new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })", "shot.png", "files/shot.png"},
		{"new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })", "it is.png", "files/it is.png'"},
	} {
		p.Eval(`(() => {
			const data = new DataTransfer();
			data.items.add(new File(['content of a file'], '`+c.name+`', { type: 'image/png' }));
			longterm.page.term.area.dispatchEvent(`+c.event+`);
		})()`, nil)
		e2e.Eventually(t, "the path of "+c.name+" is typed", func() bool { return strings.Contains(i.Run("output", "keys"), c.typed) })
		if got := i.Run("get", "keys", c.name, "-o", "-"); got != "content of a file" {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}
