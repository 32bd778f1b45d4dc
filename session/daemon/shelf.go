//go:build unix

package daemon

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/daemon/member"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// shelf is a daemon within this one, without keepers and without a socket, whose sessions are copies of a lost host's:
// they are read with what reads this one's. Nothing is started in it and nothing looks after it: its handler refuses what
// is no reading.
type shelf struct {
	d    *Daemon
	face *httpapi.Server
}

// openShelf makes one in a directory that has nothing.
func (d *Daemon) openShelf(dir string) (member.Shelf, error) {
	in := &Daemon{
		cfg: Config{Dirs: paths.Dirs{State: dir, Run: filepath.Join(dir, "run"), Config: d.cfg.Dirs.Config}, Build: d.cfg.Build}, log: d.log.With("copies", filepath.Base(dir)),
		started: time.Now(), keepers: map[string]*keeperLink{}, stop: make(chan api.Stop, 1), tokens: d.tokens, conf: d.conf, audit: d.audit, known: d.known, elsewhere: true,
	}
	in.cfg.Log = in.log
	if err := in.cfg.Dirs.Make(); err != nil {
		return nil, err
	}
	var err error
	if in.store, err = store.Open(in.cfg.Dirs.Database()); err != nil {
		return nil, err
	}
	if err := in.assemble(context.Background()); err != nil {
		_ = in.store.Close()
		return nil, err
	}
	in.reg.OpenIndex()
	return &shelf{in, httpapi.New(in, in.reg, in.jobs, in.store, in.conf, in.log, in.cfg.Build, in.gate)}, nil
}

// TakeIn implements member.Shelf.
func (s *shelf) TakeIn(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (string, error) {
	return s.d.reg.TakeIn(ctx, host, id, record, journal, last)
}

// Forget implements member.Shelf.
func (s *shelf) Forget(ctx context.Context, id string) error {
	e, err := s.d.reg.Resolve(id)
	if err != nil {
		return err
	}
	return s.d.reg.Remove(ctx, e, false)
}

// Resolve implements member.Shelf.
func (s *shelf) Resolve(ref string) (string, error) {
	e, err := s.d.reg.Resolve(ref)
	if err != nil {
		return "", err
	}
	return e.ID(), nil
}

// CatchUp implements member.Shelf.
func (s *shelf) CatchUp(ctx context.Context) { s.d.reg.Index.CatchUp(ctx) }

// Handler implements member.Shelf.
func (s *shelf) Handler(of *member.Lost) http.Handler { return s.face.CopyDoor(of) }

// Close implements member.Shelf.
func (s *shelf) Close() {
	s.d.gate.Leave()
	s.d.execs.Close()
	s.d.jobs.Close()
	s.d.subs.Close()
	s.d.reg.Bus.Close()
	s.d.reg.StopAll()
	s.d.reg.CloseIndex()
	_ = s.d.store.Close()
}
