package vterm

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
	"github.com/longterm-dev/longterm/vterm/internal/grid"
	"github.com/longterm-dev/longterm/vterm/internal/parse"
	"github.com/longterm-dev/longterm/vterm/payload"
)

// slowly writes byte by byte and keeps every row in cells, so that no fast path of lines, runs, whole sequences or
// packed rows is used.
func slowly(t *Terminal, data []byte) {
	for i := range data {
		_, _ = t.Write(data[i : i+1])
		for _, s := range t.all() {
			s.InflateAll()
		}
		t.sgrCache.clear()
		t.penAt = styleUnknown
	}
}

// checkFast writes data in pieces and slowly, and compares the snapshots.
func checkFast(t *testing.T, o Options, data []byte, pieces ...int) {
	t.Helper()
	compareFast(t, New(o), New(o), data, pieces...)
}

// checkLoose is checkFast with all lasting styles given away, some to colours of text, and a cache of sequences that missed
// often.
func checkLoose(t *testing.T, o Options, data []byte, pieces ...int) {
	t.Helper()
	fast, slow := New(o), New(o)
	for _, term := range []*Terminal{fast, slow} {
		for i := range 256 {
			term.tables.Styles.ID(&Style{FG: RGB(1, 2, byte(i))})
		}
		for i := range grid.LastingStyles {
			term.tables.Styles.ID(&Style{ULColor: RGB(1, byte(i>>8), byte(i))})
		}
		term.sgrCache.misses = manyMisses + 1
	}
	compareFast(t, fast, slow, data, pieces...)
}

// compareFast is checkFast for terminals in the same state.
func compareFast(t *testing.T, fast, slow *Terminal, data []byte, pieces ...int) {
	t.Helper()
	rest := data
	for _, n := range pieces {
		n = min(n, len(rest))
		_, _ = fast.Write(rest[:n])
		if what := broken(fast); what != "" {
			t.Fatalf("after %.300q: %s", data[:len(data)-len(rest)+n], what)
		}
		rest = rest[n:]
	}
	_, _ = fast.Write(rest)
	if what := broken(fast); what != "" {
		t.Fatalf("%.300q: %s", data, what)
	}
	if fast.cols*fast.rows > 1<<12 {
		return // inflating a large screen after every byte takes too long
	}
	slowly(slow, data)
	for _, term := range []*Terminal{fast, slow} {
		feed(term, "\x18") // ends any unfinished sequence; its rest has no effect
		term.parser = parse.Parser{VT52: term.parser.VT52}
		term.tables.Version = 0
	}
	a, b := fast.AppendSnapshot(nil), slow.AppendSnapshot(nil)
	if bytes.Equal(a, b) {
		return
	}
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	x, y := firstDifference(state(fast), state(slow))
	t.Fatalf("%.200q in pieces of %v: snapshots of %d and %d bytes differ from %d on: %.60q, %.60q; the states\n%.500q\n%.500q",
		data, pieces, len(a), len(b), i, a[i:], b[i:], x, y)
}

// TestFast mixes all payloads, cut anywhere, with what puts a terminal into other states.
//
// FEATURES: R25, R26, R27
func TestFast(t *testing.T) {
	rounds := 100
	if !tier.IsFull() {
		rounds = 10
	}
	var sources [][]byte
	for _, p := range payload.All {
		sources = append(sources, p.Generate(20_000))
	}
	for _, s := range functionSeeds() {
		sources = append(sources, []byte(s))
	}
	states := []string{
		"\x1b[2;5r\x1b[5;1H", "\x1b[1;4r\x1b[4;1H", "\x1b[r", "\x1b[?6h", "\x1b[?6l", "\x1b[?7l", "\x1b[?7h",
		"\x1b[4h", "\x1b[4l", "\x1b[20h", "\x1b[20l", "\x1b[1\"q", "\x1b[0\"q", "\x1b[44m", "\x1b[0m", "\x1b(0", "\x1b(B",
		"\x1b[?2027l", "\x1b[?2027h", "\x1b[?69h\x1b[3;9s", "\x1b[?69l", "\x1b[?1049h", "\x1b[?1049l", "\x1b#6", "\x1b[2J",
		"\x1b]8;;http://x\x07", "\x1b]8;;\x07", "\r\n", "\r", "\t", "\x1b[K", "\x1b[3b\u0301", "\u0301", "\ufe0f", "\u0600", "y\r\n\r\n",
	}
	for i := range rounds {
		r := rand.New(rand.NewPCG(uint64(i), 7))
		var data []byte
		for range 12 {
			s := sources[r.IntN(len(sources))]
			at := r.IntN(len(s))
			data = append(data, s[at:min(len(s), at+r.IntN(600))]...)
			data = append(data, states[r.IntN(len(states))]...)
		}
		o := Options{Cols: 5 + r.IntN(90), Rows: 2 + r.IntN(12), ScrollbackLines: 1 + r.IntN(300), AmbiguousWide: r.IntN(8) == 0}
		checkFast(t, o, data, r.IntN(300), r.IntN(2000), r.IntN(4000))
		checkLoose(t, o, data, r.IntN(300), r.IntN(2000), r.IntN(4000))
	}
}

