package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"
)

// Terminal is a screen, or this process's terminal when it is nil.
func Terminal(screen tcell.Screen) (tcell.Screen, error) {
	if screen != nil {
		return screen, nil
	}
	s, err := tcell.NewScreen()
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	return s, nil
}

// NoColor reports whether the environment asks for attributes only (no-color.org).
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }
