package echodetect

import (
	"encoding/json"

	"github.com/longterm-dev/longterm/session/shell"
)

// EditorRegion is the newest range of output that a line editor wrote: from the end of the prompt (from) to the start
// of the command's output (to, 0 before it started). Rows count from firstRow to endRow, by id.
type EditorRegion struct {
	from, to         uint64
	firstRow, endRow uint64
	col              int  // column of firstRow where the prompt starts
	open             bool // the line editor is active
}

// regionJSON is the saved form of an EditorRegion.
type regionJSON struct {
	From     uint64 `json:"from"`
	To       uint64 `json:"to"`
	FirstRow uint64 `json:"first_row"`
	EndRow   uint64 `json:"end_row"`
	Col      int    `json:"col,omitempty"`
	Open     bool   `json:"open"`
}

// MarshalJSON implements json.Marshaler.
func (r EditorRegion) MarshalJSON() ([]byte, error) {
	return json.Marshal(regionJSON{r.from, r.to, r.firstRow, r.endRow, r.col, r.open})
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *EditorRegion) UnmarshalJSON(b []byte) error {
	var was regionJSON
	err := json.Unmarshal(b, &was)
	if err == nil {
		*r = EditorRegion{was.From, was.To, was.FirstRow, was.EndRow, was.Col, was.Open}
	}
	return err
}

// HandleMark handles a mark of the shell at an offset of the output, in a row and column.
func (r *EditorRegion) HandleMark(kind shell.MarkKind, at, row uint64, col int) {
	switch kind {
	case shell.MarkPrompt:
		*r = EditorRegion{from: at, firstRow: row, col: col}
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
func (r *EditorRegion) NoteTyped(at uint64) {
	if !r.open && r.from > 0 && r.to == 0 {
		r.from, r.open = at, true
	}
}

// IsOpen reports whether the line editor is active.
func (r *EditorRegion) IsOpen() bool { return r.open }

// PromptStart returns the row and the column of the prompt's start. The column is not 0 after output without a newline.
func (r *EditorRegion) PromptStart() (row uint64, col int) { return r.firstRow, r.col }

// CommandRows returns the rows of a prompt and its command line, from first to end (excluded). ok is false until the
// command's output has started.
func (r *EditorRegion) CommandRows() (first, end uint64, ok bool) {
	return r.firstRow, r.endRow, !r.open && r.to > 0
}

// EditorOutputAt reports whether the byte at an offset was written by a line editor, and the offset up to which that
// answer is valid.
func (r *EditorRegion) EditorOutputAt(at uint64) (yes bool, until uint64) {
	const ever = 1<<64 - 1
	switch {
	case r.from == 0 || !r.open && r.to == 0: // none, or a prompt without input
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
func (r *EditorRegion) HasRow(id uint64) bool {
	if r.from == 0 || id < r.firstRow {
		return false
	}
	return r.open || r.to > 0 && id < r.endRow
}
