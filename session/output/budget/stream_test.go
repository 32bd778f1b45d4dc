package budget

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// feedOutput passes raw output, lines that end with CR LF, to a budget.
func feedOutput(b *Budget, raw string) (string, CutInfo) {
	var ready []byte
	from := 0
	for from < len(raw) {
		to, more := len(raw), false
		if i := strings.IndexByte(raw[from:], '\n'); i >= 0 {
			to = from + i + 1
		} else {
			more = true
		}
		if to-from > 5000 { // long lines arrive in pieces
			to, more = from+5000, true
		}
		b.Add([]byte(strings.TrimRight(raw[from:to], "\r\n")), uint64(from), uint64(to), more)
		from = to
		if r := b.FixedHead(); !bytes.HasPrefix(r, ready) {
			panic(fmt.Sprintf("%q was ready, now %q is", ready, r))
		} else {
			ready = append(ready[:0], r...)
		}
	}
	text, info := b.Finish()
	if !strings.HasPrefix(text, string(ready)) {
		panic(fmt.Sprintf("%q was ready, the text is %q", ready, text))
	}
	return text, info
}

var noteRE = regexp.MustCompile(`(?m)^\[… (\d+) bytes?, (\d+) lines? left out: longterm output ID --from (\d+) --to (\d+) …\]\n`)

// reread returns the command that noteRE matches.
func reread(from, to uint64) string {
	return fmt.Sprintf("longterm output ID --from %d --to %d", from, to)
}

// TestBudget_CountsOmittedBytes checks that omitted bytes are counted exactly, and the offsets in the note read exactly
// these.
//
// FAULT: B5
// FEATURES: R23
func TestBudget_CountsOmittedBytes(t *testing.T) {
	tier.Full(t)
	var raw strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&raw, "%d\r\n", i)
	}
	text := strings.ReplaceAll(raw.String(), "\r", "")
	for _, max := range []int{400, 1000, 4 << 10, 16 << 10, 500 << 10, len(text) - 1} {
		got, info := feedOutput(&Budget{Max: max, MoreCommand: reread}, raw.String())
		if len(got) > max || len(got) < max/2 || !info.Cut {
			t.Errorf("max %d: %d bytes", max, len(got))
		}
		m := noteRE.FindStringSubmatchIndex(got)
		if m == nil {
			t.Fatalf("max %d: no note in %q", max, got[:min(len(got), 400)])
		}
		number := func(i int) int { n, _ := strconv.Atoi(got[m[2*i]:m[2*i+1]]); return n }
		head, tail := got[:m[0]], got[m[1]:]
		if number(1) != info.Bytes || number(2) != info.Lines || len(head)+len(tail)+info.Bytes != len(text) {
			t.Errorf("max %d: %d bytes and %d lines are reported as omitted of %d", max, info.Bytes, info.Lines, len(text))
		}
		if n := strings.Count(head, "\n") + strings.Count(tail, "\n") + info.Lines; n != 100_000 {
			t.Errorf("max %d: %d lines", max, n)
		}
		left := strings.ReplaceAll(raw.String()[number(3):number(4)], "\r", "")
		if head+left+tail != text {
			t.Errorf("max %d: the note reads %d bytes", max, len(left))
		}
	}
	if got, info := feedOutput(&Budget{Max: len(text), MoreCommand: reread}, raw.String()); got != text || info.Cut {
		t.Errorf("cut without need: %d of %d", len(got), len(text))
	}
}

// TestBudget_Small_HasMark checks that a mark separates head and tail in every budget, however small.
//
// FAULT: B5
func TestBudget_Small_HasMark(t *testing.T) {
	var raw strings.Builder
	for i := range 300 {
		fmt.Fprintf(&raw, "%d\r\n", i)
	}
	text := strings.ReplaceAll(raw.String(), "\r", "")
	for max := range 200 {
		got, info := feedOutput(&Budget{Max: max}, raw.String())
		cut, cutInfo := Cut(text, max, DefaultHeadShare)
		if got != cut || info.Bytes != cutInfo.Bytes || info.Lines != cutInfo.Lines {
			t.Errorf("max %d: %q, Cut returns %q", max, got, cut)
		}
		if len(got) > max {
			t.Errorf("max %d: %d bytes", max, len(got))
		}
		if !strings.Contains(got, "[…") && !strings.HasSuffix(text, got) {
			t.Errorf("max %d: head and tail are glued: %q", max, got)
		}
	}
	if got, _ := Cut(text, 20, DefaultHeadShare); !strings.Contains(got, "[…]\n") || !strings.HasSuffix(got, "299\n") {
		t.Errorf("%q", got)
	}
}

