//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/keeper/launch"
	"github.com/longterm-dev/longterm/session/keeper/link"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sys"
)

// keeperLink is the connection to one keeper. It reconnects automatically.
type keeperLink struct {
	key       string
	d         *Daemon
	mu        sync.Mutex // guards the fields below
	l         *link.Link
	ended     bool      // no connection will be made again
	lastStart time.Time // time of the last session start
}

// ownKeeperLinger is how long a session's own keeper stays after the session, in case it is restarted.
const ownKeeperLinger = 10 * time.Second

// Key implements Keeper.
func (k *keeperLink) Key() string { return k.key }

// Link implements Keeper: the newest connection.
func (k *keeperLink) Link() *link.Link {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.l
}

// The keeper's notices, by session.

// Output implements link.Handler: the session has new output in its ring.
func (k *keeperLink) Output(id string) {
	if e := k.d.reg.ByID(id); e != nil {
		e.Notify((*session.Session).NotifyOutput)
	}
}

// Exited implements link.Handler: a session's process has exited.
func (k *keeperLink) Exited(m *wire.Exited) {
	if e := k.d.reg.ByID(m.ID); e != nil {
		e.Notify(func(s *session.Session) { s.Exited(registry.ExitOf(m), m.Head) })
	}
}

// Closed implements link.Handler: a session's terminal was closed.
func (k *keeperLink) Closed(m *wire.Closed) {
	if e := k.d.reg.ByID(m.ID); e != nil {
		e.Notify((*session.Session).Closed)
	}
}

// The link finds these interfaces at run time.
var (
	_ link.Executions        = (*keeperLink)(nil)
	_ link.RejectionRecorder = (*keeperLink)(nil)
)

// Execution implements link.Executions.
func (k *keeperLink) Execution(m *wire.Execution) func(async func()) {
	return k.d.execs.Begin(m, func(errno syscall.Errno) error { return k.Link().Answer(m, errno) })
}

// ExecutionEnded implements link.Executions.
func (k *keeperLink) ExecutionEnded(m *wire.ExecutionEnded) { k.d.execs.Cancel(m) }

// RecordRejection implements link.RejectionRecorder. The keeper opens no file, so its refusals are recorded here.
func (k *keeperLink) RecordRejection(m *wire.Rejected) {
	r := audit.Record{
		Kind: audit.Connection, Verdict: "deny", Rule: "keeper", Path: m.Path, Session: m.Session,
		Actor: identity.Actor{UID: int(m.UID), PID: int(m.PID)},
		Note:  fmt.Sprintf("role %q, %d connections to keeper %q since %s: %s", m.Role, m.Count, k.key, time.Unix(0, m.Time).Format(time.DateTime), m.Reason),
	}
	if e := k.d.reg.ByID(m.Session); e != nil {
		rec := e.Record()
		r.Name, r.Actor.Agent, r.Actor.Policy = rec.Name, k.d.reg.AgentOf(e), rec.Policy
	}
	k.d.log.Warn("the keeper refused a process", "keeper", k.key, "pid", m.PID, "role", m.Role, "session", m.Session, "why", m.Reason)
	k.d.Record(r)
}

// adopt connects to a keeper of the previous daemon. It returns nil if the keeper was killed and only its files are
// left.
func (d *Daemon) adopt(key string) (registry.Keeper, error) {
	if keeperEnded(d.cfg.Dirs, key) {
		if err := d.clearKeeper(key); err != nil {
			d.log.Warn("keeper not adopted", "keeper", key, "err", err)
		}
		return nil, nil
	}
	k, err := d.connect(key)
	if err != nil {
		return nil, err
	}
	return k, nil
}

// connect dials a keeper that is known to run.
func (d *Daemon) connect(key string) (*keeperLink, error) {
	k := &keeperLink{key: key, d: d, lastStart: time.Now()}
	l, err := k.dial()
	if err != nil {
		return nil, fmt.Errorf("keeper %s: %w", key, err)
	}
	k.l = l
	d.mu.Lock()
	d.keepers[key] = k
	d.mu.Unlock()
	go k.watch(l)
	return k, nil
}

// watch reconnects after the connection's end. If the keeper does not come back, its sessions are lost.
func (k *keeperLink) watch(l *link.Link) {
	for {
		<-l.Closed()
		if k.hasEnded() {
			return
		}
		next, err := k.redial()
		if err != nil {
			k.onKeeperLost(err)
			return
		}
		k.mu.Lock()
		k.l = next
		k.mu.Unlock()
		k.d.log.Info("keeper is back", "keeper", k.key, "build", next.Hello().Build)
		if err := next.Ready(k.d.cfg.Dirs.Socket()); err != nil {
			k.d.log.Warn("report ready to the keeper", "err", err)
		}
		k.d.reg.Resync(k)
		l = next
	}
}

