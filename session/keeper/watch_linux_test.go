package keeper

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/idlepoll"
)

// A keeper at rest looks at nothing by itself: a socket that is removed wakes it.
//
// FEATURES: R90 R93
func TestIdleKeeper_WakesOnRemovedSocket(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	k := &Keeper{
		cfg: Config{Socket: filepath.Join(dir, "k.sock"), Lock: filepath.Join(dir, "k.lock"), StateLock: filepath.Join(state, "k.lock")},
		log: slog.New(slog.DiscardHandler), pace: &idlepoll.Pace{After: time.Nanosecond, Beat: time.Hour},
	}
	for _, name := range []string{k.cfg.Socket, k.cfg.Lock, k.cfg.StateLock} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer k.watchFiles()()
	if k.files == nil {
		t.Skip("there are no watches left")
	}
	tick := k.pace.Ticker(time.Millisecond)
	defer tick.Stop()
	for _, name := range []string{k.cfg.Socket, k.cfg.Lock, k.cfg.StateLock} {
		for !k.pace.IsIdle() {
			<-tick.C()
			tick.Next()
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		await(t, name+" is looked at", func() bool { return !k.pace.IsIdle() })
	}
}
