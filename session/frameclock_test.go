//go:build unix

package session

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
)

// TestFrameClock counts the frames of a screen that changes each millisecond for ten seconds.
//
// FAULT: B24
// FEATURES: R35
func TestFrameClock(t *testing.T) {
	for _, tt := range []struct {
		interval func() time.Duration
		want     int
	}{
		{nil, 600},
		{func() time.Duration { return time.Second / 4 }, 40},
		{func() time.Duration { return time.Second / 200 }, 2000},
	} {
		synctest.Test(t, func(t *testing.T) {
			c, frames := frameClock{interval: tt.interval}, 0
			changes, end := time.NewTicker(time.Millisecond), time.After(10*time.Second)
			defer changes.Stop()
			for {
				select {
				case now := <-changes.C:
					if c.frameDue(now) {
						frames++
					}
					continue
				case <-c.C():
					c.onTimer()
					frames++
					continue
				case <-end:
				}
				break
			}
			if frames < tt.want*8/10 || frames > tt.want+2 {
				t.Errorf("%d frames, want about %d", frames, tt.want)
			}
		})
	}
}

// TestFrameClock_LateOwner checks that an owner which is late for each frame by a part of one sends as many frames.
//
// FEATURES: R35
func TestFrameClock_LateOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c frameClock
		frames := 0
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); frames++ {
			if c.frameDue(time.Now()) {
				continue
			}
			<-c.C()
			time.Sleep(4 * time.Millisecond)
			c.onTimer()
		}
		if frames < 595 || frames > 605 {
			t.Errorf("got %d frames in ten seconds", frames)
		}
	})
}

// TestFrameClock_AfterKeys checks that input faster than the frame rate is shown at once, and that a simultaneous flood
// does not cause a frame for each change.
func TestFrameClock_AfterKeys(t *testing.T) {
	const key = 10 * time.Millisecond
	for _, flood := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var c frameClock
			frames := 0
			for range 100 {
				c.expectEcho()
				if !c.frameDue(time.Now()) {
					t.Fatal("the echo is delayed")
				}
				frames++
				for range key / time.Millisecond {
					time.Sleep(time.Millisecond)
					select {
					case <-c.C():
						c.onTimer()
						frames++
					default:
					}
					if flood && c.frameDue(time.Now()) {
						frames++
					}
				}
			}
			if most := 100 + int(100*key/FrameInterval); frames > most || !flood && frames != 100 {
				t.Errorf("flood %t: %d frames for 100 keys in a second", flood, frames)
			}
		})
	}
}

// TestFrameClock_KeyRightAfterFrame checks that the echo is in the next allowed frame, not in a flood's.
func TestFrameClock_KeyRightAfterFrame(t *testing.T) {
	for _, flood := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var c frameClock
			if !c.frameDue(time.Now()) {
				t.Fatal("the first frame is delayed")
			}
			begin := time.Now()
			if flood && c.frameDue(time.Now()) {
				t.Fatal("two frames without a pause")
			}
			c.expectEcho()
			for range 2 {
				if c.frameDue(time.Now()) {
					t.Fatal("two frames without a pause")
				}
			}
			<-c.C()
			c.onTimer()
			if d := time.Since(begin); d != echoInterval {
				t.Errorf("flood %t: echo after %v", flood, d)
			}
			if c.C() != nil {
				t.Error("another frame is due")
			}
		})
	}
}

// TestFrameInterval_Configured checks that Config.FrameInterval is used.
// FAULT: B24
func TestFrameInterval_Configured(t *testing.T) {
	s, err := New(Config{FrameInterval: func() time.Duration { return time.Hour }})
	if err != nil {
		t.Fatal(err)
	}
	if s.clock.interval == nil || s.clock.interval() != time.Hour {
		t.Error("the configured interval is not used")
	}
}

// TestEcho_ShownAtOnce checks that the next change after input is shown at once, whatever the frame interval.
func TestEcho_ShownAtOnce(t *testing.T) {
	s, ctx := newFixture(t, journal.Options{}), testContext(t)
	if err := s.do(ctx, func() { s.clock.interval = func() time.Duration { return time.Hour } }); err != nil {
		t.Fatal(err)
	}
	w := s.Watch()
	defer w.Close()
	<-w.Frames // the first signal
	s.print(s.Session, "the first after a rest")
	<-w.Frames
	if _, err := s.TypeIn(ctx, TypeRequest{Bytes: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(echoInterval) // a frame may have been sent just before the first tick
	defer again.Stop()
	for shown := false; !shown; {
		s.print(s.Session, "x")
		select {
		case <-w.Frames:
			shown = true
		case <-again.C:
		case <-ctx.Done():
			t.Fatal("the echo is delayed to the next frame")
		}
	}
}
