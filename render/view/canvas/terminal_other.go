//go:build !unix

package canvas

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// newScreen is this process's console, which cannot be asked for its background.
func newScreen(func() (tcell.Tty, error), func(theme.Ground)) (tcell.Screen, error) {
	return tcell.NewScreen()
}
