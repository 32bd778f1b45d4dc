package api

import (
	"slices"
	"testing"
)

func FuzzStreams(f *testing.F) {
	f.Add("out=12,err=40", 52)
	f.Add("all=1", 1)
	f.Add("out=9223372036854775807,err=1", -1)
	f.Fuzz(func(t *testing.T, s string, n int) {
		runs, err := ParseStreams(s, n)
		if err != nil || s == "" {
			return
		}
		total := 0
		for _, r := range runs {
			total += r.Bytes
		}
		again, err := ParseStreams(FormatStreams(runs), n)
		if total != n || err != nil || !slices.Equal(again, runs) {
			t.Fatalf("%q: %v, then %v, %v", s, runs, again, err)
		}
	})
}

func TestStreamsHeader(t *testing.T) {
	runs := []StreamRun{{"stdout", 12}, {"stderr", 40}, {"merged", 1}}
	if got := FormatStreams(runs); got != "out=12,err=40,all=1" {
		t.Error(got)
	}
	if got, err := ParseStreams("out=12,err=40,all=1", 53); err != nil || !slices.Equal(got, runs) {
		t.Error(got, err)
	}
	for _, bad := range []string{"out=12", "err=54", "x=53", "out=-1", "out=53,", "out"} {
		if got, err := ParseStreams(bad, 53); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}
