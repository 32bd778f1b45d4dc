//go:build unix

package doctor

import (
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

func TestNoticesThatFail(t *testing.T) {
	now := time.Now()
	before := now.Add(-90 * time.Second)
	for _, c := range []struct {
		all   []api.Webhook
		level string
		want  string
	}{
		{nil, "ok", "yet"},
		{[]api.Webhook{{Host: "a.example", LastDelivered: &before}}, "ok", "all notifications delivered"},
		{[]api.Webhook{{Host: "b.example", LastDelivered: &before}, {Host: "a.example", Failing: "webhook: a.example answered 503", Since: &before, Waiting: 3, LeftOut: 2}}, "warn", "a.example answered 503, for 1m30s; 3 queued; 2 dropped"},
	} {
		if f := noticesFinding(c.all, now); f.Level != c.level || !strings.Contains(f.Text, c.want) {
			t.Errorf("%+v: %+v", c.all, f)
		}
	}
}
