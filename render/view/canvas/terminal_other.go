//go:build !unix

package canvas

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// newScreen returns a screen on this process's console, whose background cannot be queried.
func newScreen(func() (tcell.Tty, error), func(theme.Background)) (tcell.Screen, error) {
	return tcell.NewScreen()
}
