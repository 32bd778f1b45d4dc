//go:build unix

package excerpt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// printed is an ended session of which only the history exists.
func printed(t testing.TB, write func(j *journal.Journal), with ...func(*session.Config)) *session.Session {
	t.Helper()
	dir := t.TempDir()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	write(j)
	conf := session.Config{
		ID: "0123456789abcdef", Dir: dir, Journal: j, Options: vterm.Options{Cols: 80, Rows: 24},
		Status: session.Status{State: session.Exited, Cols: 80, Rows: 24}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, set := range with {
		set(&conf)
	}
	s, err := session.New(conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func text(parts ...string) func(j *journal.Journal) {
	return func(j *journal.Journal) {
		for _, p := range parts {
			if err := j.AppendOutput([]byte(p)); err != nil {
				panic(err)
			}
		}
	}
}

// TestPlain checks that a range of output is returned as text within its budget: omitted lines are counted, with the
// command that reads them, and binary data is omitted.
//
// FEATURES: R21 R22
func TestPlain(t *testing.T) {
	long := strings.Repeat("a line of output\n", 1000)
	for _, c := range []struct {
		name     string
		output   []string
		from, to uint64
		limits   Limits
		want     string
		check    func(t Text) bool
	}{
		{"all", []string{"one\r\ntw", "o\r\n"}, 0, 10, Limits{Bytes: 100}, "one\ntwo\n", func(t Text) bool { return t.Omitted == nil }},
		{"without colours", []string{"\x1b[31mred\x1b[m\x1b]2;title\x07\r\n"}, 0, 99, Limits{Bytes: 100}, "red\n", nil},
		{"rewritten", []string{"10%\r20%\r100%\r\n"}, 0, 99, Limits{Bytes: 100}, "100%\n", nil},
		{"a part", []string{"one\r\ntwo\r\nthree\r\n"}, 5, 10, Limits{Bytes: 100}, "two\n", nil},
		{"without an end", []string{"one\r\nmore"}, 0, 99, Limits{Bytes: 100}, "one\nmore", nil},
		{"nothing", []string{"one"}, 1, 1, Limits{Bytes: 100}, "", nil},
		{
			"cut", []string{long}, 0, uint64(len(long)), Limits{Bytes: 400, Session: "0123456789abcdef"}, "longterm output 01234567 --from ",
			func(t Text) bool {
				return t.Omitted != nil && t.Omitted.Lines > 900 && t.Omitted.Start > 0 && t.Omitted.End < uint64(len(long)) && len(t.Text) <= 400
			},
		},
		{"cut, of no session", []string{long}, 0, uint64(len(long)), Limits{Bytes: 200}, "a line of output\n", func(t Text) bool { return !strings.Contains(t.Text, "longterm output") }},
		{"long lines", []string{strings.Repeat("x", 500) + "\r\nshort\r\n"}, 0, 999, Limits{Bytes: 1000, Line: 50}, "short\n", func(t Text) bool { return t.Omitted != nil && t.Omitted.LongLines == 1 }},
		{"digest", []string{long, "main.go:7:2: error: undefined: x\n", long}, 0, 99999, Limits{Bytes: 400, Digest: true}, "undefined: x", func(t Text) bool { return t.Omitted != nil && len(t.Text) <= 400 }},
		{"a full-screen program", []string{"before\r\n\x1b[?1049h\x1b[Hpicture"}, 0, 99, Limits{Bytes: 100}, "before\n", func(t Text) bool { return t.Screen && !strings.Contains(t.Text, "picture") }},
		{"one that has ended", []string{"before\r\n\x1b[?1049h\x1b[Hpicture\x1b[?1049lafter\r\n"}, 0, 99, Limits{Bytes: 100}, "after\n", func(t Text) bool { return !t.Screen && !strings.Contains(t.Text, "picture") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := printed(t, text(c.output...))
			_, end := s.OutputRange()
			got, err := Plain(t.Context(), s, c.from, min(c.to, end), c.limits)
			if err != nil || !strings.Contains(got.Text, c.want) || c.check == nil && got.Text != c.want || c.check != nil && !c.check(got) {
				t.Errorf("%q (omitted %+v, screen %v), %v; want %q", got.Text, got.Omitted, got.Screen, err, c.want)
			}
		})
	}
}

// TestPlain_ContinuesAtOffset checks that a caller that continues at the offset of a text gets all of the rest: a
// character or a sequence that was cut is complete then.
//
// FEATURES: R21 R88
func TestPlain_ContinuesAtOffset(t *testing.T) {
	for output, want := range map[string]uint64{
		"one\r\ntwo": 8, "caf\xc3": 3, "a\x1b[3": 1, "\x1b]0;title": 0, "done\x1b[m": 7,
		"a picture \x1bP" + strings.Repeat("q", maxUnfinished+1): 12 + maxUnfinished + 1,
	} {
		s := printed(t, text(output))
		if got, err := Plain(t.Context(), s, 0, uint64(len(output)), Limits{Bytes: 1000}); err != nil || got.Next != want {
			t.Errorf("%.20q: next is %d, want %d; %v", output, got.Next, want, err)
		}
	}
}

// TestPlainWithGaps checks that a gap in the output is reported at its place.
//
// FEATURES: R21
func TestPlainWithGaps(t *testing.T) {
	s := printed(t, func(j *journal.Journal) {
		text("before\r\nhalf a li")(j)
		if err := j.AppendGap(1000); err != nil {
			t.Fatal(err)
		}
		text("ne\r\nafter\r\n")(j)
	})
	_, end := s.OutputRange()
	got, err := Plain(t.Context(), s, 0, end, Limits{Bytes: 1000})
	if err != nil || !strings.Contains(got.Text, "[1000 bytes of output are lost]") || !strings.HasPrefix(got.Text, "before\n") || !strings.HasSuffix(got.Text, "ne\nafter\n") {
		t.Errorf("%q, %v", got.Text, err)
	}
	for n, want := range map[uint64]string{0: "before", 1: "half a li", 2: "after"} {
		at, err := LineOffset(t.Context(), s, n)
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]byte, len(want))
		if c, err := s.Output(at, buf); err != nil || string(c.Data) != want {
			t.Errorf("line %d is %q at %d, want %q; %v", n, c.Data, at, want, err)
		}
	}
}

// TestPlainReadsAhead checks that output that is read ahead while lines are made is the next output, also after a gap.
//
// FEATURES: R21
func TestPlainReadsAhead(t *testing.T) {
	var parts [2]strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&parts[i/20_000], "line %d of many\r\n", i)
	}
	s := printed(t, func(j *journal.Journal) {
		text(parts[0].String())(j)
		if err := j.AppendGap(300 << 10); err != nil {
			t.Fatal(err)
		}
		text(parts[1].String())(j)
	})
	_, end := s.OutputRange()
	got, err := Plain(t.Context(), s, 0, end, Limits{Bytes: 4 << 20, Hide: true})
	want := strings.ReplaceAll(parts[0].String()+"[307200 bytes of output are lost]\n"+parts[1].String(), "\r\n", "\n")
	if err != nil || got.Text != want {
		t.Errorf("%d bytes, want %d; %v", len(got.Text), len(want), err)
	}
}

