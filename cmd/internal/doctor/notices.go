//go:build unix

package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// checkNotices checks the delivery of notifications.
func checkNotices(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	if err != nil {
		return ok("daemon not running: no notifications are sent")
	}
	return noticesFinding(st.Webhooks, time.Now())
}

func noticesFinding(all []api.Webhook, now time.Time) finding {
	var bad []string
	told := 0
	for _, w := range all {
		switch {
		case w.Failing != "":
			text := w.Failing
			if w.Since != nil {
				text += fmt.Sprintf(", for %v", now.Sub(*w.Since).Round(time.Second))
			}
			if w.Waiting > 0 {
				text += fmt.Sprintf("; %d queued", w.Waiting)
			}
			if w.LeftOut > 0 {
				text += fmt.Sprintf("; %d dropped", w.LeftOut)
			}
			bad = append(bad, text)
		case w.LastDelivered != nil:
			told++
		}
	}
	switch {
	case len(bad) > 0:
		return warn("check `longterm config get notify.webhook`, and the connection to its host", "%s", strings.Join(bad, "; "))
	case told > 0:
		return ok("webhooks: all notifications delivered")
	}
	return ok("webhooks: no notifications yet")
}
