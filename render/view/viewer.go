package view

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/vterm"
)

// Options configure the viewer. The zero value is the default.
type Options struct {
	Screen  tcell.Screen // default: this process's terminal
	Prefix  vterm.Key    // default Ctrl-Space
	Only    []string     // ids of the sessions to show; default: all that run
	NoColor bool         // attributes only; NO_COLOR in the environment does the same
	Now     func() time.Time
	Tick    <-chan time.Time // when durations are drawn anew; default: once a second
}

// viewer is the event loop and what belongs to it.
type viewer struct {
	ctx     context.Context
	src     Source
	o       Options
	m       model
	canvas  canvas
	frames  chan paneFrame
	calls   chan func()
	tasks   sync.WaitGroup
	quit    bool
	layout  layoutKey
	fresh   bool   // everything is to be drawn
	bar     string // as last drawn
	pointer pointer
	pasting *strings.Builder
	away    bool   // the person looks at another window
	told    string // the session that was told it has the focus
}

// paneFrame is a frame with the pane it is for.
type paneFrame struct {
	p *pane
	f Frame
}

// Run shows sessions until the person quits or ctx ends. The terminal is given back on
// every way out, panics included.
func Run(ctx context.Context, src Source, o Options) error {
	if err := o.defaults(); err != nil {
		return err
	}
	if err := o.Screen.Init(); err != nil {
		return fmt.Errorf("the terminal: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	v := newViewer(ctx, src, o)
	defer v.tasks.Wait()
	defer o.Screen.Fini()
	defer cancel()
	o.Screen.EnablePaste()
	o.Screen.EnableFocus()
	return v.loop()
}

func newViewer(ctx context.Context, src Source, o Options) *viewer {
	return &viewer{
		ctx: ctx, src: src, o: o, fresh: true,
		m:      model{only: o.Only, seen: map[string]bool{}},
		canvas: canvas{screen: o.Screen, noColor: o.NoColor},
		frames: make(chan paneFrame), calls: make(chan func(), 16),
	}
}

func (o *Options) defaults() error {
	o.NoColor = o.NoColor || os.Getenv("NO_COLOR") != ""
	if o.Screen == nil {
		s, err := tcell.NewScreen()
		if err != nil {
			return fmt.Errorf("the terminal: %w", err)
		}
		o.Screen = s
	}
	if o.Prefix.Code == 0 {
		o.Prefix = vterm.Key{Code: ' ', Mods: vterm.Ctrl}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Tick == nil {
		o.Tick = time.Tick(time.Second)
	}
	return nil
}

var errSourceEnded = errors.New("the sessions' source has ended")

// maxBatch bounds the events handled before the screen is drawn.
const maxBatch = 256

func (v *viewer) loop() error {
	defer v.closePanes()
	in := inputs{events: make(chan tcell.Event, 64), sessions: v.src.Sessions(v.ctx)}
	v.spawn(func() { v.canvas.screen.ChannelEvents(in.events, v.ctx.Done()) })
	v.refresh()
	for {
		if err := v.wait(&in); err != nil || v.quit || v.ctx.Err() != nil {
			return err
		}
		if v.pasting == nil {
			v.refresh()
		}
	}
}

// inputs are the channels of others.
type inputs struct {
	events   chan tcell.Event
	sessions <-chan Update
}

// wait handles an event and those that came with it: floods of output and pastes are
// drawn once per batch.
func (v *viewer) wait(in *inputs) error {
	select {
	case <-v.ctx.Done():
		return nil
	case <-v.o.Tick: // durations
	case e, ok := <-in.events:
		return v.event(e, ok, in)
	case u, ok := <-in.sessions:
		return v.update(u, ok)
	case pf := <-v.frames:
		pf.p.apply(pf.f)
	case f := <-v.calls:
		f()
	}
	for range maxBatch {
		select {
		case pf := <-v.frames:
			pf.p.apply(pf.f)
		default:
			return nil
		}
	}
	return nil
}

// event handles what the terminal sent, and what it sent since.
func (v *viewer) event(e tcell.Event, ok bool, in *inputs) error {
	for range maxBatch {
		if !ok {
			v.quit = true // the terminal is gone
			return nil
		}
		v.handle(e)
		select {
		case e, ok = <-in.events:
		default:
			return nil
		}
	}
	v.handle(e)
	return nil
}

func (v *viewer) handle(e tcell.Event) {
	switch e := e.(type) {
	case *tcell.EventResize:
		v.canvas.screen.Sync()
		v.fresh = true
	case *tcell.EventKey:
		v.key(e)
	case *tcell.EventMouse:
		v.mouse(e)
	case *tcell.EventPaste:
		v.paste(e.Start())
	case *tcell.EventFocus:
		v.away = !e.Focused
	}
}

func (v *viewer) update(u Update, ok bool) error {
	if !ok {
		if v.ctx.Err() != nil {
			return nil
		}
		return errSourceEnded
	}
	v.m.update(u)
	return nil
}

// refresh brings panes and screen in line with the model.
func (v *viewer) refresh() {
	v.arrange()
	v.tellFocus()
	v.draw()
}

// spawn runs f beside the loop. Its panic becomes the loop's, so that the terminal is
// given back.
func (v *viewer) spawn(f func()) {
	v.tasks.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				text := fmt.Sprintf("%v\n\n%s", r, debug.Stack())
				v.later(func() { panic(text) })
			}
		}()
		f()
	})
}

// later runs f on the viewer's goroutine.
func (v *viewer) later(f func()) {
	select {
	case v.calls <- f:
	case <-v.ctx.Done():
	}
}
