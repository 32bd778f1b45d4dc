// Package events converts events of the user's terminal (tcell) for the terminal of a session (vterm/input): keys, the
// mouse, and the text of a paste, which tcell sends as keys.
//
// Keys that tcell cannot express pass through it encoded (Carry): they are the package's only state. The caller keeps
// the previously pressed buttons. It also converts mouse positions: only the caller knows where on the screen a session
// is.
package events