// dial connects to a keeper. If its socket was removed, it makes the keeper recreate it.
func (k *keeperLink) dial() (*link.Link, error) {
	deadline := time.Now().Add(3 * launch.WatchInterval)
	for {
		l, err := link.Dial(k.d.cfg.Dirs.KeeperSocket(k.key), wire.RoleDaemon, k.d.cfg.Build, k)
		notThere := errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
		if !notThere || time.Now().After(deadline) || keeperEnded(k.d.cfg.Dirs, k.key) {
			return l, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// redial connects to the keeper again, for at most registry.ReconnectTime.
func (k *keeperLink) redial() (*link.Link, error) {
	deadline := time.Now().Add(registry.ReconnectTime)
	for {
		l, err := link.Dial(k.d.cfg.Dirs.KeeperSocket(k.key), wire.RoleDaemon, k.d.cfg.Build, k)
		if err == nil || k.hasEnded() || time.Now().After(deadline) || keeperEnded(k.d.cfg.Dirs, k.key) {
			return l, err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// keeperEnded reports whether no process holds a lock of the keeper, so that it will not reconnect.
func keeperEnded(dirs paths.Dirs, key string) bool {
	return !launch.IsHeld(dirs.KeeperStateLock(key)) && !launch.IsHeld(dirs.KeeperLock(key))
}

// await waits until an ended connection is replaced or given up.
func (k *keeperLink) await(ctx context.Context, old *link.Link) error {
	for k.Link() == old && !k.hasEnded() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// linkTries bounds the retries if a keeper's connection is replaced repeatedly.
const linkTries = 4

// Retry calls f, and again if the connection was replaced meanwhile, as in an upgrade.
func (k *keeperLink) Retry(ctx context.Context, f func(*link.Link) error) error {
	for try := 1; ; try++ {
		l := k.Link()
		err := f(l)
		if err == nil || try == linkTries || !isLost(l, err) {
			return err
		}
		if k.await(ctx, l) != nil || k.hasEnded() {
			return err
		}
	}
}

// isLost reports whether the connection ended before the answer.
func isLost(l *link.Link, err error) bool {
	return errors.Is(err, link.ErrLost) || errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) || hasEnded(l)
}

// hasEnded reports whether the keeper has ended.
func (k *keeperLink) hasEnded() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.ended
}

// markUsed records that a session is about to start there; false means that the keeper has ended.
func (k *keeperLink) markUsed() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.lastStart = time.Now()
	return !k.ended
}

// idleSince returns when the keeper last started a session.
func (k *keeperLink) idleSince() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.lastStart
}

// endOwnKeepers ends the keepers of single sessions that hold nothing more. They would otherwise run as long as this
// daemon, which is connected to them. A keeper with leftover processes stays.
func (d *Daemon) endOwnKeepers(ctx context.Context, now time.Time) {
	for _, k := range d.links() {
		if k.key == paths.MainKeeper || now.Sub(k.idleSince()) < ownKeeperLinger {
			continue
		}
		if e := d.reg.ByID(k.key); e != nil && e.Session.Status().State == session.Running {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, shutdownTime)
		if err := k.endIfEmpty(ctx, now); err != nil {
			d.log.Debug("a session's own keeper was not ended", "keeper", k.key, "err", err) // it is tried again
		}
		cancel()
	}
}

// endIfEmpty ends a keeper that has no sessions, nor processes that these left.
func (k *keeperLink) endIfEmpty(ctx context.Context, now time.Time) error {
	l := k.Link()
	if kept, err := l.List(ctx); err != nil || len(kept) > 0 {
		return err
	}
	if left, err := sys.Children(int(l.Hello().PID)); err != nil || len(left) > 0 {
		return err
	}
	d := k.d
	d.launchMu.Lock() // prevents its use until the end
	defer d.launchMu.Unlock()
	if now.Sub(k.idleSince()) < ownKeeperLinger {
		return nil
	}
	k.setEnded(true) // that its connection ends is no loss
	if err := l.Shutdown(ctx, false); errors.Is(err, link.ErrBusy) {
		k.setEnded(false)
		return err
	}
	k.close(false)
	d.mu.Lock()
	delete(d.keepers, k.key)
	d.mu.Unlock()
	for !keeperEnded(d.cfg.Dirs, k.key) { // the next start must not find this one
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

// setEnded records whether the keeper has ended.
func (k *keeperLink) setEnded(gone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = gone
}

// onKeeperLost handles the permanent end of a keeper.
func (k *keeperLink) onKeeperLost(err error) {
	k.d.log.Error("keeper lost", "keeper", k.key, "err", err)
	k.setEnded(true)
	k.d.mu.Lock()
	delete(k.d.keepers, k.key)
	k.d.mu.Unlock()
	k.d.reg.KeeperLost(k.key)
	k.d.clearLost(k.key)
}

// close closes the connection; shutdown also ends the keeper.
func (k *keeperLink) close(shutdown bool) {
	k.mu.Lock()
	k.ended = true
	l := k.l
	k.mu.Unlock()
	if shutdown {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if err := l.Shutdown(ctx, true); err != nil {
			k.d.log.Warn("shut the keeper down", "keeper", k.key, "err", err)
		}
	}
	_ = l.Close()
}

// links returns all connections.
func (d *Daemon) links() []*keeperLink {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*keeperLink
	for _, k := range d.keepers {
		all = append(all, k)
	}
	return all
}

// KeeperPIDs returns the processes of the keepers.
func (d *Daemon) KeeperPIDs() (pids []int) {
	for _, k := range d.links() {
		pids = append(pids, int(k.Link().Hello().PID))
	}
	return pids
}

// KeeperFor returns the connection to a keeper, starting the keeper if need be.
func (d *Daemon) KeeperFor(key string) (registry.Keeper, error) {
	d.launchMu.Lock() // two connections to one keeper would fight for its notices
	defer d.launchMu.Unlock()
	d.mu.Lock()
	k := d.keepers[key]
	d.mu.Unlock()
	if k != nil && k.markUsed() {
		return k, nil
	}
	argv := d.cfg.KeeperArgv(key, key == paths.MainKeeper)
	err := launch.StartKeeper("", append(argv, "--daemon-runs"), d.cfg.Dirs.KeeperLog())
	if err != nil && !errors.Is(err, launch.ErrRunning) {
		return nil, err
	}
	if k, err = d.connect(key); err != nil {
		return nil, err
	}
	return k, k.Link().Ready(d.cfg.Dirs.Socket())
}

// hasEnded reports whether a connection has ended.
func hasEnded(l *link.Link) bool {
	select {
	case <-l.Closed():
		return true
	default:
		return false
	}
}
