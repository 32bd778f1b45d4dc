package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// column connects a database column with a struct field: how to write the field, and where to scan a row into.
type column[T any] struct {
	name  string
	value func(*T) any
	dest  func(*T) any
}

// columns lists the columns of a table, in the order of all its statements.
type columns[T any] []column[T]

// names returns the column names, joined by sep.
func (c columns[T]) names(sep string) string {
	list := make([]string, len(c))
	for i := range c {
		list[i] = c[i].name
	}
	return strings.Join(list, sep)
}

// placeholders returns the parameter list of an INSERT.
func (c columns[T]) placeholders() string { return "(?" + strings.Repeat(", ?", len(c)-1) + ")" }

// values returns the values of r for an INSERT.
func (c columns[T]) values(r *T) []any {
	list := make([]any, len(c))
	for i := range c {
		list[i] = c[i].value(r)
	}
	return list
}

// dests returns the destinations for scanning a row into r.
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

// nanos returns t in Unix nanoseconds, or 0 for the zero time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// nanosInto scans Unix nanoseconds into a time.
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

// jsonOf encodes v as JSON, or returns empty for an empty value.
func jsonOf(v any, empty string) string {
	b, err := json.Marshal(v)
	if err != nil || string(b) == "null" { // strings always marshal
		return empty
	}
	return string(b)
}

// jsonInto scans JSON into dest.
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

// requireRow returns the error of a statement that must affect one row. missing is the error if it affected none.
func (s *Store) requireRow(op string, missing error, res sql.Result, err error) error {
	if err != nil {
		return s.explain(op, err)
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return s.explain(op, err)
	}
	return fmt.Errorf("%s: %w", op, missing)
}
