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

// records iterates over a history, starting with the screen at the first moment. Next returns io.EOF after the last
// record.
type records interface {
	Next() (api.Record, error)
	Close() error
}

// historySource is a history that can be opened as often as needed.
type historySource struct {
	about exportParams
	open  func() (records, error)
}

// findSession returns a session by id, name or prefix.
type findSession func(ref string) (*client.Session, error)

// history returns the history to export: a session's or a file's.
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
		exportParams{command: info.Command, name: info.Name},
		func() (records, error) { return s.Records(ctx, from, to) },
	}, nil
}

// measure sets the largest size in the history.
func (h *historySource) measure(e *exportParams) error {
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

// castHistory opens a recording file.
func castHistory(o *Flags, path string) (*historySource, error) {
	if o.command > 0 {
		return nil, exit.Usagef("--command: a recording in a file has no commands")
	}
	rec, err := recording.OpenCast(path)
	if err != nil {
		return nil, err
	}
	start, end := rec.Span()
	from, err := parseMoment("--from", o.from, start, end, start)
	if err != nil {
		return nil, err
	}
	to, err := parseMoment("--to", o.to, start, end, end.Add(1))
	if err != nil {
		return nil, err
	}
	return &historySource{exportParams{name: filepath.Base(path)}, func() (records, error) {
		steps, err := rec.Steps()
		if err != nil {
			return nil, err
		}
		return &castRecords{steps: steps, from: from, to: to}, nil
	}}, nil
}

// parseMoment parses a moment of a recording, which has no dates: a duration after the start, or before the end.
func parseMoment(flag, text string, start, end, otherwise time.Time) (time.Time, error) {
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

// castRecords iterates over a recording's events between two moments. Output before the first moment is returned as one
// record at that moment.
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
