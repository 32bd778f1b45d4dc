package wire

import (
	"hash/maphash"
	"strconv"

	"github.com/longterm-dev/longterm/render"
)

// Shown is the page's copy of a screen: a hash of each row, and the other sent state. The zero value is empty.
type Shown struct {
	begun      bool
	cols, rows int
	from, to   int
	hash       []uint64 // of rows; 0: the page does not have it
	head       head
	version    uint64 // of the last frame
	kept       []kept
	gen        uint64 // of the table of styles: bodies of rows have numbers of it

	next   []uint64 // scratch: new hashes
	bodies []byte   // scratch: rows that may be sent
	ends   []int    // scratch: start of each body; -1: not made; the last is the end of all
	at     map[uint64]int
	// partial states that rows without a body are unchanged; otherwise they are empty.
	partial bool
}

// head is the screen state that is sent besides rows.
type head struct {
	cursor                          render.Cursor
	title, state, mouse             string
	alt, appCursor, bracketed, told bool
	kitty                           uint8
}

// Frame is a screen to be shown.
type Frame struct {
	ID    int
	N     uint64 // to be acknowledged
	Epoch string
	// Screen has all rows, or those that changed since the last one that was shown (Delta).
	Screen *render.Screen
	// From and To are the rows wanted; To 0: all.
	From, To int
	Links    bool

	State, Mouse         string
	AppCursor, Bracketed bool
	Kitty                uint8
	At                   *uint64 // of a past screen: its offset
	Behind               int64   // ms
	Asked                bool    // for: sent even if the page shows all of it already, as the present may look like the past
	Thin                 bool    // the page reads thin frames. N is one more than that of the frame before
}

var seed = maphash.MakeSeed()

// Has records that the page already has these rows, except the listed ones, as it reports after a broken connection.
func (s *Shown) Has(f *Frame, t *Styles, changed map[int]bool) {
	s.fit(f)
	t.begin(0, f.Links)
	s.gen = t.gen
	for i := range f.Screen.Lines {
		l := &f.Screen.Lines[i]
		if l.Row >= s.from && l.Row < s.to && !changed[l.Row] {
			s.hash[l.Row] = s.sum(t.appendRow(nil, l))
		}
	}
}

