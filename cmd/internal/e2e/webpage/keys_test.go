//go:build unix

package webpage

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/cmd/internal/e2e/browser"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestKeysOverKills types keys into the page while daemons are killed. They reach the program once and in order.
//
// FAULT: A23
// FEATURES: R49, R90, R112
func TestKeysOverKills(t *testing.T) {
	tier.Full(t)
	keys := e2e.NumberedKeys(600)
	if e2e.RaceEnabled {
		keys = keys[:200]
	}
	b := browser.New(t)
	i := e2e.New(t)
	read := filepath.Join(t.TempDir(), "read")
	i.Run(append([]string{"new", "-n", "keys", "--"}, e2e.KeyReader(read)...)...)
	p := open(i, b, browser.Desk)
	show(i, p, "keys")
	shows(p, "READY")
	p.Wait("focus", `document.activeElement === longterm.page.term.area`)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	stop := make(chan struct{})
	killed := i.KillDaemons(rand.New(rand.NewPCG(seed, 1)), stop)
	for k := range len(keys) {
		p.Type(keys[k : k+1])
		e2e.PauseFor(time.Duration(r.Int64N(int64(10 * time.Millisecond))))
	}
	close(stop)
	t.Logf("%d daemons were killed", <-killed)
	e2e.CheckKeys(t, read, keys)
	quiet(t, b, "WebSocket", "Failed to load resource")
}
