//go:build unix

package httpapi

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
)

// timerefHint describes how to write a moment of a session.
const timerefHint = "use an output offset (12345), a line of text (line:500000; 0 is the oldest; line:-20: the last 20), a time (15:04, 15:04:05, 2006-01-02T15:04:05, RFC 3339), a time ago (-5m), or a time after the start (+90s)"

// timeref is a position in a session's history: an offset, a non-zero time, or the start of a line, counted from the
// oldest or from the end.
type timeref struct {
	off    uint64
	time   time.Time
	line   uint64 // 0-based, from the oldest that is kept
	byLine bool
	back   int // lines before the end, instead of line; 0: line counts
}

// clockForms are times of day, and dayForms times with a date, in the machine's zone.
var (
	clockForms = []string{"15:04", "15:04:05", "15:04:05.999999999"}
	dayForms   = []string{"2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05.999999999"}
)

// parseTimeref reads a moment. A time of day is the latest one that has been.
func parseTimeref(s string, now, started time.Time) (timeref, error) {
	if off, err := strconv.ParseUint(s, 10, 64); err == nil {
		return timeref{off: off}, nil
	}
	if text, ok := strings.CutPrefix(s, "line:"); ok {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil {
			return timeref{line: n, byLine: true}, nil
		}
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case n < -excerpt.MaxLinesBack && (err == nil || errors.Is(err, strconv.ErrRange)):
			return timeref{}, api.Errorf(api.CodeInvalid, "%s is further back than lines are counted from the end", s).
				WithHint("line:-%d is the most; line:0 is the oldest that is kept, and an offset or a time may be older", excerpt.MaxLinesBack)
		case err == nil && n < 0:
			return timeref{back: int(-n), byLine: true}, nil
		}
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		d, err := time.ParseDuration(s[1:])
		switch {
		case err != nil || d < 0:
		case s[0] == '-':
			return timeref{time: now.Add(-d)}, nil
		default:
			return timeref{time: started.Add(d)}, nil
		}
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return timeref{time: t}, nil
	}
	for _, form := range dayForms {
		if t, err := time.ParseInLocation(form, s, now.Location()); err == nil {
			return timeref{time: t}, nil
		}
	}
	for _, form := range clockForms {
		if t, err := time.ParseInLocation(form, s, now.Location()); err == nil {
			y, m, d := now.Date()
			at := time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), now.Location())
			if at.After(now) {
				at = at.AddDate(0, 0, -1)
			}
			return timeref{time: at}, nil
		}
	}
	return timeref{}, api.Errorf(api.CodeInvalid, "%q is not a moment", s).WithHint(timerefHint)
}

// checkStarted rejects moments before a session's start, whose screen would look blank.
func checkStarted(e *registry.Handle, s string) error {
	m, err := parseTimeref(s, time.Now(), e.Session.Status().Started)
	if err != nil {
		return err
	}
	if began := e.Record().Created; !m.time.IsZero() && m.time.Before(began) {
		return api.Errorf(api.CodeInvalid, "%s is before the start of session %s (%s)", s, e.Record().Name, began.Format("2006-01-02 15:04:05")).
			WithHint("use a later time; +0s is the start")
	}
	return nil
}

// offsetOf finds the output offset of a moment of a session.
func offsetOf(ctx context.Context, e *registry.Handle, s string) (uint64, error) {
	m, err := parseTimeref(s, time.Now(), e.Session.Status().Started)
	if err != nil || m.time.IsZero() && !m.byLine {
		return m.off, err
	}
	var off uint64
	switch {
	case m.back > 0:
		off, err = excerpt.LineBefore(ctx, e.Session, m.back)
	case m.byLine:
		off, err = excerpt.LineOffset(ctx, e.Session, m.line)
	default:
		off, err = e.Session.OffsetAt(m.time)
	}
	if err != nil {
		return 0, api.Errorf(api.CodeStorage, "find %s in the history: %v", s, err)
	}
	return off, nil
}
