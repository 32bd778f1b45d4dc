//go:build unix

package ports

import (
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/api"
)

// TestPauseAfter checks that polls without changes become rare. A wait keeps them frequent, and changes make them no
// more frequent than one a second.
//
// FEATURES: R128
func TestPauseAfter(t *testing.T) {
	pause, total, looks := firstPause, time.Duration(0), 0
	for ; pause <= lastPause; looks++ {
		total += pause
		pause = pauseAfter(pause, false, false)
	}
	if looks > 12 || total < lastPause || total > 3*lastPause {
		t.Errorf("%d polls in %v", looks, total)
	}
	if got := pauseAfter(lastPause, false, true); got != awaitPause {
		t.Errorf("awaited: %v", got)
	}
	if got := pauseAfter(firstPause, true, false); got != newsPause {
		t.Errorf("after news: %v", got)
	}
}

// FEATURES: R128
func TestMissing(t *testing.T) {
	a, b := api.Port{Port: 80, Address: "127.0.0.1", PID: 1}, api.Port{Port: 80, Address: "::1", PID: 1}
	handed := a
	handed.PID = 2 // to another process of the session
	if got := missing([]api.Port{handed, b}, []api.Port{a}); len(got) != 1 || got[0] != b {
		t.Errorf("%+v", got)
	}
	if got := first(make([]api.Port, 3), -1); len(got) != 0 {
		t.Errorf("%d", len(got))
	}
}