// TestBudget_LineLimit checks that a long line is shortened, so that other lines keep their space.
//
// FAULT: B5
// FEATURES: R23, R24
func TestBudget_LineLimit(t *testing.T) {
	raw := "first\r\n" + strings.Repeat("é", 50_000) + "end of it\r\nlast\r\n"
	got, info := feedOutput(&Budget{Max: 10_000, MaxLine: 200}, raw)
	lines := strings.Split(got, "\n")
	if len(lines) != 4 || lines[0] != "first" || lines[2] != "last" || !strings.HasSuffix(lines[1], "end of it") {
		t.Fatalf("%q", got)
	}
	head, rest, ok := strings.Cut(lines[1], "[… ")
	count, tail, ok2 := strings.Cut(rest, " bytes of this line …]")
	if n, _ := strconv.Atoi(count); !ok || !ok2 || n != info.Bytes || len(head)+len(tail)+n != 100_009 || info.LongLines != 1 || !info.Cut {
		t.Errorf("%+v: %q", info, lines[1])
	}
	if len(lines[1]) > 200 || !utf8.ValidString(lines[1]) {
		t.Errorf("%d bytes: %q", len(lines[1]), lines[1])
	}
	if got, info := feedOutput(&Budget{Max: 1000, MaxLine: 200}, "short\r\n"); got != "short\n" || info.Cut {
		t.Errorf("%q", got)
	}
	if got, _ := feedOutput(&Budget{Max: 1000, MaxLine: 200}, "no end"); got != "no end" {
		t.Errorf("%q", got)
	}
}

func FuzzBudget(f *testing.F) {
	f.Add("a\r\nb\r\n", 3, 0, false)
	f.Add(strings.Repeat("👨‍👩‍👧‍👦e\u0301\r\n", 50), 300, 20, false)
	f.Add(strings.Repeat("\x1b[31mred\x1b[0m\n", 80), 500, 0, true)
	f.Add("\x1bX"+strings.Repeat("a string without end\r\n", 12), 249, 7, true)
	f.Add("first\n\x1b]0;"+strings.Repeat("a title of lines\n", 12)+"\x1b\\last\n", 200, 0, true)
	f.Fuzz(func(t *testing.T, raw string, max, line int, ansi bool) {
		max, line = min(1<<16, max), min(1<<12, line)
		if max < 0 || line < 0 || len(raw) > 1<<15 {
			return
		}
		got, info := feedOutput(&Budget{Max: max, MaxLine: line, ANSI: ansi, MoreCommand: reread}, raw)
		if len(got) > max {
			t.Errorf("%d bytes of %d", len(got), max)
		}
		if info.From > info.To || info.To > uint64(len(raw)) || info.Bytes < 0 || info.Lines < 0 {
			t.Errorf("%+v of %d", info, len(raw))
		}
	})
}

// TestBudget_SkipAfterShortHead checks that a skipped middle may follow a head that is shorter than its space, as when
// most of the head is binary.
// FAULT: G7
func TestBudget_SkipAfterShortHead(t *testing.T) {
	for _, tail := range []string{"end\n", strings.Repeat("a line of the tail\n", 500)} {
		b := Budget{Max: 4096}
		b.Add([]byte("a short head"), 0, 12, false)
		b.Skip(1<<30, 1000, 12, 1<<30)
		for l := range strings.Lines(tail) {
			b.Add([]byte(strings.TrimSuffix(l, "\n")), 1<<30, 1<<30, false)
		}
		text, info := b.Finish()
		if !info.Cut || len(text) > 4096 || !strings.HasPrefix(text, "a short head\n") || !strings.HasSuffix(text, tail[len(tail)-4:]) {
			t.Errorf("%d bytes, %+v: %.100q", len(text), info, text)
		}
	}
}
