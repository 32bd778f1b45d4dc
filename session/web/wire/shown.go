package wire

import (
	"hash/maphash"
	"strconv"

	"github.com/longterm-dev/longterm/render"
)

// PageScreen is the page's copy of a screen: a hash of each row, and the other sent state. The zero value is empty.
type PageScreen struct {
	isStarted  bool
	cols, rows int
	from, to   int
	hashes     []uint64 // of rows; 0: the page does not have the row
	header     header
	version    uint64 // of the last frame
	keptRows   []keptRow
	styleGen   uint64 // generation of the style table that hashes refer to

	newHashes  []uint64 // scratch: new hashes
	bodies     []byte   // scratch: rows that may be sent
	bodyStarts []int    // scratch: start of each body; -1: none; the last entry is the end of all
	rowByHash  map[uint64]int
	// isDelta states that rows without a body are unchanged; otherwise they are empty.
	isDelta bool
}

// header is the screen state that is sent besides rows.
type header struct {
	cursor                            render.Cursor
	title, state, mouse               string
	alt, appCursor, bracketed, isSent bool
	kitty                             uint8
}

// Frame is a screen to be sent to the page.
type Frame struct {
	ID    int
	N     uint64 // number to be acknowledged
	Epoch string
	// Screen has all rows, or those that changed since the last sent one (Delta).
	Screen *render.Screen
	// From and To are the requested rows; To 0: all.
	From, To int
	Links    bool

	State, Mouse         string
	AppCursor, Bracketed bool
	Kitty                uint8
	At                   *uint64 // offset of a past screen
	Behind               int64   // ms
	Requested            bool    // sent even if unchanged, since the present may look like the past
	Thin                 bool    // the page reads thin frames, and N is one more than that of the previous frame
}

// seed is the seed of all row hashes.
var seed = maphash.MakeSeed()

// MarkKnown records that the page already has these rows, except the listed ones, as it reports after a reconnect.
func (s *PageScreen) MarkKnown(f *Frame, t *Styles, changed map[int]bool) {
	s.resizeTo(f)
	t.reserve(0, f.Links)
	s.styleGen = t.generation
	for i := range f.Screen.Lines {
		l := &f.Screen.Lines[i]
		if l.Row >= s.from && l.Row < s.to && !changed[l.Row] {
			s.hashes[l.Row] = s.rowHash(t.appendRow(nil, l))
		}
	}
}

// resizeTo adapts the hashes to a screen and the requested rows. full reports that the page has no row.
func (s *PageScreen) resizeTo(f *Frame) (full bool) {
	sc := f.Screen
	from, to := f.From, f.To
	if to == 0 || to > sc.Rows {
		to = sc.Rows
	}
	from = min(from, to)
	if !s.isStarted || s.cols != sc.Cols || s.rows != sc.Rows || s.header.alt != sc.Alt && s.header.isSent {
		full = true
		s.hashes = resizeSlice(s.hashes, sc.Rows)
		clear(s.hashes)
	}
	s.isStarted, s.cols, s.rows, s.from, s.to = true, sc.Cols, sc.Rows, from, to
	for i := range s.hashes { // rows out of view are not tracked
		if i < from || i >= to {
			s.hashes[i] = 0
		}
	}
	return full
}