// TestLoose prints in colours that rarely repeat, which get no ids, with sequences that end runs and rows among them.
//
// FEATURES: R25
func TestLoose(t *testing.T) {
	between := []string{"", "", "", "", "word", "\r\n", "\x1b[1m", "\x1b[0m", "\x1b[4;1H", "\x1b[K", "漢字", "é", "\u0301", "\x1b[58;5;3m", "\t", "\x1b[2;9r",
		"\x1b[?7l", "\x1b[?7h", "\x1b[1\"q", "\x1b[0\"q", "\x1b]8;;http://x\a", "\x1b#6", "\x1b[4h", "\x1b[4l"}
	for round := range 30 {
		r := rand.New(rand.NewPCG(uint64(round), 9))
		var b strings.Builder
		for range 200 {
			fmt.Fprintf(&b, "\x1b[%d8;2;%d;%d;%dm", 3+r.IntN(2), r.IntN(258), r.IntN(300)%257, r.IntN(256))
			b.WriteString("#abc"[:r.IntN(4)] + between[r.IntN(len(between))])
		}
		checkLoose(t, Options{Cols: 7 + r.IntN(20), Rows: 2 + r.IntN(5), ScrollbackLines: 50}, []byte(b.String()), r.IntN(300), r.IntN(900))
	}
}

// TestLooseLetters prints single letters in colours that rarely repeat, with one other thing among them.
//
// FEATURES: R25
func TestLooseLetters(t *testing.T) {
	between := []string{"", "word", "\x1b[1m", "\x1b[4:3m", "\x1b[48;2;1;2;3m", "\x1b[58;2;1;2;3m", "\x1b]8;;http://x\a", "\x1b[1;9H", "\x1b[1;1H", "\t", "\b", "\r\n",
		"\x1b[K", "\u6f22", "\u0301", "\x1b[1\"q", "\x1b[4h", "\x1b#6", "\x1b(0", "\x1b[?7l", "\x1b[2;9r", "\x1b[?69h\x1b[3;9s\x1b[1;4H", "\x1b[38;2;0;0;1m", "\x1b[38;5;9m"}
	letters := func(b *strings.Builder, from, n int) {
		for i := range n {
			fmt.Fprintf(b, "\x1b[38;2;%d;%d;%dm%c", 200+i%2, (from+i/3)%256, 7, 'a'+i%26) // some colours two letters long
		}
	}
	for i, what := range between {
		for _, n := range []int{3, 8, 14} {
			var b strings.Builder
			letters(&b, i, n)
			b.WriteString(what)
			letters(&b, i+100, n)
			b.WriteString(strings.Repeat(" ", keyReach))
			checkLoose(t, Options{Cols: 12, Rows: 4, ScrollbackLines: 50}, []byte(b.String()), 100)
		}
	}
}

