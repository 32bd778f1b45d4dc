package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// column ties a column to a field: what is written, and where a row is read into.
type column[T any] struct {
	name  string
	value func(*T) any
	dest  func(*T) any
}

// columns are those of a table, in the order of every statement.
type columns[T any] []column[T]

func (c columns[T]) names(sep string) string {
	list := make([]string, len(c))
	for i := range c {
		list[i] = c[i].name
	}
	return strings.Join(list, sep)
}

// places are the parameters of an INSERT.
func (c columns[T]) places() string { return "(?" + strings.Repeat(", ?", len(c)-1) + ")" }

func (c columns[T]) values(r *T) []any {
	list := make([]any, len(c))
	for i := range c {
		list[i] = c[i].value(r)
	}
	return list
}

func (c columns[T]) dests(r *T) []any {
	list := make([]any, len(c))
	for i := range c {
		list[i] = c[i].dest(r)
	}
	return list
}

// rows reads all rows of a statement that selects these columns, and closes it.
func (c columns[T]) rows(rows *sql.Rows) ([]T, error) {
	defer rows.Close()
	var all []T
	for rows.Next() {
		var r T
		if err := rows.Scan(c.dests(&r)...); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

// nanos is t in Unix nanoseconds, 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

type nanosInto struct{ t *time.Time }

// Scan implements sql.Scanner.
func (n nanosInto) Scan(v any) error {
	ns, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%w: time is %T", ErrCorrupt, v)
	}
	if *n.t = (time.Time{}); ns != 0 {
		*n.t = time.Unix(0, ns)
	}
	return nil
}

func jsonOf(v any, empty string) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" { // strings always marshal
		return empty
	}
	return string(b)
}

type jsonInto struct{ dest any }

// Scan implements sql.Scanner.
func (j jsonInto) Scan(v any) error {
	text, _ := v.(string)
	if text == "[]" || text == "{}" {
		return nil // what is empty stays nil
	}
	if err := json.Unmarshal([]byte(text), j.dest); err != nil {
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	return nil
}

// one checks that a statement was about a row there is; missing is the error if not.
func (s *Store) one(op string, missing error, res sql.Result, err error) error {
	if err != nil {
		return s.explain(op, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return s.explain(op, err)
	}
	return fmt.Errorf("%s: %w", op, missing)
}
