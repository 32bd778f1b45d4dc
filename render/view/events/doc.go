// Package events says what the events of a person's terminal (tcell) are to the terminal of a
// session (vterm/input): keys, the mouse, and the text of a paste, which tcell sends as keys.
//
// Keys that tcell cannot express are carried through it (Carry): they are its only state. The caller keeps the
// buttons that were down before. It also
// handles positions of the mouse: only it knows where on the screen a session is.
package events
