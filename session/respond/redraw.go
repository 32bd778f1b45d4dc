package respond

import "bytes"

// An answered prompt may be redrawn: after a resize, by a program that paints the whole screen, or by a line editor. It
// is the same prompt if it is on the same row. Rows are counted by line ends and relative moves. After an absolute move
// the row is unknown, and the next such prompt counts as the same one. It is another prompt if a line was ended below
// it before the move.

// drawn is an answered text.
type drawn struct {
	Rule  int    `json:"rule"`
	Text  string `json:"text"`
	Row   int    `json:"row"`
	Line  int    `json:"line"`  // lines ended before
	Moved bool   `json:"moved"` // the cursor was moved absolutely since
}

// redraws remembers answered texts.
type redraws struct {
	drawn []drawn
	row   int // that the cursor is on, from where it was at the start
	line  int // lines ended so far
}

// maxDrawn bounds the remembered texts: prompts on one screen.
const maxDrawn = 64

// add records a firing.
func (r *redraws) add(rule int, text string) {
	if len(r.drawn) == maxDrawn {
		r.drawn = append(r.drawn[:0], r.drawn[1:]...)
	}
	r.drawn = append(r.drawn, drawn{Rule: rule, Text: text, Row: r.row, Line: r.line})
}

// isRedrawn reports whether a match is an answered text that was redrawn.
func (r *redraws) isRedrawn(rule int, text string) bool {
	for i := range r.drawn {
		d := &r.drawn[i]
		if d.Rule == rule && d.Text == text && (d.Moved || d.Row == r.row && d.Line != r.line) {
			d.Moved, d.Row, d.Line = false, r.row, r.line
			return true
		}
	}
	return false
}

// move records moves of the cursor since the last line end.
func (r *redraws) move(m move) {
	r.row += m.rows
	if !m.absolute {
		return
	}
	for i := range r.drawn {
		r.drawn[i].Moved = true
	}
}

// newline records a line end.
func (r *redraws) newline() {
	r.row++
	r.line++
	kept := r.drawn[:0]
	for _, d := range r.drawn {
		if d.Moved || d.Row >= r.row {
			kept = append(kept, d)
		}
	}
	r.drawn = kept
}

// move is a change of the cursor's row.
type move struct {
	at       uint64 // offset of the sequence's end
	rows     int    // down, relatively
	absolute bool   // another row, or the screen was cleared
}

// moves detects the sequences that move the cursor to another row, or clear the screen.
type moves struct {
	state   moveState
	at      uint64 // offset of the next byte
	found   []move // not returned yet
	skip    uint64 // what ends before is not news
	private bool   // of the sequence being read: it has a prefix
	arg     int    // its last parameter
}

type moveState uint8

const (
	moveGround moveState = iota
	moveEscape
	moveCSI
)

// scan reads output and appends to m.found each sequence that moves the cursor to another row, or clears the screen. A
// sequence may be split between two calls.
func (m *moves) scan(p []byte) {
	for len(p) > 0 {
		if m.state == moveGround {
			i := bytes.IndexByte(p, 0x1b)
			if i < 0 {
				m.at += uint64(len(p))
				return
			}
			p = p[i+1:]
			m.at += uint64(i + 1)
			m.state = moveEscape
			continue
		}
		m.step(p[0])
		p = p[1:]
		m.at++
	}
}

// step processes a byte of a sequence.
func (m *moves) step(b byte) {
	switch {
	case b == 0x1b:
		m.state = moveEscape
	case m.state == moveEscape && b == '[':
		m.state, m.private, m.arg = moveCSI, false, 0
	case m.state == moveEscape:
		m.state = moveGround
		switch b {
		case 'c': // RIS
			m.note(move{absolute: true})
		case 'M': // RI
			m.note(move{rows: -1})
		}
	case b >= '0' && b <= '9':
		m.arg = min(m.arg*10+int(b-'0'), 1<<16)
	case b == ';':
		m.arg = 0
	case b >= '<' && b <= '?':
		m.private = true
	case b >= 0x40 && b <= 0x7e:
		m.state = moveGround
		m.csi(b)
	}
}

func (m *moves) note(v move) {
	if v.at = m.at; m.at >= m.skip {
		m.found = append(m.found, v)
	}
}

// csi processes the final byte of a sequence.
func (m *moves) csi(final byte) {
	n := min(max(m.arg, 1), maxMoveRows)
	switch {
	case m.private && (final == 'h' || final == 'l'):
		if m.arg == 47 || m.arg == 1047 || m.arg == 1049 { // alternate screen
			m.note(move{absolute: true})
		}
	case m.private:
	case final == 'A' || final == 'F': // CUU, CPL
		m.note(move{rows: -n})
	case final == 'B' || final == 'E': // CUD, CNL
		m.note(move{rows: n})
	case final == 'H' || final == 'd' || final == 'f' || final == 'J' && m.arg >= 2: // CUP, VPA, HVP, ED
		m.note(move{absolute: true})
	}
}

// maxMoveRows is more rows than any screen has.
const maxMoveRows = 4096

// merge combines all moves, as no line ended in between.
func (m *moves) merge() {
	if len(m.found) > 1 {
		m.found = append(m.found[:0], m.sum(len(m.found)))
	}
}

// sum returns the sum of the first n, at the offset of the first.
func (m *moves) sum(n int) (sum move) {
	for i, v := range m.found[:n] {
		if i == 0 {
			sum.at = v.at
		}
		sum.rows += v.rows
		sum.absolute = sum.absolute || v.absolute
	}
	return sum
}

// takeBefore removes the moves before off and returns their sum.
func (m *moves) takeBefore(off uint64) move {
	n := 0
	for n < len(m.found) && m.found[n].at < off {
		n++
	}
	sum := m.sum(n)
	m.found = m.found[:copy(m.found, m.found[n:])]
	return sum
}
