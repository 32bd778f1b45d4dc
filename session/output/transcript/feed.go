package transcript

import (
	"bytes"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	// stableTime is how long a screen must stay unchanged to count as seen.
	stableTime = 50 * time.Millisecond
	// sampleInterval is how often a screen that always changes is recorded.
	sampleInterval = time.Second
)

// Feed turns output into text, with its own emulator.
type Feed struct {
	b     *Builder
	term  *vterm.Terminal
	frame vterm.Frame
	line  vterm.Line
	rows  []Row
	text  []byte

	alt        bool
	seen       uint64 // version of the screen compared last
	last, next time.Time
	held       []byte // the beginning of a sequence that may be one of switches
}

// NewFeed returns a Feed that makes text of what the terminal is fed from now on. What it already shows is not part of
// the text.
func NewFeed(term *vterm.Terminal, emit func(line string)) *Feed {
	f := &Feed{b: New(emit), term: term}
	term.OnScroll(func(top, bottom, n int) { f.b.AddScroll(top, bottom, n, f.row) })
	term.Frame(&f.frame, vterm.Query{})
	f.alt, f.seen = f.frame.Alt, f.frame.Version
	if f.alt {
		f.b.Alternate()
	}
	f.compareScreen()
	return f
}

// row returns row i of the screen.
func (f *Feed) row(i int) Row {
	f.term.Row(&f.frame, &f.line, i)
	return f.asRow(&f.line)
}

func (f *Feed) asRow(l *vterm.Line) Row {
	f.text = f.text[:0]
	for _, c := range l.Cells {
		f.text = f.frame.AppendText(f.text, c)
	}
	if !l.Wrapped {
		f.text = bytes.TrimRight(f.text, " ")
	}
	return Row{string(f.text), l.Wrapped}
}

// compareScreen compares the screen with the previous one.
func (f *Feed) compareScreen() {
	f.term.Frame(&f.frame, vterm.Query{})
	f.seen = f.frame.Version
	f.rows = f.rows[:0]
	for i := range f.frame.Lines {
		f.rows = append(f.rows, f.asRow(&f.frame.Lines[i]))
	}
	f.b.Screen(f.rows)
}

// Write feeds output that was printed at a time.
func (f *Feed) Write(p []byte, at time.Time) {
	switch gap := at.Sub(f.last); {
	case f.last.IsZero():
		f.next = at.Add(sampleInterval)
	case (gap >= stableTime || !at.Before(f.next)) && !f.term.Modes().Sync:
		f.stand()
		f.next = at.Add(sampleInterval)
	}
	f.last = at
	for len(f.held)+len(p) > 0 {
		if len(f.held) > 0 {
			p = append(f.held, p...)
			f.held = nil
		}
		n, whole := switches(p)
		if !whole {
			f.held = bytes.Clone(p[n:])
			p = p[:n]
		}
		if n > 0 {
			_, _ = f.term.Write(p[:n]) // never fails
			f.term.Events(nil)
			f.term.Replies(nil)
		}
		if p = p[n:]; len(p) == 0 {
			return
		}
		p = f.sequence(p)
	}
}

// stand compares the current screen if it has changed since the last comparison.
func (f *Feed) stand() {
	if f.term.Version() != f.seen {
		f.compareScreen()
	}
}

// maxSwitch bounds a sequence that is looked at, in bytes.
const maxSwitch = 32

// switches returns the offset of the next sequence that may switch or clear the screen (a private mode, or ED), or
// len(p). whole is false if p ends inside a possible such sequence.
func switches(p []byte) (n int, whole bool) {
	for n < len(p) {
		i := bytes.IndexByte(p[n:], 0x1b)
		if i < 0 {
			return len(p), true
		}
		n += i
		rest := p[n:]
		if len(rest) > 1 && rest[1] != '[' {
			n++
			continue
		}
		end := sequenceEnd(rest)
		switch {
		case end < 0 && len(rest) < maxSwitch:
			return n, false
		case end > 0 && (rest[2] == '?' || rest[end-1] == 'J'):
			return n, true
		}
		n++
	}
	return n, true
}

// sequenceEnd returns the end of the parameterized control sequence at the start of p, or -1 if it is incomplete.
func sequenceEnd(p []byte) int {
	for i := 2; i < len(p) && i < maxSwitch; i++ {
		if c := p[i]; (c < '0' || c > '9') && c != ';' && c != ':' && (c != '?' || i > 2) {
			return i + 1
		}
	}
	return -1
}

// sequence feeds the sequence at the start of p, which may switch the screen, and returns the rest.
func (f *Feed) sequence(p []byte) []byte {
	n := sequenceEnd(p)
	if n < 0 {
		n = 1
	}
	if seq := p[:n]; bytes.Contains(seq, []byte("47")) || bytes.Contains(seq, []byte("1049")) {
		f.stand() // this screen's last
	}
	_, _ = f.term.Write(p[:n]) // never fails
	if p[n-1] == 'J' {
		f.checkWiped()
	}
	if alt := f.term.Modes().AltScreen; alt != f.alt {
		if f.alt = alt; alt {
			f.b.Alternate()
		} else {
			f.b.Back()
		}
		f.seen = 0
	}
	return p[n:]
}

// checkWiped reports the screen to the Builder as wiped if all its rows are empty.
func (f *Feed) checkWiped() {
	f.term.Frame(&f.frame, vterm.Query{})
	for i := range f.frame.Lines {
		if f.asRow(&f.frame.Lines[i]).Text != "" {
			return
		}
	}
	f.b.ScreenCleared()
}

// Resize changes the terminal's size.
func (f *Feed) Resize(cols, rows int) {
	f.stand()
	f.term.OnScroll(nil) // what leaves now does for the size: it is compared
	f.term.Resize(cols, rows)
	f.term.OnScroll(func(top, bottom, n int) { f.b.AddScroll(top, bottom, n, f.row) })
	f.b.seekAgain()
}

// Close ends the text with what is shown.
func (f *Feed) Close() Stats {
	if len(f.held) > 0 {
		_, _ = f.term.Write(f.held)
	}
	f.stand()
	f.term.OnScroll(nil)
	f.b.Close()
	return f.b.Stats()
}
