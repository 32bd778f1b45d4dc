package bars

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/render/view/model"
)

func TestStateText(t *testing.T) {
	code := func(n int) *int { return &n }
	cases := []struct {
		s            model.Session
		wide, narrow string
		failed       bool
	}{
		{model.Session{State: model.StateRunning}, "●", "●", false},
		{model.Session{State: "exited", ExitCode: code(0)}, "✓ exited 0", "✓", false},
		{model.Session{State: "exited", ExitCode: code(127)}, "✗ exited 127", "✗127", true},
		{model.Session{State: "exited", Signal: "SIGKILL"}, "✗ SIGKILL", "✗", true},
		{model.Session{State: "lost"}, "✗ lost", "✗", true},
	}
	for _, c := range cases {
		if w, n := StateText(&c.s, 80), StateText(&c.s, 20); w != c.wide || n != c.narrow || c.s.Failed() != c.failed {
			t.Errorf("%+v: %q, %q, failed %v", c.s, w, n, c.s.Failed())
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1:00", 3599 * time.Second: "59:59", 30 * time.Hour: "30:00:00",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q; want %q", d, got, want)
		}
	}
}
