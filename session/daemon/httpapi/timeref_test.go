//go:build unix

package httpapi

import (
	"strings"
	"testing"
	"time"
)

// FEATURES: R38
func TestParseMoment(t *testing.T) {
	zone := time.FixedZone("test", 2*3600)
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, zone)
	started := now.Add(-time.Hour)
	day := func(d, h, m, s int) time.Time { return time.Date(2026, 3, d, h, m, s, 0, zone) }
	for s, want := range map[string]timeref{
		"0":                    {},
		"12345":                {off: 12345},
		"line:500000":          {line: 500000, byLine: true},
		"line:-20":             {back: 20, byLine: true},
		"-5m":                  {time: day(2, 9, 55, 0)},
		"+90s":                 {time: day(2, 9, 1, 30)},
		"09:30":                {time: day(2, 9, 30, 0)},
		"09:30:15":             {time: day(2, 9, 30, 15)},
		"10:01":                {time: day(1, 10, 1, 0)}, // yesterday's: today's is in the future
		"2026-03-01":           {time: day(1, 0, 0, 0)},
		"2026-03-01 12:00":     {time: day(1, 12, 0, 0)},
		"2026-03-01T12:00:05":  {time: day(1, 12, 0, 5)},
		"2026-03-01T12:00:05Z": {time: day(1, 14, 0, 5)},
	} {
		got, err := parseTimeref(s, now, started)
		if err != nil || got.off != want.off || got.line != want.line || got.byLine != want.byLine || got.back != want.back || !got.time.Equal(want.time) {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"", "x", "-", "line:", "line:-0x1", "line:-", "line:--1", "line:x", "--5m", "-5", "25:00", "1e9", "-5m "} {
		if got, err := parseTimeref(s, now, started); err == nil {
			t.Errorf("%q was read as %v", s, got)
		}
	}
}

// TestMostLinesBack checks that the error for too many lines from the end names the limit.
//
// FEATURES: R38
func TestMostLinesBack(t *testing.T) {
	for s, ok := range map[string]bool{"line:-1048576": true, "line:-1048577": false, "line:-3000000": false, "line:-99999999999999999999": false} {
		got, err := parseTimeref(s, time.Now(), time.Now())
		if ok != (err == nil) || ok && got.back != 1<<20 {
			t.Errorf("%s: %v, %v", s, got, err)
		}
		if !ok && !strings.Contains(err.Error(), "line:-1048576 is the most") {
			t.Errorf("%s: %v", s, err)
		}
	}
}
