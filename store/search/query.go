package search

import (
	"cmp"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Query selects lines that meet all its conditions. Text, Regexp or Words must be set. Letters match in either case
// unless CaseSensitive is set.
type Query struct {
	Text          string   // occurs in the line, anywhere
	Regexp        string   // RE2, matches somewhere in the line
	Words         []string // each occurs as a whole word, without a letter, digit or _ next to it
	CaseSensitive bool

	Session string // "": all
	// Within reports whether a session is searched; nil for all. Other sessions are neither read nor reported.
	Within  func(session string) bool
	Since   time.Time // that time or later
	Until   time.Time // before
	Command int       // number of the command; 0: all

	// Unindexed, if set, yields the lines that the index does not have yet: those at or behind the offset in indexed for
	// their session (0 if missing), ascending and without overlaps. They are searched one by one.
	Unindexed func(indexed map[string]uint64) iter.Seq2[Batch, error]

	Limit  int    // how many hits at most; 0: all
	Before Cursor // only hits after this cursor in the order of hits; zero: all
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
	From, To uint64 // range of the line in the journal
	Time     time.Time
	Command  int
	Text     string  // the line, or the part around the first match of a long line
	Start    int     // byte offset of Text in the line
	Cut      bool    // Text is not the whole line
	Matches  []Range // in Text, ascending, without overlaps
}

// Cursor is the position of a line in the order of hits: newest first, then by session and offset, both descending. Any
// value is valid.
type Cursor struct {
	Nanos   int64  `json:"ns"` // Unix time
	Session string `json:"session"`
	From    uint64 `json:"from"`
}

// Cursor returns where to continue after this hit (Query.Before).
func (h *Hit) Cursor() Cursor { return Cursor{nanos(h.Time), h.Session, h.From} }

// compare returns a negative number if c comes after o in the order of hits.
func (c Cursor) compare(o Cursor) int {
	return cmp.Or(cmp.Compare(c.Nanos, o.Nanos), strings.Compare(c.Session, o.Session), cmp.Compare(c.From, o.From))
}

// Truncated ends a search that has read Query.ScanBytes of text. Its hits are complete down to Before, from where
// another search can continue.
type Truncated struct {
	Before Cursor
	Bytes  int // text that was read
}

// Error implements error.
func (t *Truncated) Error() string {
	return fmt.Sprintf("search stopped after %d bytes of text; narrow it by time, session or fixed text, or continue from there", t.Bytes)
}
