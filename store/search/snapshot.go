package search

import (
	"database/sql"
	"math"
)

// snapshot queues all items. It reads ungrouped text now; groups and blocks never change later, they can only be
// removed.
func (s *search) snapshot() error {
	tx, err := s.x.read.BeginTx(s.ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // it only read
	if err := s.queueGroups(tx); err != nil {
		return err
	}
	if err := s.queueTails(tx); err != nil {
		return err
	}
	var indexed map[string]uint64
	if s.plan.Unindexed != nil {
		if indexed, err = s.indexedNow(tx); err != nil {
			return err
		}
	}
	where, args := s.where("b.id > " + lastGrouped)
	rows, err := tx.QueryContext(s.ctx, "SELECT b.id, s.name, s.floor, "+blockColumns+" FROM blocks b JOIN sessions s ON s.id = b.session WHERE "+where, args...)
	if err != nil {
		return err
	}
	if err := s.queueBlocks(rows, nil, 0); err != nil || s.plan.Unindexed == nil {
		return err
	}
	if err := tx.Rollback(); err != nil { // it only read, and what follows may take long
		return err
	}
	return s.queueUnindexed(indexed)
}

// where adds the query's session to an SQL condition.
func (s *search) where(text string) (string, []any) {
	if s.plan.Session == "" {
		return text, nil
	}
	return text + " AND s.name = ?", []any{s.plan.Session}
}

func (s *search) queueGroups(tx *sql.Tx) error {
	text, args := "SELECT base, last, first_ns, last_ns FROM groups g", []any(nil)
	if s.plan.Session != "" {
		text += " WHERE EXISTS (SELECT 1 FROM blocks WHERE session = (SELECT id FROM sessions WHERE name = ?) AND id BETWEEN g.base AND g.last)"
		args = append(args, s.plan.Session)
	}
	rows, err := tx.QueryContext(s.ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var g group
		if err := rows.Scan(&g.base, &g.last, &g.firstNS, &g.lastNS); err != nil {
			return err
		}
		if s.plan.overlaps(g.firstNS, g.lastNS) {
			s.queue.add(item{bound: Cursor{Nanos: g.lastNS, Session: lastSession, From: math.MaxUint64}, kind: kindGroup, group: g})
		}
	}
	return rows.Err()
}

// lastSession is larger than any session's name, which is valid UTF-8.
const lastSession = "\xff"

func (s *search) queueTails(tx *sql.Tx) error {
	where, args := s.where("true")
	rows, err := tx.QueryContext(s.ctx, "SELECT s.name, s.floor, "+blockColumns+", data FROM tails t JOIN sessions s ON s.id = t.session WHERE "+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		f := &candidate{}
		if err := rows.Scan(append(f.dests(), &f.tail)...); err != nil {
			return err
		}
		s.queueBlock(f)
	}
	return rows.Err()
}

func (f *candidate) dests() []any {
	st := &f.stats
	return []any{&f.session, &f.floor, &st.size, &st.last, &st.firstNS, &st.lastNS, &st.lowCmd, &st.highCmd}
}

// queueBlocks queues the rows' blocks, if only is not nil those in it.
func (s *search) queueBlocks(rows *sql.Rows, only bitmap, base int64) error {
	defer rows.Close()
	for rows.Next() {
		f := &candidate{}
		if err := rows.Scan(append([]any{&f.id}, f.dests()...)...); err != nil {
			return err
		}
		if only == nil || only.has(uint64(f.id-base)) {
			s.queueBlock(f)
		}
	}
	return rows.Err()
}

func (s *search) queueBlock(f *candidate) {
	st, p := &f.stats, s.plan
	switch {
	case p.Session != "" && p.Session != f.session, p.Within != nil && !p.Within(f.session),
		p.Command != 0 && (p.Command < st.lowCmd || p.Command > st.highCmd),
		!p.overlaps(st.firstNS, st.lastNS):
		return
	}
	s.queue.add(item{bound: Cursor{st.lastNS, f.session, st.last}, kind: kindBlock, block: f})
}
