//go:build unix

package terminals

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestKeysOverKills types keys into an attached session and into the viewer while daemons are killed. They reach the
// program once and in order.
//
// FAULT: A23
// FEATURES: R7, R76, R90
func TestKeysOverKills(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	keys := e2e.NumberedKeys(2000)
	if e2e.RaceEnabled {
		keys = keys[:500]
	}
	for _, verb := range []string{"attach", "view"} {
		t.Run(verb, func(t *testing.T) {
			i := e2e.New(t)
			read := filepath.Join(t.TempDir(), "read")
			i.Run(append([]string{"new", "-n", "s", "--"}, e2e.KeyReader(read)...)...)
			p := terminal(i, verb, "s")
			p.Expect("READY")
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			r := rand.New(rand.NewPCG(seed, 0))
			stop := make(chan struct{})
			killed := i.KillDaemons(rand.New(rand.NewPCG(seed, 1)), stop)
			for k := range len(keys) {
				p.Send(keys[k : k+1])
				e2e.PauseFor(time.Duration(r.Int64N(int64(10 * time.Millisecond))))
			}
			close(stop)
			t.Logf("%d daemons were killed", <-killed)
			e2e.CheckKeys(t, read, keys)
		})
	}
}
