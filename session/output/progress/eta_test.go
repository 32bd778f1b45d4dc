package progress

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

func TestMedian(t *testing.T) {
	s := func(n ...int) (d []time.Duration) {
		for _, v := range n {
			d = append(d, time.Duration(v)*time.Second)
		}
		return d
	}
	for _, c := range []struct {
		earlier []time.Duration
		want    time.Duration
	}{
		{nil, 0}, {s(4), 4 * time.Second}, {s(4, 6), 5 * time.Second},
		{s(10, 11, 900, 10, 9), 10 * time.Second},                                               // one outlier
		{s(1, 1, 1, 1, 1, 1, 1, 1, 1, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99, 99), time.Second}, // only the newest count
	} {
		if got := Median(c.earlier); got != c.want {
			t.Errorf("%v: %v", c.earlier, got)
		}
	}
}

// FEATURES: R82
func TestETA(t *testing.T) {
	follow := func(earlier []time.Duration, steps, of int) State {
		m := New(Start{Command: "ninja", Time: start, Earlier: earlier})
		now := start
		for i := 1; i <= steps; i++ {
			now = now.Add(time.Second)
			m.AddLine(fmt.Sprintf("[%d/%d] CC", i, of), uint64(i), now)
		}
		return m.State(now)
	}
	near := func(s State, want time.Duration) {
		t.Helper()
		if d := s.ETA - want; !s.HasETA || d < -3*time.Second || d > 3*time.Second {
			t.Errorf("%v (%v), want about %v", s.ETA, s.HasETA, want)
		}
	}
	if s := follow(nil, 1, 100); s.HasETA {
		t.Errorf("from one line: %v", s.ETA)
	}
	near(follow(nil, 20, 100), 80*time.Second)
	usual := []time.Duration{100 * time.Second}
	near(follow(usual, 0, 100), 100*time.Second)
	near(follow(usual, 20, 100), 80*time.Second)
	near(follow([]time.Duration{40 * time.Second}, 20, 100), 32*time.Second) // the rate and the earlier run are combined
	near(follow([]time.Duration{10 * time.Second}, 20, 100), 80*time.Second) // longer than the earlier run: only the rate counts
}

// TestFeed_CountsLikeParse checks that the counts of a Feed equal those of Parse for output of any length.
//
// FEATURES: R82
func TestFeed_CountsLikeParse(t *testing.T) {
	var text strings.Builder
	errors, warnings := 0, 0
	for i := range 50_000 {
		switch {
		case i%1000 == 7:
			errors++
			fmt.Fprintf(&text, "src/file%d.c:%d:1: error: number %d is wrong\n", i, i%100+1, i)
		case i%3 == 0:
			warnings++
			fmt.Fprintf(&text, "src/file%d.c:%d:1: warning: number %d is odd and this is a long story about it [-Wodd]\n", i, i%100+1, i)
		default:
			fmt.Fprintf(&text, "[%d/50000] cc -O2 -c src/file%d.c\n", i+1, i)
		}
	}
	m := New(Start{Command: "make", Time: start})
	feed := NewFeed(m, 1000)
	for b := []byte(text.String()); len(b) > 0; {
		n := min(len(b), 60_001)
		feed.Write(b[:n], start)
		b = b[n:]
	}
	s := m.State(start)
	if s.Errors != errors || s.Warnings != warnings {
		t.Errorf("%d errors and %d warnings, want %d and %d", s.Errors, s.Warnings, errors, warnings)
	}
	want := uint64(1000 + strings.Index(text.String(), "src/file7.c:8:1: error"))
	if s.First == nil || s.First.File != "src/file7.c" || s.First.Offset != want {
		t.Errorf("first: %+v, want at %d", s.First, want)
	}
	parsed := diagnostics.Parse("make", nil, text.String()[:500_000])
	stream := diagnostics.NewStream("make")
	for line := range strings.Lines(text.String()[:500_000]) {
		stream.ReadLine(strings.TrimSuffix(line, "\n"))
	}
	if e, w := stream.Counts(); e != parsed.Summary.Errors || w != parsed.Summary.Warnings {
		t.Errorf("a stream finds %d and %d, Parse %d and %d", e, w, parsed.Summary.Errors, parsed.Summary.Warnings)
	}
}

func FuzzFeed(f *testing.F) {
	f.Add([]byte("[1/3] a\r[2/3] b\r\n 45% |==> | 1/2\r"), 3)
	f.Add([]byte("\x1b[2K12 of 30\r\r\n1,234 / 5,678 \x1b[A(3/9)\n"), 1)
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		whole, pieces := New(Start{Command: "make", Time: start}), New(Start{Command: "make", Time: start})
		a, c := NewFeed(whole, 0), NewFeed(pieces, 0)
		a.Write(b, start)
		for i := 0; i < len(b); {
			n := min(max(cut%7, 1), len(b)-i)
			c.Write(b[i:i+n], start)
			i += n
		}
		a.Finish(start)
		c.Finish(start)
		var told [2]State
		for i, m := range []*Estimator{whole, pieces} {
			s := m.State(start.Add(time.Hour))
			if p := s.Progress; !(p.Fraction >= 0 && p.Fraction <= 1) || p.Total > 0 && p.Current > p.Total || s.ETA < 0 {
				t.Fatalf("%+v", s)
			}
			told[i] = s
		}
		if w, p := told[0], told[1]; w.Errors != p.Errors || w.Warnings != p.Warnings || !reflect.DeepEqual(w.First, p.First) {
			t.Fatalf("cut into pieces: %d/%d %+v and %d/%d %+v", w.Errors, w.Warnings, w.First, p.Errors, p.Warnings, p.First)
		}
	})
}

func benchFeed(b *testing.B, line string) {
	chunk := []byte(strings.Repeat(line, 64<<10/len(line)))
	m := New(Start{Command: "make", Time: start})
	feed := NewFeed(m, 0)
	b.SetBytes(int64(len(chunk)))
	b.ReportAllocs()
	for b.Loop() {
		feed.Write(chunk, start)
	}
}

func BenchmarkFeedText(b *testing.B) {
	benchFeed(b, "cc -O2 -Wall -Iinclude -c src/some/where/file.c -o build/file.o\r\n")
}
func BenchmarkFeedProgress(b *testing.B) { benchFeed(b, "[123/4567] Building CXX object a.o\r\n") }
func BenchmarkFeedWarnings(b *testing.B) {
	benchFeed(b, "src/file.c:12:3: warning: unused variable 'x' [-Wunused-variable]\r\n")
}
func BenchmarkFeedBar(b *testing.B) { benchFeed(b, "\r 45%|====>    | 45/100 [00:01<00:02]") }
