package transcript

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

// transcriptOf returns the transcript of pieces of output, each visible for a while.
func transcriptOf(cols, rows int, pieces ...string) (lines []string, stats Stats) {
	f := NewFeed(vterm.New(vterm.Options{Cols: cols, Rows: rows}), func(l string) { lines = append(lines, l) })
	at := time.Unix(1_700_000_000, 0)
	for _, p := range pieces {
		f.Write([]byte(p), at)
		at = at.Add(time.Second)
	}
	return lines, f.Close()
}

// uniqueLine returns a line that has nothing in common with the others.
func uniqueLine(i int) string {
	return strings.Repeat(string(rune('a'+i)), 3) + " " + strings.Repeat(string(rune('A'+i)), 5)
}

// TestEqualLines_AreNew_AfterFirstResize checks that equal lines after the resize at the start of a session are new
// lines.
//
// FAULT: G7
func TestEqualLines_AreNew_AfterFirstResize(t *testing.T) {
	var lines []string
	f := NewFeed(vterm.New(vterm.Options{Cols: 80, Rows: 24}), func(l string) { lines = append(lines, l) })
	f.Resize(100, 30)
	f.Write([]byte(strings.Repeat("ok\r\n", 2000)+"END\r\n"), time.Unix(1_700_000_000, 0))
	if f.Close(); len(lines) != 2001 {
		t.Errorf("%d lines", len(lines))
	}
}

