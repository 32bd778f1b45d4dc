//go:build unix

// Package recording opens histories for playback and export: recordings in files (asciicast 2 and 3) and sessions, both
// as a player.Recording. Times are absolute; a file without a date starts in 1970.
package recording

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/render/cast"
	"github.com/longterm-dev/longterm/render/view/player"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// sessionRecording plays a session's history.
type sessionRecording struct {
	s    *client.Session
	info api.Session
}

// OfSession returns the history of a session.
func OfSession(s *client.Session, info api.Session) player.Recording {
	return &sessionRecording{s, info}
}

// Span returns the times of the first and last output.
func (r *sessionRecording) Span() (start, end time.Time) {
	start, end = r.info.Created, time.Now()
	switch {
	case r.info.Ended != nil:
		end = *r.info.Ended
	case r.info.LastOutput != nil:
		end = *r.info.LastOutput
	}
	return start, end
}

// Open implements player.Recording.
func (r *sessionRecording) Open(ctx context.Context, at time.Time) (player.Steps, error) {
	recs, err := r.s.Records(ctx, at.Format(time.RFC3339Nano), "")
	if err != nil {
		return nil, err
	}
	return &sessionSteps{recs, at}, nil
}

type sessionSteps struct {
	*client.Records
	at time.Time // time of the newest step
}

func (s *sessionSteps) Next() (player.Step, error) {
	r, err := s.Records.Next()
	if err != nil {
		return player.Step{}, err
	}
	if r.Kind != "screen" && r.Time.After(s.at) {
		s.at = r.Time
	}
	return player.Step{At: s.at, Data: r.Data, Cols: r.Cols, Rows: r.Rows, Clear: r.Kind == "screen", Lost: r.Lost}, nil
}

// Cast plays a file. A file without a date starts in 1970.
type Cast struct {
	path       string
	start, end time.Time
}

// OpenCast reads the file once, to check it and to find its duration.
func OpenCast(path string) (*Cast, error) {
	r := &Cast{path: path}
	steps, err := r.Steps()
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

// Steps returns the file's events from the beginning.
func (r *Cast) Steps() (*CastSteps, error) {
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
	return &CastSteps{f: f, r: rd, start: start}, nil
}

func (r *Cast) Span() (start, end time.Time) { return r.start, r.end }

func (r *Cast) Open(context.Context, time.Time) (player.Steps, error) { return r.Steps() }

// CastSteps iterates over the events of a file, starting with the first screen.
type CastSteps struct {
	f     *os.File
	r     *cast.Reader
	start time.Time
	begun bool // the first screen was returned
}

func (s *CastSteps) Next() (player.Step, error) {
	if !s.begun {
		s.begun = true
		return player.Step{At: s.start, Clear: true, Cols: s.r.Header.Cols, Rows: s.r.Header.Rows}, nil
	}
	for {
		e, err := s.r.Next()
		if err != nil {
			return player.Step{}, err
		}
		step := player.Step{At: s.start.Add(e.At)}
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

func (s *CastSteps) Close() error { return s.f.Close() }

// IsFile reports whether a name is a file's path instead of a session.
func IsFile(name string) bool {
	return strings.ContainsAny(name, "/\\") || strings.HasSuffix(name, ".cast")
}
