package progress

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The scripts in testdata/output are outputs of programs:
//
//	$ the command line
//
// text, escaped as in a Go string, arrives in one piece
//
//	@1s      time passes
//	! s 45   the program reports (OSC 9;4)
//
// ? state  the expected state
//
// FEATURES: R82
func TestRecordedOutputs(t *testing.T) {
	files, err := filepath.Glob("testdata/output/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			for _, piece := range []bool{false, true} {
				playScript(t, file, piece)
			}
		})
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// playScript plays a script, byte by byte if pieces is set.
func playScript(t *testing.T, file string, pieces bool) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	now := start
	var m *Estimator
	var feed *Feed
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		kind, rest, _ := strings.Cut(line, " ")
		switch {
		case kind == "#" && m == nil:
		case kind == "$" && m == nil:
			m = New(Start{Command: rest, Time: start})
			feed = NewFeed(m, 0)
		case kind == "!":
			state, percent, _ := strings.Cut(rest, " ")
			p, _ := strconv.Atoi(percent)
			m.SetReported(state, p)
		case kind == "?":
			feed.ReadUnfinished(now)
			if got := describeState(m.State(now)); got != rest {
				t.Errorf("%s:%d (pieces: %v): %s\nwant %s", file, n, pieces, got, rest)
			}
		case strings.HasPrefix(line, "@"):
			d, err := time.ParseDuration(line[1:])
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(d)
		default:
			text, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, n, err)
			}
			if !pieces {
				feed.Write([]byte(text), now)
				continue
			}
			for i := range len(text) {
				feed.Write([]byte(text[i:i+1]), now)
			}
		}
	}
}

// describeState formats a state as in the scripts.
func describeState(s State) string {
	var b strings.Builder
	p := s.Progress
	if p.Kind != None {
		b.WriteString(" " + string(p.Kind))
		if p.Kind != Indeterminate {
			fmt.Fprintf(&b, " %d%%", int(p.Fraction*100))
		}
		if p.Total > 0 {
			fmt.Fprintf(&b, " %d/%d", p.Current, p.Total)
		}
		if p.Label != "" {
			fmt.Fprintf(&b, " %q", p.Label)
		}
		if p.Reported {
			b.WriteString(" reported")
		}
	}
	if s.Errors > 0 {
		fmt.Fprintf(&b, " errors=%d", s.Errors)
	}
	if s.Warnings > 0 {
		fmt.Fprintf(&b, " warnings=%d", s.Warnings)
	}
	if f := s.First; f != nil {
		fmt.Fprintf(&b, " first=%s:%d %q", f.File, f.Line, f.Message)
	}
	if s.HasETA {
		fmt.Fprintf(&b, " eta=%.0fs", math.Round(s.ETA.Seconds()))
	}
	if b.Len() == 0 {
		return "-"
	}
	return strings.TrimSpace(b.String())
}
