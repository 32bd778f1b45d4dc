package statusbar

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
		{model.Session{State: model.StateRunning}, "running", "", false},
		{model.Session{State: "exited", ExitCode: code(0)}, "ended, exit 0", "exit 0", false},
		{model.Session{State: "exited", ExitCode: code(127)}, "ended, exit 127", "exit 127", true},
		{model.Session{State: "exited", Signal: "SIGKILL"}, "ended, SIGKILL", "KILL", true},
		{model.Session{State: "lost"}, "lost", "lost", true},
		{model.Session{State: model.StateRunning, Needs: "password", UnreachableSince: epoch}, "cut off", "cut", false},
	}
	for _, c := range cases {
		if w, n := StateText(&c.s, 80), StateText(&c.s, 20); w != c.wide || n != c.narrow || c.s.HasFailed() != c.failed {
			t.Errorf("%+v: %q, %q, failed %v", c.s, w, n, c.s.HasFailed())
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 59 * time.Second: "59s", time.Minute: "1m00s", 3599 * time.Second: "59m59s", 30 * time.Hour: "30h00m", 50 * time.Hour: "2d2h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: %q; want %q", d, got, want)
		}
	}
}
