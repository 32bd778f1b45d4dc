package respond

import "bytes"

// An answered prompt may be redrawn: after a resize, by a program that paints the whole screen, or by a line editor. It
// is the same prompt if it is on the same row. Rows are counted by line ends and relative moves. After an absolute move
// the row is unknown, and a prompt with the same text counts as redrawn. It is another prompt if a line ended below it
// before the move.

// answeredPrompt is the text of a match on a row.
type answeredPrompt struct {
	Rule        int    `json:"rule"`
	Text        string `json:"text"`
	Row         int    `json:"row"`
	EndedLines  int    `json:"line"`  // redrawTracker.endedLines at the match
	CursorMoved bool   `json:"moved"` // the cursor was moved absolutely since
}

// redrawTracker remembers answered prompts, to recognize them when they are redrawn.
type redrawTracker struct {
	prompts    []answeredPrompt
	row        int // row of the cursor, relative to the row at the start
	endedLines int // number of line ends so far
}

// maxPrompts bounds the remembered prompts: those on one screen.
const maxPrompts = 64

// add records the prompt of a match.
func (r *redrawTracker) add(rule int, text string) {
	if len(r.prompts) == maxPrompts {
		r.prompts = append(r.prompts[:0], r.prompts[1:]...)
	}
	r.prompts = append(r.prompts, answeredPrompt{Rule: rule, Text: text, Row: r.row, EndedLines: r.endedLines})
}

// isRedrawn reports whether a match is an answered prompt that was redrawn.
func (r *redrawTracker) isRedrawn(rule int, text string) bool {
	for i := range r.prompts {
		d := &r.prompts[i]
		if d.Rule == rule && d.Text == text && (d.CursorMoved || d.Row == r.row && d.EndedLines != r.endedLines) {
			d.CursorMoved, d.Row, d.EndedLines = false, r.row, r.endedLines
			return true
		}
	}
	return false
}

// moveCursor records movement of the cursor since the last line end.
func (r *redrawTracker) moveCursor(m cursorMove) {
	r.row += m.rows
	if !m.absolute {
		return
	}
	for i := range r.prompts {
		r.prompts[i].CursorMoved = true
	}
}

// endLine records a line end and drops the prompts above the cursor.
func (r *redrawTracker) endLine() {
	r.row++
	r.endedLines++
	kept := r.prompts[:0]
	for _, d := range r.prompts {
		if d.CursorMoved || d.Row >= r.row {
			kept = append(kept, d)
		}
	}
	r.prompts = kept
}

// cursorMove is a change of the cursor's row.
type cursorMove struct {
	offset   uint64 // end of the escape sequence
	rows     int    // relative movement, down
	absolute bool   // to any row, or the screen was cleared
}

// moveScanner detects the escape sequences that move the cursor to another row, or clear the screen.
type moveScanner struct {
	state      scanState
	offset     uint64       // offset of the next byte
	pending    []cursorMove // moves not yet returned
	reportFrom uint64       // sequences that end before it were reported before a restore
	private    bool         // the current sequence has a private prefix (? for example)
	arg        int          // its last parameter
}

// scanState is the state of the parser of escape sequences.
type scanState uint8

const (
	scanGround scanState = iota
	scanEscape
	scanCSI
)

// scan reads output and records its moves. A sequence may be split between two calls.
func (m *moveScanner) scan(p []byte) {
	for len(p) > 0 {
		if m.state == scanGround {
			i := bytes.IndexByte(p, 0x1b)
			if i < 0 {
				m.offset += uint64(len(p))
				return
			}
			p = p[i+1:]
			m.offset += uint64(i + 1)
			m.state = scanEscape
			continue
		}
		m.scanByte(p[0])
		p = p[1:]
		m.offset++
	}
}

// scanByte processes a byte of a sequence.
func (m *moveScanner) scanByte(b byte) {
	switch {
	case b == 0x1b:
		m.state = scanEscape
	case m.state == scanEscape && b == '[':
		m.state, m.private, m.arg = scanCSI, false, 0
	case m.state == scanEscape:
		m.state = scanGround
		switch b {
		case 'c': // RIS
			m.record(cursorMove{absolute: true})
		case 'M': // RI
			m.record(cursorMove{rows: -1})
		}
	case b >= '0' && b <= '9':
		m.arg = min(m.arg*10+int(b-'0'), 1<<16)
	case b == ';':
		m.arg = 0
	case b >= '<' && b <= '?':
		m.private = true
	case b >= 0x40 && b <= 0x7e:
		m.state = scanGround
		m.handleCSI(b)
	}
}

// record adds a move to the pending ones, unless it was reported before a restore.
func (m *moveScanner) record(v cursorMove) {
	if v.offset = m.offset; m.offset >= m.reportFrom {
		m.pending = append(m.pending, v)
	}
}

// handleCSI records the move of a complete CSI sequence.
func (m *moveScanner) handleCSI(final byte) {
	n := min(max(m.arg, 1), maxMoveRows)
	switch {
	case m.private && (final == 'h' || final == 'l'):
		if m.arg == 47 || m.arg == 1047 || m.arg == 1049 { // alternate screen
			m.record(cursorMove{absolute: true})
		}
	case m.private:
	case final == 'A' || final == 'F': // CUU, CPL
		m.record(cursorMove{rows: -n})
	case final == 'B' || final == 'E': // CUD, CNL
		m.record(cursorMove{rows: n})
	case final == 'H' || final == 'd' || final == 'f' || final == 'J' && m.arg >= 2: // CUP, VPA, HVP, ED
		m.record(cursorMove{absolute: true})
	}
}

// maxMoveRows is more rows than any screen has.
const maxMoveRows = 4096

// merge combines all pending moves, as no line ended in between.
func (m *moveScanner) merge() {
	if len(m.pending) > 1 {
		m.pending = append(m.pending[:0], m.sum(len(m.pending)))
	}
}

// sum returns the sum of the first n pending moves, at the offset of the first.
func (m *moveScanner) sum(n int) (sum cursorMove) {
	for i, v := range m.pending[:n] {
		if i == 0 {
			sum.offset = v.offset
		}
		sum.rows += v.rows
		sum.absolute = sum.absolute || v.absolute
	}
	return sum
}

// takeBefore removes the pending moves before off and returns their sum.
func (m *moveScanner) takeBefore(off uint64) cursorMove {
	n := 0
	for n < len(m.pending) && m.pending[n].offset < off {
		n++
	}
	sum := m.sum(n)
	m.pending = m.pending[:copy(m.pending, m.pending[n:])]
	return sum
}
