//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/longterm-dev/longterm/session/api"
)

// Upgrade makes every keeper execute another binary in place and then ends; the main keeper starts the new daemon from
// that binary. A keeper that refuses continues with the old one, because old keepers and new daemons are compatible.
//
// Only one upgrade runs at a time: a keeper that gets two requests answers one by closing the connection. A second
// caller repeats its request at the new daemon.
func (d *Daemon) Upgrade(ctx context.Context, path string) (err error) {
	if !d.upgradeMu.TryLock() {
		return api.Errorf(api.CodeUnavailable, "another upgrade is under way").WithHint("wait for its end, and ask again").Retryable()
	}
	defer func() {
		if err != nil { // else this daemon ends
			d.upgradeMu.Unlock()
		}
	}()
	exe, err := openProgram(ctx, path)
	if err != nil {
		return err
	}
	defer exe.Close()
	var errs error
	for _, k := range d.links() {
		l := k.Link()
		if err := l.Upgrade(ctx, exe); err != nil {
			errs = errors.Join(errs, fmt.Errorf("keeper %s: %w", k.key, err))
			continue
		}
		<-l.Closed() // the old execution's socket; watch makes a new connection
	}
	if errs != nil {
		return errs
	}
	if err := d.awaitKeepers(ctx); err != nil {
		return err
	}
	d.stop <- api.Stop{Restart: true}
	return nil
}

// awaitKeepers waits until every keeper answers again.
func (d *Daemon) awaitKeepers(ctx context.Context) error {
	for _, k := range d.links() {
		for {
			l := k.Link()
			if _, err := l.Status(ctx); err == nil {
				break
			}
			if k.hasEnded() || ctx.Err() != nil {
				return fmt.Errorf("keeper %s did not come back after its upgrade", k.key)
			}
			<-l.Closed()
			if err := k.await(ctx, l); err != nil {
				return err
			}
		}
	}
	return nil
}
