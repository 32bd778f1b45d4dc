package player

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/view/canvas"
	"github.com/longterm-dev/longterm/render/view/picture"
	"github.com/longterm-dev/longterm/render/view/theme"
	"github.com/longterm-dev/longterm/vterm"
)

// Options configure Play. The zero value is the default.
type Options struct {
	Screen    tcell.Screen // default: this process's terminal
	NoColor   bool
	Speed     float64       // default 1
	IdleLimit time.Duration // longer pauses are shortened to this; 0: none
	Title     string
	From      time.Time        // default: the beginning
	Paused    bool             // playback starts paused
	Clock     <-chan time.Time // clock ticks; default: 60 times a second
}

// Limits of the speed.
const minSpeed, maxSpeed = 1.0 / 16, 256

// player plays a recording. Play's goroutine owns everything; a second goroutine reads steps ahead.
type player struct {
	ctx    context.Context
	rec    Recording
	o      Options
	canvas canvas.Canvas
	engine vterm.Engine
	screen render.Screen
	blocks render.Blocks // replaces images by blocks

	pictures        pictures
	supportReported chan picture.Support // image support of the terminal

	frame vterm.Frame

	start, end  time.Time
	at          time.Time // shown moment, in the recording's time
	tick        time.Time // time of the last clock tick
	paused      bool
	atEnd       bool // all steps were shown
	quit        bool
	needsRedraw bool // everything must be redrawn
	message     string
	searchText  *string // search text being typed; nil if unset
	lastSearch  string  // last search text

	next  *Step // step that was read and is not due yet
	steps chan stepResult
	stop  func() // stops the reader
	tasks sync.WaitGroup
}

// stepResult is a step, or the error that ended the recording.
type stepResult struct {
	step Step
	err  error
}

// Play shows a recording until the user quits or ctx ends.
func Play(ctx context.Context, rec Recording, o Options) error {
	var err error
	if o.Screen, err = canvas.Terminal(o.Screen, nil, func(theme.Background) {}); err != nil {
		return err
	}
	o.NoColor = o.NoColor || canvas.NoColor()
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.Clock == nil {
		t := time.NewTicker(time.Second / 60)
		defer t.Stop()
		o.Clock = t.C
	}
	if err := o.Screen.Init(); err != nil {
		return fmt.Errorf("terminal: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &player{ctx: ctx, rec: rec, o: o, canvas: canvas.New(o.Screen, o.NoColor), stop: func() {}, needsRedraw: true}
	defer p.tasks.Wait()
	defer func() { p.stop() }()
	defer o.Screen.Fini()
	defer cancel()
	p.queryImageSupport()
	p.start, p.end = rec.Span()
	if o.From.IsZero() {
		o.From = p.start
	}
	p.paused = o.Paused
	p.seek(o.From)
	return p.loop()
}

func (p *player) loop() error {
	events := make(chan tcell.Event, 64)
	p.tasks.Go(func() { p.o.Screen.ChannelEvents(events, p.ctx.Done()) })
	for !p.quit {
		p.draw()
		steps := p.steps
		if p.next != nil || p.atEnd {
			steps = nil // one is waiting for its time
		}
		select {
		case <-p.ctx.Done():
			return nil
		case e, ok := <-events:
			if !ok {
				return nil
			}
			p.event(e)
		case now := <-p.o.Clock:
			p.advance(now)
		case s := <-steps:
			p.onStep(s)
		case m := <-p.supportReported:
			p.canvas.SetImageSupport(m)
		}
	}
	return nil
}

// seek jumps to a moment and continues reading from there.
func (p *player) seek(at time.Time) {
	p.stop()
	if at.After(p.end) {
		at = p.end
	}
	if at.Before(p.start) {
		at = p.start
	}
	p.at, p.next, p.atEnd = at, nil, false
	ctx, cancel := context.WithCancel(p.ctx)
	steps := make(chan stepResult, 64)
	p.stop = cancel
	p.steps = steps
	p.tasks.Go(func() { p.read(ctx, at, steps) })
}

// read sends steps until ctx or the recording ends.
func (p *player) read(ctx context.Context, at time.Time, to chan<- stepResult) {
	send := func(s stepResult) bool {
		select {
		case to <- s:
			return s.err == nil
		case <-ctx.Done():
			return false
		}
	}
	steps, err := p.rec.Open(ctx, at)
	if err != nil {
		send(stepResult{err: err})
		return
	}
	defer steps.Close()
	for {
		s, err := steps.Next()
		if !send(stepResult{s, err}) {
			return
		}
	}
}

// onStep handles a step that was read.
func (p *player) onStep(s stepResult) {
	switch {
	case errors.Is(s.err, io.EOF):
		p.atEnd = true
	case s.err != nil:
		p.atEnd, p.message = true, s.err.Error()
	default:
		p.next = &s.step
		if s.step.At.After(p.end) { // a living session has printed since
			p.end = s.step.At
		}
		p.showDue()
	}
}

// showDue shows the steps whose time has come.
func (p *player) showDue() {
	for p.next != nil && !p.next.At.After(p.at) {
		p.apply(p.next)
		p.next = nil
		select {
		case s := <-p.steps:
			p.onStep(s)
			return
		default:
		}
	}
}

func (p *player) apply(s *Step) {
	if s.Clear || p.engine == nil {
		p.engine = vterm.New(vterm.Options{Cols: s.Cols, Rows: s.Rows})
		p.needsRedraw = true
	} else if s.Cols > 0 {
		p.engine.Resize(s.Cols, s.Rows)
		p.needsRedraw = true
	}
	_, _ = p.engine.Write(s.Data) // never fails
	p.engine.Events(nil)
	p.engine.Replies(nil)
	if s.Lost > 0 {
		p.message = fmt.Sprintf("%d bytes missing here", s.Lost)
	}
}

// advance moves the recording's time by the time that passed.
func (p *player) advance(now time.Time) {
	passed := now.Sub(p.tick)
	if p.tick.IsZero() || passed < 0 {
		passed = 0
	}
	p.tick = now
	if p.paused || p.atEnd && p.next == nil {
		return
	}
	if p.next == nil {
		return // it is being read; time waits
	}
	p.at = p.at.Add(time.Duration(float64(passed) * p.o.Speed))
	if limit := p.o.IdleLimit; limit > 0 && p.next.At.Sub(p.at) > limit {
		p.at = p.next.At.Add(-limit)
	}
	p.showDue()
	if p.at.After(p.end) {
		p.at = p.end
	}
}

// step shows the next step of a paused recording.
func (p *player) step() {
	if p.paused = true; p.next != nil {
		p.at = p.next.At
		p.showDue()
	}
}
