//go:build unix

package export

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/recording"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/vterm"
)

// records are a history, the screen to begin with first; io.EOF after the last.
type records interface {
	Next() (api.Record, error)
	Close() error
}

// historySource is where a history can be read from, as often as needed.
type historySource struct {
	about exporting
	open  func() (records, error)
}

// findSession is a session by its id, its name or a prefix.
type findSession func(ref string) (*client.Session, error)

// history finds what to export.
func (o *Flags) history(ctx context.Context, find findSession, name string) (*historySource, error) {
	if recording.IsFile(name) {
		return castHistory(o, name)
	}
	s, err := find(name)
	if err != nil {
		return nil, err
	}
	if o.Reveal {
		s = s.Reveal()
	}
	from, to := o.from, o.to
	if o.command > 0 {
		c, err := s.Command(ctx, o.command)
		if err != nil {
			return nil, err
		}
		from = strconv.FormatUint(c.Output.Start, 10)
		if c.Output.End > 0 {
			to = strconv.FormatUint(c.Output.End, 10)
		}
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	return &historySource{
		exporting{command: info.Command, name: info.Name},
		func() (records, error) { return s.Records(ctx, from, to) },
	}, nil
}

// measure finds the largest size.
func (h *historySource) measure(e *exporting) error {
	recs, err := h.open()
	if err != nil {
		return err
	}
	defer recs.Close()
	for {
		r, err := recs.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !r.Time.IsZero() {
			e.progress.measure(r.Time)
		}
		e.cols, e.rows = max(e.cols, min(r.Cols, vterm.MaxCols)), max(e.rows, min(r.Rows, vterm.MaxRows))
	}
}

// castHistory is a recording in a file.
func castHistory(o *Flags, path string) (*historySource, error) {
	if o.command > 0 {
		return nil, exit.Usagef("--command: a recording in a file has no commands")
	}
	rec, err := recording.OpenCast(path)
	if err != nil {
		return nil, err
	}
	start, end := rec.Span()
	from, err := momentOfFile("--from", o.from, start, end, start)
	if err != nil {
		return nil, err
	}
	to, err := momentOfFile("--to", o.to, start, end, end.Add(1))
	if err != nil {
		return nil, err
	}
	return &historySource{exporting{name: filepath.Base(path)}, func() (records, error) {
		steps, err := rec.Steps()
		if err != nil {
			return nil, err
		}
		return &castRecords{steps: steps, from: from, to: to}, nil
	}}, nil
}

// momentOfFile reads a moment of a recording, which has no dates: after the start, or before
// the end.
func momentOfFile(flag, text string, start, end, otherwise time.Time) (time.Time, error) {
	if text == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return start, exit.Usagef("%s %q: give how long after the start of the file (+90s), or before its end (-5m)", flag, text)
	case d < 0:
		return end.Add(d), nil
	}
	return start.Add(d), nil
}

// castRecords are a recording's events from one moment to another. What was printed
// before is told at once, at the first moment.
type castRecords struct {
	steps    *recording.CastSteps
	from, to time.Time
	offset   uint64
}

func (c *castRecords) Next() (api.Record, error) {
	step, err := c.steps.Next()
	if err != nil {
		return api.Record{}, err
	}
	if !step.At.Before(c.to) {
		return api.Record{}, io.EOF
	}
	r := api.Record{Kind: "output", Offset: c.offset, Time: step.At, Data: step.Data, Cols: step.Cols, Rows: step.Rows}
	switch {
	case step.Clear:
		r.Kind = "screen"
	case step.Cols > 0:
		r.Kind = "resize"
	}
	if r.Time.Before(c.from) {
		r.Time = c.from
	}
	c.offset += uint64(len(step.Data))
	return r, nil
}

func (c *castRecords) Close() error { return c.steps.Close() }
