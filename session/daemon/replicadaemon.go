//go:build unix

package daemon

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/store"
)

// replicaDaemon is a daemon inside this one, without keepers and socket, whose sessions are replicas of a lost host's.
// The same code reads them. Nothing runs in it, and its handler rejects all but reading.
type replicaDaemon struct {
	d   *Daemon
	api *httpapi.Server
}

// openReplicaDaemon creates a replica daemon in an empty directory.
func (d *Daemon) openReplicaDaemon(dir string) (fleetmember.ReplicaDaemon, error) {
	in := &Daemon{
		cfg: Config{Dirs: paths.Dirs{State: dir, Run: filepath.Join(dir, "run"), Config: d.cfg.Dirs.Config}, Build: d.cfg.Build}, log: d.log.With("copies", filepath.Base(dir)),
		started: time.Now(), keepers: map[string]*keeperLink{}, stop: make(chan api.Stop, 1), tokens: d.tokens, conf: d.conf, audit: d.audit, known: d.known, isReplica: true,
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
	return &replicaDaemon{in, httpapi.New(in, in.reg, in.jobs, in.store, in.conf, in.log, in.cfg.Build, in.gate)}, nil
}

// Import implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) Import(ctx context.Context, host, id string, record []byte, journal string, last time.Time) (string, error) {
	return s.d.reg.Import(ctx, host, id, record, journal, last)
}

// Forget implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) Forget(ctx context.Context, id string) error {
	e, err := s.d.reg.Resolve(id)
	if err != nil {
		return err
	}
	return s.d.reg.Remove(ctx, e, false)
}

// Resolve implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) Resolve(ref string) (string, error) {
	e, err := s.d.reg.Resolve(ref)
	if err != nil {
		return "", err
	}
	return e.ID(), nil
}

// CatchUp implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) CatchUp(ctx context.Context) { s.d.reg.Index.CatchUp(ctx) }

// Handler implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) Handler(of *fleetmember.HostReplica) http.Handler {
	return s.api.ReplicaHandler(of)
}

// Close implements fleetmember.ReplicaDaemon.
func (s *replicaDaemon) Close() {
	s.d.gate.MarkStopping()
	s.d.execs.Close()
	s.d.jobs.Close()
	s.d.subs.Close()
	s.d.reg.Bus.Close()
	s.d.reg.StopAll()
	s.d.reg.CloseIndex()
	_ = s.d.store.Close()
}
