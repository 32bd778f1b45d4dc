package redact

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A program may print a secret so that its bytes do not follow one another and its letters do on the terminal:
// with backspaces (overstrike, line editors), over what stood there, by moves of the cursor, with titles,
// bells or characters of no width in between. So a line with anything of that kind is also looked at as it
// reads, and what was ever printed in the columns of a secret is masked. What is read this way is what
// vterm/plaintext makes text of: one line, without rows.

// Bounds of reconstructed lines.
const (
	// maxEdited is how far the bytes of a secret may lie apart, in a line that is longer.
	maxEdited = 4 << 10
	// maxColumn bounds the columns that the cursor can be moved to.
	maxColumn = maxEdited
	// maxLooked bounds how many columns are looked at, for each byte of a line, before those that lie further than near from
	// the cursor are forgotten: a line is looked at each time some of it is about to go, which may be each time a byte comes.
	maxLooked = 128
	// freely is how many columns are looked at without that.
	freely = 32 << 10
	near   = 128
	// maxRepeated bounds the characters of a line that are repeated (REP).
	maxRepeated = maxEdited
	// closer is for how many columns one counts that may have a secret: it is looked at closer.
	closer = 15
)

// overwrittenCell is a character that was printed in a column.
type overwrittenCell struct {
	at, n int  // its offset in the line's bytes, and its length
	under int  // index of the character that it replaced; -1: none
	kept  bool // its chain of replaced characters was collected
}

// Columns that show no stroke.
const (
	blankColumn = -1
	wideColumn  = -2 // second one of a wide character
)

// edited is a line that is being written.
type edited struct {
	b        []byte
	strokes  []overwrittenCell
	cols     []int  // strokes that are shown
	plain    []byte // what they show, in lines of nothing but ASCII
	other    bool   // it is not
	first    int    // columns before it are empty
	col      int
	insert   bool   // mode IRM: what is printed moves the rest of the line
	newest   [3]int // the newest character: its place in b, length and width
	repeated int    // characters, by REP
	begin    int    // start of the line in b
	at       int    // where in b is what is taken now
	looked   int    // columns
	fresh    bool   // something was done to it since it was looked at
	others   span   // columns that may read otherwise since
	look     looking
	text     text // that was looked at last
}

// looking is what is done with a line as it reads.
type looking struct {
	// mayHave reports whether a line may have a match in columns that changed since the last check; nil: always.
	mayHave func(line []byte, others span) bool
	at      func(t *text)
}

// editedLines checks each line of b whose displayed text differs from its byte sequence, in its displayed form, and
// before each removal of displayed text. So a read that ends at any byte finds nothing that a longer read does not
// find. base is the offset of b in the output.
func editedLines(b []byte, base uint64, look looking) {
	for begin := 0; begin < len(b); {
		end := begin + bytes.IndexByte(b[begin:], '\n') + 1
		if end == begin {
			end = len(b)
		}
		switch line := b[begin:end]; {
		case !isEdited(line):
		case len(line) <= maxEdited:
			readEdited(b, begin, end, look)
		default: // in halves that overlap, at the same offsets in each reading
			for from := begin - int((base+uint64(begin))%maxEdited); from < end; from += maxEdited {
				if lo, hi := max(from, begin), min(from+2*maxEdited, end); isEdited(b[lo:hi]) {
					readEdited(b, lo, hi, look)
				}
			}
		}
		begin = end
	}
}

// isEdited reports whether a line contains cursor motions or deletions. Colours do not count.
func isEdited(line []byte) bool {
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c == '\r':
			if i+1 < len(line) && line[i+1] != '\n' && line[i+1] != '\r' {
				return true
			}
		case c == 0x1b:
			n := junk(line[i:])
			if n < 3 || line[i+n-1] != 'm' {
				return true
			}
			i += n - 1
		case c < utf8.RuneSelf:
			return true
		default:
			r, n := utf8.DecodeRune(line[i:])
			if r < 0xa0 || hasNoWidth(r) || !utf8.FullRune(line[i:]) { // the rest may complete a zero-width character
				return true
			}
			i += n - 1
		}
	}
	return false
}

func readEdited(b []byte, from, to int, look looking) {
	e := edited{b: b, look: look, strokes: make([]overwrittenCell, 0, to-from), begin: from, first: maxColumn}
	for i := from; i < to; {
		i += e.step(b[i:to], i)
	}
	e.show()
}