// TestLineOffset checks that lines are found by their numbers, as the text counts them. The offset of a missing line is
// the end.
//
// FEATURES: R20
func TestLineOffset(t *testing.T) {
	var all string
	var at []int
	for i := range 5000 {
		at = append(at, len(all))
		all += fmt.Sprintf("\x1b[3%dmline\x1b[m %d\r\n", i%8, i)
	}
	s := printed(t, text(all[:7777], all[7777:]))
	for _, n := range []int{0, 1, 2, 1234, 4999} {
		if got, err := LineOffset(t.Context(), s, uint64(n)); err != nil || got != uint64(at[n]) {
			t.Errorf("line %d is at %d, want %d; %v", n, got, at[n], err)
		}
	}
	for _, n := range []uint64{5000, 1 << 40} {
		if got, err := LineOffset(t.Context(), s, n); err != nil || got != uint64(len(all)) {
			t.Errorf("line %d is at %d, %v", n, got, err)
		}
	}
	for n, want := range map[int]int{0: len(all), 1: at[4999], 2: at[4998], 4999: at[1], 5000: 0, 5001: 0, 1 << 40: 0} {
		if got, err := LineBefore(t.Context(), s, n); err != nil || got != uint64(want) {
			t.Errorf("%d lines before the end is %d, want %d; %v", n, got, want, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := LineBefore(ctx, s, 9); !errors.Is(err, context.Canceled) {
		t.Errorf("not given up: %v", err)
	}
	if _, err := LineOffset(ctx, s, 9); !errors.Is(err, context.Canceled) {
		t.Errorf("not given up: %v", err)
	}
	if _, err := Plain(ctx, s, 0, 100, Limits{Bytes: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("not given up: %v", err)
	}
}

// TestLineBefore checks that a prompt is the last line if it has text. A piece of a line is no line, and after a gap a
// new line starts.
//
// FEATURES: R38
func TestLineBefore(t *testing.T) {
	long := strings.Repeat("x", 3<<20)
	for name, c := range map[string]struct {
		write func(j *journal.Journal)
		want  []uint64 // of 0, 1, 2 … lines
	}{
		"nothing":            {text(""), []uint64{0, 0}},
		"a prompt":           {text("one\r\ntwo\r\n$ "), []uint64{12, 10, 5, 0, 0}},
		"only colours":       {text("one\r\ntwo\r\n\x1b[m"), []uint64{13, 5, 0, 0}},
		"without an end":     {text("one"), []uint64{3, 0, 0}},
		"more than a piece":  {text("one\r\n", long+"\r\n", "two\r\n"), []uint64{3<<20 + 12, 3<<20 + 7, 5, 0}},
		"what overwrites it": {text("10%\r20%\r\nab\b\bc\n"), []uint64{15, 9, 0}},
		"a gap": {func(j *journal.Journal) {
			text("one\r\nhal")(j)
			if err := j.AppendGap(100); err != nil {
				panic(err)
			}
			text("f\r\ntwo\r\n")(j)
		}, []uint64{116, 111, 108, 0}},
	} {
		s := printed(t, c.write)
		for n, want := range c.want {
			if got, err := LineBefore(t.Context(), s, n); err != nil || got != want {
				t.Errorf("%s: %d lines before the end is %d, want %d; %v", name, n, got, want, err)
			}
		}
	}
}

// TestPlainOfMuch checks that the middle of very long output is counted without being converted to text, with the same
// result.
//
// FEATURES: R21
func TestPlainOfMuch(t *testing.T) {
	if !tier.IsFull() {
		t.Skip("reads 80 MiB")
	}
	line := strings.Repeat("0123456789abcdef", 63) + "0123456789abcd\r\n" // 1 KiB
	block := strings.Repeat(line, 1024)
	const blocks = 80
	s := printed(t, func(j *journal.Journal) {
		for range blocks {
			text(block)(j)
		}
	})
	_, end := s.OutputRange()
	got, err := Plain(t.Context(), s, 0, end, Limits{Bytes: 10 << 10})
	along := NewIncremental(s, 0, Limits{Bytes: 10 << 10})
	if err := along.Read(t.Context()); err != nil {
		t.Fatal(err)
	}
	if same, err := along.Text(t.Context(), end); err != nil || same.Text != got.Text {
		t.Errorf("read along it is another text, %v", err)
	}
	if err != nil || got.Omitted == nil {
		t.Fatalf("%+v, %v", got.Omitted, err)
	}
	kept := strings.Count(got.Text, "\n") - 1 // and the note
	if lines := got.Omitted.Lines + kept; lines < blocks*1024-1 || lines > blocks*1024+1 {
		t.Errorf("%d lines kept and %d omitted of %d", kept, got.Omitted.Lines, blocks*1024)
	}
}

// TestParse checks that diagnostics of a known command are read from its output.
func TestParse(t *testing.T) {
	out := "# example.org/x\n./main.go:7:2: undefined: y\n"
	s := printed(t, text(out))
	one := 1
	p, err := diagnostics.NewParser()
	if err != nil {
		t.Fatal(err)
	}
	r, all, err := Parse(t.Context(), p, s, "go build ./...", &one, 0, uint64(len(out)))
	if err != nil || all != out || len(r.Diagnostics) != 1 || r.Diagnostics[0].Line != 7 || r.Truncated {
		t.Errorf("%+v, %q, %v", r, all, err)
	}
}

// TestPiped checks that streams of pipes are returned separately and merged, each within the budget.
//
// FEATURES: R9 R22
func TestPiped(t *testing.T) {
	r := ring.Local(ring.DefaultSize)
	r.Separate()
	for _, x := range []struct {
		stream ring.Stream
		text   string
	}{{0, "out 1\n"}, {1, "err 1\n"}, {0, "out 2, "}, {1, "err 2\n"}, {0, "its end\n"}} {
		n := copy(r.RoomFor(x.stream), x.text)
		r.PublishAs(x.stream, n)
	}
	dir := t.TempDir()
	j, _, err := journal.Open(dir+"/journal", journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s, err := session.New(session.Config{
		ID: "x", Dir: dir, Journal: j, Ring: r, Device: device{}, Options: vterm.Options{Cols: 80, Rows: 24},
		Status: session.Status{State: session.Running, Cols: 80, Rows: 24}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	s.Start()
	s.NotifyOutput()
	if _, err := s.Wait(t.Context(), session.WaitSpec{Conds: []session.Cond{{Kind: session.CondText, Text: "its end"}}}); err != nil {
		t.Fatal(err)
	}
	_, end := s.OutputRange()
	p := NewPiped(Limits{Bytes: 1 << 10, Session: "x"})
	if err := p.Read(t.Context(), s, 0, end); err != nil {
		t.Fatal(err)
	}
	var res api.Result
	p.Into(&res)
	if res.Merged || res.Stdout == nil || *res.Stdout != "out 1\nout 2, its end\n" || res.Stderr == nil || *res.Stderr != "err 1\nerr 2\n" {
		t.Errorf("%+v", res)
	}
	for _, want := range []string{"out 1\n", "err 1\n", "err 2\n", "its end\n"} {
		if !strings.Contains(res.Output, want) {
			t.Errorf("%q is not in %q", want, res.Output)
		}
	}
	p = NewPiped(Limits{Bytes: 10, Session: "x"})
	if err := p.Read(t.Context(), s, 0, end); err != nil {
		t.Fatal(err)
	}
	p.Into(&res)
	if !res.Truncated || res.Omitted == nil || p.StreamTexts["stderr"].Omitted == nil {
		t.Errorf("within 10 bytes: %+v", res)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := NewPiped(Limits{Bytes: 10}).Read(ctx, s, 0, end); !errors.Is(err, context.Canceled) {
		t.Errorf("not given up: %v", err)
	}
}

// device is a terminal that takes everything.
type device struct{}

func (device) Write(p []byte) (int, error)      { return len(p), nil }
func (device) TryWrite(p []byte) int            { return len(p) }
func (device) SetWriteDeadline(time.Time) error { return nil }
func (device) Resize(int, int) error            { return nil }
func (device) Resume()                          {}
func (device) Control(func(int) error) error    { return errors.New("there is no terminal") }
func (device) Release()                         {}
