package echodetect

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
		if !r.open { // otherwise the editor redraws its prompt
			r.from = at
		}
		r.to, r.open = 0, true
	case shell.MarkOutput:
		if r.open {
			r.to, r.endRow, r.open = at, row, false
		}
	}
}

// NoteTyped records that input came at the prompt at an output offset. For a shell that does not mark the end of its
// prompt, the editor's output starts there.
func (r *Region) NoteTyped(at uint64) {
	if !r.open && r.from > 0 && r.to == 0 {
		r.from, r.open = at, true
	}
}

// Open reports whether the line editor is active.
func (r *Region) Open() bool { return r.open }

// Start returns the row and the column of the prompt's start. After output without a newline at its end the column is not 0.
func (r *Region) Start() (row uint64, col int) { return r.firstRow, r.col }

// Ran returns the rows of a prompt and its command line, from first up to end, once the command's output has started.
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

// HasRow reports whether a row belongs to the prompt or the editor, at least in part.
func (r *Region) HasRow(id uint64) bool {
	if r.from == 0 || id < r.firstRow {
		return false
	}
	return r.open || r.to > 0 && id < r.endRow
}
