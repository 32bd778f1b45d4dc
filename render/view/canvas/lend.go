package canvas

import "github.com/gdamore/tcell/v2"

// Lend gives the terminal to another program, as it was before the screen had it.
func Lend(screen tcell.Screen) error {
	LeaveGround(screen)
	return screen.Suspend()
}

// TakeBack takes the terminal again that was lent. Its colours may be others now.
func TakeBack(screen tcell.Screen, insideTmux bool) error {
	if err := screen.Resume(); err != nil {
		return err
	}
	_ = AskGround(screen, insideTmux)
	screen.Sync()
	return nil
}
