package player

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// TestPlayDrawsImages checks that a terminal that can draw images, such as a pane of the viewer, gets those of a
// recording, and that they disappear as recorded.
//
// FEATURES: R120, R123
func TestPlayDrawsImages(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("STY", "")
	t.Setenv("TMUX", "")
	t.Setenv("NO_COLOR", "")
	e := screentest.NewEmulated(20, 9)
	screen, err := canvas.Terminal(nil, func() (tcell.Tty, error) { return e, nil }, func(theme.Background) {})
	if err != nil {
		t.Fatal(err)
	}
	sixel := "\x1bPq\"1;1;40;48#1;2;100;0;0" + strings.Repeat("#1!40~-", 8) + "\x1b\\"
	done, clock := make(chan error, 1), make(chan time.Time)
	go func() {
		done <- Play(t.Context(), tape{"before" + sixel, "\x1b[2J\x1b[Hafter"}, Options{Screen: screen, Clock: clock})
	}()
	until := func(ticks chan<- time.Time, rows ...int) {
		for now := epoch; !slices.Equal(e.Images(), rows); {
			select {
			case ticks <- now:
				now = now.Add(100 * time.Millisecond)
			case <-e.Wrote:
			case err := <-done:
				t.Fatalf("the player has ended: %v", err)
			}
		}
	}
	until(nil, 0, 1, 2) // time stops until the terminal has reported what it can draw
	until(clock)
	e.Typed <- []byte("q")
	if err := <-done; err != nil {
		t.Error(err)
	}
}
