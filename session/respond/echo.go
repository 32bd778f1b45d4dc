package respond

import "github.com/longterm-dev/longterm/session/internal/echo"

// EchoState is who shows what is typed.
type EchoState string

// Echo states, as the terminal's settings tell.
const (
	EchoOn  EchoState = "on"  // the terminal: ECHO
	EchoOff EchoState = "off" // neither: ICANON without ECHO, as for a password
	EchoApp EchoState = "app" // the program, if it likes: neither, as in a line editor
)

func (s EchoState) shown() echo.Shown { return echo.Shown{Tty: s == EchoOn, App: s == EchoApp} }
