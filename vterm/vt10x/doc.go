// Package vt10x is a vterm.Engine over github.com/hinshun/vt10x.
//
// The library moves the cursor, wraps, erases and scrolls; it knows no more than that of
// a modern terminal, misreads what it does not know and panics on hostile parameters. So
// it never sees the program's bytes. The pipeline is
//
//	bytes → scan.go   cuts text, controls, escape sequences and strings
//	      → text.go   UTF-8, charsets, widths          → library
//	      → csi.go    known functions, bounded numbers → library
//	      → sgr.go, mode.go, osc.go, query.go: kept here, the library is not asked
//	library's grid → frame.go → vterm.Frame
//
// The library always stands between two sequences, which is why any split of the input
// gives the same screen and why a snapshot is possible at all.
//
// # What a cell of the library holds
//
// A glyph of the library has a colour pair and seven attribute bits, too few for a Style,
// and it stores bold as a bright colour and reverse as swapped colours. It is therefore
// never told of colours: a glyph's FG is a vterm.StyleID and its BG a kind (grid.go), which
// says whether the cell was written or erased and how wide its character is. Erasing
// copies both like any colours, so background colour erase comes out right.
//
// # What is lost, against the native engine
//
//   - No scrollback and no reflow: a narrower screen cuts its rows.
//   - Cursor motion (CUU, CUD, …) ignores the scroll margins; no left and right margins, SL, SR,
//     DECIC, DECDC, no rectangular operations, protected cells, double-size lines, images.
//   - Insert mode (IRM) overwrites; rows that scroll in are never coloured.
//   - A cluster is a character and the zero-width ones after it; joined emoji stay apart.
//   - One saved cursor for both screens; the alternate screen is cleared on leaving it.
package vt10x