// step handles the start of b, at an offset, and returns its length.
func (e *edited) step(b []byte, at int) int {
	e.at = at
	switch c := b[0]; {
	case c == 0x1b:
		return e.escape(b)
	case c == '\r':
		e.move(0)
	case c == '\b':
		e.move(e.col - 1)
	case c == '\t':
		e.move((e.col/8 + 1) * 8)
	case c < ' ' || c == 0x7f:
	case c < utf8.RuneSelf:
		e.print(at, 1, 1)
	default:
		r, n := utf8.DecodeRune(b)
		switch {
		case !utf8.FullRune(b): // more of it may come
			return len(b)
		case r == utf8.RuneError && n == 1:
			e.print(at, 1, 1)
		case r == 0x9b:
			return e.csi(b, n)
		case r < 0xa0 || hasNoWidth(r):
		case isWide(r):
			e.print(at, n, 2)
		default:
			e.print(at, n, 1)
		}
		return n
	}
	return 1
}

// print puts a character into the column of the cursor.
func (e *edited) print(at, n, width int) {
	if e.newest = [3]int{at, n, width}; e.col >= maxColumn {
		return
	}
	if e.insert {
		e.makeRoom(width)
	}
	if !e.same(at, n, width) {
		e.beforeChange(e.col, e.col+width)
	}
	from := min(e.col, len(e.cols))
	to := e.col + width
	if e.col < e.first {
		from, to, e.first = e.col, max(to, e.first), e.col
	}
	e.markChanged(from, to)
	for len(e.cols) < e.col+width {
		e.cols, e.plain = append(e.cols, blankColumn), append(e.plain, ' ')
	}
	if e.plain[e.col] = e.b[at]; n > 1 {
		e.other = true
	}
	under := e.cols[e.col]
	if under == wideColumn {
		under = blankColumn
	}
	e.strokes = append(e.strokes, overwrittenCell{at: at, n: n, under: under})
	e.cols[e.col] = len(e.strokes) - 1
	if width == 2 {
		e.cols[e.col+1] = wideColumn
	}
	e.col += width
}

// markChanged records that columns may have changed.
func (e *edited) markChanged(from, to int) {
	if !e.fresh {
		e.others = span{from, to}
	}
	e.fresh, e.others = true, span{min(e.others.from, from), max(e.others.to, to)}
}

// same reports whether the character is already at the cursor, as in overstriking.
func (e *edited) same(at, n, width int) bool {
	if e.col+width > len(e.cols) || e.cols[e.col] < 0 || width == 2 && e.cols[e.col+1] != wideColumn {
		return false
	}
	was := e.strokes[e.cols[e.col]]
	return bytes.Equal(e.b[was.at:was.at+was.n], e.b[at:at+n])
}

// beforeChange looks at the line before columns of it become others. Blanks are part of secrets, too.
func (e *edited) beforeChange(from, to int) {
	if !e.fresh || from >= min(to, len(e.cols)) {
		return
	}
	e.show()
	if e.looked > freely+maxLooked*(e.at-e.begin) {
		e.forget()
	}
}

// forget keeps only columns near the cursor. When it runs depends only on the start of the line.
func (e *edited) forget() {
	e.cut(min(len(e.cols), e.col+near))
	first := min(e.col-near, len(e.cols))
	e.blank(e.first, first)
	e.first = max(e.first, first)
}

// cut keeps n columns.
func (e *edited) cut(n int) { e.cols, e.plain = e.cols[:n], e.plain[:n] }

func (e *edited) blank(from, to int) {
	for i := from; i < to; i++ {
		e.cols[i], e.plain[i] = blankColumn, ' '
	}
}

func (e *edited) move(col int) { e.col = min(max(col, 0), maxColumn) }

// escape takes an escape sequence.
func (e *edited) escape(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch c := b[1]; {
	case c == '[':
		return e.csi(b, 2)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_' || c == 'k':
		for i := 2; i < len(b); i++ {
			switch {
			case b[i] == 0x07, b[i] == 0x18, b[i] == 0x1a:
				return i + 1
			case b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\':
				return i + 2
			case b[i] == 0x1b:
				return i
			}
		}
		return len(b)
	case c >= ' ' && c < '0': // with more between
		for i := 2; i < len(b); i++ {
			if b[i] >= '0' || b[i] < ' ' {
				return i + 1
			}
		}
		return len(b)
	}
	return 2
}

// csi handles a control sequence whose parameters start at n.
func (e *edited) csi(b []byte, n int) int {
	arg, first, private := -1, true, false
	for ; n < len(b) && b[n] < 0x40; n++ {
		switch c := b[n]; {
		case c < ' ':
			switch c {
			case '\b':
				e.move(e.col - 1)
			case '\r':
				e.move(0)
			case 0x18, 0x1a:
				return n + 1
			case 0x1b:
				return n
			}
		case c >= '0' && c <= '9' && first:
			arg = min(max(arg, 0)*10+int(c-'0'), maxColumn)
		case c >= '0' && c <= '9':
		case c == ';':
			first = false
		default:
			private = true
		}
	}
	if n == len(b) {
		return n
	}
	if !private {
		e.edit(b[n], arg)
	}
	return n + 1
}