// fit makes the hashes those of a screen and rows as wanted.
func (s *Shown) fit(f *Frame) (full bool) {
	sc := f.Screen
	from, to := f.From, f.To
	if to == 0 || to > sc.Rows {
		to = sc.Rows
	}
	from = min(from, to)
	if !s.begun || s.cols != sc.Cols || s.rows != sc.Rows || s.head.alt != sc.Alt && s.head.told {
		full = true
		s.hash = resize(s.hash, sc.Rows)
		clear(s.hash)
	}
	s.begun, s.cols, s.rows, s.from, s.to = true, sc.Cols, sc.Rows, from, to
	for i := range s.hash { // what is out of sight is not kept up
		if i < from || i >= to {
			s.hash[i] = 0
		}
	}
	return full
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// sum returns a row's hash, never 0. Equal style numbers mean different looks in another table, so the generation is
// part of it.
func (s *Shown) sum(body []byte) uint64 {
	h := maphash.Bytes(seed, body)
	if len(body) > 1 {
		h += s.gen << 1
	}
	return h | 1
}

// Append appends the frame that makes the page show a screen. nothing reports that the page already shows it.
func (s *Shown) Append(dst []byte, t *Styles, f *Frame) (frame []byte, nothing bool) {
	sc := f.Screen
	sized := !s.begun || s.cols != sc.Cols || s.rows != sc.Rows
	resumed := s.begun && !s.head.told
	full := s.fit(f)
	if full {
		blank := s.sum([]byte{'0'})
		for i := s.from; i < s.to; i++ { // a page that forgot its rows shows them empty
			s.hash[i] = blank
		}
	}
	spans := 0
	for i := range sc.Lines {
		spans += len(sc.Lines[i].Spans)
	}
	t.begin(spans, f.Links)
	s.gen = t.gen
	s.render(t, sc)
	move, moves := s.findMove()
	if moves {
		s.moveKept(move)
	}
	if !full && !sized && !resumed {
		if out, ok, nothing := s.appendThin(dst, t, f, move, moves); ok {
			if !nothing {
				s.version = sc.Version
				s.keep(t, f)
			}
			return out, nothing
		}
	}
	rows := 0
	start := len(dst)
	dst = append(strconv.AppendInt(append(dst, `{"t":"f","id":`...), int64(f.ID), 10), `,"n":`...)
	dst = append(strconv.AppendUint(dst, f.N, 10), `,"v":`...)
	dst = strconv.AppendUint(dst, sc.Version, 10)
	dst = render.AppendString(append(dst, `,"e":`...), f.Epoch)
	if full {
		dst = append(dst, `,"full":true`...)
	}
	if sized || resumed {
		dst = append(strconv.AppendInt(append(dst, `,"size":[`...), int64(sc.Cols), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(sc.Rows), 10), ']')
	}
	dst, told := s.head.append(dst, f)
	if f.At != nil {
		dst = strconv.AppendUint(append(dst, `,"at":`...), *f.At, 10)
	}
	if f.Behind > 0 {
		dst = strconv.AppendInt(append(dst, `,"behind":`...), f.Behind, 10)
	}
	dst = t.flush(dst)
	if moves {
		dst = append(strconv.AppendInt(append(dst, `,"scroll":[`...), int64(move.top), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(move.bottom), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(move.by), 10), ']')
	}
	dst, rows = s.appendRows(dst)
	nothing = !full && !sized && !resumed && !told && !moves && rows == 0 && f.At == nil && !f.Asked
	if nothing {
		return dst[:start], true
	}
	if s.version = sc.Version; f.Thin {
		s.keep(t, f)
	}
	return append(dst, '}'), false
}

// render makes the bodies of the rows that a screen has, and the hashes that the page's are to become.
func (s *Shown) render(t *Styles, sc *render.Screen) {
	s.next = append(s.next[:0], s.hash...)
	s.ends = resize(s.ends, s.rows+1)
	for i := range s.ends {
		s.ends[i] = -1
	}
	s.bodies, s.partial = s.bodies[:0], sc.Delta
	if !sc.Delta { // omitted rows are empty
		blank := s.sum([]byte{'0'})
		for i := s.from; i < s.to; i++ {
			s.next[i] = blank
		}
	}
	for i := range sc.Lines {
		l := &sc.Lines[i]
		if l.Row < s.from || l.Row >= s.to {
			continue
		}
		at := len(s.bodies)
		s.bodies = t.appendRow(s.bodies, l)
		s.next[l.Row] = s.sum(s.bodies[at:])
		s.ends[l.Row] = at
		// The last entry is the end of all bodies; rows come in ascending order.
		s.ends[s.rows] = len(s.bodies)
	}
	if cap(s.bodies) > 1<<20 && len(s.bodies) < 1<<18 {
		s.bodies = append([]byte(nil), s.bodies...)
	}
}

// appendRows appends the rows that the page has otherwise, and notes that it has them.
func (s *Shown) appendRows(dst []byte) ([]byte, int) {
	n := 0
	for row := s.from; row < s.to; row++ {
		if s.next[row] == s.hash[row] {
			continue
		}
		sep := `,`
		if n++; n == 1 {
			sep = `,"rows":[`
		}
		dst = strconv.AppendInt(append(append(dst, sep...), '['), int64(row), 10)
		dst = append(append(append(dst, ','), s.body(row)...), ']')
		s.hash[row] = s.next[row]
	}
	if n > 0 {
		dst = append(dst, ']')
	}
	return dst, n
}

// body returns a row of this frame; rows that the screen omits are empty.
func (s *Shown) body(row int) []byte {
	at := s.ends[row]
	if at < 0 {
		return []byte{'0'}
	}
	for i := row + 1; i <= s.rows; i++ {
		if s.ends[i] >= 0 {
			return s.bodies[at:s.ends[i]]
		}
	}
	return s.bodies[at:]
}

func headOf(f *Frame) head {
	sc := f.Screen
	return head{
		cursor: sc.Cursor, title: sc.Title, state: f.State, mouse: f.Mouse, alt: sc.Alt,
		appCursor: f.AppCursor, bracketed: f.Bracketed, kitty: f.Kitty, told: true,
	}
}

// append appends what changed, as members with a comma before each, and notes that the page knows.
func (h *head) append(dst []byte, f *Frame) ([]byte, bool) {
	n := headOf(f)
	if n == *h {
		return dst, false
	}
	all := !h.told
	if all || n.cursor != h.cursor {
		c := &n.cursor
		dst = append(strconv.AppendInt(append(dst, `,"cur":[`...), int64(c.X), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(c.Y), 10), ',', '0'+bit(c.Visible), ',')
		dst = append(render.AppendString(dst, c.Shape), ',', '0'+bit(c.Blink), ']')
	}
	if all || n.title != h.title {
		dst = render.AppendString(append(dst, `,"title":`...), n.title)
	}
	if all || n.alt != h.alt {
		dst = strconv.AppendBool(append(dst, `,"alt":`...), n.alt)
	}
	if all || n.state != h.state {
		dst = render.AppendString(append(dst, `,"state":`...), n.state)
	}
	if all || n.mouse != h.mouse {
		dst = render.AppendString(append(dst, `,"mouse":`...), n.mouse)
	}
	if all || n.appCursor != h.appCursor || n.bracketed != h.bracketed || n.kitty != h.kitty {
		o := member(append(dst, `,"keys":{`...))
		if n.appCursor {
			o.key("app")
			o = append(o, "true"...)
		}
		if n.bracketed {
			o.key("paste")
			o = append(o, "true"...)
		}
		if n.kitty != 0 {
			o.index("kitty", int16(n.kitty))
		}
		dst = append(o, '}')
	}
	*h = n
	return dst, true
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}
