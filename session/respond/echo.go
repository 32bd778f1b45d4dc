package respond

import "github.com/longterm-dev/longterm/session/internal/echodetect"

// EchoState is the side that echoes input.
type EchoState string

// Echo states, according to the terminal's settings.
const (
	EchoOn  EchoState = "on"  // the terminal: ECHO
	EchoOff EchoState = "off" // neither: ICANON without ECHO, as for a password
	EchoApp EchoState = "app" // perhaps the program: neither flag is set, as in a line editor
)

// echoSides returns the state in the form that echo detection needs.
func (s EchoState) echoSides() echodetect.EchoSides {
	return echodetect.EchoSides{Tty: s == EchoOn, App: s == EchoApp}
}
