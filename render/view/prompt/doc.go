// Package prompt is the line that a person types into at the foot of the viewer: messages,
// shell commands and slash commands.
//
//	tcell events ── Event ──→ editor (line, undo, history, completion, search) ──→ Actions
//	what happened (Output, Finished) ──→ blocks above the line
//	Height, Draw ──→ Canvas
//
// A Prompt is a pure machine: it starts nothing, reads no clock and draws on what it is
// given. Its owner does what the actions say and reports back. Only History and Local
// touch files.
//
// As a footer of the viewer: its Height is Height's; its Draw is Draw on the surface it is
// given, and the cursor put where Draw says; its Key does what Press returns; its Mouse is
// Mouse; what is pasted goes to Paste as a whole. After Output, Finished and Show the
// viewer has to draw once more.
//
// Positions in text are byte offsets between grapheme clusters; a pasted text's
// placeholder counts as one. Columns and rows are cells, from 0.
package prompt
