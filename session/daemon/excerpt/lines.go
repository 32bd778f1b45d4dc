//go:build unix

package excerpt

import (
	"context"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// Where lines of a session's text begin: lines as `longterm output` prints them. The emulator keeps the newest only, so they
// are counted from the journal, from its oldest byte on: what a byte means depends on those before it.

// LineOffset is where line n begins, in the memory of a buffer. A line that is not there yet begins at the end.
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

// MostLinesBack is how far before the end a line is found: where each of so many begins is kept.
const MostLinesBack = 1 << 20

// LineBefore is where the n lines before the end begin; of fewer, the oldest. A last line that has no end yet is one if
// there is text in it: a prompt.
func LineBefore(ctx context.Context, s *session.Session, n int) (uint64, error) {
	start, end := s.OutputRange()
	if n = min(n, MostLinesBack); n <= 0 {
		return end, nil
	}
	var begins []uint64 // of the newest n lines; once there are more, seen says which is the oldest
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

// eachLine calls f with where each line begins and ends, for as long as it wants more, and is where the line begins that has
// text and no end yet; end, if there is none.
func eachLine(ctx context.Context, s *session.Session, start, end uint64, f func(from, to uint64) bool) (uint64, error) {
	r := plainReader{s: s, buf: make([]byte, pieceBytes), base: start}
	defer r.leave()
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
		if c.Gap > 0 { // what follows is a line of its own
			r.plain, r.base, from = plaintext.Writer{}, c.From, c.From
			r.mask.Restart()
		}
		r.mask.Apply(c.Data) // a copy, in buf
		r.plain.Each(c.Data, take)
		at = c.Next
	}
	if text, _, _ := r.plain.Rest(nil); len(text) > 0 && more {
		return from, nil
	}
	return end, nil
}
