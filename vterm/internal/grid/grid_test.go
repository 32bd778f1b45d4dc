package grid

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/vterm/internal/color"
)

// newTest returns a screen of lines, with a scrollback. All characters of the lines are one column wide.
func newTest(cols int, lines ...string) (*Screen, *Scrollback) {
	tb := new(Tables)
	tb.Styles.Init()
	tb.Version = 1
	s := NewScreen(tb, cols, len(lines))
	for i, l := range lines {
		write(s.Raw(i), tb, l, 0)
	}
	return s, NewScrollback(tb, 100, 1<<20)
}

func write(r *Row, tb *Tables, text string, id StyleID) {
	for _, c := range text {
		r.Begin(tb, r.Used, id)
		r.Packed.Reserve(8)
		if c < 0x80 {
			r.AppendASCII([]byte{byte(c)})
		} else {
			r.AppendRune(c, columnsOf(c))
		}
	}
}

func columnsOf(c rune) int { return starterColumns(c, 0) }

// show formats cells: the second half of a wide character is nothing, a blank a dot.
func show(tb *Tables, cells []Cell) string {
	var b strings.Builder
	for _, c := range cells {
		switch {
		case c.Width() == WidthTail:
		case c.Width() == WidthHead:
			b.WriteByte('^')
		case c&CellImage != 0:
			b.WriteByte('#')
		case c.Blank():
			b.WriteByte('.')
		case c&CellCluster != 0:
			b.WriteString(tb.Clusters.List[c.Content()])
		default:
			b.WriteRune(c.Rune())
		}
	}
	return b.String()
}

func draw(s *Screen) string {
	var lines []string
	for _, l := range s.CopyRows(nil, true, 0) {
		text := show(s.tables, l.Cells)
		if l.Wrapped {
			text += "~"
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "/")
}

func drawScrollback(h *Scrollback, cols int) string {
	h.Reflow(cols, math.MaxInt)
	var lines []string
	for i := range h.Len() {
		var l Line
		h.Line(i, &l)
		text := show(h.tables, l.Cells)
		if l.Wrapped {
			text += "~"
		}
		lines = append(lines, text)
	}
	return strings.Join(lines, "/")
}

func TestRegions(t *testing.T) {
	const x = Cell('x')
	mid := Region{Top: 1, Bottom: 2, Left: 1, Right: 3}
	for _, tt := range []struct {
		name string
		do   func(s *Screen)
		want string
	}{
		{"nothing", func(*Screen) {}, "abcde/fghij/klmno/pqrst"},
		{"erase a span", func(s *Screen) { s.EraseSpan(1, 1, 3, x) }, "abcde/fxxij/klmno/pqrst"},
		{"erase to the end", func(s *Screen) { s.EraseSpan(1, 2, 5, 0) }, "abcde/fg/klmno/pqrst"},
		{"erase a row", func(s *Screen) { s.EraseRow(0, 0) }, "/fghij/klmno/pqrst"},
		{"clear", func(s *Screen) { s.Clear(x) }, "xxxxx/xxxxx/xxxxx/xxxxx"},
		{"roll up", func(s *Screen) { s.RollUp(1, 3, 2, 0) }, "abcde/pqrst//"},
		{"roll up all", func(s *Screen) { s.RollUp(0, 3, 1, x) }, "fghij/klmno/pqrst/xxxxx"},
		{"roll down", func(s *Screen) { s.RollDown(0, 2, 1, 0) }, "/abcde/fghij/pqrst"},
		{"shift up", func(s *Screen) { s.ShiftUp(mid, 1, x) }, "abcde/flmnj/kxxxo/pqrst"},
		{"shift down", func(s *Screen) { s.ShiftDown(mid, 1, x) }, "abcde/fxxxj/kghio/pqrst"},
		{"shift right", func(s *Screen) { s.ShiftColumns(mid, 1, x) }, "abcde/fxghj/kxlmo/pqrst"},
		{"shift left", func(s *Screen) { s.ShiftColumns(mid, -2, x) }, "abcde/fixxj/knxxo/pqrst"},
		{"shift by more than there is", func(s *Screen) { s.ShiftColumns(mid, 99, x) }, "abcde/fxxxj/kxxxo/pqrst"},
		{"copy", func(s *Screen) { s.CopyBox(mid, 0, 2) }, "abghi/fglmn/klmno/pqrst"},
		{"copy onto itself", func(s *Screen) { s.CopyBox(mid, 2, 2) }, "abcde/fghij/klghi/pqlmn"},
		{"overwrite", func(s *Screen) { s.Overwrite(s.Raw(3), 1, []byte("YZ"), 0) }, "abcde/fghij/klmno/pYZst"},
	} {
		s, _ := newTest(5, "abcde", "fghij", "klmno", "pqrst")
		tt.do(s)
		if got := draw(s); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if what := s.Check(4, 0); what != "" {
			t.Errorf("%s: %s", tt.name, what)
		}
	}
}

// TestWideCharactersStayWhole checks that cutting a wide character in two leaves blanks.
func TestWideCharactersStayWhole(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(s *Screen)
		want string
	}{
		{"erased from its second column", func(s *Screen) { s.EraseSpan(0, 2, 3, 'x') }, "a.xb你"},
		{"erased to its first", func(s *Screen) { s.EraseSpan(0, 0, 2, 'x') }, "xx.b你"},
		{"shifted over the edge", func(s *Screen) { s.ShiftColumns(Region{Left: 0, Right: 5}, 1, 0) }, ".a你b"},
		{"shifted from within", func(s *Screen) { s.ShiftColumns(Region{Left: 2, Right: 5}, -1, 0) }, "a.b你"},
		{"overwritten", func(s *Screen) { s.Overwrite(s.Raw(0), 2, []byte("X"), 0) }, "a.Xb你"},
		{"half copied", func(s *Screen) { s.CopyBox(Region{Left: 2, Right: 3}, 0, 0) }, ".b.b你"},
		{"blanked", func(s *Screen) { s.MutableRow(0).Blank(2, 3, false, 6) }, "a..b你"},
		{"put over", func(s *Screen) { s.MutableRow(0).Put(2, 'é', 1, 0, 6) }, "a.éb你"},
		{"wide put over", func(s *Screen) { s.MutableRow(0).Put(2, '好', 2, 0, 6) }, "a.好你"},
		{"image over it", func(s *Screen) { s.MutableRow(0).PutImage(2, 3, 1, 6) }, "a.#b你"},
	} {
		s, _ := newTest(6, "a你b你")
		tt.do(s)
		if got := draw(s); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if what := s.Check(1, 2); what != "" {
			t.Errorf("%s: %s", tt.name, what)
		}
	}
}