// edit executes a control sequence.
func (e *edited) edit(final byte, arg int) {
	n := max(arg, 1)
	switch final {
	case 'C', 'a':
		e.move(e.col + n)
	case 'D':
		e.move(e.col - n)
	case 'G', '`':
		e.move(n - 1)
	case '@':
		e.makeRoom(n)
	case 'b': // REP
		if last := e.newest; last[1] > 0 {
			for ; n > 0 && e.col < maxColumn && e.repeated < maxRepeated; n-- {
				e.repeated++
				e.print(last[0], last[1], last[2])
			}
		}
	case 'h', 'l': // IRM
		if arg == 4 {
			e.insert = final == 'h'
		}
	case 'P':
		if e.col < len(e.cols) {
			e.beforeChange(e.col, e.col+n)
			end := min(e.col+n, len(e.cols))
			e.cols, e.plain = slices.Delete(e.cols, e.col, end), slices.Delete(e.plain, e.col, end)
			e.first = min(e.first, e.col)
			e.markChanged(e.col, maxColumn)
		}
	case 'X':
		e.erase(e.col, e.col+n)
	case 'K':
		switch max(arg, 0) {
		case 0:
			e.erase(e.col, len(e.cols))
		case 1:
			e.erase(0, e.col+1)
		case 2:
			e.erase(0, len(e.cols))
		}
	}
}

// makeRoom moves the rest of the line by n columns.
func (e *edited) makeRoom(n int) {
	if e.col < len(e.cols) && len(e.cols)+n <= maxColumn {
		e.beforeChange(e.col, len(e.cols))
		e.cols = slices.Insert(e.cols, e.col, slices.Repeat([]int{blankColumn}, n)...)
		e.plain = slices.Insert(e.plain, e.col, bytes.Repeat([]byte{' '}, n)...)
		e.markChanged(e.col, maxColumn)
	}
}

func (e *edited) erase(from, to int) {
	if from >= len(e.cols) {
		return
	}
	e.beforeChange(from, to)
	e.markChanged(from, to)
	if to >= len(e.cols) {
		e.cut(from)
		return
	}
	e.blank(from, to)
}

// show searches the line as it is shown now.
func (e *edited) show() {
	if !e.fresh {
		return
	}
	e.fresh = false
	first := min(e.first, len(e.cols))
	cols, others := e.cols[first:], span{}
	e.looked += len(cols)
	if !e.other && e.look.mayHave != nil {
		others = span{min(max(e.others.from-first, 0), len(cols)), min(max(e.others.to-first, 0), len(cols))}
		if !e.look.mayHave(e.plain[first:], others) {
			return
		}
	}
	e.looked += closer * len(cols)
	t := &e.text
	*t = text{over: e, data: t.data[:0], at: t.at[:0], stroke: t.stroke[:0], from: t.from[:0]}
	for i, s := range cols {
		switch {
		case s == blankColumn:
			t.data = append(t.data, ' ')
		case s >= 0:
			was := &e.strokes[s]
			t.data = append(t.data, e.b[was.at:was.at+was.n]...)
		}
		if first+i < e.others.from {
			others.from = len(t.data)
		}
		if first+i < e.others.to {
			others.to = len(t.data)
		}
	}
	if e.other && e.look.mayHave != nil && !e.look.mayHave(t.data, others) {
		return
	}
	for _, s := range cols {
		switch {
		case s == blankColumn:
			t.at, t.stroke = append(t.at, -1), append(t.stroke, s)
		case s >= 0:
			for k := range e.strokes[s].n {
				t.at, t.stroke = append(t.at, e.strokes[s].at+k), append(t.stroke, s)
			}
		}
	}
	t.flat = t.data
	for i := range t.data {
		t.from = append(t.from, i)
	}
	e.look.at(t)
}

// under returns the bytes ever printed at the given places of a text.
func (e *edited) under(t *text, places []int) (all []span) {
	for _, p := range places {
		for s := t.stroke[p]; s >= 0 && !e.strokes[s].kept; s = e.strokes[s].under {
			e.strokes[s].kept = true
			all = append(all, span{e.strokes[s].at, e.strokes[s].at + e.strokes[s].n})
		}
	}
	return all
}

// hasNoWidth reports whether a character takes no column and is invisible.
func hasNoWidth(r rune) bool {
	return r == 0xad || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// isWide reports whether a character takes two columns, of those that a secret may contain.
func isWide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf && r != 0x303f || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6 || r >= 0x1f300 && r <= 0x1faff || r >= 0x20000 && r <= 0x3fffd)
}
