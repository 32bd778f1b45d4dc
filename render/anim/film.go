// Package anim turns recordings into animations: GIF, APNG and SVG.
//
// A Film feeds output with its times to an emulator, shortens pauses and changes the speed. It passes a Shot of the
// screen to a Writer when the screen has changed, up to a number of frames per second. Writers omit unchanged parts,
// write each frame as soon as its end is known, and keep a few frames in memory: several cores draw at a time. An SVG is kept in memory completely,
// with a limit.
package anim

import (
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Options controls the conversion of a recording to an animation.
type Options struct {
	Theme     string // name, as for render.ThemeFor
	FPS       float64
	Speed     float64       // factor of the playback speed; 0 is 1
	IdleLimit time.Duration // longer pauses are shortened to this; 0: none
	// Hold is how long the last shot is shown before the animation repeats.
	Hold time.Duration
}

// Bounds of the options.
const (
	MaxFPS   = 50 // players of GIFs slow faster ones down to 10
	MinSpeed = 0.01
	MaxSpeed = 1000
)

// Shot is a screen and the time at which it appears.
type Shot struct {
	Screen *render.Screen
	Theme  render.Theme
	At     time.Duration
}

// Writer takes shots in the order of their times.
type Writer interface {
	Add(Shot) error
	// Close ends the animation; end is its duration.
	Close(end time.Duration) error
}

// maxSyncDelay is how long a program may delay a frame by synchronized output (mode 2026).
const maxSyncDelay = 150 * time.Millisecond

// Film converts a recording to shots.
type Film struct {
	o        Options
	w        Writer
	engine   vterm.Engine
	interval time.Duration

	last    time.Duration // time of the newest event in the recording
	now     time.Duration // time of the newest event in the animation
	dirty   bool          // the screen changed since the last shot
	since   time.Duration // animation time of the first change since the last shot
	shot    time.Duration // animation time of the last shot
	hasShot bool          // a shot was taken
}

// NewFilm returns a film with an empty screen of this size in cells.
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

// Clear replaces the screen by an empty one.
func (f *Film) Clear(cols, rows int) {
	cols, rows = clampSize(cols, rows)
	f.engine = vterm.New(vterm.Options{Cols: cols, Rows: rows, ScrollbackLines: -1})
	f.change()
}

// Output processes output printed at a time of the recording.
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

// Resize processes a change of the screen's size.
func (f *Film) Resize(at time.Duration, cols, rows int) error {
	if err := f.advance(at); err != nil {
		return err
	}
	f.engine.Resize(clampSize(cols, rows))
	f.change()
	return nil
}

// Close takes the last shot and ends the animation.
func (f *Film) Close() error {
	if f.dirty || !f.hasShot {
		if err := f.take(); err != nil {
			return err
		}
	}
	return f.w.Close(max(f.now, f.shot) + f.o.Hold)
}

// advance moves the clock, after a shot of the current screen if one is due.
func (f *Film) advance(at time.Duration) error {
	pause := max(at-f.last, 0)
	f.last = max(f.last, at)
	if f.o.IdleLimit > 0 {
		pause = min(pause, f.o.IdleLimit)
	}
	f.now += time.Duration(float64(pause) / f.o.Speed)
	wait := f.interval
	if f.engine.Modes().Sync {
		wait = max(wait, maxSyncDelay)
	}
	if f.dirty && f.now-f.since >= wait {
		return f.take()
	}
	return nil
}

func (f *Film) change() {
	if !f.dirty {
		f.dirty, f.since = true, f.now
		if f.hasShot {
			f.since = max(f.since, f.shot+f.interval)
		}
	}
}

// take writes a shot of the current screen.
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
		theme = theme.ReverseVideo()
	}
	f.dirty, f.hasShot, f.shot = false, true, f.since
	return f.w.Add(Shot{s, theme, f.since})
}

func clampSize(cols, rows int) (c, r int) {
	return min(max(cols, vterm.MinCols), vterm.MaxCols), min(max(rows, vterm.MinRows), vterm.MaxRows)
}
