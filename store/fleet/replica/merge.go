package replica

import (
	"errors"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
)

// Merger writes chunks of a session into a journal. It writes each record once, even if chunks repeat or overlap.
type Merger struct {
	j       *journal.Journal
	at      Place     // journal's end
	time    time.Time // time of the record being appended
	Missing uint64    // bytes that no chunk contained
	End     uint64    // end of the host's journal, as far as the chunks show
}

// NewMerger creates a journal in a directory without one.
func NewMerger(dir string) (*Merger, error) {
	m := &Merger{}
	j, _, err := journal.Open(dir, journal.Options{Now: func() time.Time { return m.time }})
	if err != nil {
		return nil, err
	}
	if j.End() > 0 {
		return nil, errors.Join(fmt.Errorf("%s has a journal already", dir), j.Close())
	}
	m.j = j
	return m, nil
}

// At returns the journal's end.
func (m *Merger) At() Place { return m.at }

// Add appends the part of a chunk that the journal does not have.
func (m *Merger) Add(h Head, body []byte) error {
	m.End = max(m.End, h.End)
	if h.From.Offset > m.at.Offset {
		lost := h.From.Offset - m.at.Offset
		if h.From.Offset > maxOffset {
			return ErrDamaged
		}
		if err := m.j.AppendGap(lost); err != nil {
			return err
		}
		m.Missing += lost
		m.at = h.From
	}
	_, err := Records(h.From, body, func(at Place, r *journal.Record) error {
		span := Span(r)
		end := at.past(span)
		if !m.at.before(end) {
			return nil // it is there
		}
		if r.Kind == journal.KindOutput && at.Offset < m.at.Offset {
			r.Data = r.Data[m.at.Offset-at.Offset:]
		} else if r.Kind == journal.KindGap && at.Offset < m.at.Offset {
			r.Lost = end.Offset - m.at.Offset
		}
		m.time = r.Time
		if m.time.IsZero() {
			m.time = time.Unix(0, 0)
		}
		m.at = end
		return m.append(r)
	})
	return err
}

func (m *Merger) append(r *journal.Record) error {
	switch r.Kind {
	case journal.KindOutput:
		return m.j.AppendOutput(r.Data)
	case journal.KindMark:
		return m.j.AppendMark(r.Data)
	case journal.KindResize:
		return m.j.AppendResize(r.Cols, r.Rows)
	case journal.KindExit:
		return m.j.AppendExit(r.Exit)
	case journal.KindGap:
		m.Missing += r.Lost
		return m.j.AppendGap(r.Lost)
	}
	return nil
}

// Close closes the journal.
func (m *Merger) Close() error { return m.j.Close() }
