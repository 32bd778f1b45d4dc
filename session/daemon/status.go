//go:build unix

package daemon

import (
	"context"
	"os"
	"runtime"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/paths"
)

// Status describes daemon and keepers.
func (d *Daemon) Status(ctx context.Context) api.Status {
	st := api.Status{
		DaemonPID: os.Getpid(), Build: d.cfg.Build, Started: d.started,
		Goroutines: runtime.NumGoroutine(),
		Socket:     d.cfg.Dirs.Socket(), State: d.cfg.Dirs.State, Keepers: []api.Keeper{}, Config: d.conf.Status(),
	}
	if d.audit != nil {
		st.Audit = d.audit.Head().String()
	}
	if d.tcp != nil {
		st.HTTP = d.tcp.address()
	}
	for _, e := range d.reg.All() {
		st.Sessions++
		if e.Session.Status().State == session.Running {
			st.Running++
		}
	}
	for _, k := range d.links() {
		r, err := k.Link().Status(ctx)
		if err != nil {
			continue // it is being lost or upgraded
		}
		st.Keepers = append(st.Keepers, api.Keeper{
			Key: k.key, PID: int(r.PID), Build: r.Build, Started: time.Unix(0, r.Started),
			Sessions: int(r.Sessions), Executions: int(r.Executions),
		})
		if k.key == paths.MainKeeper {
			st.KeeperPID, st.Restarts = int(r.PID), int(r.Restarts)
		}
	}
	for _, w := range d.webhooks.Status() {
		st.Webhooks = append(st.Webhooks, api.Webhook{Host: w.Host, Waiting: w.Pending, LeftOut: w.Dropped, Failing: w.LastError, Since: timeOrNil(w.FailingSince), LastDelivered: timeOrNil(w.LastDelivered)})
	}
	if d.gate != nil {
		f := d.gate.RuleFile()
		st.Rules = api.RuleFile{File: f.File, Using: f.Using, Rules: f.Rules, Problems: f.Problems}
	}
	d.mu.Lock()
	st.Notices = append([]string{}, d.notices...)
	if d.stateProblem != "" {
		st.Notices = append(st.Notices, d.stateProblem)
	}
	d.mu.Unlock()
	if p := d.reg.Index.Problem(); p != "" {
		st.Notices = append(st.Notices, p)
	}
	if d.gate != nil {
		st.Notices = append(st.Notices, d.gate.ProjectProblems()...)
	}
	return st
}

// timeOrNil returns nil for a zero time.
func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
