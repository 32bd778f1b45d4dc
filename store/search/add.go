package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Line is a line of session output to be indexed, without its line end. Text beyond MaxLine is truncated; an empty line
// is not stored.
type Line struct {
	From, To uint64    // its range in the journal; To is larger
	Time     time.Time // time of the output
	Command  int       // number of the command that printed it; 0: none
	Text     string
}

// Batch is indexed output of one session.
type Batch struct {
	Session string
	Lines   []Line // ascending, without overlaps
	// To is the offset up to which the batch is complete, if beyond the last line's end.
	To uint64
}

// Add indexes a batch of lines, all or none. It skips lines that start before IndexedTo, so a caller may repeat a batch whose
// result it does not know. After ErrCorrupt the caller must reopen the index.
func (x *Index) Add(ctx context.Context, b Batch) error {
	if err := b.check(); err != nil {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.inTx(ctx, "index session "+b.Session, func(tx *sql.Tx) error { return x.add(ctx, tx, b) })
	if err != nil {
		return err
	}
	return x.limitPending(ctx)
}

func (b *Batch) check() error {
	end := uint64(0)
	for i, l := range b.Lines {
		if l.From < end || l.To <= l.From || l.To > 1<<62 {
			return fmt.Errorf("index session %s: %w: line %d is [%d, %d), the one before ends at %d", b.Session, ErrLines, i, l.From, l.To, end)
		}
		end = l.To
	}
	return nil
}

// IndexedTo returns the offset up to which a session's output is indexed, or 0.
func (x *Index) IndexedTo(ctx context.Context, session string) (uint64, error) {
	var offset uint64
	err := x.read.QueryRowContext(ctx, "SELECT indexed FROM sessions WHERE name = ?", session).Scan(&offset)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return offset, x.explain(ctx, "read the index of session "+session, err)
}

// Sessions returns the indexed sessions, each with the offset before which it has no lines.
func (x *Index) Sessions(ctx context.Context) (map[string]uint64, error) {
	return x.offsets(ctx, "floor")
}

// offsets returns the values of a column for all sessions.
func (x *Index) offsets(ctx context.Context, column string) (map[string]uint64, error) {
	const op = "list the sessions of the index"
	rows, err := x.read.QueryContext(ctx, "SELECT name, "+column+" FROM sessions")
	if err != nil {
		return nil, x.explain(ctx, op, err)
	}
	defer rows.Close()
	list := map[string]uint64{}
	for rows.Next() {
		var name string
		var offset uint64
		if err := rows.Scan(&name, &offset); err != nil {
			return nil, x.explain(ctx, op, err)
		}
		list[name] = offset
	}
	return list, x.explain(ctx, op, rows.Err())
}

// session is a session's row.
type session struct {
	id      int64
	indexed uint64 // offset up to which the session is indexed
	floor   uint64 // offset before which lines were forgotten
}

func sessionRow(ctx context.Context, tx *sql.Tx, name string) (s session, err error) {
	err = tx.QueryRowContext(ctx, "INSERT INTO sessions (name, indexed, floor) VALUES (?, 0, 0) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id, indexed, floor", name).
		Scan(&s.id, &s.indexed, &s.floor)
	return s, err
}

func (x *Index) add(ctx context.Context, tx *sql.Tx, b Batch) error {
	s, err := sessionRow(ctx, tx, b.Session)
	if err != nil {
		return err
	}
	if err := x.loadTail(ctx, tx, s.id); err != nil {
		return err
	}
	end := max(s.indexed, b.To)
	for _, l := range b.Lines {
		end = max(end, l.To)
		if l.From < s.indexed || l.From < s.floor || l.Text == "" {
			continue
		}
		x.lines.add(l, clean(l.Text))
		if len(x.lines.text) >= x.limits.block {
			if err := x.writeBlock(ctx, tx, s.id); err != nil {
				return err
			}
		}
	}
	if err := x.storeTail(ctx, tx, s.id); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE sessions SET indexed = ? WHERE id = ?", end, s.id)
	return err
}

// clean returns text as the index stores it: valid UTF-8 without newlines, of limited length.
func clean(text string) string {
	if len(text) > MaxLine {
		n := MaxLine
		for n > MaxLine-utf8.UTFMax && !utf8.RuneStart(text[n]) {
			n--
		}
		text = text[:n]
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
	}
	if strings.IndexByte(text, '\n') >= 0 {
		text = strings.ReplaceAll(text, "\n", " ")
	}
	return text
}

// loadTail loads a session's tail into x.lines.
func (x *Index) loadTail(ctx context.Context, tx *sql.Tx, id int64) error {
	x.lines.reset()
	var data []byte
	err := tx.QueryRowContext(ctx, "SELECT data FROM tails WHERE session = ?", id).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := decodeBlock(&x.lines, data); err != nil {
		return err
	}
	x.pending.tails -= len(x.lines.text)
	x.pending.tailCount--
	return nil
}

// storeTail stores x.lines as the session's tail.
func (x *Index) storeTail(ctx context.Context, tx *sql.Tx, id int64) error {
	if len(x.lines.lines) == 0 {
		_, err := tx.ExecContext(ctx, "DELETE FROM tails WHERE session = ?", id)
		return err
	}
	st := x.lines.stats()
	x.pending.tails += st.size
	x.pending.tailCount++
	x.pending.clock++
	x.raw = appendBlock(x.raw[:0], &x.lines)
	_, err := tx.ExecContext(ctx, "REPLACE INTO tails (session, touched, size, last, first_ns, last_ns, low_cmd, high_cmd, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		id, x.pending.clock, st.size, st.last, st.firstNS, st.lastNS, st.lowCmd, st.highCmd, x.raw)
	return err
}

// writeBlock stores x.lines as the session's next block and clears it.
func (x *Index) writeBlock(ctx context.Context, tx *sql.Tx, id int64) error {
	st := x.lines.stats()
	x.pending.blocks += st.size
	x.pending.blockCount++
	res, err := tx.ExecContext(ctx, "INSERT INTO blocks (session, size, last, first_ns, last_ns, low_cmd, high_cmd) VALUES (?, ?, ?, ?, ?, ?, ?)",
		id, st.size, st.last, st.firstNS, st.lastNS, st.lowCmd, st.highCmd)
	if err != nil {
		return err
	}
	blockID, err := res.LastInsertId()
	if err != nil {
		return err
	}
	x.raw = appendBlock(x.raw[:0], &x.lines)
	_, err = tx.ExecContext(ctx, "INSERT INTO texts (block, data) VALUES (?, ?)", blockID, pack(nil, x.raw))
	x.lines.reset()
	return err
}

func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// timeOf reverses nanos.
func timeOf(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}
