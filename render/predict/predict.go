// Package predict draws what a person types before the other end has echoed it, for links whose round trip can be felt
// (the idea is mosh's). Machine is pure: what was typed, what was taken, what is shown and the time go in, cells to draw
// over the screen come out. Terminal has those drawn on a real terminal, between the bytes that come for it.
//
// Nothing is drawn before the echo of a line proved that there is one: the first character after Enter, Escape or any
// key that is not text waits for its echo. So what is typed while nothing is echoed, a password, is never drawn. A guess
// that turns out wrong takes all others with it. Rows and columns count from 0; messages of typing from 1.
package predict

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Times of guesses.
const (
	// settleTime is how long after a message was taken its echo may come.
	settleTime = 150 * time.Millisecond
	// slowTime is the round trip from which on it can be felt.
	slowTime = 30 * time.Millisecond
)

// maxGuesses bounds what is guessed ahead.
const maxGuesses = 256

// Screen is what the other end's screen shows.
type Screen interface {
	// Cursor is where the next character goes; ok is false where that is not plain.
	Cursor() (row, col int, ok bool)
	// Rune is a cell's character: ' ' where it is blank, 0 where it is not a narrow character.
	Rune(row, col int) rune
	Cols() int
}

// Cell is a character to be drawn over the screen.
type Cell struct {
	Row, Col int
	Rune     rune
	Erased   bool // nothing stands there
}

// guess is what a key is thought to do: a character at a cell, one taken away from there, or only a cursor there.
type guess struct {
	kind     kind
	row, col int
	r, was   rune
	message  uint64
}

type kind uint8

const (
	put kind = iota
	erase
	move
)

// message is one of typing that is on its way.
type message struct {
	n           uint64
	sent, taken time.Time // zero: it was not taken yet
}

// Machine guesses. The zero value is ready.
type Machine struct {
	Always bool // also where the link is fast

	guesses  []guess
	row, col int // the cursor, behind all guesses; where there are none, where the last of them left it
	left     int // how far the cursor may go left
	proven   bool
	blind    uint64 // until this message was taken nothing is known of where keys go; 0: it is known
	ahead    []guess
	flight   []message
	taken    uint64
	trip     time.Duration
}

// Slow says that guesses are worth being drawn.
func (m *Machine) Slow() bool { return m.Always || m.trip > slowTime }

// Typed takes the n-th message of typing.
func (m *Machine) Typed(b []byte, n uint64, s Screen, now time.Time) {
	m.flight = append(m.flight, message{n: n, sent: now})
	if len(m.flight) > maxGuesses {
		m.forget(n)
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
				m.forget(n) // what it does, and the rest, is to be seen
				return
			}
			m.key(guess{kind: put, r: r, message: n}, s)
			b = b[size:]
		}
	}
}

// narrow says that a character takes one column in every terminal.
func narrow(r rune) bool { return r >= ' ' && r < 0x7f || r >= 0xa1 && r < 0x300 && r != 0xad }

// key guesses what one key does.
func (m *Machine) key(g guess, s Screen) {
	switch {
	case m.blind > 0:
		if m.ahead = append(m.ahead, g); len(m.ahead) > maxGuesses {
			m.forget(g.message)
		}
		return
	case len(m.guesses) == 0:
		row, col, ok := s.Cursor()
		if !ok {
			m.forget(g.message)
			return
		}
		if row != m.row || col != m.col { // output moved it: what asks here may echo nothing
			m.proven = false
		}
		m.row, m.col = row, col
		if !m.proven {
			m.left = m.col
		}
	}
	d := g.col
	g.row, g.col = m.row, m.col
	switch g.kind {
	case put:
		if g.col >= s.Cols()-1 || !m.blankFrom(g.col, s) {
			m.forget(g.message)
			return
		}
		m.col++
	case erase:
		if g.col <= m.left || !m.blankFrom(g.col, s) {
			m.forget(g.message)
			return
		}
		g.col--
		g.r = ' '
		m.col--
	case move:
		if g.col += d; g.col < m.left || d > 0 && m.at(g.col-1, s) == ' ' {
			m.forget(g.message)
			return
		}
		m.col = g.col
	}
	if g.was = s.Rune(g.row, g.col); len(m.guesses) >= maxGuesses {
		m.forget(g.message)
		return
	}
	m.guesses = append(m.guesses, g)
}

// at is what the guesses have a cell of the cursor's row be.
func (m *Machine) at(col int, s Screen) rune {
	for i := len(m.guesses) - 1; i >= 0; i-- {
		if g := &m.guesses[i]; g.kind != move && g.row == m.row && g.col == col {
			return g.r
		}
	}
	return s.Rune(m.row, col)
}

