// Package predict draws typed text before its echo arrives, for links with a noticeable round trip (mosh's idea).
// Machine does no I/O: it takes typed input, acknowledgements, the screen and the time, and returns cells to draw over
// the screen. Terminal draws these on a real terminal, between the bytes for it.
//
// Nothing is drawn before the echo of a line was seen: the first character after Enter, Escape or any key that is not
// text waits for its echo. So text typed without echo, such as a password, is never drawn. A wrong prediction removes
// all others. Rows and columns count from 0; input messages from 1.
package predict

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Timing of predictions.
const (
	// settleTime is how long after the acknowledgement of a message its echo may arrive.
	settleTime = 150 * time.Millisecond
	// slowTime is the round trip time from which a link counts as slow.
	slowTime = 30 * time.Millisecond
)

// maxGuesses limits the pending predictions.
const maxGuesses = 256

// Screen is the screen that the session shows.
type Screen interface {
	// Cursor returns the position of the next character; ok is false while it is not well defined.
	Cursor() (row, col int, ok bool)
	// Rune returns a cell's character: ' ' for a blank, 0 for a character that is not narrow.
	Rune(row, col int) rune
	Cols() int
}

// Cell is a character to draw over the screen.
type Cell struct {
	Row, Col int
	Rune     rune
	Erased   bool // the prediction is an empty cell
}

// guess is the predicted effect of a key: a character in a cell, an erased cell, or a cursor position.
type guess struct {
	kind      kind
	row, col  int
	r, before rune   // predicted character, and the character before
	message   uint64 // number of the message that caused it
}

type kind uint8

const (
	put kind = iota
	erase
	move
)

// message is an input message that may not have been echoed.
type message struct {
	number      uint64
	sent, acked time.Time // times of sending and of the acknowledgement; zero: not acknowledged
}

// Machine computes predictions. The zero value is ready.
type Machine struct {
	Always bool // predict on fast links too

	guesses      []guess
	row, col     int           // cursor after all predictions; without predictions, where the last of them left it
	leftLimit    int           // how many columns the cursor may move left
	echoSeen     bool          // the line's echo was seen, so predictions may be drawn
	unknownUntil uint64        // until this message is acknowledged, the effect of keys is unknown; 0: it is known
	deferred     []guess       // predictions to make once the effect of keys is known
	inFlight     []message     // messages that may not have been echoed
	acked        uint64        // number of the last acknowledged message
	roundTrip    time.Duration // measured round trip time
}

// IsSlow reports whether the link is slow enough to draw guesses.
func (m *Machine) IsSlow() bool { return m.Always || m.roundTrip > slowTime }

// AddInput predicts the effect of input message n.
func (m *Machine) AddInput(b []byte, n uint64, s Screen, now time.Time) {
	m.inFlight = append(m.inFlight, message{number: n, sent: now})
	if len(m.inFlight) > maxGuesses {
		m.dropUntil(n)
	}
	for len(b) > 0 {
		switch {
		case b[0] == 0x7f:
			m.key(guess{kind: erase, message: n}, s)
			b = b[1:]
		case len(b) >= 3 && b[0] == 0x1b && (b[1] == '[' || b[1] == 'O') && (b[2] == 'C' || b[2] == 'D'):
			g := guess{kind: move, col: 1, message: n}
			if b[2] == 'D' {
				g.col = -1
			}
			m.key(g, s)
			b = b[3:]
		default:
			r, size := utf8.DecodeRune(b)
			if !narrow(r) {
				m.dropUntil(n) // its effect and the rest must arrive first
				return
			}
			m.key(guess{kind: put, r: r, message: n}, s)
			b = b[size:]
		}
	}
}

// narrow reports whether a character takes one column in every terminal.
func narrow(r rune) bool { return r >= ' ' && r < 0x7f || r >= 0xa1 && r < 0x300 && r != 0xad }

// key predicts the effect of one key.
func (m *Machine) key(g guess, s Screen) {
	switch {
	case m.unknownUntil > 0:
		if m.deferred = append(m.deferred, g); len(m.deferred) > maxGuesses {
			m.dropUntil(g.message)
		}
		return
	case len(m.guesses) == 0:
		row, col, ok := s.Cursor()
		if !ok {
			m.dropUntil(g.message)
			return
		}
		if row != m.row || col != m.col { // output moved it: what asks here may echo nothing
			m.echoSeen = false
		}
		m.row, m.col = row, col
		if !m.echoSeen {
			m.leftLimit = m.col
		}
	}
	d := g.col
	g.row, g.col = m.row, m.col
	switch g.kind {
	case put:
		if g.col >= s.Cols()-1 || !m.blankFrom(g.col, s) {
			m.dropUntil(g.message)
			return
		}
		m.col++
	case erase:
		if g.col <= m.leftLimit || !m.blankFrom(g.col, s) {
			m.dropUntil(g.message)
			return
		}
		g.col--
		g.r = ' '
		m.col--
	case move:
		if g.col += d; g.col < m.leftLimit || d > 0 && m.runeAt(g.col-1, s) == ' ' {
			m.dropUntil(g.message)
			return
		}
		m.col = g.col
	}
	if g.before = s.Rune(g.row, g.col); g.before == 0 || len(m.guesses) >= maxGuesses {
		m.dropUntil(g.message)
		return
	}
	m.guesses = append(m.guesses, g)
}

