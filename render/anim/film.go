// Package anim makes moving pictures of recordings: GIF, APNG and SVG.
//
//	recording → Film (emulator, clock) → shots → Writer
//
// A Film takes what was printed with its times, shortens pauses, changes the speed, and
// takes a shot whenever the screen has changed, at most so many a second. Writers leave
// out what did not change, write each picture as soon as its end is known, and keep two
// pictures in memory; an SVG is kept whole, and bounded.
package anim

import (
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Options say how a recording becomes a moving picture.
type Options struct {
	Theme     string // name, as for render.ThemeFor
	FPS       float64
	Speed     float64       // how much faster than it was; 0 is 1
	IdleLimit time.Duration // longer pauses are shortened to this; 0: none is
	// Hold is how long the last shot is shown before it begins again.
	Hold time.Duration
}

// Bounds of the options.
const (
	MaxFPS   = 50 // players of GIFs show faster ones at 10
	MinSpeed = 0.01
	MaxSpeed = 1000
)

// Shot is a screen and when it was first to be seen.
type Shot struct {
	Screen *render.Screen
	Theme  render.Theme
	At     time.Duration
}

// Writer takes shots in the order of their times.
type Writer interface {
	Add(Shot) error
	// Close ends the picture; end is how long it is.
	Close(end time.Duration) error
}

// syncPatience is how long a program may hold the picture back (mode 2026).
const syncPatience = 150 * time.Millisecond

// Film cuts a recording into shots.
type Film struct {
	o        Options
	w        Writer
	engine   vterm.Engine
	interval time.Duration

	last  time.Duration // of the newest event, in the recording
	now   time.Duration // of the newest event, in the film
	dirty bool          // something was printed that no shot shows
	since time.Duration // film time of the first change that no shot shows
	shot  time.Duration // film time of the newest shot
	any   bool          // there is a shot
}

// NewFilm begins with an empty screen of a size in cells.
func NewFilm(w Writer, cols, rows int, o Options) *Film {
	if o.Speed == 0 {
		o.Speed = 1
	}
	if o.FPS == 0 {
		o.FPS = 20
	}
	f := &Film{o: o, w: w, interval: time.Duration(float64(time.Second) / min(o.FPS, MaxFPS))}
	f.Clear(cols, rows)
	return f
}

// Clear begins with an empty screen again.
func (f *Film) Clear(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	f.engine = vterm.New(vterm.Options{Cols: cols, Rows: rows, ScrollbackLines: -1})
	f.change()
}

// Output takes what was printed at a time of the recording.
func (f *Film) Output(at time.Duration, data []byte) error {
	if err := f.advance(at); err != nil {
		return err
	}
	_, _ = f.engine.Write(data) // never fails
	f.engine.Events(nil)
	f.engine.Replies(nil)
	f.change()
	return nil
}

// Resize takes a new size.
func (f *Film) Resize(at time.Duration, cols, rows int) error {
	if err := f.advance(at); err != nil {
		return err
	}
	f.engine.Resize(clampSize(cols, rows))
	f.change()
	return nil
}

// Close takes the last shot and ends the picture.
func (f *Film) Close() error {
	if f.dirty || !f.any {
		if err := f.take(); err != nil {
			return err
		}
	}
	return f.w.Close(max(f.now, f.shot) + f.o.Hold)
}

// advance moves the clock, after a shot of what there is to see so far if it is time.
func (f *Film) advance(at time.Duration) error {
	pause := max(at-f.last, 0)
	f.last = max(f.last, at)
	if f.o.IdleLimit > 0 {
		pause = min(pause, f.o.IdleLimit)
	}
	f.now += time.Duration(float64(pause) / f.o.Speed)
	wait := f.interval
	if f.engine.Modes().Sync {
		wait = max(wait, syncPatience)
	}
	if f.dirty && f.now-f.since >= wait {
		return f.take()
	}
	return nil
}

func (f *Film) change() {
	if !f.dirty {
		f.dirty, f.since = true, f.now
		if f.any {
			f.since = max(f.since, f.shot+f.interval)
		}
	}
}

func (f *Film) take() error {
	var frame vterm.Frame
	f.engine.Frame(&frame, vterm.Query{})
	s := &render.Screen{}
	render.FromFrame(s, &frame)
	theme, err := render.ThemeFor(f.o.Theme, frame.Palette)
	if err != nil {
		return err
	}
	if f.engine.Modes().ReverseVideo {
		theme = theme.Reversed()
	}
	f.dirty, f.any, f.shot = false, true, f.since
	return f.w.Add(Shot{s, theme, f.since})
}

func clampSize(cols, rows int) (c, r int) {
	return min(max(cols, vterm.MinCols), vterm.MaxCols), min(max(rows, vterm.MinRows), vterm.MaxRows)
}
