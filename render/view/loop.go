package view

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/vterm"
)

// loop is what runs beside the viewer's goroutine, and what is handed to that.
type loop struct {
	ctx   context.Context // ends with the viewer
	calls chan func()     // to be run on the viewer's goroutine
	tasks sync.WaitGroup
	alarm func(time.Duration, func()) // instead of real time, in tests
}

// spawn runs f beside the loop. Its panic becomes the loop's, so that the terminal is
// given back.
func (l *loop) spawn(f func()) {
	l.tasks.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				text := fmt.Sprintf("%v\n\n%s", r, debug.Stack())
				l.later(func() { panic(text) })
			}
		}()
		f()
	})
}

// later runs f on the viewer's goroutine.
func (l *loop) later(f func()) {
	select {
	case l.calls <- f:
	case <-l.ctx.Done():
	}
}

// after runs f on the viewer's goroutine in some time.
func (l *loop) after(d time.Duration, f func()) {
	if l.alarm != nil {
		l.alarm(d, f)
		return
	}
	l.spawn(func() {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			l.later(f)
		case <-l.ctx.Done():
		}
	})
}

// beside runs work beside the loop, and then on the viewer's goroutine what it returns.
func (l *loop) beside(work func(ctx context.Context) (then func())) {
	l.spawn(func() {
		if then := work(l.ctx); then != nil {
			l.later(then)
		}
	})
}

// setKeyboard sets which key events the terminal reports: those that the focused session has asked its terminal to report, and
// always the place of keys on the US layout.
func (v *viewer) setKeyboard() {
	if v.problems.opening { // another program has the terminal
		return
	}
	want := uint8(vterm.KittyDisambiguate | vterm.KittyAlternateKeys)
	if p := v.focused(); p != nil && v.m.Running(p.ID) {
		want |= p.Terminal().Kitty & vterm.KittyEventTypes
		if p.Terminal().Kitty&vterm.KittyAllAsEscapes != 0 {
			want |= vterm.KittyAllAsEscapes | vterm.KittyAssociatedText
		}
	}
	if want != v.keyboard && canvas.SetKeyboard(v.o.Screen, want) {
		v.keyboard = want
	}
}