func TestProtectedCellsAreSpared(t *testing.T) {
	s, _ := newTest(4, "abcd")
	s.At(0).Cells[1] |= CellProtected
	s.EraseUnprotected(0, 0, 4, 0)
	if got := draw(s); got != ".b" {
		t.Errorf("%s is left", got)
	}
	s.MutableRow(0).Blank(0, 4, true, 4)
	if got := draw(s); got != ".b" {
		t.Errorf("%s is left", got)
	}
	s.MutableRow(0).Blank(0, 4, false, 4)
	if got := draw(s); got != "" {
		t.Errorf("%s is left", got)
	}
}

// TestVersions checks that the version of a row changes if the row changes, and only then.
func TestVersions(t *testing.T) {
	s, _ := newTest(3, "a", "b", "c", "d")
	since := func(do func()) string {
		before := s.tables.Version
		s.tables.Version++
		do()
		s.Flush()
		var rows []string
		for _, l := range s.CopyRows(nil, s.Moved > before, before) {
			rows = append(rows, fmt.Sprint(l.Row))
		}
		return strings.Join(rows, " ")
	}
	for _, tt := range []struct {
		name string
		do   func()
		want string
	}{
		{"nothing", func() {}, ""},
		{"stamped", func() { s.MutableRow(2) }, "2"},
		{"erased", func() { s.EraseRow(1, 0) }, "1"},
		{"touched", func() { s.Touch(1, 3) }, "1 2"},
		{"touched beyond the end", func() { s.Touch(3, 9) }, "3"},
		{"rolled", func() { s.RollUp(1, 2, 1, 0) }, "1 2"},
		{"all", func() { s.TouchAll() }, "0 1 2 3"},
	} {
		if got := since(tt.do); got != tt.want {
			t.Errorf("%s: rows %s changed, want %s", tt.name, got, tt.want)
		}
	}
}

