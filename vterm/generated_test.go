package vterm_test

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm"
)

// Invariants that must hold for any output are checked with random output: existing functions, with parameters at the
// edges, between text of all widths. The seeds are fixed; a failure names its own.

var generatedText = []string{
	"a", "word ", "0123456789", "longer than a row is wide ", "你", "你好你好你好", "e\u0301", "\u0301", "\U0001F469\u200d\U0001F4BB",
	"\U0001F1E9\U0001F1EA", "\u2764\ufe0f", "\ufe0f", "\u200d", "\u1100\u1161\u11a8", "\u0915\u094d\u0937", "\xff", "\xe4\xbd", "\u00ad", " ",
}

var generatedControls = []string{"\r", "\n", "\b", "\t", "\v", "\f", "\a", "\x0e", "\x0f", "\r\n", "\x18", "\x1a", "\x00", "\x7f"}

var generatedEscapes = []string{
	"\x1b7", "\x1b8", "\x1bD", "\x1bE", "\x1bH", "\x1bM", "\x1b6", "\x1b9", "\x1bN", "\x1bO", "\x1bV", "\x1bW", "\x1b=", "\x1b>", "\x1bl", "\x1bm",
	"\x1b#3", "\x1b#4", "\x1b#5", "\x1b#6", "\x1b#8", "\x1b(0", "\x1b(B", "\x1b)0", "\x1b*A", "\x1b-A", "\x1bn", "\x1bo", "\x1b[!p", "\x1bc",
	"\x1b]2;title\a", "\x1b]8;;http://x\a", "\x1b]8;;\a", "\x1b]4;1;#123456\a", "\x1b]104\a", "\x1b]11;#654321\a", "\x1b]133;A\a",
	"\x1bP$qm\x1b\\", "\x1bP2$t3/7\x1b\\", "\x1bP1$t2;3;1;A;A;H;0;2;@;0BBB\x1b\\", "\x1b_Ga=T,f=24,s=1,v=1,c=2,r=2;AAAA\x1b\\", "\x1b_Ga=d;\x1b\\", "\x1bXsos\x1b\\", "\x1b[#P", "\x1b[#Q",
	"\x1b[#{", "\x1b[#}", "\x1b[22t", "\x1b[23t", "\x1b[8;5;12t", "\x1b[6n", "\x1b[c", "\x1b[?u", "\x1b[>5u", "\x1b[<u",
}

const generatedFinals = "@ABCDEFGHIJKLMPSTXZ^`abdefghilmnqrstu"

var generatedSuffixes = []string{"$x", "$z", "${", "$v", "$r", "$t", "*x", "'}", "'~", " @", " A", "\"q", " q", "#|", "*y"}

var generatedModes = []int{1, 3, 5, 6, 7, 25, 40, 41, 42, 45, 47, 66, 69, 80, 95, 1000, 1006, 1045, 1047, 1048, 1049, 2004, 2026, 2027, 2048}

// generated is one piece of output.
func generated(r *rand.Rand) string {
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	number := func() string {
		return [...]string{"", "0", "1", "2", "3", "4", "5", "7", "10", "11", "38", "48", "99", "65535"}[r.IntN(14)]
	}
	numbers := func(most int) string {
		s := number()
		for range r.IntN(most) {
			s += ";" + number()
		}
		return s
	}
	switch n := r.IntN(100); {
	case n < 40:
		return pick(generatedText)
	case n < 52:
		return pick(generatedControls)
	case n < 64:
		return pick(generatedEscapes)
	case n < 70:
		return fmt.Sprintf("\x1b[?%d%c", generatedModes[r.IntN(len(generatedModes))], "hl"[r.IntN(2)])
	case n < 72:
		return fmt.Sprintf("\x1b[%s%c", [...]string{"4", "20"}[r.IntN(2)], "hl"[r.IntN(2)])
	case n < 78:
		return "\x1b[" + numbers(9) + pick(generatedSuffixes)
	case n < 82:
		return "\x1b[" + numbers(5) + "m"
	case n < 88:
		return "\x1b[" + number() + ";" + number() + "H"
	}
	return "\x1b[" + numbers(3) + string(generatedFinals[r.IntN(len(generatedFinals))])
}

