// Package picture is images on terminals that can draw them: what a terminal says that it can, images by their keys, and
// the bytes that draw a part of one over cells.
//
//	the terminal's answers ──→ Answers ──→ Means
//	PNG of the daemon's ──→ Decode ──→ Store ──→ Means.Encode ──→ Means.Draw ──→ sixel, kitty graphics, iTerm2's files
//
// It is pure: no terminal, file or clock is touched. Positions and sizes are cells of the terminal, 0-based, or pixels
// where it is said.
package picture
