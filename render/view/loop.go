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

// loop holds the background goroutines and the calls that they queue for the viewer's goroutine.
type loop struct {
	ctx   context.Context // ends with the viewer
	calls chan func()     // functions to run on the viewer's goroutine
	tasks sync.WaitGroup
	alarm func(time.Duration, func()) // replaces timers in tests
}

// spawn runs f in the background. A panic of f is raised again on the loop, which restores the terminal.
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

// after runs f on the viewer's goroutine after d.
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

// runAsync runs work in the background, then runs the function it returned on the viewer's goroutine.
func (l *loop) runAsync(work func(ctx context.Context) (then func())) {
	l.spawn(func() {
		if then := work(l.ctx); then != nil {
			l.later(then)
		}
	})
}

// setKeyboard sets which key events the terminal reports: those that the focused session requested, and always the US
// layout's key.
func (v *viewer) setKeyboard() {
	if v.problems.editorRuns { // another program has the terminal
		return
	}
	want := uint8(vterm.KittyDisambiguate | vterm.KittyAlternateKeys)
	if p := v.focusedPane(); p != nil && v.m.Running(p.ID) {
		want |= p.Modes().Kitty & vterm.KittyEventTypes
		if p.Modes().Kitty&vterm.KittyAllAsEscapes != 0 {
			want |= vterm.KittyAllAsEscapes | vterm.KittyAssociatedText
		}
	}
	if want != v.keyboard && canvas.SetKeyboard(v.o.Screen, want) {
		v.keyboard = want
	}
}