// outputs calls f with generated outputs, in pieces.
func outputs(t *testing.T, many int, f func(t *testing.T, r *rand.Rand, pieces []string)) {
	if !tier.IsFull() {
		many /= 4
	}
	for seed := range uint64(many) {
		r := rand.New(rand.NewPCG(seed, 77))
		pieces := make([]string, 1+r.IntN(60))
		for i := range pieces {
			pieces[i] = generated(r)
		}
		f(t, r, pieces)
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, strings.Join(pieces, ""))
		}
	}
}

// smallOptions keep requests for other sizes away, so that a screen can be compared as a whole.
var smallOptions = vterm.Options{Cols: 12, Rows: 5, ScrollbackLines: 40, FixedSize: true}

// TestGeneratedIsSound checks that the invariants of the screen, the cursor and the history hold after every piece of
// any output.
//
// FEATURES: R30, R93
func TestGeneratedIsSound(t *testing.T) {
	outputs(t, 600, func(t *testing.T, r *rand.Rand, pieces []string) {
		term := vterm.New(vterm.Options{Cols: 1 + r.IntN(20), Rows: 1 + r.IntN(8), ScrollbackLines: 40})
		for i, p := range pieces {
			write(term, p)
			if r.IntN(12) == 0 {
				term.Resize(1+r.IntN(25), 1+r.IntN(9))
			}
			if what := unsound(term); what != "" {
				t.Errorf("after piece %d, %q: %s", i, p, what)
				return
			}
		}
	})
}

// TestGeneratedSplit checks that any split of the same bytes gives the same state, replies and events.
//
// FEATURES: R26
func TestGeneratedSplit(t *testing.T) {
	outputs(t, 600, func(t *testing.T, r *rand.Rand, pieces []string) {
		in := strings.Join(pieces, "")
		whole, cut := vterm.New(smallOptions), vterm.New(smallOptions)
		write(whole, in)
		for rest := in; rest != ""; {
			n := 1 + r.IntN(len(rest))
			if r.IntN(2) == 0 {
				n = 1
			}
			write(cut, rest[:n])
			rest = rest[n:]
		}
		if a, b := everything(whole), everything(cut); a != b {
			t.Errorf("cut: %s", difference(b, a))
		}
		if a, b := whole.Replies(nil), cut.Replies(nil); string(a) != string(b) {
			t.Errorf("answers when cut: %q, want %q", b, a)
		}
		if a, b := strings.Join(eventsOf(whole), " "), strings.Join(eventsOf(cut), " "); a != b {
			t.Errorf("events when cut: %q, want %q", b, a)
		}
	})
}

// TestGeneratedSnapshot restores a terminal from a snapshot taken anywhere, also within a sequence or character. It
// continues like the original.
//
// FEATURES: R26
func TestGeneratedSnapshot(t *testing.T) {
	outputs(t, 500, func(t *testing.T, r *rand.Rand, pieces []string) {
		in := strings.Join(pieces, "")
		at := r.IntN(len(in) + 1)
		term := vterm.New(smallOptions)
		write(term, in[:at])
		_, _ = term.Replies(nil), term.Events(nil)
		again := vterm.New(vterm.Options{FixedSize: true, ScrollbackLines: 40})
		if err := again.Restore(term.AppendSnapshot(nil)); err != nil {
			t.Errorf("at %d: %v", at, err)
			return
		}
		if a, b := everything(term), everything(again); a != b {
			t.Errorf("restored at %d: %s", at, difference(b, a))
		}
		write(term, in[at:])
		write(again, in[at:])
		if a, b := everything(term), everything(again); a != b {
			t.Errorf("restored at %d it continues: %s", at, difference(b, a))
		}
		if a, b := term.Replies(nil), again.Replies(nil); string(a) != string(b) {
			t.Errorf("restored at %d it answers %q, want %q", at, b, a)
		}
		if term.Written() != again.Written() {
			t.Errorf("restored at %d: %d bytes written, want %d", at, again.Written(), term.Written())
		}
	})
}