// TestLooseRuns prints single letters with a sequence each, in runs of the same colour of different lengths.
//
// FEATURES: R25
func TestLooseRuns(t *testing.T) {
	for _, most := range []int{1, 2, 9, 300} {
		r := rand.New(rand.NewPCG(uint64(most), 13))
		var b strings.Builder
		for b.Len() < 20_000 {
			c := r.IntN(1 << 24)
			if r.IntN(4) == 0 {
				c = 1<<16 | r.IntN(5<<10) // the table has it, a fifth of them with ids that do not last
			}
			for range 1 + r.IntN(most) {
				fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%dm%c", c>>16, c>>8&255, c&255, 'a'+r.IntN(26))
			}
		}
		data := []byte(b.String())
		for _, cols := range []int{1, 2, 40, 290} {
			o := Options{Cols: cols, Rows: 3, ScrollbackLines: 50}
			fast, slow := New(o), New(o)
			for _, term := range []*Terminal{fast, slow} {
				for i := range 5 << 10 {
					term.tables.Styles.ID(&Style{FG: RGB(1, byte(i>>8), byte(i))})
				}
				term.sgrCache.misses = manyMisses + 1
			}
			compareFast(t, fast, slow, data, 5000, r.IntN(5000))
		}
	}
}

// TestNewColors compares the fast reading of sequences that set a colour with the parser's.
//
// FEATURES: R25
func TestNewColors(t *testing.T) {
	numbers := []string{"", "0", "7", "00", "42", "99", "007", "100", "255", "256", "300", "999", "0255", "1000", ":", "-", "\xff", "1;2"}
	good := func(s string) bool {
		v, err := strconv.ParseUint(s, 10, 16)
		return err == nil && v <= 255 && len(s) <= 3
	}
	for i := range len(numbers) * len(numbers) * len(numbers) * 3 {
		n := len(numbers)
		a, b, c := numbers[i%n], numbers[i/n%n], numbers[i/n/n%n]
		end := []string{"m", "M", ";m", ";1m", "x", "\x1b"}[i%6]
		s := []string{"\x1b[38;2;", "\x1b[48;2;"}[i/6%2] + a + ";" + b + ";" + c + end
		fast, slow := newTest(t, 20, 5), newTest(t, 20, 5)
		fast.sgrCache.misses = manyMisses + 1
		data := []byte(s + "#" + strings.Repeat(" ", keyReach))
		feed(slow, string(data))
		taken := fast.runColorSGRs(data)
		if want := good(a) && good(b) && good(c) && end == "m"; (taken > 0) != want {
			t.Fatalf("%q: %d bytes are consumed", s, taken)
		}
		feed(fast, string(data[taken:]))
		if taken > 0 && (fast.pen != slow.pen || fast.cur != slow.cur) {
			t.Fatalf("%q: %+v at %+v, want %+v at %+v", s, fast.pen, fast.cur, slow.pen, slow.cur)
		}
	}
}

// TestSymbols prints repeated symbols between Han and ASCII, with joining characters and incomplete ones among them.
//
// FEATURES: R25
func TestSymbols(t *testing.T) {
	symbols := []string{"😀", "👩‍💻", "🇩🇪", "❤️", "❤︎", "👍🏽", "。", "の", "が\u3099", "한", "ᄒ", "ᅡ", "é", "e\u0301", "→", "\u0301", "\u200d", "\ufe0f", "🇩",
		"\u0600", "क्ष", "⌚", "\u009b", "\xe4\xb8", "\xe4", "\xf0\x9f", "\xff", "\u200b", "\U0001f3fd"}
	between := []string{"漢", "字", "漢字漢", "a", " ", "word", "", "", "かな", "、", "한글", "\r\n", "\x1b[1m", "\x1b[?2027l", "\x1b[?2027h", "\x1b#6", "\x1b[?7l", "\x1b[?7h"}
	flags := strings.Repeat("漢🇩🇪漢字漢字漢字", 4) + "🇩"
	checkFast(t, Options{Cols: 200, Rows: 3}, []byte(flags+"🇩🇪漢字漢字漢字"), len(flags)) // the half before takes half of it
	for round := range 40 {
		r := rand.New(rand.NewPCG(uint64(round), 11))
		few, plain := 1+r.IntN(len(symbols)), 11+r.IntN(len(between)-10)
		mixed := func() string {
			b := ""
			for range 1 + r.IntN(3) {
				b += symbols[r.IntN(few)]
			}
			return b
		}
		var clusters []string
		for range 1 + r.IntN(8) {
			clusters = append(clusters, mixed())
		}
		var b strings.Builder
		for range 300 {
			if r.IntN(10) == 0 {
				b.WriteString(mixed())
			}
			b.WriteString(clusters[r.IntN(len(clusters))] + between[r.IntN(plain)])
		}
		o := Options{Cols: 2 + r.IntN(90), Rows: 2 + r.IntN(5), ScrollbackLines: 50, AmbiguousWide: r.IntN(8) == 0}
		var pieces []int
		for range 100 {
			pieces = append(pieces, r.IntN(80))
		}
		checkFast(t, o, []byte(b.String()), pieces...)
	}
}

