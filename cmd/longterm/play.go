//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/termio"
	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/render/view"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func playCommand(a *app) *cobra.Command {
	var o view.PlayOptions
	var from string
	c := &cobra.Command{
		Use: "play S|FILE", Short: "Play what a session printed, or a recording", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeSession,
		Long: `Play what a session printed, living or dead, at the pace it was printed; or a recording in a FILE
(asciicast 2 or 3; a name with a slash or ending in .cast is a file).

Keys: Space pauses, Left and Right go 5 seconds, Up and Down a minute, Home and End to the ends,
+ and - change the speed, . shows the next piece of output, / searches, n searches on, q quits.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !term.IsTerminal(int(a.stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) {
				return fmt.Errorf("%w; `longterm export` writes a file", termio.ErrNoTerminal)
			}
			rec, err := a.recording(cmd.Context(), args[0], &o)
			if err != nil {
				return err
			}
			if o.From, err = startOf(rec, from); err != nil {
				return err
			}
			return view.Play(cmd.Context(), rec, o)
		},
	}
	f := c.Flags()
	f.Float64Var(&o.Speed, "speed", 1, "how much faster than it was")
	f.DurationVar(&o.IdleLimit, "idle-limit", 0, "shorten longer pauses to this")
	f.StringVar(&from, "from", "", "where to begin: how long after the start (90s), or how long before the end (-5m)")
	return c
}

// startOf reads where to begin.
func startOf(rec view.Recording, from string) (time.Time, error) {
	start, end := rec.Span()
	if from == "" {
		return start, nil
	}
	d, err := time.ParseDuration(from)
	switch {
	case err != nil:
		return start, exit.Usagef("--from %q is no duration, as in 90s or -5m", from)
	case d < 0:
		return end.Add(d), nil
	}
	return start.Add(d), nil
}

// recording finds what to play.
func (a *app) recording(ctx context.Context, name string, o *view.PlayOptions) (view.Recording, error) {
	if isRecording(name) {
		o.Title = output.Printable(name)
		return openCast(name)
	}
	s, err := a.session(name)
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	o.Title = info.Name
	return &sessionRecording{s, info}, nil
}

// sessionRecording plays a session's history.
type sessionRecording struct {
	s    *client.Session
	info api.Session
}

func (r *sessionRecording) Span() (start, end time.Time) {
	start, end = r.info.Created, time.Now()
	switch {
	case r.info.Ended != nil:
		end = *r.info.Ended
	case r.info.LastWrite != nil:
		end = *r.info.LastWrite
	}
	return start, end
}

func (r *sessionRecording) Open(ctx context.Context, at time.Time) (view.Steps, error) {
	recs, err := r.s.Records(ctx, at.Format(time.RFC3339Nano), "")
	if err != nil {
		return nil, err
	}
	return &sessionSteps{recs, at}, nil
}

type sessionSteps struct {
	*client.Records
	at time.Time // of the newest step
}

func (s *sessionSteps) Next() (view.Step, error) {
	r, err := s.Records.Next()
	if err != nil {
		return view.Step{}, err
	}
	if r.Kind != "screen" && r.Time.After(s.at) {
		s.at = r.Time
	}
	return view.Step{At: s.at, Data: r.Data, Cols: r.Cols, Rows: r.Rows, Clear: r.Kind == "screen", Lost: r.Lost}, nil
}

// castRecording plays a file. One that does not say when it was made counts from 1970.
type castRecording struct {
	path       string
	start, end time.Time
}

// openCast reads the file once to know how long it is and that it is sound.
func openCast(path string) (view.Recording, error) {
	r := &castRecording{path: path}
	steps, err := r.open()
	if err != nil {
		return nil, err
	}
	defer steps.Close()
	r.start, r.end = steps.start, steps.start
	for {
		s, err := steps.Next()
		if errors.Is(err, io.EOF) {
			return r, nil
		}
		if err != nil {
			return nil, err
		}
		r.end = s.At
	}
}

func (r *castRecording) open() (*castSteps, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	rd, err := cast.NewReader(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", r.path, err), f.Close())
	}
	start := rd.Header.Started
	if start.IsZero() {
		start = time.Unix(0, 0)
	}
	return &castSteps{f: f, r: rd, start: start}, nil
}

func (r *castRecording) Span() (start, end time.Time) { return r.start, r.end }

func (r *castRecording) Open(context.Context, time.Time) (view.Steps, error) { return r.open() }

type castSteps struct {
	f     *os.File
	r     *cast.Reader
	start time.Time
	begun bool
}

func (s *castSteps) Next() (view.Step, error) {
	if !s.begun {
		s.begun = true
		return view.Step{At: s.start, Clear: true, Cols: s.r.Header.Cols, Rows: s.r.Header.Rows}, nil
	}
	for {
		e, err := s.r.Next()
		if err != nil {
			return view.Step{}, err
		}
		step := view.Step{At: s.start.Add(e.At)}
		switch e.Code {
		case "o":
			step.Data = []byte(e.Data)
		case "r":
			step.Cols, step.Rows, _ = e.Size()
		default:
			continue
		}
		return step, nil
	}
}

func (s *castSteps) Close() error { return s.f.Close() }
