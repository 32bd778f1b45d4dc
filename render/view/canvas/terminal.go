package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// Terminal is a screen, or this process's terminal when it is nil. What that says of its background is told from a
// goroutine of the screen's.
func Terminal(screen tcell.Screen, tell func(theme.Ground)) (tcell.Screen, error) {
	if screen != nil {
		return screen, nil
	}
	s, err := newScreen(tell)
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	return s, nil
}

// NoColor reports whether the environment asks for attributes only (no-color.org).
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }
