package search

import "database/sql"

// indexedNow returns the offset up to which each session is indexed in the search's snapshot.
func (s *search) indexedNow(tx *sql.Tx) (map[string]uint64, error) {
	rows, err := tx.QueryContext(s.ctx, "SELECT name, indexed FROM sessions")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	offsets := map[string]uint64{}
	for rows.Next() {
		var name string
		var offset uint64
		if err := rows.Scan(&name, &offset); err != nil {
			return nil, err
		}
		offsets[name] = offset
	}
	return offsets, rows.Err()
}

// queueUnindexed queues the hits in lines that are not indexed: for each session the newest, up to the query's limit.
func (s *search) queueUnindexed(indexed map[string]uint64) error {
	var hits []*Hit
	of := ""
	done := func() {
		for _, h := range s.plan.newest(hits) {
			s.queue.add(item{bound: h.Cursor(), kind: kindHit, hit: h})
		}
		hits = nil
	}
	for b, err := range s.plan.Unindexed(indexed) {
		if err != nil {
			return err
		}
		if b.Session != of {
			done()
			of = b.Session
		}
		s.lines.reset()
		for _, l := range b.Lines {
			if l.From >= indexed[b.Session] && l.Text != "" {
				s.lines.add(l, clean(l.Text))
			}
		}
		if len(s.lines.lines) == 0 || !s.scanner.mayMatch(s.plan, s.lines.text) {
			continue
		}
		s.scan(&candidate{session: b.Session}, func(h *Hit) { hits = append(hits, h) })
		if p := s.plan; p.Limit > 0 && len(hits) > 2*p.Limit {
			hits = p.newest(hits)
		}
	}
	done()
	return nil
}

// newest returns the last hits of a session, up to the query's limit.
func (p *plan) newest(hits []*Hit) []*Hit {
	if p.Limit > 0 && len(hits) > p.Limit {
		return append([]*Hit(nil), hits[len(hits)-p.Limit:]...)
	}
	return hits
}