// TestGeneratedDeltas checks that the rows that changed since a frame, merged into it, give the complete frame.
//
// FEATURES: R35
func TestGeneratedDeltas(t *testing.T) {
	outputs(t, 500, func(t *testing.T, r *rand.Rand, pieces []string) {
		term := vterm.New(smallOptions)
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		rows := map[int]string{}
		since, version := uint64(0), uint64(0)
		for i, p := range pieces {
			write(term, p)
			if r.IntN(15) == 0 {
				term.Resize(4+r.IntN(15), 2+r.IntN(6))
			}
			if r.IntN(3) == 0 {
				continue // several pieces at once
			}
			if v := term.Version(); v < version {
				t.Errorf("version %d after %d", v, version)
			} else {
				version = v
			}
			var delta, whole vterm.Frame
			term.Frame(&delta, vterm.Query{Since: since})
			since = delta.Version
			if delta.Full {
				clear(rows)
			}
			for j := range delta.Lines {
				rows[delta.Lines[j].Row] = lineState(&delta, &delta.Lines[j])
			}
			term.Frame(&whole, vterm.Query{})
			if !whole.Full || len(whole.Lines) != whole.Rows {
				t.Errorf("%d rows of %d", len(whole.Lines), whole.Rows)
			}
			for j := range whole.Lines {
				if got, want := rows[j], lineState(&whole, &whole.Lines[j]); got != want {
					t.Errorf("after piece %d, %q: row %d is stored as\n\t%s, is\n\t%s", i, p, j, got, want)
					return
				}
			}
			if delta.Cursor != whole.Cursor || delta.Title != whole.Title || delta.Alt != whole.Alt {
				t.Errorf("after piece %d: cursor %+v, is %+v", i, delta.Cursor, whole.Cursor)
			}
			term.Frame(&delta, vterm.Query{Since: since})
			if len(delta.Lines) != 0 {
				t.Errorf("after piece %d: %d rows changed without output", i, len(delta.Lines))
			}
		}
	})
}

// TestGeneratedFramesStay checks that a frame does not change with later output.
//
// FEATURES: R35
func TestGeneratedFramesStay(t *testing.T) {
	outputs(t, 200, func(t *testing.T, r *rand.Rand, pieces []string) {
		term := vterm.New(smallOptions)
		half := len(pieces) / 2
		write(term, strings.Join(pieces[:half], ""))
		var f vterm.Frame
		term.Frame(&f, vterm.Query{})
		shown := func() (s string) {
			for i := range f.Lines {
				s += lineState(&f, &f.Lines[i]) + "\n"
			}
			return s + fmt.Sprint(*f.Palette)
		}
		before := shown()
		write(term, strings.Join(pieces[half:], ""))
		term.Resize(3, 3)
		write(term, "\x1bc\x1b]4;1;#abcdef\aother")
		var other vterm.Frame
		term.Frame(&other, vterm.Query{})
		if after := shown(); after != before {
			t.Errorf("the frame became\n%s", difference(after, before))
		}
	})
}

// TestGeneratedPack checks that packing changes nothing that is visible, then or later.
func TestGeneratedPack(t *testing.T) {
	outputs(t, 200, func(t *testing.T, r *rand.Rand, pieces []string) {
		plain, packed := vterm.New(smallOptions), vterm.New(smallOptions)
		for _, p := range pieces {
			write(plain, p)
			write(packed, p)
			if r.IntN(5) == 0 {
				packed.Pack()
			}
		}
		if a, b := everything(plain), everything(packed); a != b {
			t.Errorf("packed: %s", difference(b, a))
		}
	})
}

