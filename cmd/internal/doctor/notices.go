//go:build unix

package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// checkNotices looks whether people can be told of what happens.
func checkNotices(ctx context.Context, d *Doctor) finding {
	st, err := d.Quiet.Status(ctx)
	if err != nil {
		return ok("no daemon runs: nobody is told of anything")
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
				text += fmt.Sprintf("; %d notices wait", w.Waiting)
			}
			if w.LeftOut > 0 {
				text += fmt.Sprintf("; %d were left out", w.LeftOut)
			}
			bad = append(bad, text)
		case w.Told != nil:
			told++
		}
	}
	switch {
	case len(bad) > 0:
		return warn("look at `longterm config get notify.webhook`, and whether this machine reaches the host", "%s", strings.Join(bad, "; "))
	case told > 0:
		return ok("webhooks were told of what happened, without a failure")
	}
	return ok("no webhook was told of anything yet")
}