// TestRecords checks that a row is the same packed, inflated, and read back from a record.
func TestRecords(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "hello ", "é", "你", "漢字", "🙂", " ", "~"}
	for range 2000 {
		tb := new(Tables)
		tb.Styles.Init()
		s := NewScreen(tb, 300, 2)
		r := s.Raw(0)
		for range rnd.IntN(20) {
			write(r, tb, pieces[rnd.IntN(len(pieces))], tb.Styles.ID(&Style{Attrs: Attrs(rnd.IntN(4))}))
			if rnd.IntN(8) == 0 && r.Used > 0 && !r.Packed.Extend('\u0301') {
				t.Fatal("a mark does not join")
			}
		}
		r.Wrapped, r.Size = rnd.IntN(2) == 0, LineSize(rnd.IntN(2))
		packed := tb.EncodeRow(nil, r)
		s.Inflate(r)
		if cells := tb.EncodeRow(nil, r); !bytes.Equal(packed, cells) {
			t.Fatalf("packed %q, of cells %q", packed, cells)
		}
		again := s.Raw(1)
		if !s.RestoreRow(again, packed, 0) {
			t.Fatalf("%q is not accepted", packed)
		}
		if !slices.Equal(again.Cells[:again.Used], r.Cells[:r.Used]) || again.Wrapped != r.Wrapped || again.Size != r.Size {
			t.Fatalf("%q read back is %s, was %s", packed, show(tb, again.Cells), show(tb, r.Cells))
		}
	}
}

func TestScrollback(t *testing.T) {
	s, h := newTest(4, "aaaa", "bb", "你x", "c")
	s.Raw(0).Wrapped = true
	for i := range 4 {
		h.Push(s.Raw(i))
	}
	if got := drawScrollback(h, 4); got != "aaaa~/bb/你x/c" {
		t.Errorf("kept %s", got)
	}
	first, end := h.FirstID(), h.EndID()
	h.widthChanged(2)
	if got := drawScrollback(h, 2); got != "aa~/aa~/bb/你~/x/c" {
		t.Errorf("of two columns: %s", got)
	}
	if h.FirstID() <= first || h.EndID() != end+uint64(h.lines) {
		t.Errorf("ids %d to %d became %d to %d", first, end, h.FirstID(), h.EndID())
	}
	e := h.EmptyCopy()
	if e.Len() != 0 || e.FirstID() != h.EndID() {
		t.Errorf("emptied: %d lines from %d", e.Len(), e.FirstID())
	}
	h.Clear()
	if h.Len() != 0 {
		t.Error("lines are left")
	}
}

func TestReflow(t *testing.T) {
	for _, tt := range []struct {
		name       string
		lines      string
		cursor     Cursor
		cols, rows int
		want       string // screen|scrollback
		at         Cursor
	}{
		{"wider", "abcd~/ef", Cursor{Row: 1, Col: 2}, 8, 2, "abcdef/|", Cursor{Row: 0, Col: 6}},
		{"narrower", "abcd/ef", Cursor{Row: 1, Col: 1}, 2, 3, "ab~/cd/ef|", Cursor{Row: 2, Col: 1}},
		{"narrower, and no room", "abcd/ef", Cursor{Row: 1, Col: 1}, 2, 2, "cd/ef|ab~", Cursor{Row: 1, Col: 1}},
		{"lower", "a/b/c", Cursor{Row: 2}, 4, 2, "b/c|a", Cursor{Row: 1}},
		{"lower with room below the cursor", "a//", Cursor{}, 4, 1, "a|", Cursor{}},
		{"wide character at the edge", "ab你", Cursor{Row: 0, Col: 0}, 3, 3, "ab^~/你/|", Cursor{}},
		{"one column", "你", Cursor{}, 1, 2, "你/|", Cursor{}},
		{"pending wrap", "abcd", Cursor{Col: 3, Pending: true}, 8, 1, "abcd|", Cursor{Col: 4}},
	} {
		var lines []string
		wrapped := map[int]bool{}
		for i, l := range strings.Split(tt.lines, "/") {
			l, wrapped[i] = strings.CutSuffix(l, "~")
			lines = append(lines, l)
		}
		s, h := newTest(4, lines...)
		for i, w := range wrapped {
			s.Raw(i).Wrapped = w
		}
		cur := tt.cursor
		s = s.Reflow(h, &cur, tt.cols, tt.rows)
		got := draw(s) + "|" + drawScrollback(h, tt.cols)
		if got != tt.want || cur != tt.at {
			t.Errorf("%s: %s, cursor %+v; want %s, %+v", tt.name, got, cur, tt.want, tt.at)
		}
		if what := s.Check(tt.rows, 0); what != "" {
			t.Errorf("%s: %s", tt.name, what)
		}
	}
}

