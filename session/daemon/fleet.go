//go:build unix

package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/fleetmember"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/daemon/sshhosts"
	"github.com/longterm-dev/longterm/store/fleet/certs"
	"github.com/longterm-dev/longterm/store/fleet/replica"
)

// Fleet returns this machine's fleet membership.
func (d *Daemon) Fleet() *fleetmember.Member { return d.fleet }

// reusedHostName returns this machine's name in its fleet if the fleet has replicas of an earlier machine of that name.
func (d *Daemon) reusedHostName() string {
	if d.fleet == nil {
		return ""
	}
	return d.fleet.ReusedName()
}

// SSH implements httpapi.Daemon.
func (d *Daemon) SSH() *sshhosts.Hosts {
	return &sshhosts.Hosts{Settings: d.conf.Get, Dirs: d.cfg.Dirs, LinkArgv: d.cfg.LinkArgv, Mask: d.known.RedactCommand}
}

// openFleet starts this machine's fleet membership, if any.
func (d *Daemon) openFleet(face *httpapi.Server) {
	d.fleet = fleetmember.New(fleetmember.Config{
		Dir: certs.Dir(d.cfg.Dirs.Fleet()), Build: d.cfg.Build, Log: d.log, Handler: face.FleetHandler(), Bus: &d.reg.Bus,
		Completions: d.subs, Mask: d.known.RedactCommand, Sessions: d.fleetSessions,
		CopySources: d.replicaSources, CopyRate: func() int64 { return d.conf.Get().Fleet.ReplicaRate }, ImportSession: d.reg.Import,
		HasSession: func(id string) bool { return d.reg.ByID(id) != nil },
		Scratch:    filepath.Join(d.cfg.Dirs.Fleet(), "restoring"), ReplicaDir: filepath.Join(d.cfg.Dirs.Fleet(), "lost"), OpenReplicaDaemon: d.openReplicaDaemon,
	})
	if err := os.RemoveAll(filepath.Join(d.cfg.Dirs.Fleet(), "lost")); err != nil { // of a daemon that was killed
		d.log.Warn("remove old replicas", "err", err)
	}
	_ = d.fleet.Reload() // it is in the log, and in its status
}

// fleetSessions returns the sessions to publish in the fleet.
func (d *Daemon) fleetSessions() []api.Session {
	all := d.reg.All()
	list := make([]api.Session, 0, len(all))
	for _, e := range all {
		if !e.IsPooled() && !e.IsKeptRun() {
			list = append(list, d.reg.Describe(e, e.Session.Status()))
		}
	}
	return list
}

// replicaSources returns the sessions to copy to the fleet, without short-lived ones.
func (d *Daemon) replicaSources() []fleetmember.Source {
	all := d.reg.All()
	list := make([]fleetmember.Source, 0, len(all))
	for _, e := range all {
		if e.IsPooled() || e.IsTemporary() || e.IsKeptRun() {
			continue
		}
		list = append(list, fleetmember.Source{
			ID: e.ID(), Journal: e.Session.Journal(),
			Record: func(ctx context.Context) ([]byte, error) { return d.reg.ReplicaRecord(ctx, e, replica.MaxBody) },
		})
	}
	return list
}
