package copies

import (
	"errors"
	"io"

	"github.com/longterm-dev/longterm/store/journal"
)

// Cursor reads a journal in chunks, from a place on, while others append. It is used by one goroutine.
type Cursor struct {
	r    *journal.Reader
	at   Place
	skip int // records at the beginning that are before the place
}

// NewCursor begins at a place.
func NewCursor(j *journal.Journal, at Place) *Cursor {
	return &Cursor{r: j.NewReader(at.Offset), at: at, skip: at.Marks}
}

// At is where the next chunk begins.
func (c *Cursor) At() Place { return c.at }

// Next is the next chunk, of about so many bytes; it is empty when there is none yet. A record is never divided but for
// what the reader itself divides: the largest one is bounded by the journal.
func (c *Cursor) Next(size int) (body []byte, to Place, err error) {
	defer c.r.Close()
	for len(body) < size {
		rec, err := c.r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, c.at, err
		}
		if span := Span(&rec); c.skip > 0 && span == 0 && rec.Offset == c.at.Offset {
			c.skip--
			continue
		}
		c.skip = 0
		if rec.Offset > c.at.Offset { // retired meanwhile, and the reader began after it
			gap := journal.Record{Kind: journal.KindGap, Offset: c.at.Offset, Lost: rec.Offset - c.at.Offset}
			if body, err = AppendRecord(body, &gap); err != nil {
				return nil, c.at, err
			}
			c.at = Place{Offset: rec.Offset}
		}
		if body, err = AppendRecord(body, &rec); err != nil {
			return nil, c.at, err
		}
		c.at = c.at.past(Span(&rec))
	}
	return body, c.at, nil
}
