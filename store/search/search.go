package search

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"iter"
)

// Search finds lines, newest first. It sees the index as of its start, without lines forgotten since. It ends with an
// error: ErrQuery, *Truncated, the context's, or one of the index.
func (x *Index) Search(ctx context.Context, q Query) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		s, err := x.begin(ctx, q)
		if err != nil {
			yield(Hit{}, err)
			return
		}
		defer s.close()
		for n := 0; q.Limit <= 0 || n < q.Limit; n++ {
			h, err := s.next()
			if errors.Is(err, io.EOF) {
				return
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// search is a running search.
type search struct {
	x       *Index
	ctx     context.Context
	plan    *plan
	queue   queue
	scanned int // bytes of text read, if the plan limits them
	scanner scanner
	lines   block
	raw     []byte
	stmts   statements
}

// statements holds the prepared statements of a search.
type statements struct{ floor, pages, blocks, text *sql.Stmt }

const blockColumns = "size, last, first_ns, last_ns, low_cmd, high_cmd"

func (s *statements) prepare(ctx context.Context, db *sql.DB) error {
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&s.floor, "SELECT id, data FROM pages WHERE id <= ? ORDER BY id DESC LIMIT 1"},
		{&s.pages, "SELECT id, data FROM pages WHERE id BETWEEN ? AND ?"},
		{&s.blocks, "SELECT b.id, s.name, s.floor, " + blockColumns + " FROM blocks b JOIN sessions s ON s.id = b.session WHERE b.id BETWEEN ? AND ?"},
		{&s.text, "SELECT data FROM texts WHERE block = ?"},
	} {
		stmt, err := db.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.to = stmt
	}
	return nil
}

func (s *statements) close() {
	for _, stmt := range []*sql.Stmt{s.floor, s.pages, s.blocks, s.text} {
		if stmt != nil {
			_ = stmt.Close() // nothing is pending
		}
	}
}

func (x *Index) begin(ctx context.Context, q Query) (*search, error) {
	p, err := newPlan(q)
	if err != nil {
		return nil, err
	}
	s := &search{x: x, ctx: ctx, plan: p}
	if err = s.stmts.prepare(ctx, x.read); err == nil {
		err = s.snapshot()
	}
	if err != nil {
		s.close()
		return nil, s.explain(err)
	}
	return s, nil
}

func (s *search) close() { s.stmts.close() }

// next returns the next hit, or io.EOF at the end.
func (s *search) next() (Hit, error) {
	for {
		if err := s.ctx.Err(); err != nil {
			return Hit{}, err
		}
		if len(s.queue) == 0 {
			return Hit{}, io.EOF
		}
		it := s.queue.next()
		var err error
		switch it.kind {
		case kindHit:
			return *it.hit, nil
		case kindGroup:
			err = s.openGroup(it.group)
		case kindBlock:
			if err = s.countScanned(it); err == nil {
				err = s.openBlock(it.block)
			}
		}
		if err != nil {
			return Hit{}, s.explain(err)
		}
	}
}

func (s *search) explain(err error) error {
	if t := (*Truncated)(nil); errors.As(err, &t) {
		return err
	}
	return s.x.explain(s.ctx, "search", err)
}

// countScanned counts the text that is read without trigrams and ends the search at the limit. Blocks inside which the search
// started are free, so that a search after Truncated makes progress.
func (s *search) countScanned(it item) error {
	if !s.plan.scanLimited || s.plan.Before != (Cursor{}) && it.bound.compare(s.plan.Before) >= 0 {
		return nil
	}
	if s.scanned >= s.plan.ScanBytes {
		after := it.bound
		after.From++ // hits come after Before
		return &Truncated{Before: after, Bytes: s.scanned}
	}
	s.scanned += it.block.stats.size
	return nil
}

// openGroup queues the blocks of a group that may hold hits.
func (s *search) openGroup(g group) error {
	may := newBitmap(g.len())
	may.fill(g.len())
	l := lookup{ctx: s.ctx, floor: s.stmts.floor, pages: s.stmts.pages, group: g, known: map[trigram]bitmap{}}
	if err := l.eval(s.plan.expr, may); err != nil {
		return err
	}
	low, high, ok := may.bounds()
	if !ok {
		return nil
	}
	rows, err := s.stmts.blocks.QueryContext(s.ctx, g.base+int64(low), g.base+int64(high))
	if err != nil {
		return err
	}
	return s.queueBlocks(rows, may, g.base)
}

// openBlock queues the hits of a block.
func (s *search) openBlock(f *candidate) error {
	raw := f.tail
	if f.id != 0 {
		var data []byte
		err := s.stmts.text.QueryRowContext(s.ctx, f.id).Scan(&data)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // forgotten since
		}
		if err != nil {
			return err
		}
		if s.raw, err = unpack(s.raw[:0], data); err != nil {
			return err
		}
		raw = s.raw
	}
	_, text, _, err := decodeText(raw)
	if err != nil || !s.scanner.mayMatch(s.plan, text) {
		return err
	}
	if err := decodeBlock(&s.lines, raw); err != nil {
		return err
	}
	s.scan(f, func(h *Hit) { s.queue.add(item{bound: h.Cursor(), kind: kindHit, hit: h}) })
	return nil
}

// scan calls hit for each line of s.lines that the query wants.
func (s *search) scan(f *candidate, hit func(*Hit)) {
	s.scanner.scan(s.plan, &s.lines, func(i int, ranges []Range) {
		h := &Hit{Session: f.session}
		l := s.lines.lines[i]
		if l.from < f.floor || !s.plan.wants(l, f.session) {
			return
		}
		h.From, h.To, h.Time, h.Command = l.from, l.to, timeOf(l.ns), l.command
		h.setText(s.lines.line(i), ranges)
		hit(h)
	})
}

// wants reports whether a line is within the query's filters.
func (p *plan) wants(l line, session string) bool {
	return (p.Command == 0 || p.Command == l.command) && p.overlaps(l.ns, l.ns) &&
		(p.Before == Cursor{} || Cursor{l.ns, session, l.from}.compare(p.Before) < 0)
}

// overlaps reports whether the query allows times in [first, last].
func (p *plan) overlaps(first, last int64) bool {
	return (p.Since.IsZero() || last >= p.Since.UnixNano()) &&
		(p.Until.IsZero() || first < p.Until.UnixNano()) &&
		(p.Before == Cursor{} || first <= p.Before.Nanos)
}
