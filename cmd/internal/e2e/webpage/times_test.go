//go:build unix

package webpage

import (
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestPage_UpdatesRunningTimes checks that durations advance without events, and that the remaining time is shown.
//
// FEATURES: R83
func TestPage_UpdatesRunningTimes(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "build", "--", "sleep", "1000")
	p := open(i, b, browser.Desk)
	s := show(i, p, "build")
	p.Eval(`(() => {
		const s = longterm.store.sessions.get("`+s.ID+`");
		s.activity = { running: true, elapsed_ms: 1000, errors: 0, warnings: 0, due: new Date(Date.now() + 7250e3).toISOString() };
		s.heard = Date.now() - 3 * 3600e3;
		longterm.store.emit('change');
	})()`, nil)
	p.Wait("how long it has run, and will", `/3 h[^·]* · [12] h[^·]* left/.test(document.querySelector('.head .what').textContent)`)
	p.Wait("in the list, too", `document.querySelector('.items .how').textContent.startsWith('running 3 h')`)
	p.Eval(`void (longterm.store.sessions.get("`+s.ID+`").heard -= 3600e3)`, nil)
	p.Wait("an hour later", `document.querySelector('.head .what').textContent.includes('4 h')`)
	quiet(t, b)
}

// TestTimeBarBySeconds moves the time bar of a long session by seconds with the arrow keys.
//
// FEATURES: R112
func TestTimeBarBySeconds(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "long", "--", "sh", "-c", "echo here; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "long")
	p.Click("button[title=Time]")
	var steps struct{ Short, Long, Moved float64 }
	p.Eval(`(() => {
		const bar = longterm.page.time, input = bar.range;
		const short = +input.max;
		bar.from -= 10 * 3600e3;
		bar.show();
		const before = bar.at;
		input.stepDown();
		input.dispatchEvent(new Event('input'));
		return { Short: short, Long: +input.max, Moved: before - bar.at };
	})()`, &steps)
	if steps.Short != 1000 || steps.Long < 36000 || steps.Long > 37000 || steps.Moved < 900 || steps.Moved > 2000 {
		t.Errorf("%+v", steps)
	}
	quiet(t, b)
}

// TestRemovedWhileLookedAt removes the shown session. The page reports that once; changes of focus cause no error.
//
// FEATURES: R112
func TestRemovedWhileLookedAt(t *testing.T) {
	tier.Full(t)
	b := browser.New(t)
	i := e2e.New(t)
	i.Run("new", "-n", "short", "--", "sh", "-c", "echo here; exec cat")
	i.Run("new", "-n", "other", "--", "sh", "-c", "echo other; exec cat")
	p := open(i, b, browser.Desk)
	show(i, p, "short")
	p.Eval(`longterm.page.term.focus()`, nil)
	i.Run("rm", "--force", "short")
	p.Wait("that it is gone", `document.querySelector('.over:not([hidden])')`)
	p.Eval(`(() => { document.activeElement.blur(); longterm.page.term.focus(); })()`, nil)
	show(i, p, "other") // answered after the notice of the focus
	var toasts []string
	p.Eval(`[...document.querySelectorAll('.toast')].map((e) => e.textContent)`, &toasts)
	if len(toasts) > 0 {
		t.Errorf("the page shows %q", toasts)
	}
	quiet(t, b)
}
