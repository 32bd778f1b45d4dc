package pipeoutput

import (
	"encoding/binary"
	"time"
	"unicode/utf8"
)

// What makes data binary, judged for each window of bytes.
const (
	windowBytes  = 4 << 10
	leastBytes   = 64 // of a burst that is judged
	nulPercent   = 1
	leastNULs    = 8  // few end the fields of a short text, as env -0 and find -print0 print them
	wrongPercent = 10 // bytes that are not UTF-8
	// calmWindows of text in succession make a stream text again.
	calmWindows = 4
	reportEvery = time.Second
)

// Binary decides whether a stream of output is text. It is a pure machine; apart from End, any split of the same bytes
// gives the same verdict. The zero value assumes text until it sees something else.
//
// A verdict holds until text continues for some time, or Restart (the next command).
type Binary struct {
	binary bool
	calm   int

	n, nul, wrong int // of the window
	partial       [utf8.UTFMax]byte
	held          int // bytes in partial

	bytes    uint64 // while binary
	reported time.Time
}

// Take takes output and reports whether the stream is binary after it.
func (b *Binary) Take(p []byte) bool {
	for len(p) > 0 {
		part := p[:min(len(p), windowBytes-b.n)]
		p = p[len(part):]
		if b.binary {
			b.bytes += uint64(len(part))
		}
		b.count(part)
		if b.n == windowBytes {
			b.judge()
		}
	}
	return b.binary
}

// End handles the end of a burst of output: it judges the bytes since the last window if they suffice.
func (b *Binary) End() bool {
	if b.n >= leastBytes {
		b.judge()
	}
	return b.binary
}

// Restart starts a new stream.
func (b *Binary) Restart() { *b = Binary{} }

// Progress returns the replacement for binary data: its bytes so far. It is due at most once a second.
func (b *Binary) Progress(now time.Time) (bytes uint64, due bool) {
	if !b.binary || !b.reported.IsZero() && now.Sub(b.reported) < reportEvery {
		return b.bytes, false
	}
	b.reported = now
	return b.bytes, true
}

func (b *Binary) judge() {
	bad := b.nul >= leastNULs && b.nul*100 >= b.n*nulPercent || b.wrong*100 >= b.n*wrongPercent && b.wrong > 0
	switch {
	case bad && !b.binary:
		b.binary, b.bytes = true, uint64(b.n)
		b.calm, b.reported = 0, time.Time{}
	case bad:
		b.calm = 0
	case b.binary:
		if b.calm++; b.calm == calmWindows {
			b.binary, b.bytes = false, 0
		}
	}
	b.n, b.nul, b.wrong = 0, 0, 0
}

// count counts within a window. A character that is cut off by the end of p is held, and
// counts with what follows.
func (b *Binary) count(p []byte) {
	b.n += len(p)
	for b.held > 0 && len(p) > 0 {
		b.partial[b.held] = p[0]
		b.held++
		p = p[1:]
		held, full := b.partial, utf8.FullRune(b.partial[:b.held])
		if full {
			whole := held[:b.held]
			b.held, b.partial = 0, [utf8.UTFMax]byte{}
			if r, n := utf8.DecodeRune(whole); r == utf8.RuneError && n == 1 {
				b.wrong++
				// The bytes after the wrong one are looked at again.
				var again [utf8.UTFMax]byte
				m := copy(again[:], whole[1:])
				b.scan(again[:m])
			}
		}
	}
	b.scan(p)
}

// asciiText returns how many bytes at the start of p are ASCII other than NUL, in steps of eight: callers check the
// rest one by one.
func asciiText(p []byte) (n int) {
	const low, high = 0x0101010101010101, 0x8080808080808080
	for ; n+8 <= len(p); n += 8 {
		if w := binary.LittleEndian.Uint64(p[n:]); (w|(w-low))&high != 0 { // a byte above ASCII, or one that borrows
			break
		}
	}
	return n
}

func (b *Binary) scan(p []byte) {
	for len(p) > 0 {
		if n := asciiText(p); n > 0 {
			p = p[n:]
			continue
		}
		if p[0] < utf8.RuneSelf {
			if p[0] == 0 {
				b.nul++
			}
			p = p[1:]
			continue
		}
		if !utf8.FullRune(p) {
			b.held = copy(b.partial[:], p)
			return
		}
		r, n := utf8.DecodeRune(p)
		if r == utf8.RuneError && n == 1 {
			b.wrong++
		}
		p = p[n:]
	}
}
