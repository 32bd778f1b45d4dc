//go:build unix

package tapeplay

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// film records which ranges of a session's output are visible in the recording. Before the first show, nothing is.
type film struct {
	s          *session.Session
	cols, rows int
	scenes     []scene
}

// scene is one visible range of output, with the screen at its start.
type scene struct {
	from, to   uint64
	start, end time.Time
	screen     []byte // sequences that draw the screen
}

// moment returns the session's current position, and its screen if draw is set.
func (f *film) moment(ctx context.Context, draw bool) (off uint64, screen []byte, err error) {
	err = f.s.WithScreen(ctx, func(v session.View) {
		off = v.Offset
		if draw {
			var now, behind vterm.Frame
			v.Engine.Frame(&now, vterm.Query{})
			v.Engine.Frame(&behind, vterm.Query{Screen: vterm.ScreenPrimary})
			screen = render.AppendTerminal(nil, v.Engine, &now, &behind)
		}
	})
	return off, screen, err
}

// show starts a scene, unless one is open.
func (f *film) show(ctx context.Context) error {
	if n := len(f.scenes); n > 0 && f.scenes[n-1].end.IsZero() {
		return nil
	}
	off, screen, err := f.moment(ctx, true)
	f.scenes = append(f.scenes, scene{from: off, start: time.Now(), screen: screen})
	return err
}

// hide ends the open scene. It also works after the program's end.
func (f *film) hide(ctx context.Context) error {
	n := len(f.scenes)
	if n == 0 || !f.scenes[n-1].end.IsZero() {
		return nil
	}
	off, _, err := f.moment(ctx, false)
	if errors.Is(err, session.ErrStopped) {
		off, err = f.s.Status().Offset, nil
	}
	f.scenes[n-1].to, f.scenes[n-1].end = off, time.Now()
	return err
}

// write writes the scenes as one recording, without the output between them.
func (f *film) write(to io.Writer) error {
	if len(f.scenes) == 0 {
		return errors.New("the tape shows nothing: all of it is hidden")
	}
	start := f.scenes[0].start
	w, err := cast.NewWriter(to, cast.Header{
		Version: cast.V3, Cols: f.cols, Rows: f.rows, Started: start, Env: map[string]string{"TERM": "xterm-256color"},
	})
	if err != nil {
		return err
	}
	var shown time.Duration // by the scenes before
	for i := range f.scenes {
		c := &f.scenes[i]
		at := func(t time.Time) time.Time {
			return start.Add(shown + min(max(t.Sub(c.start), 0), c.end.Sub(c.start)))
		}
		err := w.Output(at(c.start), c.screen)
		if err == nil {
			err = f.copy(w, c, at)
		}
		if err == nil {
			err = w.Mark(at(c.end), "") // so that the last pause is shown
		}
		if err != nil {
			return err
		}
		shown += c.end.Sub(c.start)
	}
	return w.Close()
}

func (f *film) copy(w *cast.Writer, c *scene, at func(time.Time) time.Time) error {
	r := f.s.Records(c.from)
	defer r.Close()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) || err == nil && rec.Offset >= c.to {
			return nil
		}
		if err != nil {
			return err
		}
		if rec.Kind != journal.KindOutput {
			continue
		}
		data := rec.Data
		if over := rec.Offset + uint64(len(data)); over > c.to {
			data = data[:uint64(len(data))-(over-c.to)]
		}
		if rec.Offset < c.from {
			data = data[min(c.from-rec.Offset, uint64(len(data))):]
		}
		if err := w.Output(at(rec.Time), data); err != nil {
			return err
		}
	}
}
