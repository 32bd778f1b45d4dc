package search

import (
	"context"
	"database/sql"
	"errors"
	"slices"
)

// limitPending limits the text that searches read without trigrams: the oldest tails become blocks, however small, and blocks
// become a group.
func (x *Index) limitPending(ctx context.Context) error {
	if x.pending.tails > x.limits.tails || x.pending.tailCount > x.limits.tailCount {
		err := x.inTx(ctx, "index the ends of sessions", func(tx *sql.Tx) error { return x.closeTails(ctx, tx) })
		if err != nil {
			return err
		}
	}
	for x.pending.blocks >= x.limits.group || x.pending.blockCount >= x.limits.groupLen {
		err := x.inTx(ctx, "index trigrams", func(tx *sql.Tx) error { return x.makeGroup(ctx, tx) })
		if err != nil {
			return err
		}
	}
	return nil
}

// closeTails turns half of the tails into blocks, so that it seldom runs.
func (x *Index) closeTails(ctx context.Context, tx *sql.Tx) error {
	for x.pending.tails > x.limits.tails/2 || x.pending.tailCount > x.limits.tailCount/2 {
		var id int64
		if err := tx.QueryRowContext(ctx, "SELECT session FROM tails ORDER BY touched LIMIT 1").Scan(&id); err != nil {
			return err
		}
		if err := x.loadTail(ctx, tx, id); err != nil {
			return err
		}
		if err := x.writeBlock(ctx, tx, id); err != nil {
			return err
		}
		if err := x.storeTail(ctx, tx, id); err != nil {
			return err
		}
	}
	return nil
}

// group is a sequence of blocks whose trigrams are in pages.
type group struct {
	base, last      int64 // blocks [base, last]; some may have been removed
	firstNS, lastNS int64
}

func (g group) len() int { return int(g.last-g.base) + 1 }

// makeGroup makes a group of the oldest ungrouped blocks.
func (x *Index) makeGroup(ctx context.Context, tx *sql.Tx) error {
	g, size, count, err := x.nextGroup(ctx, tx)
	if err != nil {
		return err
	}
	x.pending.blocks -= size
	x.pending.blockCount -= count
	pairs, err := x.pairs(ctx, tx, g, size)
	if err != nil {
		return err
	}
	if err := writePages(ctx, tx, g, pairs); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO groups (base, last, first_ns, last_ns) VALUES (?, ?, ?, ?)", g.base, g.last, g.firstNS, g.lastNS)
	return err
}

func (x *Index) nextGroup(ctx context.Context, tx *sql.Tx) (g group, size, count int, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT id, size, first_ns, last_ns FROM blocks WHERE id > "+lastGrouped+" ORDER BY id")
	if err != nil {
		return g, 0, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, first, last int64
		var bytes int
		if err := rows.Scan(&id, &bytes, &first, &last); err != nil {
			return g, 0, 0, err
		}
		if count == 0 {
			g = group{id, id, first, last}
		} else if size >= x.limits.group || id-g.base >= int64(x.limits.groupLen) {
			break
		}
		g.last, g.firstNS, g.lastNS = id, min(g.firstNS, first), max(g.lastNS, last)
		size, count = size+bytes, count+1
	}
	if err := rows.Err(); err != nil {
		return g, 0, 0, err
	}
	if count == 0 {
		return g, 0, 0, errors.New("nothing to group") // pending is wrong
	}
	return g, size, count, nil
}

// pair is a trigram and the number of a block in the group that contains it: g<<16 | n.
type pair uint64

// pairs returns all trigram-block pairs of a group with size bytes of text, sorted.
func (x *Index) pairs(ctx context.Context, tx *sql.Tx, g group, size int) ([]pair, error) {
	rows, err := tx.QueryContext(ctx, "SELECT block, data FROM texts WHERE block BETWEEN ? AND ? ORDER BY block", g.base, g.last)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	grams := new(gramSet)
	all := make([]pair, 0, size/5) // of logs; other text grows it
	var (
		data sql.RawBytes
		id   int64
	)
	for rows.Next() {
		if err := rows.Scan(&id, &data); err != nil {
			return nil, err
		}
		if x.raw, err = unpack(x.raw[:0], data); err != nil {
			return nil, err
		}
		if err := decodeBlock(&x.lines, x.raw); err != nil {
			return nil, err
		}
		list := grams.trigrams(&x.lines)
		all = slices.Grow(all, len(list))
		for _, t := range list {
			all = append(all, pair(t)<<16|pair(id-g.base))
		}
	}
	x.lines = block{} // its text was a part of raw
	return sortPairs(all), rows.Err()
}

// sortPairs sorts pairs that are in order of their blocks by a radix sort: two passes over halves of the trigram,
// several times faster than a sort by comparison.
func sortPairs(all []pair) []pair {
	const half = 12
	other := make([]pair, len(all))
	for shift := 16; shift < 16+2*half; shift += half {
		var starts [1 << half]int
		for _, p := range all {
			starts[p>>shift&(1<<half-1)]++
		}
		sum := 0
		for i, n := range starts {
			starts[i] = sum
			sum += n
		}
		for _, p := range all {
			at := &starts[p>>shift&(1<<half-1)]
			other[*at] = p
			*at++
		}
		all, other = other, all
	}
	return all
}

func writePages(ctx context.Context, tx *sql.Tx, g group, pairs []pair) error {
	insert, err := tx.PrepareContext(ctx, "INSERT INTO pages (id, data) VALUES (?, ?)")
	if err != nil {
		return err
	}
	defer insert.Close()
	w := pageWriter{blocks: g.len(), emit: func(first trigram, page []byte) error {
		_, err := insert.ExecContext(ctx, pageID(g, first), page)
		return err
	}}
	var blocks []uint16
	for i := 0; i < len(pairs); {
		t := trigram(pairs[i] >> 16)
		blocks = blocks[:0]
		for ; i < len(pairs) && trigram(pairs[i]>>16) == t; i++ {
			blocks = append(blocks, uint16(pairs[i]))
		}
		if err := w.add(t, blocks); err != nil {
			return err
		}
	}
	return w.flush()
}

func pageID(g group, t trigram) int64 { return g.base<<24 | int64(t) }
