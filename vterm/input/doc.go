// Package input turns keys, mouse events, focus changes and pasted text into the bytes that a terminal sends to its
// program, under the Modes that the program set (vterm.Terminal.Modes).
//
// A key has a name (ParseKey, ParseKeys, Key.String: the notations of tmux and vim, and words), one row in the table of
// named keys, and two encodings: xterm's (legacy.go) and the kitty keyboard protocol's (kitty.go).
//
// All functions append to a slice of the caller and keep no state. Rows, columns and pixels are counted from 0; values
// that are 1-based on the wire are converted here. The package knows Modes, but neither a screen nor its output; the
// emulator does not import it.
package input
