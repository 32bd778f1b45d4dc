// Package prompt implements the prompt line at the bottom of the viewer: messages, shell commands and slash commands.
//
// Event turns terminal events into edits of the line (undo, history, completion, search) and returns Actions. The owner
// carries these out and reports results by Output and ShowResult, which appear as blocks above the line. Height and
// Draw bring both to a Canvas.
//
// A Prompt does no I/O: it starts nothing, reads no clock and draws on the canvas that it is given. Only History and
// Local access files.
//
// As a footer of the viewer: its Height is Height's; its Draw is Draw on the given surface, with the cursor where Draw
// returns it; its Key carries out what Press returns; its Mouse is Mouse; pasted text goes to Paste as a whole. After
// Output, ShowResult and Show the viewer must redraw.
//
// Positions in text are byte offsets between grapheme clusters; the placeholder of a pasted text counts as one cluster.
// Columns and rows are cells, from 0.
package prompt
