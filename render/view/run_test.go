package view

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/internal/screentest"
	"github.com/longterm-dev/longterm/render/view/model"
)

// live is a viewer with a running loop, as Run creates it.
type live struct {
	t      *testing.T
	src    *fakeSource
	term   *screentest.Screen
	tick   chan time.Time
	cancel context.CancelFunc
	done   chan error
}

func run(t *testing.T) *live {
	l := &live{t: t, src: newFakeSource(), tick: make(chan time.Time), done: make(chan error, 1)}
	l.term = screentest.New()
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(t.Context())
	t.Cleanup(l.cancel)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				l.done <- errors.New("panic: " + strings.SplitN(r.(string), "\n", 2)[0])
			}
		}()
		l.done <- Run(ctx, l.src, Options{Screen: l.term, Tick: l.tick, Now: func() time.Time { return epoch }})
	}()
	return l
}

// until lets the loop turn until the screen shows some text.
func (l *live) until(text string) {
	l.t.Helper()
	for turns := 0; !strings.Contains(l.term.Text(), text); turns++ {
		if turns == 100_000 {
			l.t.Fatalf("%q is not shown:\n%s", text, l.term.Text())
		}
		select {
		case l.tick <- epoch:
		case err := <-l.done:
			l.t.Fatalf("the viewer has ended (%v) and does not show %q:\n%s", err, text, l.term.Text())
		}
	}
}

func (l *live) key(k tcell.Key, r rune, m tcell.ModMask) { l.term.InjectKey(k, r, m) }

// ended waits for Run and checks that the terminal was given back.
func (l *live) ended() error {
	l.t.Helper()
	err := <-l.done
	if !l.term.Released() {
		l.t.Error("the terminal was not given back")
	}
	return err
}

// FEATURES: R76
func TestRun(t *testing.T) {
	l := run(t)
	l.until("loading sessions") // before the first list
	l.src.updates <- model.Update{Sessions: []model.Session{running("shell")}}
	s := <-l.src.watched
	s.frames <- frame(s.cols, s.rows, "$ prompt")
	l.until("$ prompt")
	l.key(tcell.KeyRune, 'l', 0)
	if in := s.input(t); in.Key == nil || in.Key.Text != "l" {
		t.Errorf("session got %+v", in)
	}
	s.frames <- frame(s.cols, s.rows, "$ prompt l")
	l.until("$ prompt l")
	l.src.updates <- model.Update{Unavailable: "gone"}
	l.src.updates <- model.Update{Sessions: []model.Session{exited("shell", 1)}}
	l.until("ended, exit 1")
	l.key(tcell.KeyCtrlSpace, 0, tcell.ModCtrl)
	l.until("n new")
	l.key(tcell.KeyRune, 'q', 0)
	if err := l.ended(); err != nil {
		t.Error(err)
	}
	if _, open := <-s.frames; open {
		t.Error("the stream was not closed")
	}
}

func TestRunEnds(t *testing.T) {
	t.Run("context", func(t *testing.T) {
		l := run(t)
		l.src.updates <- model.Update{Sessions: []model.Session{running("a")}}
		<-l.src.watched
		l.cancel()
		if err := l.ended(); err != nil {
			t.Error(err)
		}
	})
	t.Run("source", func(t *testing.T) {
		l := run(t)
		close(l.src.updates)
		if err := l.ended(); !errors.Is(err, errSourceEnded) {
			t.Error(err)
		}
	})
	t.Run("terminal", func(t *testing.T) {
		l := run(t)
		l.until("loading sessions")
		l.term.Vanish()
		if err := l.ended(); err != nil {
			t.Error(err)
		}
	})
	t.Run("panic beside the loop", func(t *testing.T) {
		l := run(t)
		l.src.panics = true
		l.src.updates <- model.Update{}
		l.until("n: new session")
		l.key(tcell.KeyRune, 'n', 0)
		if err := l.ended(); err == nil || err.Error() != "panic: source broke" {
			t.Error(err)
		}
	})
}
