package canvas

import (
	"fmt"
	"os"

	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// Terminal is a screen, or this process's terminal when it is nil, which is opened by open, or as usual when that is nil. What
// it says of its background is told from a goroutine of the screen's.
func Terminal(screen tcell.Screen, open func() (tcell.Tty, error), tell func(theme.Ground)) (tcell.Screen, error) {
	if screen != nil {
		return screen, nil
	}
	s, err := newScreen(open, tell)
	if err != nil {
		return nil, fmt.Errorf("the terminal: %w", err)
	}
	return s, nil
}

// NoColor reports whether the environment asks for attributes only (no-color.org).
func NoColor() bool { return os.Getenv("NO_COLOR") != "" }