// TestReflowTakesLinesBack checks that lines come back from the scrollback when the screen becomes higher.
func TestReflowTakesLinesBack(t *testing.T) {
	s, h := newTest(4, "x")
	for _, l := range []string{"abcd", "ef"} {
		r := &Row{}
		write(r, s.tables, l, 0)
		r.Wrapped = l == "abcd"
		h.Push(r)
	}
	cur := Cursor{}
	s = s.Reflow(h, &cur, 6, 3)
	if got := draw(s); got != "abcdef/x/" || h.Len() != 0 || cur.Row != 1 {
		t.Errorf("%s, %d lines kept, cursor %+v", got, h.Len(), cur)
	}
}

func TestCrop(t *testing.T) {
	s, _ := newTest(4, "abcd", "e你f", "ghij")
	cur := Cursor{Row: 2, Col: 3}
	s.Crop(&cur, 2, 2)
	if got := draw(s); got != "e/gh" || cur.Row != 1 {
		t.Errorf("%s, cursor %+v", got, cur)
	}
	s.Crop(&cur, 5, 3)
	if got := draw(s); got != "e/gh/" {
		t.Errorf("larger again: %s", got)
	}
	if what := s.Check(3, 0); what != "" {
		t.Error(what)
	}
}

// TestLinesAtOnce checks that whole lines printed at once give the same as one after the other, skipped or not.
func TestLinesAtOnce(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "%s\r\n", strings.Repeat("x", i%7)+fmt.Sprint(i))
	}
	text.WriteString("        ") // a short line stays unchanged
	p := []byte(text.String())
	for _, rows := range []int{2, 3, 10} {
		one, kept := newTest(20, make([]string, rows)...)
		for _, r := range one.Window() {
			r.Packed.Reserve(20) // rows without space stay unchanged
		}
		n := one.AppendLines(p, 0, rows-1, 0, 0, kept)
		all, passed := newTest(20, make([]string, rows)...)
		for _, r := range all.Window() {
			r.Packed.Reserve(20)
		}
		m := all.PassLines(p, 0, rows-1, passed)
		m += all.AppendLines(p[m:], 0, rows-1, 0, 0, passed)
		if n != m || n == 0 {
			t.Fatalf("%d rows: %d and %d bytes", rows, n, m)
		}
		if a, b := draw(one), draw(all); a != b {
			t.Errorf("%d rows: %s and %s", rows, a, b)
		}
		if a, b := drawScrollback(kept, 20), drawScrollback(passed, 20); a != b {
			t.Errorf("%d rows: %s and %s are kept", rows, a, b)
		}
	}
}

func TestCompact(t *testing.T) {
	s, _ := newTest(4, "ab", "c")
	tb := s.tables
	for i := range LastingStyles + 1000 {
		tb.Styles.ID(&Style{FG: 2<<24 | 1<<16, Link: LinkID(i)})
	}
	last := StyleID(len(tb.Styles.List) - 1)
	want := tb.Styles.List[last]
	r := s.MutableRow(0)
	r.Cells[0] = r.Cells[0].WithStyle(last)
	r.Cells[1] = tb.Extend(r.Cells[1], '\u0301')
	for i := range 1000 {
		tb.Clusters.ID([]byte(fmt.Sprint("x", i)))
	}
	tb.CompactStyles([]*Screen{s})
	tb.CompactClusters([]*Screen{s})
	if len(tb.Styles.List) != LastingStyles+1 || tb.Styles.List[r.Cells[0].Style()] != want {
		t.Errorf("%d styles; that of the cell is %+v, was %+v", len(tb.Styles.List), tb.Styles.List[r.Cells[0].Style()], want)
	}
	if got := draw(s); got != "ab\u0301/c" || len(tb.Clusters.List) != 2 {
		t.Errorf("%q, %d clusters", got, len(tb.Clusters.List))
	}
}