// runeAt returns the character of a cell in the cursor's row after all predictions.
func (m *Machine) runeAt(col int, s Screen) rune {
	for i := len(m.guesses) - 1; i >= 0; i-- {
		if g := &m.guesses[i]; g.kind != move && g.row == m.row && g.col == col {
			return g.r
		}
	}
	return s.Rune(m.row, col)
}

// blankFrom reports whether a row is empty from a column on, so that a character printed there moves no other.
func (m *Machine) blankFrom(col int, s Screen) bool {
	for c := col; c < s.Cols(); c++ {
		if m.runeAt(c, s) != ' ' {
			return false
		}
	}
	return true
}

// dropUntil drops all predictions, and makes none before message n was acknowledged and its echo has arrived.
func (m *Machine) dropUntil(n uint64) {
	m.guesses, m.deferred, m.echoSeen, m.unknownUntil = nil, nil, false, max(n, 1)
}

// Reset drops all predictions after a switch of the screen or a lost connection. n is the newest message.
func (m *Machine) Reset(n uint64) {
	m.inFlight = nil
	m.dropUntil(n)
	if n <= m.acked {
		m.unknownUntil = 0
	}
}

// Acknowledge records that the session has received all messages up to n.
func (m *Machine) Acknowledge(n uint64, now time.Time) {
	m.acked = max(m.acked, n)
	for i := range m.inFlight {
		f := &m.inFlight[i]
		if f.number > n || !f.acked.IsZero() {
			continue
		}
		f.acked = now
		if trip := now.Sub(f.sent); m.roundTrip == 0 {
			m.roundTrip = trip
		} else {
			m.roundTrip += (trip - m.roundTrip) / 8
		}
	}
}

// hasSettled reports whether enough time has passed for the echo of a message. An unknown message was echoed long ago.
func (m *Machine) hasSettled(n uint64, now time.Time) bool {
	for i := range m.inFlight {
		if f := &m.inFlight[i]; f.number == n {
			return !f.acked.IsZero() && now.Sub(f.acked) >= settleTime
		}
	}
	return n <= m.acked
}

// Compare compares the predictions with the screen.
func (m *Machine) Compare(s Screen, now time.Time) {
	m.resumePredictions(s, now)
	row, col, plain := s.Cursor()
	for len(m.guesses) > 0 {
		g := m.guesses[0]
		right := false
		switch g.kind {
		case put:
			right = plain && row == g.row && s.Rune(g.row, g.col) == g.r && (col > g.col || g.message <= m.acked && m.movesBack())
		case erase:
			right = plain && g.message <= m.acked && row == g.row && col <= g.col && s.Rune(g.row, g.col) == ' '
		case move:
			right = plain && g.message <= m.acked && row == g.row && col == g.col
		}
		switch {
		case right:
			m.echoSeen = m.echoSeen || g.kind == put && g.before != g.r
		case g.message <= m.acked && m.isSuperseded():
		case m.hasSettled(g.message, now), g.kind == put && g.message <= m.acked && m.isOverwritten(g, s):
			m.dropUntil(m.newest())
			return
		default:
			return
		}
		m.guesses = m.guesses[1:]
	}
}

// resumePredictions ends the time in which the effect of keys is unknown, and predicts the effect of input typed since.
func (m *Machine) resumePredictions(s Screen, now time.Time) {
	if m.unknownUntil > 0 && m.hasSettled(m.unknownUntil, now) {
		ahead := m.deferred
		m.deferred, m.unknownUntil = nil, 0
		for _, g := range ahead {
			if g.message > m.acked {
				m.key(g, s)
			}
		}
	}
	for len(m.inFlight) > 0 && m.hasSettled(m.inFlight[0].number, now) {
		m.inFlight = m.inFlight[1:]
	}
}

// isOverwritten reports whether a cell shows neither the guess nor its former character.
func (m *Machine) isOverwritten(g guess, s Screen) bool {
	r := s.Rune(g.row, g.col)
	return r != g.r && r != g.before
}

// movesBack reports whether a later prediction moves the cursor back.
func (m *Machine) movesBack() bool {
	return slices.ContainsFunc(m.guesses[1:], func(g guess) bool { return g.kind != put })
}

// isSuperseded reports whether a later guess changes the first one's cell, or moves the cursor if the first one is a
// move.
func (m *Machine) isSuperseded() bool {
	g := &m.guesses[0]
	for i := range m.guesses[1:] {
		if o := &m.guesses[1+i]; g.kind == move || o.kind != move && o.row == g.row && o.col == g.col {
			return true
		}
	}
	return false
}

func (m *Machine) newest() uint64 {
	if n := len(m.inFlight); n > 0 {
		return m.inFlight[n-1].number
	}
	return m.acked
}

// Next returns when to call Compare again without new input; zero: never.
func (m *Machine) Next() (at time.Time) {
	for i := range m.inFlight {
		if f := &m.inFlight[i]; !f.acked.IsZero() {
			return f.acked.Add(settleTime)
		}
	}
	return at
}

// Overlay returns the cells to draw over the screen, later ones over earlier ones, and the cursor. ok is false if the
// screen is shown unchanged.
func (m *Machine) Overlay() (cells []Cell, row, col int, ok bool) {
	if !m.echoSeen || !m.IsSlow() || len(m.guesses) == 0 {
		return nil, 0, 0, false
	}
	for _, g := range m.guesses {
		if g.kind != move {
			cells = append(cells, Cell{g.row, g.col, g.r, g.kind == erase})
		}
	}
	return cells, m.row, m.col, true
}
