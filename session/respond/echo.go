package respond

import "github.com/longterm-dev/longterm/session/internal/echodetect"

// EchoState is the side that shows input.
type EchoState string

// Echo states, according to the terminal's settings.
const (
	EchoOn  EchoState = "on"  // the terminal: ECHO
	EchoOff EchoState = "off" // neither: ICANON without ECHO, as for a password
	EchoApp EchoState = "app" // the program, if it likes: neither, as in a line editor
)

func (s EchoState) echoSides() echodetect.Shown {
	return echodetect.Shown{Tty: s == EchoOn, App: s == EchoApp}
}
