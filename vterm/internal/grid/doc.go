// Package grid is the cells of a terminal: screens of rows, the scrollback, and the tables of styles,
// clusters and links that cells refer to. It knows no control sequence, no mode and no cursor movement: the
// terminal says what is printed, erased or scrolled where, and what erased cells become.
//
//	Screen ── rows ──→ Scrollback (records in blocks, package arena)
//	   └────── Tables ──────┘
//
// Most rows are only ever appended to and then scrolled away. Such a row is packed: it is kept in the form
// that the scrollback keeps (packed.go, encode.go), so that printing and scrolling are copies of bytes. It is
// inflated, and consists of cells from then on, once cells are to be seen or changed: Screen.At does so,
// Screen.Raw does not.
//
// # Ownership
//
// The tables are shared by all screens of a terminal and its scrollback. What a frame was given of their
// lists is never changed, only appended to or replaced as a whole. Rows belong to their screen; one that was
// pushed into the scrollback was copied.
//
// # Versions
//
// A row that changes gets Tables.Version. Where many rows change at once the screen notes them (Screen.Touch)
// and stamps them later (Screen.Flush), or notes that all moved (Screen.TouchAll).
//
// # Units
//
// Rows and columns are 0-based. Ranges of columns are half-open; a Region's sides are inclusive. Ids of
// scrollback lines count from the first line that ever left the screen.
//
// # Speed
//
// What is on the path of every byte (AppendRun, FastASCII, FastCells, AppendLines, PassLines) takes concrete
// types and works on slices; rows and packed rows have exported fields for the same reason.
package grid
