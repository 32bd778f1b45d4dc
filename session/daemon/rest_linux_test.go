package daemon

import (
	"os"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/internal/idlepoll"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// TestIdleDaemon_WakesOnChanges checks that an idle daemon polls nothing: a changed file, a removed socket or a request
// wakes it.
//
// FEATURES: R90 R93
func TestIdleDaemon_WakesOnChanges(t *testing.T) {
	tier.Full(t)
	dirs := testDirs(t)
	if err := os.MkdirAll(dirs.Config, 0o700); err != nil {
		t.Fatal(err)
	}
	p := &idlepoll.Poller{IdleAfter: time.Millisecond, IdleInterval: time.Hour}
	r := startDaemon(t, dirs, func(c *Config) { c.Poller = p })
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "quiet", Argv: []string{"sleep", "1000"}})
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "asks", Argv: []string{"cat"}})
	events := r.events(t)
	until := func(what string, done func() bool) {
		t.Helper()
		look := time.NewTicker(5 * time.Millisecond)
		defer look.Stop()
		for range 6000 {
			if done() {
				return
			}
			<-look.C
		}
		t.Fatal(what)
	}
	rests := func() {
		t.Helper()
		until("it does not come to rest", p.IsIdle)
	}
	still := 0 // a program that waits for input leaves it as idle as one that sleeps
	until("it is woken again and again though nothing happens", func() bool {
		if still++; !p.IsIdle() {
			still = 0
		}
		return still > 100
	})
	if err := os.Remove(dirs.Socket()); err != nil {
		t.Fatal(err)
	}
	until("a socket that is removed at rest is not made again", func() bool {
		_, err := os.Stat(dirs.Socket())
		return err == nil
	})
	rests()
	if err := os.WriteFile(dirs.ConfigFile(), []byte("[limits]\nframe_rate = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	late := time.After(time.Minute)
	for seen := false; !seen; {
		select {
		case e := <-events:
			seen = e.Kind == "config"
		case <-late:
			t.Fatal("a configuration that is written at rest is not read")
		}
	}
	rests()
	if r.ask("GET", "/sessions", nil); p.IsIdle() {
		t.Error("it is idle although a request was made")
	}
	dir := t.TempDir()
	goOn := gate(t, dir, "print")
	get[api.Session](r, "POST", "/sessions", api.NewSession{Name: "loud", Cwd: dir, Argv: []string{"sh", "-c", "read x < print; echo said; read x"}})
	rests()
	goOn("")
	until("it rests though a session prints", func() bool { return !p.IsIdle() })
	r.ask("DELETE", "/sessions/loud?force=true", nil)
}
