//go:build unix

package daemon

import (
	"cmp"
	"fmt"
	"os"

	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
)

// openAudit opens the audit log. The configuration decides whether actions that cannot be logged proceed.
func (d *Daemon) openAudit() (err error) {
	db, former := os.Lstat(d.cfg.Dirs.Database()) // this daemon opens it later; an empty one is of a disk that was full
	d.audit, err = audit.Open(audit.Options{
		Dir: d.cfg.Dirs.Audit(), Log: d.log,
		Mask: d.known.RedactCommand, IsExpected: former == nil && db.Size() > 0,
		Retention: func() audit.Retention {
			r := d.conf.Get().Retention
			return audit.Retention{Age: r.AuditAge, Bytes: r.AuditBytes}
		},
		ContinuesUnwritten: func() bool { return d.conf.Get().Policy.AuditFull == config.AuditGoOn },
	})
	if err != nil {
		return fmt.Errorf("open the audit log: %w", err)
	}
	how := ""
	if d.crashed {
		how = "; the one before it did not end by itself"
	}
	d.Record(audit.Record{Kind: audit.Begin, Note: "daemon " + cmp.Or(d.cfg.Build, "of no version") + how})
	return nil
}

// Audit returns the audit log.
func (d *Daemon) Audit() *audit.Log { return d.audit }

// Record logs an action without waiting. Without an actor it counts as the daemon's.
func (d *Daemon) Record(r audit.Record) {
	if r.Actor == (identity.Actor{}) {
		r.Actor = identity.Actor{UID: os.Getuid(), PID: os.Getpid()}
	}
	d.audit.AppendLater(r)
}