// TestGeneratedReset checks that RIS gives a new terminal, except for the title, the size and whether DECCOLM is
// allowed.
func TestGeneratedReset(t *testing.T) {
	outputs(t, 300, func(t *testing.T, r *rand.Rand, pieces []string) {
		term := vterm.New(smallOptions)
		write(term, strings.Join(pieces, "")+"\x18\x1b<\x1b[8m\x1bc\x1b]2;\a")
		fresh := vterm.New(smallOptions)
		const probe = "a\tb\x1b[2;3Hc\x1b[1\"qd\x1b[?2Ke\x0ef\x0f\n\n\ng\x1bP$qm\x1b\\\x1b[6n\x1b[?u\x1b[4$p\x1b[?6$p\x1b[?69$p"
		_, _ = term.Replies(nil), fresh.Replies(nil)
		write(term, probe)
		write(fresh, probe)
		drop := func(s string) string { // ids of lines and the shown alternate screen continue
			var out []string
			for _, line := range strings.Split(s, "\n") {
				if !strings.HasPrefix(line, "first") && !strings.HasPrefix(line, "screen 2") {
					out = append(out, line)
				}
			}
			return strings.Join(out, "\n")
		}
		if a, b := drop(everything(fresh)), drop(everything(term)); a != b {
			t.Errorf("after RIS: %s", difference(b, a))
		}
		if a, b := fresh.Replies(nil), term.Replies(nil); string(a) != string(b) {
			t.Errorf("after RIS it answers %q, want %q", b, a)
		}
	})
}

// TestGeneratedHistoryRead checks that reading history, all of it or its newest lines, does not change its content in a
// later size: a daemon that replays its journal does not repeat the reads. A snapshot does not change it either.
//
// FEATURES: R10, R26
func TestGeneratedHistoryRead(t *testing.T) {
	outputs(t, 1500, func(t *testing.T, r *rand.Rand, pieces []string) { checkReads(t, r, pieces, 25) })
}

// TestGeneratedHistoryRead_OfLongLines is TestGeneratedHistoryRead with lines of more than one piece.
//
// FEATURES: R10, R26
// FAULT: H13
func TestGeneratedHistoryRead_OfLongLines(t *testing.T) {
	for seed := range uint64(tier.Times(1, 8)) {
		r := rand.New(rand.NewPCG(seed, 13))
		pieces := make([]string, 1+r.IntN(10))
		for i := range pieces {
			if pieces[i] = generated(r); r.IntN(2) == 0 {
				words := strings.Fields(plainOutput(r, 3))
				pieces[i] = strings.Repeat(strings.Join(words, " ")+"-", r.IntN(80_000)/(1+len(words)*4))
			}
		}
		if checkReads(t, r, pieces, 300); t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// checkReads writes pieces to three terminals of at most the given number of columns and compares them: one is read, one is
// restored from snapshots, and one neither.
func checkReads(t *testing.T, r *rand.Rand, pieces []string, most int) {
	o := vterm.Options{Cols: 12, Rows: 5, FixedSize: true}
	unread, read, again := vterm.New(o), vterm.New(o), vterm.New(o)
	for i, p := range pieces {
		resize := r.IntN(5) == 0
		cols, rows := 1+r.IntN(most), 1+r.IntN(9)
		for _, term := range []*vterm.Terminal{unread, read, again} {
			write(term, p)
			if resize {
				term.Resize(cols, rows)
			}
		}
		switch r.IntN(6) {
		case 0:
			read.History()
		case 1:
			read.Recent(r.IntN(40))
		case 2:
			b := again.AppendSnapshot(nil)
			again = vterm.New(o)
			if err := again.Restore(b); err != nil {
				t.Errorf("after piece %d: %v", i, err)
				return
			}
		}
	}
	want := withoutIDs(unread)
	if got := withoutIDs(read); got != want {
		t.Errorf("read: %s", difference(got, want))
	}
	if got := withoutIDs(again); got != want {
		t.Errorf("restored: %s", difference(got, want))
	}
}

var firstID = regexp.MustCompile(`(?m)^first \d+$`)

// withoutIDs is everything but how lines of history are numbered, which is a terminal's own affair.
func withoutIDs(t *vterm.Terminal) string { return firstID.ReplaceAllString(everything(t), "") }
