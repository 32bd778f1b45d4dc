// Package vt10x is a vterm.Engine over github.com/hinshun/vt10x.
//
// The library moves the cursor, wraps, erases and scrolls. It lacks the other features of a modern terminal, misreads
// unknown sequences and panics on hostile parameters. So it never sees the program's bytes. The pipeline is
//
//	bytes → scan.go   cuts text, controls, escape sequences and strings
//	      → text.go   UTF-8, charsets, widths          → library
//	      → csi.go    known functions, bounded numbers → library
//	      → sgr.go, mode.go, osc.go, query.go: handled here without the library
//	library's grid → frame.go → vterm.Frame
//
// The library is always between two sequences. Any split of the input therefore gives the same screen, and snapshots
// are possible.
//
// # What a cell of the library holds
//
// A glyph of the library has a colour pair and seven attribute bits, too few for a Style, and it stores bold as a
// bright colour and reverse as swapped colours. It therefore gets no colours: a glyph's FG is a vterm.StyleID and its
// BG a kind (grid.go): whether the cell was written or erased, and the width of its character. Erasing copies both like
// any colours, so background colour erase comes out right.
//
// # Limitations, compared with the native engine
//
//   - No scrollback and no reflow: a narrower screen cuts its rows.
//   - Cursor motion (CUU, CUD, …) ignores the scroll margins; no left and right margins, SL, SR,
//     DECIC, DECDC, no rectangular operations, protected cells, double-size lines, images.
//   - Insert mode (IRM) overwrites; rows that scroll in are never coloured.
//   - A cluster is a character and the zero-width ones after it; joined emoji stay separate.
//   - One saved cursor for both screens; the alternate screen is cleared on leaving it.
package vt10x
