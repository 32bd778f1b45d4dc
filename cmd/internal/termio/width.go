package termio

import (
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Width returns the columns of the terminal behind w, or 0 if w is not a terminal.
func Width(w any) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	cols, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return cols
}
