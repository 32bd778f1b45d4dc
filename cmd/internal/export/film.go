//go:build unix

package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/anim"
	"github.com/longterm-dev/longterm/session/api"
)

// filmFlags holds the flags that control an animation.
type filmFlags struct {
	output.ScreenFlags
	film anim.Options
}

func (o *filmFlags) add(f *pflag.FlagSet) {
	o.AddLook(f, "gif, apng, svg, mp4, webm", "gif, apng, mp4, webm")
	f.Float64Var(&o.film.FPS, "fps", 20, "gif, apng, svg, mp4, webm: maximum frames per second")
	f.Float64Var(&o.film.Speed, "speed", 1, "gif, apng, svg, mp4, webm: playback speed; 2 is twice as fast")
	f.DurationVar(&o.film.IdleLimit, "idle-limit", 2*time.Second, "gif, apng, svg, mp4, webm: maximum length of pauses; 0: unlimited")
}

func (o *filmFlags) check() error {
	o.Format, o.film.Theme, o.film.Hold = "svg", o.Look.Theme, 2*time.Second
	if !(o.film.FPS > 0 && o.film.FPS <= anim.MaxFPS) {
		return exit.Usagef("--fps %g: out of range (maximum %d)", o.film.FPS, anim.MaxFPS)
	}
	if !(o.film.Speed >= anim.MinSpeed && o.film.Speed <= anim.MaxSpeed) {
		return exit.Usagef("--speed %g: give %g to %d", o.film.Speed, anim.MinSpeed, anim.MaxSpeed)
	}
	return o.ScreenFlags.Check(&output.Printer{})
}

// filmExport draws an animation.
type filmExport struct {
	film   *anim.Film
	start  time.Time
	at     time.Duration // time of the current frame since the start
	finish func() error  // called after the last frame
	*progress
}

// progress prints every few seconds how much of a recording is drawn: drawing a video takes about as long as playing it.
type progress struct {
	w                  io.Writer // if nil, nothing is printed
	now                func() time.Time
	start, end         time.Time // of the recording
	began, lastPrinted time.Time // times of the drawing's start and of the last printed line
}

// progressEvery is the time between two lines of progress, and before the first.
const progressEvery = 5 * time.Second

// measure extends the known range of the recording to a time of a record.
func (p *progress) measure(t time.Time) {
	if p.start.IsZero() {
		p.start = t
	}
	p.end = t
}

// draw prints progress, if it is due, before the frame at time t is drawn.
func (p *progress) draw(t time.Time) {
	if p.w == nil {
		return
	}
	now := p.now()
	if p.began.IsZero() {
		p.began, p.lastPrinted = now, now
	}
	if now.Sub(p.lastPrinted) < progressEvery {
		return
	}
	p.lastPrinted = now
	whole := max(p.end.Sub(p.start), time.Millisecond)
	fmt.Fprintf(p.w, "longterm: %d %% drawn after %s\n", min(99, 100*t.Sub(p.start)/whole), now.Sub(p.began).Round(time.Second))
}

// filmMaker creates the writer of frames, and a function to call after the last one.
type filmMaker func(e *exportParams) (w anim.Writer, finish func() error, err error)

func filmExporter(maker filmMaker) func(*exportParams) (exporter, error) {
	return func(e *exportParams) (exporter, error) {
		w, finish, err := maker(e)
		if err != nil {
			return nil, err
		}
		return &filmExport{film: anim.NewFilm(w, e.first.Cols, e.first.Rows, e.film.film), start: e.first.Time, finish: finish, progress: &e.progress}, nil
	}
}

func newGIF(e *exportParams) (anim.Writer, func() error, error) {
	o, err := e.film.Look.Pixels(nil)
	if err != nil {
		return nil, nil, err
	}
	w, err := anim.NewGIF(e.w, e.cols, e.rows, o)
	return w, func() error { return nil }, err
}

func newSVG(e *exportParams) (anim.Writer, func() error, error) {
	o, err := e.film.Look.Picture(nil)
	return anim.NewSVG(e.w, e.cols, e.rows, e.name, o), func() error { return nil }, err
}

// newAPNG writes to a temporary file first: the header of an APNG is rewritten at the end, and the output may be a
// pipe.
func newAPNG(e *exportParams) (anim.Writer, func() error, error) {
	o, err := e.film.Look.Pixels(nil)
	if err != nil {
		return nil, nil, err
	}
	f, err := os.CreateTemp("", "longterm-*.png")
	if err != nil {
		return nil, nil, fmt.Errorf("temporary file for the animation: %w", err)
	}
	if err := os.Remove(f.Name()); err != nil { // it lives as long as it is open
		return nil, nil, errors.Join(err, f.Close())
	}
	finish := func() error {
		_, err := f.Seek(0, io.SeekStart)
		if err == nil {
			_, err = io.Copy(e.w, f)
		}
		return errors.Join(err, f.Close())
	}
	w, err := anim.NewAPNG(f, e.cols, e.rows, o)
	return w, finish, err
}

func (e *filmExport) record(r *api.Record) error {
	if !r.Time.IsZero() {
		if e.start.IsZero() {
			e.start = r.Time
		}
		e.at = max(e.at, r.Time.Sub(e.start))
		e.draw(r.Time)
	}
	switch r.Kind {
	case "screen":
		e.film.Clear(r.Cols, r.Rows)
		return e.film.Output(e.at, r.Data)
	case "output":
		return e.film.Output(e.at, r.Data)
	case "resize":
		return e.film.Resize(e.at, r.Cols, r.Rows)
	}
	return nil
}

func (e *filmExport) close() error {
	return errors.Join(e.film.Close(), e.finish())
}