// TestLooseStylesGetNoIDs checks that the style table has only permanent styles while colours do not repeat.
func TestLooseStylesGetNoIDs(t *testing.T) {
	term := New(Options{Cols: 80, Rows: 24})
	for range 3 {
		_, _ = term.Write(generated(t, "many_styles"))
	}
	if n := len(term.tables.Styles.List); n > 2*grid.LastingStyles {
		t.Errorf("%d styles have ids", n)
	}
	var f Frame
	term.Frame(&f, Query{})
	if what := broken(term); what != "" {
		t.Error(what)
	}
}

// TestFastPayloads writes every payload as the benchmarks do.
func TestFastPayloads(t *testing.T) {
	for _, p := range payload.All {
		data := p.Generate(30_000)
		if !tier.IsFull() {
			data = data[:8_000]
		}
		checkFast(t, Options{Cols: 80, Rows: 24}, data)
		checkFast(t, Options{Cols: 40, Rows: 10, ScrollbackLines: -1}, data, 100, 3333, 7)
	}
}

// TestPassLines writes lines at once and in pieces too small for any to pass the screen.
//
// FEATURES: R27
func TestPassLines(t *testing.T) {
	tier.Full(t)
	for _, rows := range []int{1, 2, 3, 24, 900, 4000} {
		for _, length := range []int{0, 1, 10, 27} {
			var data []byte
			for i := range 3*rows + 50 {
				line := strings.Repeat(string(rune('a'+i%26)), max(0, length-i%3))
				data = append(data, line+"\r\n"...)
			}
			for _, begin := range []string{"\x1b[9999H", "old\r\n\x1b[2;9999r\x1b[9999H", "\x1b[?1049h\x1b[9999H"} {
				data := append([]byte(begin), data...)
				o := Options{Cols: 30, Rows: rows}
				whole, cut := New(o), New(o)
				_, _ = whole.Write(data)
				for piece := range slices.Chunk(data, 20) {
					_, _ = cut.Write(piece)
				}
				cut.tables.Version = whole.tables.Version
				if what := broken(whole); what != "" {
					t.Fatalf("%d rows, lines of %d: %s", rows, length, what)
				}
				if !bytes.Equal(whole.AppendSnapshot(nil), cut.AppendSnapshot(nil)) {
					t.Fatalf("%d rows, lines of %d, after %q: differs from the result in pieces", rows, length, begin)
				}
			}
		}
	}
}