// TestCompactLoose checks that a packed row whose style has no id gets one while the table is rebuilt.
func TestCompactLoose(t *testing.T) {
	s, _ := newTest(8, "", "")
	tb := s.tables
	for i := range LastingStyles + 1000 {
		tb.Styles.ID(&Style{FG: 2<<24 | 1<<16, Link: LinkID(i)})
	}
	want := Style{FG: 2<<24 | 99}
	r := s.Window()[0]
	r.Packed.Reserve(8)
	if n := r.AppendUnpacked(tb, []byte("loose\x1b[m and more"), 0, 8, &want); n != 5 || !tb.Styles.Lacks(&want) {
		t.Fatalf("%d bytes", n)
	}
	tb.CompactStyles([]*Screen{s})
	if got := tb.Styles.List[r.Cells[4].Style()]; got != want || draw(s) != "loose/" {
		t.Errorf("%q in %+v", draw(s), got)
	}
}

// TestColorOnlyRecord checks that a text colour alone is stored in four bytes once no id is free, and that older
// storage stays readable.
//
// FEATURES: R25
func TestColorOnlyRecord(t *testing.T) {
	s, _ := newTest(8, "")
	tb := s.tables
	for i := range LastingStyles {
		tb.Styles.ID(&Style{ULColor: 2<<24 | color.Color(i)})
	}
	cells := make([]Cell, 3)
	for i := range cells {
		st := Style{FG: color.RGB(byte(i), 0, 255)}
		cells[i] = NewCell('a', WidthNarrow, tb.Styles.ID(&st), 0)
	}
	rec := tb.EncodeRow(nil, &Row{Cells: cells, Used: len(cells), Marks: Marks{Inflated: true}})
	if want := 2 + len(cells)*(1+1+4); len(rec) != want {
		t.Errorf("%d bytes, want %d: %x", len(rec), want, rec)
	}
	old := append([]byte(nil), rec[:5]...)
	for i := range cells {
		old = binary.AppendUvarint(append(old, 1, 0), uint64(color.RGB(byte(i), 0, 255)))
		old = append(old, 0, 0, 0, 0, 0)
	}
	for _, rec := range [][]byte{rec, old} {
		var l Line
		if tb.decodeLine(&l, rec); !slices.Equal(l.Cells, cells) {
			t.Errorf("%x gives %x, want %x", rec, l.Cells, cells)
		}
	}
}

// TestLacks checks that Lacks agrees with a search of the list: for styles of a full table, for others and for the
// default one.
func TestLacks(t *testing.T) {
	var table StyleTable
	table.Init()
	r := rand.New(rand.NewPCG(8, 9))
	known := map[Style]bool{{}: true}
	next := func() Style { return Style{FG: color.RGB(byte(r.IntN(256)), byte(r.IntN(256)), 0)} }
	for range 3 * LastingStyles {
		st := next()
		if len(known) >= LastingStyles {
			if table.Lacks(&st) == known[st] {
				t.Fatalf("%+v: missing is %v, known %v", st, table.Lacks(&st), known[st])
			}
			if r.IntN(2) == 0 {
				continue
			}
		}
		table.ID(&st)
		known[st] = true
	}
	if table.Lacks(&Style{}) {
		t.Error("the default style is lacking")
	}
}

func TestStyleTable(t *testing.T) {
	var table StyleTable
	table.Init()
	seen := map[StyleID]Style{0: {}}
	for i := range 5000 {
		st := Style{FG: 1<<24 | 7, Attrs: Attrs(i % 512), Link: LinkID(i / 512)}
		id := table.ID(&st)
		if was, ok := seen[id]; ok && was != st {
			t.Fatalf("%+v and %+v are both %d", was, st, id)
		}
		seen[id] = st
		if table.ID(&st) != id || table.List[id] != st {
			t.Fatalf("%+v is %d once", st, id)
		}
		if found, ok := table.Find(&st); !ok || found != id {
			t.Fatalf("%+v is found: %v, as %d, want %d", st, ok, found, id)
		}
		if st.ULColor = 1; i%7 == 0 {
			if id, ok := table.Find(&st); ok {
				t.Fatalf("%+v, which was never requested, is found as %d", st, id)
			}
		}
	}
	if id, ok := table.Find(&Style{}); !ok || id != 0 {
		t.Errorf("the default style is found: %v, as %d", ok, id)
	}
	if table.ID(&Style{}) != 0 {
		t.Error("the default style is not 0")
	}
}

