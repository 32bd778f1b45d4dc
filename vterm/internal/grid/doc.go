// Package grid stores the cells of a terminal: screens of rows, the scrollback, and the tables of styles, clusters and
// links that cells refer to. It has no control sequences, modes or cursor movement: the terminal passes in what to
// print, erase or scroll, and the value of erased cells.
//
// A Screen pushes rows that scroll off into the Scrollback, which stores them as records in blocks (package arena).
// Both share the Tables.
//
// Most rows are only appended to and then scroll away. Such a row is packed: it has the form of the scrollback's
// records (packed.go, encode.go), so printing and scrolling copy bytes. When cells are read or changed it is inflated,
// and consists of cells afterwards: Screen.At inflates, Screen.Raw does not.
//
// # Ownership
//
// All screens of a terminal and its scrollback share the tables. Frames refer to parts of their lists, so lists are
// only appended to, or replaced as a whole. Rows belong to their screen; the scrollback copies rows that are pushed
// into it.
//
// # Versions
//
// A changed row gets Tables.Version. If many rows change at once, the screen records the range (Screen.Touch) and
// stamps the rows later (Screen.Flush), or records that all moved (Screen.TouchAll).
//
// # Units
//
// Rows and columns are 0-based. Ranges of columns are half-open; a Region's sides are inclusive. Ids of scrollback
// lines count from the first line that ever left the screen.
//
// # Speed
//
// Functions that run for every byte (AppendRun, FastASCII, FastCells, AppendLines, PassLines) take concrete types and
// work on slices. Rows and packed rows export fields for the same reason.
package grid
