//go:build unix

package canvas

import (
	"github.com/gdamore/tcell/v2"

	"github.com/longterm-dev/longterm/render/view/theme"
)

// newScreen is this process's terminal, which says by tell what its background is.
func newScreen(tell func(theme.Ground)) (tcell.Screen, error) {
	tty, err := tcell.NewDevTty()
	if err != nil {
		return nil, err
	}
	return tcell.NewTerminfoScreenFromTty(&hearing{Tty: tty, tell: tell})
}