// FuzzRestore checks that damaged records are rejected, or read as valid rows.
func FuzzRestore(f *testing.F) {
	s, h := newTest(12, "plain", "你好 wide", "é")
	write(s.Raw(0), s.tables, "bold", s.tables.Styles.ID(&Style{Attrs: Bold}))
	for i := range 3 {
		rec := s.tables.EncodeRow(nil, s.Raw(i))
		f.Add(rec)
		h.Push(s.Raw(i))
		if !bytes.Equal(h.Record(i), rec) {
			f.Fatalf("line %d is %q, row %q", i, h.Record(i), rec)
		}
	}
	f.Fuzz(func(t *testing.T, rec []byte) {
		s, h := newTest(12, "")
		s.RestoreRow(s.Raw(0), rec, 1)
		if what := s.Check(1, 1); what != "" {
			t.Fatalf("row of %q: %s", rec, what)
		}
		if h.Restore(rec, 1) {
			h.Stale = h.count()
			drawScrollback(h, 3)
		}
	})
}

// TestLacksColor compares the quick check of a colour with the table.
func TestLacksColor(t *testing.T) {
	var s StyleTable
	s.Init()
	if s.lacksColor(color.RGB(1, 2, 3)) {
		t.Error("a table with free permanent ids reports a colour as permanently missing")
	}
	for i := range LastingStyles {
		s.ID(&Style{FG: color.RGB(1, byte(i>>8), byte(i))})
	}
	s.Lacks(&Style{FG: color.RGB(9, 9, 9)}) // makes the filter
	for i := range uint32(1 << 16) {
		st := Style{FG: color.RGB(byte(i%3), byte(i>>8), byte(i))}
		if hashColor(st.FG) != hashStyle(&st) {
			t.Fatalf("%+v has two hashes", st)
		}
		if s.lacksColor(st.FG) && !s.Lacks(&st) {
			t.Fatalf("%+v is reported as missing", st)
		}
	}
	if !s.lacksColor(color.RGB(9, 9, 9)) {
		t.Error("a missing colour is searched in the table")
	}
}

// TestPassedLines holds lines that pass over the screen within one write, of all lengths, to those that are printed one by one.
func TestPassedLines(t *testing.T) {
	for _, lengths := range [][]int{{1}, {0}, {2}, {7}, {8}, {9}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25}, {1, 1, 1, 40}, {1, 0}} {
		var p, want []byte
		for i := range 300 {
			line := strings.Repeat(string(rune('a'+i%26)), lengths[i%len(lengths)])
			p = append(p, line+"\r\n"...)
			want = append(want, line+"\n"...)
		}
		var tb Tables
		tb.Styles.Init()
		s, kept := NewScreen(&tb, 80, 5), NewScrollback(&tb, 1000, 1<<20)
		if n := s.PassLines(p, 0, 4, kept); n == 0 || n > len(p) || len(p)-n >= 100 {
			t.Fatalf("lines of %v: %d bytes of %d are consumed", lengths, n, len(p))
		}
		var got []byte
		var l Line
		text := func(cells []Cell) {
			for _, c := range cells {
				got = append(got, byte(c.Rune()))
			}
			got = append(got, '\n')
		}
		for i := range kept.Len() {
			kept.Line(i, &l)
			text(l.Cells)
		}
		for i := range 4 {
			s.CopyRow(&l, i)
			text(l.Cells)
		}
		if got = got[4:]; !bytes.HasPrefix(want, got) || len(want)-len(got) > 60 { // four blank rows left first
			t.Errorf("lines of %v result in %q", lengths, got[:min(len(got), 200)])
		}
	}
}