// resizeSlice returns a slice of length n.
func resizeSlice[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// rowHash returns a row's hash, never 0. It includes the generation of the style table: style numbers have another meaning in
// each.
func (s *PageScreen) rowHash(body []byte) uint64 {
	h := maphash.Bytes(seed, body)
	if len(body) > 1 {
		h += s.styleGen << 1
	}
	return h | 1
}

// Append appends the frame that makes the page show a screen. unchanged reports that the page already shows it.
func (s *PageScreen) Append(dst []byte, t *Styles, f *Frame) (frame []byte, unchanged bool) {
	sc := f.Screen
	isResized := !s.isStarted || s.cols != sc.Cols || s.rows != sc.Rows
	resumed := s.isStarted && !s.header.isSent
	full := s.resizeTo(f)
	if full {
		blank := s.rowHash([]byte{'0'})
		for i := s.from; i < s.to; i++ { // a page without rows shows empty ones
			s.hashes[i] = blank
		}
	}
	spans := 0
	for i := range sc.Lines {
		spans += len(sc.Lines[i].Spans)
	}
	t.reserve(spans, f.Links)
	s.styleGen = t.generation
	s.renderRows(t, sc)
	move, moves := s.findShift()
	if moves {
		s.shiftKeptRows(move)
	}
	if !full && !isResized && !resumed {
		if out, ok, nothing := s.appendThin(dst, t, f, move, moves); ok {
			if !nothing {
				s.version = sc.Version
				s.keepCursorRow(t, f)
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
	if isResized || resumed {
		dst = append(strconv.AppendInt(append(dst, `,"size":[`...), int64(sc.Cols), 10), ',')
		dst = append(strconv.AppendInt(dst, int64(sc.Rows), 10), ']')
	}
	dst, headerChanged := s.header.appendChanges(dst, f)
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
	unchanged = !full && !isResized && !resumed && !headerChanged && !moves && rows == 0 && f.At == nil && !f.Requested
	if unchanged {
		return dst[:start], true
	}
	if s.version = sc.Version; f.Thin {
		s.keepCursorRow(t, f)
	}
	return append(dst, '}'), false
}

// renderRows renders the rows that a screen has, and computes the new hashes.
func (s *PageScreen) renderRows(t *Styles, sc *render.Screen) {
	s.newHashes = append(s.newHashes[:0], s.hashes...)
	s.bodyStarts = resizeSlice(s.bodyStarts, s.rows+1)
	for i := range s.bodyStarts {
		s.bodyStarts[i] = -1
	}
	s.bodies, s.isDelta = s.bodies[:0], sc.Delta
	if !sc.Delta { // omitted rows are empty
		blank := s.rowHash([]byte{'0'})
		for i := s.from; i < s.to; i++ {
			s.newHashes[i] = blank
		}
	}
	for i := range sc.Lines {
		l := &sc.Lines[i]
		if l.Row < s.from || l.Row >= s.to {
			continue
		}
		at := len(s.bodies)
		s.bodies = t.appendRow(s.bodies, l)
		s.newHashes[l.Row] = s.rowHash(s.bodies[at:])
		s.bodyStarts[l.Row] = at
		// The last entry is the end of all bodies; rows come in ascending order.
		s.bodyStarts[s.rows] = len(s.bodies)
	}
	if cap(s.bodies) > 1<<20 && len(s.bodies) < 1<<18 {
		s.bodies = append([]byte(nil), s.bodies...)
	}
}

// appendRows appends the rows that the page lacks, and records that it has them.
func (s *PageScreen) appendRows(dst []byte) ([]byte, int) {
	n := 0
	for row := s.from; row < s.to; row++ {
		if s.newHashes[row] == s.hashes[row] {
			continue
		}
		sep := `,`
		if n++; n == 1 {
			sep = `,"rows":[`
		}
		dst = strconv.AppendInt(append(append(dst, sep...), '['), int64(row), 10)
		dst = append(append(append(dst, ','), s.rowBody(row)...), ']')
		s.hashes[row] = s.newHashes[row]
	}
	if n > 0 {
		dst = append(dst, ']')
	}
	return dst, n
}

// rowBody returns a row of this frame; rows that the screen omits are empty.
func (s *PageScreen) rowBody(row int) []byte {
	at := s.bodyStarts[row]
	if at < 0 {
		return []byte{'0'}
	}
	for i := row + 1; i <= s.rows; i++ {
		if s.bodyStarts[i] >= 0 {
			return s.bodies[at:s.bodyStarts[i]]
		}
	}
	return s.bodies[at:]
}

// headerOf returns the header of a frame.
func headerOf(f *Frame) header {
	sc := f.Screen
	return header{
		cursor: sc.Cursor, title: sc.Title, state: f.State, mouse: f.Mouse, alt: sc.Alt,
		appCursor: f.AppCursor, bracketed: f.Bracketed, kitty: f.Kitty, isSent: true,
	}
}

// appendChanges appends the changed members, each with a comma before it, and records that the page has them.
func (h *header) appendChanges(dst []byte, f *Frame) ([]byte, bool) {
	n := headerOf(f)
	if n == *h {
		return dst, false
	}
	all := !h.isSent
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
		o := jsonObject(append(dst, `,"keys":{`...))
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
