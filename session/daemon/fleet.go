//go:build unix

package daemon

import (
	"context"
	"os"
	"path/filepath"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/httpapi"
	"github.com/longterm-dev/longterm/session/daemon/member"
	"github.com/longterm-dev/longterm/session/daemon/sshhosts"
	"github.com/longterm-dev/longterm/store/fleet/copies"
	"github.com/longterm-dev/longterm/store/fleet/ident"
)

// Fleet is this machine's part in a fleet.
func (d *Daemon) Fleet() *member.Member { return d.fleet }

// former is this machine's name in its fleet, where that has histories of another machine that had it before.
func (d *Daemon) former() string {
	if d.fleet == nil {
		return ""
	}
	return d.fleet.Former()
}

// SSH implements httpapi.Daemon.
func (d *Daemon) SSH() *sshhosts.Hosts {
	return &sshhosts.Hosts{Settings: d.conf.Get, Dirs: d.cfg.Dirs, LinkArgv: d.cfg.LinkArgv, Mask: d.known.Line}
}

// openFleet begins this machine's part in its fleet, if it has one.
func (d *Daemon) openFleet(face *httpapi.Server) {
	d.fleet = member.New(member.Config{
		Dir: ident.Dir(d.cfg.Dirs.Fleet()), Build: d.cfg.Build, Log: d.log, Handler: face.FleetDoor(), Bus: &d.reg.Bus,
		Completions: d.subs, Mask: d.known.Line, Sessions: d.forFleet,
		Copies: d.forCopies, CopyRate: func() int64 { return d.conf.Get().Fleet.CopyRate }, TakeIn: d.reg.TakeIn,
		Here:    func(id string) bool { return d.reg.ByID(id) != nil },
		Scratch: filepath.Join(d.cfg.Dirs.Fleet(), "restoring"), Lost: filepath.Join(d.cfg.Dirs.Fleet(), "lost"), OpenShelf: d.openShelf,
	})
	if err := os.RemoveAll(filepath.Join(d.cfg.Dirs.Fleet(), "lost")); err != nil { // of a daemon that was killed
		d.log.Warn("copies of lost hosts that were read before are not removed", "err", err)
	}
	_ = d.fleet.Reload() // it is in the log, and in its status
}

// forFleet are the sessions that the fleet is told of.
func (d *Daemon) forFleet() []api.Session {
	all := d.reg.All()
	list := make([]api.Session, 0, len(all))
	for _, e := range all {
		if !e.Pooled() && !e.KeptRun() {
			list = append(list, d.reg.Describe(e, e.Session.Status()))
		}
	}
	return list
}

// forCopies are the sessions that are copied to the fleet: not those whose results are read once.
func (d *Daemon) forCopies() []member.Source {
	all := d.reg.All()
	list := make([]member.Source, 0, len(all))
	for _, e := range all {
		if e.Pooled() || e.Temporary() || e.KeptRun() {
			continue
		}
		list = append(list, member.Source{
			ID: e.ID(), Journal: e.Session.Journal(),
			Record: func(ctx context.Context) ([]byte, error) { return d.reg.HandOver(ctx, e, copies.MaxBody) },
		})
	}
	return list
}
