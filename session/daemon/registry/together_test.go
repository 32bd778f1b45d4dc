//go:build unix

package registry

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sys/unixsock"
	"github.com/longterm-dev/longterm/store"
)

// TestOwners_StartAfterAllAdopted checks that owners of the keepers' sessions start once all are adopted, not one by
// one, also if a command runs in the session; and before the slow decisions about sessions without a keeper.
//
// FEATURES: R90
func TestOwners_StartAfterAllAdopted(t *testing.T) {
	t.Parallel()
	lost := store.Session{ID: uuid.NewString(), Name: "lost", State: "running", PID: 1 << 30, Argv: []string{"true"}, Created: time.Now()}
	kept := store.Session{ID: uuid.NewString(), Name: "kept", State: "running", PID: 1 << 30, Argv: []string{"sh"}, Created: time.Now(), Started: time.Now()}
	r, _ := hosted(t, func(r *Registry) {
		record(t, r, lost)
		record(t, r, kept)
		if _, err := r.store.AddCommand(t.Context(), store.Command{Session: kept.ID, Text: "make", State: "running", Started: time.Now()}); err != nil {
			t.Fatal(err)
		}
		// It cannot be settled, which is logged.
		if err := os.RemoveAll(r.dirs.Session(lost.ID)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(r.dirs.Session(lost.ID), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	})
	settled := false
	r.log = slog.New(onError(func(msg string) {
		if msg == "history not opened" {
			settled = true
			if r.adoption.starts != nil {
				t.Error("keepers' sessions wait until all others are decided")
			}
		}
	}))
	what, before := "what was printed\r\nprinted without a daemon", owners()
	k := newOneKeeper(t, kept.ID, what)
	asked := false
	r.AdoptAll(t.Context(), []string{"main", "second"}, func(key string) (Keeper, error) {
		if key == "main" {
			return k, nil
		}
		asked = true
		segments, err := os.ReadDir(filepath.Join(r.dirs.Session(kept.ID), "journal"))
		if now := owners(); now > before || err != nil || len(segments) != 1 { // an owner writes one when it starts
			t.Errorf("before all are adopted there are %d owners more, %d segments, %v", now-before, len(segments), err)
		}
		return nil, nil
	})
	if !asked || !settled {
		t.Fatalf("the second keeper was queried: %v; the lost session was decided: %v", asked, settled)
	}
	e := r.ByID(kept.ID)
	w, err := e.Session.Wait(t.Context(), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondText, Text: "without a daemon"}}, Since: new(uint64)})
	if err != nil || len(w.Fired) != 1 {
		t.Errorf("%+v, %v", w, err)
	}
}

// owners counts the goroutines of sessions and followers: those that were started, even if they did not run yet.
func owners() int {
	buf := make([]byte, 4<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	return len(slices.DeleteFunc(all, func(g string) bool {
		return !strings.Contains(g, "session.(*Session)") && !strings.Contains(g, "registry.(*watchers)")
	}))
}

// onError is a log that hands errors on.
type onError func(msg string)

func (onError) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (f onError) Handle(_ context.Context, r slog.Record) error {
	f(r.Message)
	return nil
}
func (f onError) WithAttrs([]slog.Attr) slog.Handler { return f }
func (f onError) WithGroup(string) slog.Handler      { return f }

// oneKeeper is a keeper that has one session, on pipes.
type oneKeeper struct{ l *link.Link }

func (k *oneKeeper) Key() string                                               { return "main" }
func (k *oneKeeper) Link() *link.Link                                          { return k.l }
func (k *oneKeeper) Retry(_ context.Context, f func(l *link.Link) error) error { return f(k.l) }

func newOneKeeper(t *testing.T, id, printed string) *oneKeeper {
	t.Helper()
	out, file, err := ring.Create(ring.DefaultSize)
	if err != nil {
		t.Skip("needs shared memory: ", err)
	}
	out.Publish(copy(out.Room(), printed))
	dir, err := os.MkdirTemp("", "lt") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	l, err := unixsock.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		serveOne(l, id, file)
	}()
	k := &oneKeeper{}
	t.Cleanup(func() {
		if k.l != nil {
			_ = k.l.Close()
		}
		_ = l.Close()
		<-served
		_, _, _ = out.Close(), file.Close(), os.RemoveAll(dir)
	})
	if k.l, err = link.Dial(path, wire.RoleDaemon, "test", nil); err != nil {
		t.Fatal(err)
	}
	return k
}

// serveOne answers one daemon.
func serveOne(l *unixsock.Listener, id string, file *os.File) {
	uc, err := l.Accept()
	if err != nil {
		return
	}
	c := wire.NewConn(uc)
	defer c.Close()
	kept := wire.Session{ID: id, PID: 1 << 30, Started: time.Now().UnixNano(), Cols: 80, Rows: 24, Pipe: true}
	for {
		f, _, err := c.Read()
		if err != nil {
			return
		}
		switch f.Kind {
		case wire.KindHello:
			err = c.Write(&wire.Hello{Version: wire.Version, MinVersion: wire.Version, Build: "fake", PID: int64(os.Getpid()), Key: "main"})
		case wire.KindList:
			var m wire.List
			err = wire.Decode(f.Payload, &m)
			kept.Req = m.Req
			if err == nil {
				err = c.Write(&kept)
			}
			if err == nil {
				err = c.Write(&wire.Done{Req: m.Req})
			}
		case wire.KindAdopt:
			var m wire.Adopt
			err = wire.Decode(f.Payload, &m)
			kept.Req = m.Req
			if err == nil {
				err = c.Write(&kept, file)
			}
		}
		if err != nil {
			return
		}
	}
}
