package search

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Query says which lines are asked for: those that meet all that is set. Text, Regexp
// or Words are needed. Letters match in either case unless CaseSensitive is set.
type Query struct {
	Text          string   // occurs in the line, anywhere
	Regexp        string   // RE2, matches somewhere in the line
	Words         []string // each occurs in the line with no letter, digit or _ beside it
	CaseSensitive bool

	Session string // empty: all
	// Within says whether a session is searched; nil: all are. Nothing of another is read or told.
	Within  func(session string) bool
	Since   time.Time // that time or later
	Until   time.Time // before
	Command int       // number of the command; 0: all

	// Unindexed, if set, yields the lines that the index does not have yet: those at or behind the offset in indexed for
	// their session (0 if missing), ascending and without overlaps. They are searched one by one.
	Unindexed func(indexed map[string]uint64) iter.Seq2[Batch, error]

	Limit  int    // how many hits at most; 0: all
	Before Cursor // only hits that come after it in the order of hits; zero: all
	// ScanBytes bounds how much text is read for a regexp that needs no fixed text of
	// three bytes, for which the index is of little help: then the search ends with
	// Truncated. 0: 64 MiB.
	ScanBytes int
}

const defaultScanBytes = 64 << 20

// Range is part of a text, bytes: [Start, End).
type Range struct{ Start, End int }

// Hit is a line that was found.
type Hit struct {
	Session  string
	From, To uint64 // where the line is in the journal
	Time     time.Time
	Command  int
	Text     string  // the line, or what is around the first match in a long one
	Start    int     // where Text begins in the line, bytes
	Cut      bool    // Text is not all of the line
	Matches  []Range // in Text, ascending, without overlaps
}

// Cursor is the place of a line in the order of hits: newest first, then by session and
// offset, both descending. Any value is a valid place.
type Cursor struct {
	Nanos   int64  `json:"ns"` // Unix time
	Session string `json:"session"`
	From    uint64 `json:"from"`
}

// Cursor is where to go on after this hit (Query.Before).
func (h *Hit) Cursor() Cursor { return Cursor{nanos(h.Time), h.Session, h.From} }

// compare is negative when c comes after o in the order of hits.
func (c Cursor) compare(o Cursor) int {
	return cmp.Or(cmp.Compare(c.Nanos, o.Nanos), strings.Compare(c.Session, o.Session), cmp.Compare(c.From, o.From))
}

// Truncated ends a search that read as much as Query.ScanBytes allows. What it found
// is complete up to Before, from where another search can go on.
type Truncated struct {
	Before Cursor
	Bytes  int // text that was read
}

// Error implements error.
func (t *Truncated) Error() string {
	return fmt.Sprintf("search stopped after %d bytes of text; name a time, a session or some fixed text, or go on from there", t.Bytes)
}