// blankFrom says that nothing stands from a column on: a character put there moves no other.
func (m *Machine) blankFrom(col int, s Screen) bool {
	for c := col; c < s.Cols(); c++ {
		if m.at(c, s) != ' ' {
			return false
		}
	}
	return true
}

// forget gives all guesses up, and makes none before a message was taken and its echo has come.
func (m *Machine) forget(n uint64) {
	m.guesses, m.ahead, m.proven, m.blind = nil, nil, false, max(n, 1)
}

// Reset gives all up: the screen is another, or the connection was lost. n is the newest message.
func (m *Machine) Reset(n uint64) {
	m.flight = nil
	m.forget(n)
	if n <= m.taken {
		m.blind = 0
	}
}

// Taken takes notice that the other end has messages up to the n-th.
func (m *Machine) Taken(n uint64, now time.Time) {
	m.taken = max(m.taken, n)
	for i := range m.flight {
		f := &m.flight[i]
		if f.n > n || !f.taken.IsZero() {
			continue
		}
		f.taken = now
		if trip := now.Sub(f.sent); m.trip == 0 {
			m.trip = trip
		} else {
			m.trip += (trip - m.trip) / 8
		}
	}
}

// settled says that the echo of a message has come, if there is one. One that is not known of came long ago.
func (m *Machine) settled(n uint64, now time.Time) bool {
	for i := range m.flight {
		if f := &m.flight[i]; f.n == n {
			return !f.taken.IsZero() && now.Sub(f.taken) >= settleTime
		}
	}
	return n <= m.taken
}

// Look compares guesses with what the screen shows now.
func (m *Machine) Look(s Screen, now time.Time) {
	m.see(s, now)
	row, col, plain := s.Cursor()
	for len(m.guesses) > 0 {
		g := m.guesses[0]
		right := false
		switch g.kind {
		case put:
			right = plain && row == g.row && s.Rune(g.row, g.col) == g.r && (col > g.col || g.message <= m.taken && m.turns())
		case erase:
			right = plain && g.message <= m.taken && row == g.row && col <= g.col && s.Rune(g.row, g.col) == ' '
		case move:
			right = plain && g.message <= m.taken && row == g.row && col == g.col
		}
		switch {
		case right:
			m.proven = m.proven || g.kind == put && g.was != g.r
		case g.message <= m.taken && m.superseded():
		case m.settled(g.message, now), g.kind == put && g.message <= m.taken && m.other(g, s):
			m.forget(m.newest())
			return
		default:
			return
		}
		m.guesses = m.guesses[1:]
	}
}

// see ends the time in which nothing is known of where keys go; what was typed since is guessed then.
func (m *Machine) see(s Screen, now time.Time) {
	if m.blind > 0 && m.settled(m.blind, now) {
		ahead := m.ahead
		m.ahead, m.blind = nil, 0
		for _, g := range ahead {
			if g.message > m.taken {
				m.key(g, s)
			}
		}
	}
	for len(m.flight) > 0 && m.settled(m.flight[0].n, now) {
		m.flight = m.flight[1:]
	}
}

// other says that something else came to stand where a character was to be.
func (m *Machine) other(g guess, s Screen) bool {
	r := s.Rune(g.row, g.col)
	return r != g.r && r != g.was
}

// turns says that a later guess has the cursor go back.
func (m *Machine) turns() bool {
	return slices.ContainsFunc(m.guesses[1:], func(g guess) bool { return g.kind != put })
}

// superseded says that a later guess is about the cell of the first one, or where the cursor is.
func (m *Machine) superseded() bool {
	g := &m.guesses[0]
	for i := range m.guesses[1:] {
		if o := &m.guesses[1+i]; g.kind == move || o.kind != move && o.row == g.row && o.col == g.col {
			return true
		}
	}
	return false
}

func (m *Machine) newest() uint64 {
	if n := len(m.flight); n > 0 {
		return m.flight[n-1].n
	}
	return m.taken
}

// Next is when to look again although nothing came; zero: not before something comes.
func (m *Machine) Next() (at time.Time) {
	for i := range m.flight {
		if f := &m.flight[i]; !f.taken.IsZero() {
			return f.taken.Add(settleTime)
		}
	}
	return at
}

// Drawn are the cells to be drawn over the screen, a later one over an earlier, and the cursor; ok is false where the
// screen is to be shown as it is.
func (m *Machine) Drawn() (cells []Cell, row, col int, ok bool) {
	if !m.proven || !m.Slow() || len(m.guesses) == 0 {
		return nil, 0, 0, false
	}
	for _, g := range m.guesses {
		if g.kind != move {
			cells = append(cells, Cell{g.row, g.col, g.r, g.kind == erase})
		}
	}
	return cells, m.row, m.col, true
}
