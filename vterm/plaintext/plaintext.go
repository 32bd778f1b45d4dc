// Package plaintext turns the output of a program into logical lines of plain text, as a reader of its log
// wants them, without a screen.
//
//	bytes → scanner (escape sequences, UTF-8) → editor (the line being written) → complete lines
//
// It knows columns of one line and no rows, modes or colors, and is independent of the emulator. Offsets are bytes
// counted from the first byte ever written.
package plaintext

import "unicode/utf8"

// Writer turns the output of a program into plain text, as in a log, one logical line after the other, without a
// screen: progress bars collapse to their last state, escape sequences are removed, soft wraps do not exist, tabs stay
// tabs. It has no rows and ignores sequences that move the cursor up or down.
//
// The program can change the line being written as on a screen (CR, BS, HT, CUF, CUB, CHA, ICH, DCH, ECH, EL), as far
// back as window columns; text before that is final, so that the work for each byte is bounded for any length of line.
//
// Any split of the same bytes gives the same lines. The zero value is ready to use.
type Writer struct {
	// MaxLine is the largest number of text bytes in one Line; a longer line is returned in pieces. The default and
	// maximum is 1 MiB, the minimum 16 bytes. Set it before Write.
	MaxLine int

	scanner
	line editor
	read uint64 // consumed bytes
	from uint64 // start of the current line or piece

	each    func(Line) // receives completed lines; nil: they wait in done
	scratch []byte     // text of the line being completed

	done  []Line // completed lines that wait for Lines; their text is in text
	text  []byte
	spans []int // end of each line's text in text
}

// Line is a logical line, or a piece of one that is longer than MaxLine.
type Line struct {
	// UTF-8 without a line end; valid while the function that is given it runs.
	Text []byte
	// The line was made from the bytes From to To, counted from the first byte ever written, including its line end. To
	// is the next line's From.
	From, To uint64
	More     bool // the line continues in the next Line
}

const maxLineBytes = 1 << 20

// Write accepts all bytes and never fails. Completed lines wait for Lines and use memory until then: more than the
// bytes if lines are short.
func (p *Writer) Write(b []byte) (int, error) {
	p.run(b)
	return len(b), nil
}

// Each is Write that calls f for each completed line, in order. These lines use no memory, and nearly all are not
// copied. Lines that wait for Lines come first. f must not write.
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

// keepBytes is the buffer memory kept after a burst.
const keepBytes = 64 << 10

// CompleteTo returns the offset up to which the bytes form complete characters and sequences. A new Writer that starts there
// returns the text that this one has not returned.
func (p *Writer) CompleteTo() uint64 {
	switch {
	case p.state != ground:
		return p.began
	case p.parts > 0:
		return p.read - uint64(p.parts)
	}
	return p.read
}

// AppendUnfinished appends the unfinished line, such as a prompt or progress bar, to dst. from and to are its range of
// bytes.
func (p *Writer) AppendUnfinished(dst []byte) (text []byte, from, to uint64) {
	return p.line.appendText(dst), p.from, p.read
}

// maxLine returns MaxLine within its limits.
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

// pieces returns the last part of a text after passing on pieces of MaxLine bytes.
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

// finish outputs a line, or a piece of one.
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

// spill passes on pieces of a line that exceeds MaxLine.
func (p *Writer) spill() {
	p.line.final = p.line.final[:copy(p.line.final, p.pieces(p.line.final))]
}
