package echo

import (
	"encoding/json"

	"github.com/longterm-dev/longterm/session/shell"
)

// Region is the newest stretch of output that is a line editor's: from is the end of
// the prompt, to where the command's output began, 0 while it has not. Rows count from
// firstRow up to endRow, by id.
type Region struct {
	from, to         uint64
	firstRow, endRow uint64
	col              int // of firstRow, where the prompt starts
	open             bool
}

// region is how a Region is written down.
type region struct {
	From     uint64 `json:"from"`
	To       uint64 `json:"to"`
	FirstRow uint64 `json:"first_row"`
	EndRow   uint64 `json:"end_row"`
	Col      int    `json:"col,omitempty"`
	Open     bool   `json:"open"`
}

// MarshalJSON writes it down.
func (r Region) MarshalJSON() ([]byte, error) {
	return json.Marshal(region{r.from, r.to, r.firstRow, r.endRow, r.col, r.open})
}

// UnmarshalJSON reads what was written down.
func (r *Region) UnmarshalJSON(b []byte) error {
	var was region
	err := json.Unmarshal(b, &was)
	if err == nil {
		*r = Region{was.From, was.To, was.FirstRow, was.EndRow, was.Col, was.Open}
	}
	return err
}

// Note handles a mark of the shell at an offset of the output, in a row and column.
func (r *Region) Note(kind shell.MarkKind, at, row uint64, col int) {
	switch kind {
	case shell.MarkPrompt:
		*r = Region{from: at, firstRow: row, col: col}
	case shell.MarkInput:
		if !r.open { // else the editor draws its prompt anew
			r.from = at
		}
		r.to, r.open = 0, true
	case shell.MarkOutput:
		if r.open {
			r.to, r.endRow, r.open = at, row, false
		}
	}
}

// Typed says that something is typed at the prompt when the output stands at an offset. A shell
// that does not tell where its prompt ends has its editor's output begin there.
func (r *Region) Typed(at uint64) {
	if !r.open && r.from > 0 && r.to == 0 {
		r.from, r.open = at, true
	}
}

// Open says that the line editor is at work.
func (r *Region) Open() bool { return r.open }

// Start returns the row and the column of the prompt's start. After output without a newline at its end the column is not 0.
func (r *Region) Start() (row uint64, col int) { return r.firstRow, r.col }

// Ran are the rows of a prompt and of the line that was given at it, from first up to end, once the
// line's output has begun.
func (r *Region) Ran() (first, end uint64, ok bool) {
	return r.firstRow, r.endRow, !r.open && r.to > 0
}

// Editors reports whether the byte at an offset is a line editor's, and up to where that
// answer holds.
func (r *Region) Editors(at uint64) (yes bool, until uint64) {
	const ever = 1<<64 - 1
	switch {
	case r.from == 0 || !r.open && r.to == 0: // none, or a prompt that nothing was typed at
		return false, ever
	case at < r.from:
		return false, r.from
	case r.open:
		return true, ever
	case at < r.to:
		return true, r.to
	}
	return false, ever
}

// HasRow says that a row is (also) the prompt's or the editor's.
func (r *Region) HasRow(id uint64) bool {
	if r.from == 0 || id < r.firstRow {
		return false
	}
	return r.open || r.to > 0 && id < r.endRow
}