// TestPassSteps writes lines of one letter without CR at once and in pieces too small for any to pass the screen.
//
// FEATURES: R27
func TestPassSteps(t *testing.T) {
	for _, size := range [][3]int{{1, 1, 60}, {2, 1, 60}, {9, 2, 70}, {30, 3, 100}, {80, 24, 250}, {127, 9, 21}, {127, 9, 100}, {127, 9, 250}, {128, 9, 250}, {20, 300, 1300}} {
		o := Options{Cols: size[0], Rows: size[1]}
		var steps string
		for i := range size[2] {
			steps += string(rune('a'+i%26)) + "\n"
		}
		for i, begin := range []string{"", "old\r\n\x1b[2;9999r", "wraps over the margin of a few\x1b[1;3r\x1b[3;2H", "\x1b[?1049h", "\x1b[?69h\x1b[2;9s",
			"\x1b[44m", "\x1b[31m", "\x1b[20h", "\x1b[?7l", "\x1b[1\"q", "\x1b(0", "\x1b#6", "full of words", "\x1b[?1049h\x1b[4;7r\x1b[7;1H"} {
			o.ScrollbackLines = []int{-1, 7, 100_000}[i%3]
			if i%2 == 0 {
				begin += "\x1b[9999H"
			}
			whole, cut := New(o), New(o)
			data := []byte(begin + "\n" + steps + "longer\n" + steps + "\r\n" + steps[:len(steps)-1])
			if i%3 == 2 {
				data = data[:len(begin)+1+len(steps)]
			}
			_, _ = whole.Write(data)
			for piece := range slices.Chunk(data, 5) {
				_, _ = cut.Write(piece)
			}
			for _, term := range []*Terminal{whole, cut} {
				term.Resize(max(1, o.Cols/3), o.Rows)
			}
			cut.tables.Version = whole.tables.Version
			whole.parser, cut.parser = parse.Parser{}, parse.Parser{} // the rest of a sequence has no effect
			if what := broken(whole); what != "" {
				t.Fatalf("%+v after %q: %s", o, begin, what)
			}
			if !bytes.Equal(whole.AppendSnapshot(nil), cut.AppendSnapshot(nil)) {
				x, y := firstDifference(state(whole), state(cut))
				t.Errorf("%+v after %q: in pieces it differs\n%.500q\n%.500q", o, begin, x, y)
			}
		}
	}
}

