package search

import (
	"context"
	"database/sql"
	"errors"
)

// vacuumPages limits the freed pages that a call returns to the file system. The rest is reused, or returned by the
// next call.
const vacuumPages = "4096"

// Forget removes a session from the index.
func (x *Index) Forget(ctx context.Context, session string) error {
	return x.forget(ctx, session, func(tx *sql.Tx, id int64) error {
		if err := dropBlocks(ctx, tx, "session = ?", id); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM sessions WHERE id = ?", id) // and its tail
		return err
	})
}

// ForgetBefore removes the lines of a session that start before offset. They are no longer found; their space is reused
// once their block has no other lines.
func (x *Index) ForgetBefore(ctx context.Context, session string, offset uint64) error {
	return x.forget(ctx, session, func(tx *sql.Tx, id int64) error {
		_, err := tx.ExecContext(ctx, "UPDATE sessions SET floor = max(floor, ?), indexed = max(indexed, ?) WHERE id = ?", offset, offset, id)
		if err != nil {
			return err
		}
		if err := dropBlocks(ctx, tx, "session = ? AND last < ?", id, offset); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "DELETE FROM tails WHERE session = ? AND last < ?", id, offset)
		return err
	})
}

// forget runs f for a session, if it is indexed, and updates the counts of pending text.
func (x *Index) forget(ctx context.Context, session string, f func(tx *sql.Tx, id int64) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	op := "forget session " + session
	err := x.inTx(ctx, op, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, "SELECT id FROM sessions WHERE name = ?", session).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := f(tx, id); err != nil {
			return err
		}
		clock := x.pending.clock
		x.pending, err = countPending(ctx, tx)
		x.pending.clock = max(x.pending.clock, clock)
		return err
	})
	if err != nil {
		return err
	}
	return x.explain(ctx, op, x.vacuum(ctx))
}

// dropBlocks deletes blocks, and the groups that are empty then.
func dropBlocks(ctx context.Context, tx *sql.Tx, where string, args ...any) error {
	var low, high sql.NullInt64
	err := tx.QueryRowContext(ctx, "SELECT min(id), max(id) FROM blocks WHERE "+where, args...).Scan(&low, &high)
	if err != nil || !low.Valid {
		return err
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM texts WHERE block IN (SELECT id FROM blocks WHERE "+where+")", args...)
	if err != nil {
		return err
	}
	if _, err = tx.ExecContext(ctx, "DELETE FROM blocks WHERE "+where, args...); err != nil {
		return err
	}
	empty, err := emptyGroups(ctx, tx, low.Int64, high.Int64)
	if err != nil {
		return err
	}
	for _, g := range empty {
		if _, err := tx.ExecContext(ctx, "DELETE FROM pages WHERE id BETWEEN ? AND ?", pageID(g, 0), pageID(g, allTrigrams-1)); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM groups WHERE base = ?", g.base); err != nil {
			return err
		}
	}
	return nil
}

// emptyGroups returns the groups with blocks in [low, high] that have no blocks left.
func emptyGroups(ctx context.Context, tx *sql.Tx, low, high int64) (list []group, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT base FROM groups WHERE base <= ? AND last >= ? AND NOT EXISTS (SELECT 1 FROM blocks WHERE id BETWEEN groups.base AND groups.last)", high, low)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var g group
		if err := rows.Scan(&g.base); err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, rows.Err()
}

// vacuum returns freed pages to the file system. The statement returns a row for each step, which must be read.
func (x *Index) vacuum(ctx context.Context) error {
	rows, err := x.write.QueryContext(ctx, "PRAGMA incremental_vacuum("+vacuumPages+")")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