func TestTranscript(t *testing.T) {
	page := func(from, to int) string { // as drawn by a pager
		s := "\x1b[H\x1b[2J"
		for i := from; i <= to; i++ {
			s += uniqueLine(i) + "\r\n"
		}
		return s + ":"
	}
	text := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, uniqueLine(i))
		}
		return lines
	}
	for _, c := range []struct {
		name   string
		pieces []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"lines", []string{"a\r\nb\r\n\r\nc\r\n"}, []string{"a", "b", "", "c"}},
		{"equal lines stay as many", []string{strings.Repeat("ok\r\n", 12)}, slices.Repeat([]string{"ok"}, 12)},
		{"a spinner", []string{"| working\r", "/ working\r", "- working\r", "done\x1b[K\r\nnext\r\n"}, []string{"done", "next"}},
		{"a line that is typed", []string{"$ m", "ak", "e\r\n", "built\r\n"}, []string{"$ make", "built"}},
		{"a wrapped line", []string{strings.Repeat("0123456789", 5) + "\r\nx\r\n"}, []string{strings.Repeat("0123456789", 5), "x"}},
		{
			"pages that are turned, forward and back", []string{"before\r\n\x1b[?1049h" + page(1, 5), page(6, 10), page(1, 5), page(6, 10), page(11, 14), "\x1b[?1049lafter\r\n"},
			slices.Concat([]string{"before"}, text(1, 10), []string{":"}, text(11, 14), []string{":", "after"}), // the pager's prompt after it moved
		},
		{
			"scrolled by drawing", []string{"\x1b[?1049h" + page(1, 5), page(2, 6), page(4, 8), page(3, 7), page(5, 9), "\x1b[?1049l"},
			slices.Concat(text(1, 9), []string{":"}),
		},
		{
			"a region with a status below", []string{
				"\x1b[?1049h\x1b[6;1Hstatus 0\x1b[1;5r\x1b[5;1H", "one\r\n", "two\r\n", "three\x1b7\x1b[6;1Hstatus 1\x1b8\r\n", "four\r\nfive\r\nsix\r\nseven\r\n",
				"eight\x1b7\x1b[6;1Hstatus 2\x1b8", "\x1b[r\x1b[?1049l",
			},
			[]string{"one", "two", "three", "four", "five", "six", "seven", "eight", "status 2"},
		},
		{
			"redrawn as a whole, as agents do when their window is too small", []string{
				"one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\n> ", "\x1b[2J\x1b[3J\x1b[Hone\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\n> ",
			},
			[]string{"one", "two", "three", "four", "five", "six", "seven", "eight", ">"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := transcriptOf(30, 6, c.pieces...)
			if !slices.Equal(trimBlankLines(got), trimBlankLines(c.want)) {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}

// trimBlankLines returns lines without the blank ones at both ends.
func trimBlankLines(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// TestScrollRegion_LinesEmittedOnce checks that lines that a full-screen program prints one by one in a scroll region
// are emitted once and in order. The content around the region, the chunks of the output and redraws do not matter.
//
// FEATURES: R103
func TestScrollRegion_LinesEmittedOnce(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows := 4 + r.IntN(20)
		top := r.IntN(rows - 2)
		bottom := top + 1 + r.IntN(rows-top-1)
		var out strings.Builder
		out.WriteString("\x1b[?1049h")
		for i := range rows {
			if i < top || i > bottom {
				fmt.Fprintf(&out, "\x1b[%d;1Hframe %d of the program", i+1, i)
			}
		}
		fmt.Fprintf(&out, "\x1b[%d;%dr\x1b[%d;1H", top+1, bottom+1, bottom+1)
		var want []string
		for i := range 100 + r.IntN(100) {
			line := fmt.Sprintf("line %d %x", i, r.Uint32())
			want = append(want, line)
			out.WriteString("\r\n" + line)
			if i%7 == 0 && (top > 0 || bottom < rows-1) {
				at := rows
				if bottom == rows-1 {
					at = 1
				}
				fmt.Fprintf(&out, "\x1b7\x1b[%d;1Hframe %d of the program, %d\x1b8", at, at-1, i)
			}
		}
		var pieces []string
		for rest := out.String(); rest != ""; {
			n := min(len(rest), 1+r.IntN(200))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		lines, _ := transcriptOf(60, rows, pieces...)
		var got []string
		for _, l := range lines {
			if strings.HasPrefix(l, "line ") {
				got = append(got, l)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d, %d rows, region %d to %d: %d lines, want %d\n%q", seed, rows, top, bottom, len(got), len(want), got)
		}
	}
}

// TestStats_InPlace checks that a program that only overwrites its rows is reported as IsInPlace.
func TestStats_InPlace(t *testing.T) {
	pieces := []string{"\x1b[?1049h"}
	for i := range 100 {
		s := "\x1b[H"
		for row := range 8 {
			s += fmt.Sprintf("%5d root  %d.%d  S  process-%d\x1b[K\r\n", 100+row, i%7, (i*row)%10, row)
		}
		pieces = append(pieces, s)
	}
	lines, stats := transcriptOf(60, 10, pieces...)
	if !stats.IsInPlace() || len(lines) > 10 {
		t.Errorf("%+v, %q", stats, lines)
	}
	if _, stats := transcriptOf(60, 10, strings.Repeat("a line of a log\r\n", 1000)); stats.IsInPlace() {
		t.Errorf("a log: %+v", stats)
	}
}

// FuzzTranscript checks that any bytes give a bounded text, however they are chunked.
func FuzzTranscript(f *testing.F) {
	f.Add([]byte("\x1b[?1049hone\r\ntwo\x1b[H\x1b[2Jthree\x1b[?1049l"), 7)
	f.Add([]byte("\x1b[2;4r\x1b[4H\n\n\nx\x1b[1L\x1b[2M\x1b[?47h\x1b[S\x1b[T"), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		if len(data) > 64<<10 {
			return
		}
		n := max(1, cut%97)
		var pieces []string
		for rest := string(data); rest != ""; {
			k := min(n, len(rest))
			pieces = append(pieces, rest[:k])
			rest = rest[k:]
		}
		lines, stats := transcriptOf(20, 5, pieces...)
		if stats.Lines != len(lines) {
			t.Fatalf("%d lines, %+v", len(lines), stats)
		}
	})
}

func BenchmarkFeed(b *testing.B) {
	var log strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&log, "%d a line of a log that is as long as such lines are\r\n", i)
	}
	for name, before := range map[string]string{"lines": "", "region": "\x1b[?1049h\x1b[2;20r\x1b[20;1H"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(log.Len()))
			for b.Loop() {
				transcriptOf(80, 24, before, log.String())
			}
		})
	}
}
