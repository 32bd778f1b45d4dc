package canvas

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/outer"
	"github.com/longterm-dev/longterm/render/view/theme"
)

// slowTTY is a terminal that answers late.
type slowTTY struct {
	typed   chan []byte
	stopped chan struct{}
	after   time.Duration
	mute    bool
	left    atomic.Int32 // answers on the way
}

func (s *slowTTY) Start() error        { s.stopped = make(chan struct{}); return nil }
func (s *slowTTY) Stop() error         { return nil }
func (s *slowTTY) Close() error        { return nil }
func (s *slowTTY) NotifyResize(func()) {}
func (s *slowTTY) Drain() error        { close(s.stopped); return nil }
func (s *slowTTY) WindowSize() (tcell.WindowSize, error) {
	return tcell.WindowSize{Width: 20, Height: 3}, nil
}
func (s *slowTTY) Read(p []byte) (int, error) {
	select {
	case b := <-s.typed:
		s.left.Add(-1)
		return copy(p, b), nil
	case <-s.stopped:
		return 0, nil
	}
}

func (s *slowTTY) Write(p []byte) (int, error) {
	if n := strings.Count(string(p), outer.Attributes); n > 0 && !s.mute {
		s.left.Add(int32(n))
		time.AfterFunc(s.after, func() {
			for range n {
				s.typed <- []byte("\x1b[?62;22c")
			}
		})
	}
	return len(p), nil
}

// TestDrain_WaitsForAnswers checks that a screen that closes before a slow terminal has answered waits for the answers.
// One whose terminal never answers waits briefly, and later not at all.
//
// FAULT: H15
func TestDrain_WaitsForAnswers(t *testing.T) {
	t.Setenv("TERM", "xterm-256color")
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, c := range []struct {
		name        string
		tty         *slowTTY
		stay        time.Duration
		least, most time.Duration
	}{
		{"slow", &slowTTY{after: 700 * time.Millisecond}, 0, 700 * time.Millisecond, time.Second},
		{"fast", &slowTTY{after: time.Millisecond}, time.Second, time.Millisecond, 50 * time.Millisecond},
		{"mute", &slowTTY{mute: true}, time.Second, 900 * time.Millisecond, 1100 * time.Millisecond},
		{"mute, later", &slowTTY{mute: true}, 3 * time.Second, 0, 50 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tty := c.tty
				tty.typed = make(chan []byte, 16)
				screen, err := Terminal(nil, func() (tcell.Tty, error) { return tty, nil }, func(theme.Background) {})
				if err == nil {
					err = screen.Init()
				}
				if err != nil {
					t.Fatal(err)
				}
				write(screen, outer.AskColors+outer.Attributes)
				<-time.After(c.stay)
				synctest.Wait()
				begin := time.Now()
				screen.Fini()
				if took := time.Since(begin); took < c.least || took > c.most || !tty.mute && tty.left.Load() > 0 {
					t.Errorf("it took %s, %d answers are left", took, tty.left.Load())
				}
			})
		})
	}
}
