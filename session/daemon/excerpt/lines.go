//go:build unix

package excerpt

import (
	"context"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// This file finds the offsets of lines, counted as `longterm output` prints them. The emulator keeps only the newest
// lines, so they are counted in the journal from its oldest byte: the meaning of a byte depends on those before it.

// LineOffset returns the offset of line n, using the memory of one buffer. It returns the end of the output if the line
// does not exist yet.
func LineOffset(ctx context.Context, s *session.Session, n uint64) (uint64, error) {
	start, end := s.OutputRange()
	if n == 0 {
		return start, nil
	}
	found, seen := end, uint64(0)
	_, err := eachLine(ctx, s, start, end, func(_, to uint64) bool {
		if seen++; seen == n {
			found = to
		}
		return seen < n
	})
	return found, err
}

// MaxLinesBack limits how far before the end LineBefore finds a line: it stores the offset of each.
const MaxLinesBack = 1 << 20

// LineBefore returns the offset of the n-th line from the end, or of the oldest line if fewer exist. An unfinished last
// line, such as a prompt, counts if it has text.
func LineBefore(ctx context.Context, s *session.Session, n int) (uint64, error) {
	start, end := s.OutputRange()
	if n = min(n, MaxLinesBack); n <= 0 {
		return end, nil
	}
	var begins []uint64 // of the newest n lines, as a ring: seen%n is the oldest
	seen := 0
	note := func(from uint64) {
		if len(begins) < n {
			begins = append(begins, from)
		} else {
			begins[seen%n] = from
		}
		seen++
	}
	last, err := eachLine(ctx, s, start, end, func(from, _ uint64) bool {
		note(from)
		return true
	})
	if err != nil {
		return end, err
	}
	if last < end {
		note(last)
	}
	switch {
	case seen == 0:
		return end, nil
	case seen <= n:
		return begins[0], nil
	}
	return begins[seen%n], nil
}

// eachLine calls f with the offsets of each line until f returns false. It returns the offset of an unfinished line
// that has text, otherwise end.
func eachLine(ctx context.Context, s *session.Session, start, end uint64, f func(from, to uint64) bool) (uint64, error) {
	r := plainReader{s: s, buf: make([]byte, pieceBytes), base: start}
	defer r.awaitPrefetch()
	from, more := start, true
	take := func(l plaintext.Line) {
		if l.More || !more {
			return
		}
		more = f(from, r.base+l.To)
		from = r.base + l.To
	}
	for at := start; at < end && more; {
		c, err := r.chunk(ctx, at, end)
		if err != nil {
			return end, err
		}
		if c.Next == at {
			break
		}
		if c.Gap > 0 { // the output after a gap starts a new line
			r.plain, r.base, from = plaintext.Writer{}, c.From, c.From
			r.mask.Restart()
		}
		r.mask.Apply(c.Data) // a copy, in buf
		r.plain.Each(c.Data, take)
		at = c.Next
	}
	if text, _, _ := r.plain.AppendUnfinished(nil); len(text) > 0 && more {
		return from, nil
	}
	return end, nil
}
