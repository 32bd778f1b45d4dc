package keeper

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/internal/idlepoll"
)

// TestIdleKeeper_WakesOnRemovedSocket checks that an idle keeper polls nothing: a removed socket wakes it.
//
// FEATURES: R90 R93
func TestIdleKeeper_WakesOnRemovedSocket(t *testing.T) {
	dir, state := t.TempDir(), t.TempDir()
	k := &Keeper{
		cfg: Config{Socket: filepath.Join(dir, "k.sock"), Lock: filepath.Join(dir, "k.lock"), StateLock: filepath.Join(state, "k.lock")},
		log: slog.New(slog.DiscardHandler), poller: &idlepoll.Poller{IdleAfter: time.Nanosecond, IdleInterval: time.Hour},
	}
	for _, name := range []string{k.cfg.Socket, k.cfg.Lock, k.cfg.StateLock} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	defer k.watchFiles()()
	if k.files == nil {
		t.Skip("no inotify watches left")
	}
	tick := k.poller.Ticker(time.Millisecond)
	defer tick.Stop()
	for _, name := range []string{k.cfg.Socket, k.cfg.Lock, k.cfg.StateLock} {
		for !k.poller.IsIdle() {
			<-tick.C()
			tick.Next()
		}
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
		await(t, name+" is looked at", func() bool { return !k.poller.IsIdle() })
	}
}
