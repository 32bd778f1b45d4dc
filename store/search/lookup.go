package search

import (
	"context"
	"database/sql"
	"errors"
)

const (
	// maxLookups limits the lookups of one literal's trigrams, maxKnown those of all literals in a group.
	maxLookups = 24
	maxKnown   = 64
	// fewBlocks is the number of blocks that are read faster than more trigrams are looked up.
	fewBlocks = 2
)

// lookup finds the blocks of a group that meet a condition.
type lookup struct {
	ctx   context.Context
	floor *sql.Stmt // selects the page at or before a trigram
	pages *sql.Stmt // selects all pages between two trigrams
	group group
	known map[trigram]bitmap // cached results
}

// eval removes from m the blocks that do not meet e.
func (l *lookup) eval(e expr, m bitmap) error {
	switch e.op {
	case opLit:
		return l.literal(e.lit, m)
	case opAnd:
		for _, s := range e.subs {
			if m.count() <= fewBlocks {
				return nil
			}
			if err := l.eval(s, m); err != nil {
				return err
			}
		}
	case opOr:
		sum := newBitmap(l.group.len())
		for _, s := range e.subs {
			one := append(bitmap(nil), m...)
			if err := l.eval(s, one); err != nil {
				return err
			}
			sum.or(one)
		}
		m.and(sum)
	}
	return nil
}

func (l *lookup) literal(lit string, m bitmap) error {
	if len(lit) < 3 {
		return l.prefix(lit, m)
	}
	count := len(lit) - 2
	for i := 0; i < count; i += 1 + (count-1)/maxLookups {
		t := trigramAt([]byte(lit[i : i+3]))
		if _, ok := l.known[t]; !ok && len(l.known) == maxKnown {
			continue // the condition is met by more blocks than needed
		}
		blocks, err := l.trigram(t)
		if err != nil {
			return err
		}
		if m.and(blocks); m.count() <= fewBlocks {
			return nil
		}
	}
	return nil
}

func (l *lookup) trigram(t trigram) (bitmap, error) {
	if m, ok := l.known[t]; ok {
		return m, nil
	}
	m := newBitmap(l.group.len())
	id, page, err := l.page(t)
	if err == nil && page != nil {
		err = readPage(page, id, t, t, m, l.group.len())
	}
	l.known[t] = m
	return m, err
}

// page returns the page that contains t, or nil.
func (l *lookup) page(t trigram) (first trigram, page []byte, err error) {
	var id int64
	err = l.floor.QueryRowContext(l.ctx, pageID(l.group, t)).Scan(&id, &page)
	if errors.Is(err, sql.ErrNoRows) || err == nil && id < pageID(l.group, 0) {
		return 0, nil, nil
	}
	return trigram(id & (allTrigrams - 1)), page, err
}

// prefix does the same for one or two bytes: it collects all trigrams with that prefix.
func (l *lookup) prefix(lit string, m bitmap) error {
	low := trigramAt([]byte{lit[0], 0, 0})
	high := low | 0xffff
	if len(lit) == 2 {
		low |= trigram(lit[1]) << 8
		high = low | 0xff
	}
	first, _, err := l.page(low)
	if err != nil {
		return err
	}
	rows, err := l.pages.QueryContext(l.ctx, pageID(l.group, first), pageID(l.group, high))
	if err != nil {
		return err
	}
	defer rows.Close()
	sum := newBitmap(l.group.len())
	for rows.Next() {
		var id int64
		var page sql.RawBytes
		if err := rows.Scan(&id, &page); err != nil {
			return err
		}
		if err := readPage(page, trigram(id&(allTrigrams-1)), low, high, sum, l.group.len()); err != nil {
			return err
		}
	}
	m.and(sum)
	return rows.Err()
}
