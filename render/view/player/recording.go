package player

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Recording is a recording to play: a session's history or a file.
type Recording interface {
	// Span returns the start and end time.
	Span() (start, end time.Time)
	// Open starts reading at a time. The first Step draws the screen of that time.
	Open(ctx context.Context, at time.Time) (Steps, error)
}

var errNotFound = errors.New("not found")

// find returns when the next line that contains text was printed after a time.
func find(ctx context.Context, rec Recording, text string, after time.Time) (time.Time, error) {
	steps, err := rec.Open(ctx, after)
	if err != nil {
		return after, err
	}
	defer steps.Close()
	var plain plaintext.Writer
	var rest []byte
	for {
		s, err := steps.Next()
		if errors.Is(err, io.EOF) {
			return after, errNotFound
		}
		if err != nil {
			return after, err
		}
		if !s.At.After(after) {
			continue // what is on the screen already
		}
		hit := false
		look := func(line []byte) { hit = hit || bytes.Contains(line, []byte(text)) }
		plain.Each(s.Data, func(l plaintext.Line) { look(l.Text) })
		rest, _, _ = plain.AppendUnfinished(rest[:0])
		if look(rest); hit {
			return s.At, nil
		}
	}
}

// Steps iterates over a recording. Next returns io.EOF after the last step.
type Steps interface {
	Next() (Step, error)
	Close() error
}

// Step is an event of a recording.
type Step struct {
	At         time.Time
	Data       []byte // output
	Cols, Rows int    // new size in cells, if not 0
	Clear      bool   // start with an empty screen
	Lost       uint64 // bytes of missing output
}
