//go:build unix

package output

import (
	"context"

	"github.com/longterm-dev/longterm/session/notify"
)

// Notify sends the notification of a finished command, if n wants one.
func (p *Printer) Notify(ctx context.Context, n *notify.Options, f *notify.FinishedEvent, terminal func([]byte) int) {
	if !n.ShouldNotify(f) {
		return
	}
	s := notify.Sender{Terminals: terminal}
	if err := s.SendFinished(ctx, n, f); err != nil {
		p.Warn(err)
	}
}