// TestFastEscapes runs typical output of full-screen programs: successive sequences, text across the margin, in cells
// and packed rows, and synchronized updates.
//
// FEATURES: R25, R26, R27
func TestFastEscapes(t *testing.T) {
	parts := []string{
		"\x1b(B", "\x1b[m", "\x1b[31m", "\x1b[97m", "\x1b[1;44m", "\x1b[38;5;200;48;5;100;1;3;4m", "\x1b[?2026h", "\x1b[?2026l", "\x1b[?2026h\x1b[?2026l",
		"\x1b[2;3H", "\x1b[3;12H", "\x1b[12;123H", "\x1b[12345H", "\x1b[1;1000H", "\x1b[3;3Ha", "\x1b[02;7Hab", "\x1b[4;2Habcdefg", "a", "word", "longer than that",
		"a text that runs over the margin of all of these screens, once or twice", "\x1b[K", "\x1b[2J", "\r\n", "\n", "\u4f60", "\u0301", "\x1b[3b",
		"\U0001F1E9", "\U0001F1E9\x1b(B\U0001F1EA", "\u1100\x1b(B\u1161", "\x1b[?2026$p", "\x1b[2026h", "\x1b[?202h", "\x1b[?20266h", "\x1b[?2026", "\x1b[>4;2m", "\x1b[?7l", "\x1b[?7h", "\x1b[2;9r", "\x1b[r", "\x1b[?69h\x1b[3;9s", "\x1b[?69l",
		"\x1b[4:3m", "\x1b[58:2::255:192:185m", "\x1b[3\x7f1m", "\u2500", "\x1b[3;3H\u2500", "\u043f\u0440\u0438\u0432\u0435\u0442", "\u00ad", "\x1b[48;5;9m",
		"\x1b]8;;http://x\a", "\x1b]8;;\a", "\x1bV", "\x1bW",
		"\x1b)0", "\x1b(0", "\x0f", "\x0e", "\x1b#6", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?2l", "\x1b<", "\x1b[4h", "\x1b[4l", "\x1b[1\"q", "\x1b[0\"q",
	}
	rounds := 300
	if !tier.IsFull() {
		rounds = 60
	}
	for seed := range uint64(rounds) {
		data := mixed(seed, 50, func(r *rand.Rand) string { return parts[r.IntN(len(parts))] })
		checkFast(t, Options{Cols: 1 + int(seed%37), Rows: 1 + int(seed%6), ScrollbackLines: 20}, data, int(seed)%90, 200)
	}
}

// TestFastSyncEvents checks the events of synchronized updates and their offsets, for any split of the output.
func TestFastSyncEvents(t *testing.T) {
	data := []byte(strings.Repeat("\x1b[?2026h\x1b[?2026h\x1b[2;3Hx\x1b[?2026l text\r\n\x1b[m\x1b[?2026h\x1b[?2026l", 3) + strings.Repeat(" ", keyReach))
	whole, cut := New(Options{Cols: 20, Rows: 3}), New(Options{Cols: 20, Rows: 3})
	_, _ = whole.Write(data)
	slowly(cut, data)
	sync := func(term *Terminal) (events []Event) {
		for _, e := range term.Events(nil) {
			if e.Kind == EventSync {
				events = append(events, e)
			}
		}
		return events
	}
	got, want := sync(whole), sync(cut)
	if len(want) != 12 || !slices.Equal(got, want) {
		t.Errorf("events are\n%+v, byte by byte\n%+v", got, want)
	}
	if whole.Modes().Sync {
		t.Error("the last update has not ended")
	}
}

func FuzzFast(f *testing.F) {
	for _, s := range functionSeeds() {
		f.Add([]byte(s), uint16(10), uint16(5))
	}
	for _, p := range payload.All {
		f.Add(p.Generate(300)[:300], uint16(100), uint16(20))
	}
	f.Add([]byte("\x1b[2;4r\x1b[4;3H"+strings.Repeat("y\n", 30)), uint16(100), uint16(3<<8|20))
	f.Add([]byte("\x1b[4:3m\x1b[58:2::9:8:7mcurl\x1b(B\x1b[m"+strings.Repeat("\x1b[38;2;1;2;3ma\x1b[38;2;1;2;4mb\x1b[K", 5)), uint16(100), uint16(20))
	f.Add([]byte(strings.Repeat("x\n", 60)), uint16(30), uint16(5<<8|30))
	f.Fuzz(func(t *testing.T, data []byte, cut, size uint16) {
		if len(data) > 4096 {
			return
		}
		o := Options{Cols: 1 + int(size)%40, Rows: 1 + int(size>>8)%10, ScrollbackLines: 50}
		checkFast(t, o, data, int(cut))
		if bytes.Contains(data, []byte("8;2;")) {
			checkLoose(t, o, data, int(cut))
		}
	})
}

// TestKnownSGR compares cached effects of SGR with those of their parameters.
func TestKnownSGR(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var sequences []string
	for range 300 {
		s := "\x1b["
		for i := range r.IntN(6) {
			if i > 0 {
				s += ";"
			}
			s += []string{"", "0", "1", "4", "7", "22", "24", "39", "49", "31", "97", "38;5;7", "48;5;300", "38;2;1;2;3", "58;5;1", "38", "123456",
				"4:3", "4:9", "38:2::1:2:3", "58:2:7:8:9", "48:5:9", "1:2"}[r.IntN(23)]
		}
		sequences = append(sequences, s+"m")
	}
	term, plain := newTest(t, 20, 5), newTest(t, 20, 5)
	for i := range 20_000 {
		s := sequences[r.IntN(len(sequences))]
		feed(term, s+"x"+"                              ")
		for j := range s {
			feed(plain, s[j:j+1])
		}
		feed(plain, "x"+"                              ")
		if term.pen != plain.pen || term.cell != plain.cell && !term.penStale && !plain.penStale {
			t.Fatalf("%d: after %q the pen is %+v, want %+v", i, s, term.pen, plain.pen)
		}
	}
	if term.sgrCache.learned == 0 {
		t.Error("nothing was cached")
	}
}

// TestKnownColons: a sequence with colons is remembered as others are, one with a control inside is not.
func TestKnownColons(t *testing.T) {
	for s, want := range map[string]int{"\x1b[4:3m": 1, "\x1b[58:2::255:192:185m": 1, "\x1b[4:\x003m": 0, "\x1b[4:\x7f3m": 0, "\x1b[4\r:3m": 0, "\x1b[4:3 m": 0} {
		term := newTest(t, 20, 5)
		feed(term, s+strings.Repeat(" ", keyReach)+s+strings.Repeat(" ", keyReach))
		if term.sgrCache.learned != want {
			t.Errorf("%q: %d sequences are remembered, want %d", s, term.sgrCache.learned, want)
		}
	}
}
