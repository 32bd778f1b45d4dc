package transcript

import (
	"bytes"
	"time"

	"github.com/longterm-dev/longterm/vterm"
)

const (
	// stableTime is how long a screen must stay unchanged to count as seen.
	stableTime = 50 * time.Millisecond
	// sampleInterval is the interval at which a constantly changing screen is recorded.
	sampleInterval = time.Second
)

// Feed converts output into text, with its own emulator.
type Feed struct {
	builder *Builder
	term    *vterm.Terminal
	frame   vterm.Frame
	line    vterm.Line
	rows    []Row
	text    []byte

	alt                    bool
	comparedVersion        uint64    // version of the screen that was compared last
	lastOutput, nextSample time.Time // time of the last output, and of the next comparison of a changing screen
	partialSequence        []byte    // incomplete sequence that may switch or clear the screen
}

// NewFeed returns a Feed that converts the terminal's output from now on. The current screen is not part of the text.
func NewFeed(term *vterm.Terminal, emit func(line string)) *Feed {
	f := &Feed{builder: New(emit), term: term}
	term.OnScroll(func(top, bottom, n int) { f.builder.AddScroll(top, bottom, n, f.row) })
	term.Frame(&f.frame, vterm.Query{})
	f.alt, f.comparedVersion = f.frame.Alt, f.frame.Version
	if f.alt {
		f.builder.EnterAlternate()
	}
	f.compareScreen()
	return f
}

// row returns row i of the screen.
func (f *Feed) row(i int) Row {
	f.term.Row(&f.frame, &f.line, i)
	return f.toRow(&f.line)
}

// toRow converts a line of the emulator.
func (f *Feed) toRow(l *vterm.Line) Row {
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
	f.comparedVersion = f.frame.Version
	f.rows = f.rows[:0]
	for i := range f.frame.Lines {
		f.rows = append(f.rows, f.toRow(&f.frame.Lines[i]))
	}
	f.builder.CompareScreen(f.rows)
}

// Write feeds output that was printed at the given time.
func (f *Feed) Write(p []byte, at time.Time) {
	switch gap := at.Sub(f.lastOutput); {
	case f.lastOutput.IsZero():
		f.nextSample = at.Add(sampleInterval)
	case (gap >= stableTime || !at.Before(f.nextSample)) && !f.term.Modes().Sync:
		f.compareIfChanged()
		f.nextSample = at.Add(sampleInterval)
	}
	f.lastOutput = at
	for len(f.partialSequence)+len(p) > 0 {
		if len(f.partialSequence) > 0 {
			p = append(f.partialSequence, p...)
			f.partialSequence = nil
		}
		n, whole := nextSwitch(p)
		if !whole {
			f.partialSequence = bytes.Clone(p[n:])
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
		p = f.feedSequence(p)
	}
}

// compareIfChanged compares the current screen if it has changed since the last comparison.
func (f *Feed) compareIfChanged() {
	if f.term.Version() != f.comparedVersion {
		f.compareScreen()
	}
}

// maxSwitchBytes bounds the sequences that are examined.
const maxSwitchBytes = 32

// nextSwitch returns the offset of the next sequence that may switch or clear the screen (a private mode, or ED), or
// len(p). whole is false if p ends inside a possible such sequence.
func nextSwitch(p []byte) (n int, whole bool) {
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
		case end < 0 && len(rest) < maxSwitchBytes:
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
	for i := 2; i < len(p) && i < maxSwitchBytes; i++ {
		if c := p[i]; (c < '0' || c > '9') && c != ';' && c != ':' && (c != '?' || i > 2) {
			return i + 1
		}
	}
	return -1
}

// feedSequence feeds the sequence at the start of p, which may switch the screen, and returns the remaining bytes.
func (f *Feed) feedSequence(p []byte) []byte {
	n := sequenceEnd(p)
	if n < 0 {
		n = 1
	}
	if seq := p[:n]; bytes.Contains(seq, []byte("47")) || bytes.Contains(seq, []byte("1049")) { // before the screen is replaced
		f.compareIfChanged() // this screen's last
	}
	_, _ = f.term.Write(p[:n]) // never fails
	if p[n-1] == 'J' {
		f.detectClear()
	}
	if alt := f.term.Modes().AltScreen; alt != f.alt {
		if f.alt = alt; alt {
			f.builder.EnterAlternate()
		} else {
			f.builder.LeaveAlternate()
		}
		f.comparedVersion = 0
	}
	return p[n:]
}

// detectClear reports the screen to the Builder as cleared if all its rows are empty.
func (f *Feed) detectClear() {
	f.term.Frame(&f.frame, vterm.Query{})
	for i := range f.frame.Lines {
		if f.toRow(&f.frame.Lines[i]).Text != "" {
			return
		}
	}
	f.builder.NoteScreenCleared()
}

// Resize changes the terminal's size.
func (f *Feed) Resize(cols, rows int) {
	f.compareIfChanged()
	f.term.OnScroll(nil) // rows that leave because of the size are found by comparison
	f.term.Resize(cols, rows)
	f.term.OnScroll(func(top, bottom, n int) { f.builder.AddScroll(top, bottom, n, f.row) })
	f.builder.startLookup()
}

// Close ends the text with the current screen.
func (f *Feed) Close() Stats {
	if len(f.partialSequence) > 0 {
		_, _ = f.term.Write(f.partialSequence)
	}
	f.compareIfChanged()
	f.term.OnScroll(nil)
	f.builder.Close()
	return f.builder.Stats()
}
