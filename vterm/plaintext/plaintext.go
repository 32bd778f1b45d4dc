// Package plaintext turns the output of a program into logical lines of plain text, as a reader of its log
// wants them, without a screen.
//
//	bytes → scanner (escape sequences, UTF-8) → editor (the line being written) → complete lines
//
// It knows columns of one line and no rows, modes or colors, and is independent of the emulator. Offsets are bytes
// counted from the first byte ever written.
package plaintext

import "unicode/utf8"

// Writer turns the output of a program into plain text as a reader of its log wants it,
// one logical line after the other, without a screen: progress bars collapse to what
// they showed last, escape sequences are gone, soft wraps do not exist, tabs are tabs. It
// knows no rows; what moves the cursor up or down is swallowed.
//
// The line being written can be changed by the program as on a screen (CR, BS, HT, CUF, CUB,
// CHA, ICH, DCH, ECH, EL), as far back as window columns; what lies before is
// final, so that the work for each byte is bounded however long the line is.
//
// Any split of the same bytes gives the same lines. The zero value is ready to use.
type Writer struct {
	// MaxLine is the most bytes of text in one Line; a longer line is handed out
	// in pieces. Default and greatest value 1 MiB, least 16 bytes. Set it before Write.
	MaxLine int

	scanner
	line editor
	read uint64 // bytes taken so far
	from uint64 // where the current line, or piece of it, began

	each    func(Line) // takes lines as they are completed; nil: they wait in done
	scratch []byte     // of the line that is completed

	done  []Line // complete lines not yet drained; Text is in text
	text  []byte
	spans []int // end of each line's text in text
}

// Line is a logical line, or a piece of one that is longer than MaxLine.
type Line struct {
	// UTF-8 without a line end; valid while the function that is given it runs.
	Text []byte
	// The bytes from From up to To, counted from the first byte ever written, made the
	// line; its line end is among them. A line's To is the next one's From.
	From, To uint64
	More     bool // the line goes on in the next Line
}

const maxLineBytes = 1 << 20

// Write takes everything and never fails. What it completes waits for Lines, and takes
// memory until then: more than the bytes do, where lines are short.
func (p *Writer) Write(b []byte) (int, error) {
	p.run(b)
	return len(b), nil
}

// Each is Write, with f called for each line that it completes, in order, while it does: they take no memory, and nearly
// all are not copied. What waits for Lines comes first. f must not write.
func (p *Writer) Each(b []byte, f func(Line)) {
	p.Lines(f)
	p.each = f
	p.run(b)
	p.each = nil
}

func (p *Writer) run(b []byte) {
	for len(b) > 0 {
		if n := p.takeLines(b); n > 0 {
			b = b[n:]
			continue
		}
		b = b[p.take(b):]
	}
}

// Lines calls f for each complete line since the last call, in order.
func (p *Writer) Lines(f func(Line)) {
	begin := 0
	for i, l := range p.done {
		l.Text = p.text[begin:p.spans[i]:p.spans[i]]
		begin = p.spans[i]
		f(l)
	}
	p.done, p.spans, p.text = p.done[:0], p.spans[:0], p.text[:0]
	if cap(p.text) > keepBytes {
		p.done, p.spans, p.text = nil, nil, nil
	}
}

// keepBytes is how much memory of a burst is kept for the next one.
const keepBytes = 64 << 10

// Whole is up to where the bytes make whole characters and sequences: a Writer that is given what comes from there on
// says what this one has not.
func (p *Writer) Whole() uint64 {
	switch {
	case p.state != ground:
		return p.began
	case p.parts > 0:
		return p.read - uint64(p.parts)
	}
	return p.read
}

// Rest appends the unfinished line to dst: a prompt, a progress bar. from and to are
// the bytes that made it.
func (p *Writer) Rest(dst []byte) (text []byte, from, to uint64) {
	return p.line.appendText(dst), p.from, p.read
}

// maxLine is MaxLine within its bounds.
func (p *Writer) maxLine() int {
	if p.MaxLine <= 0 {
		return maxLineBytes
	}
	return min(max(p.MaxLine, 16), maxLineBytes)
}

// endLine completes the line.
func (p *Writer) endLine() {
	p.scratch = p.line.appendText(p.scratch[:0])
	p.line.clear()
	p.finish(p.pieces(p.scratch), false)
	if cap(p.scratch) > keepBytes {
		p.scratch = nil
	}
}

// pieces hands out what is more than MaxLine of a text, and is the rest.
func (p *Writer) pieces(text []byte) []byte {
	for most := p.maxLine(); len(text) > most; {
		end := most
		for end > most-utf8.UTFMax && !utf8.RuneStart(text[end]) {
			end--
		}
		p.finish(text[:end], true)
		text = text[end:]
	}
	return text
}

// finish hands out a line, or a piece of one.
func (p *Writer) finish(text []byte, more bool) {
	l := Line{Text: text[:len(text):len(text)], From: p.from, To: p.read, More: more}
	p.from = p.read
	if p.each != nil {
		p.each(l)
		return
	}
	p.text, l.Text = append(p.text, text...), nil
	p.done, p.spans = append(p.done, l), append(p.spans, len(p.text))
}

// spill hands out pieces of a line that is getting longer than MaxLine.
func (p *Writer) spill() {
	p.line.final = p.line.final[:copy(p.line.final, p.pieces(p.line.final))]
}
