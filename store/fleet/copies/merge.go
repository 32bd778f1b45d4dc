package copies

import (
	"errors"
	"fmt"
	"time"

	"github.com/longterm-dev/longterm/store/journal"
)

// Merge writes chunks of a session into a journal: each record once, whatever chunks come twice or overlap.
type Merge struct {
	j       *journal.Journal
	at      Place
	time    time.Time // of the record that is appended
	Missing uint64    // bytes that no chunk had
	End     uint64    // of the host's journal, as far as chunks tell
}

// NewMerge begins a journal in a directory that has none.
func NewMerge(dir string) (*Merge, error) {
	m := &Merge{}
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

// At is where the journal ends.
func (m *Merge) At() Place { return m.at }

// Add appends what of a chunk the journal has not.
func (m *Merge) Add(h Head, body []byte) error {
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

func (m *Merge) append(r *journal.Record) error {
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

// Close ends it; what was added stays.
func (m *Merge) Close() error { return m.j.Close() }
