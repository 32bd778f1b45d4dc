package replica

import (
	"errors"
	"io"

	"github.com/longterm-dev/longterm/store/journal"
)

// Cursor reads a journal in chunks from a place on, during appends. It must not be used concurrently.
type Cursor struct {
	r    *journal.Reader
	at   Place // place of the next chunk
	skip int   // records at that offset that precede the place
}

// NewCursor returns a cursor at a place.
func NewCursor(j *journal.Journal, at Place) *Cursor {
	return &Cursor{r: j.NewReader(at.Offset), at: at, skip: at.Marks}
}

// At returns the place of the next chunk.
func (c *Cursor) At() Place { return c.at }

// Next returns a chunk of about size bytes, or an empty one at the journal's end. Records are split only where the
// reader splits them; the journal bounds their size.
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
		if rec.Offset > c.at.Offset { // retention removed records before the reader opened
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
