package attach

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Frame is an update for a watching client: the changed rows of the screen, and the modes for drawing and typing.
type Frame struct {
	Screen render.Screen `json:"screen"`
	Modes  vterm.Modes   `json:"modes"`
	State  string        `json:"state"`
	// Accepted is the number of accepted input acts, for a resuming client (Resume).
	Accepted *uint64 `json:"taken,omitempty"`
	// IsViewOnly states that the client's input did not reach the session.
	IsViewOnly bool `json:"held,omitempty"`
	// Effects are the program's bells, notifications and clipboard writes since the last frame.
	Effects []Effect `json:"effects,omitempty"`
	// Picture is the response to an image request, and is then the only content.
	Picture *Picture `json:"-"`
}

// Effect is a bell, notification or clipboard write of a program. It happens once and is not part of the screen.
type Effect struct {
	Kind  string `json:"kind"`            // EffectBell, EffectNotify or EffectClipboard
	Title string `json:"title,omitempty"` // of a notification; of a clipboard write, the selections as in OSC 52
	Text  string `json:"text,omitempty"`
}

// Kinds of effects.
const (
	EffectBell      = "bell"
	EffectNotify    = "notify"
	EffectClipboard = "clipboard"
)

// Picture is an image in lines of the screen. It is sent as binary message: the key, then the PNG.
type Picture struct {
	Key string
	PNG []byte // empty: no longer shown, or not an image
}

// Act is an action of a watching client. Keys and mouse events are converted to bytes by the daemon, which knows the program's
// modes.
type Act struct {
	Cols  int          `json:"cols,omitempty"` // new size, cells
	Rows  int          `json:"rows,omitempty"`
	Key   *input.Key   `json:"key,omitempty"`
	Mouse *input.Mouse `json:"mouse,omitempty"`
	Paste *string      `json:"paste,omitempty"`
	Text  string       `json:"text,omitempty"`
	Focus *bool        `json:"focus,omitempty"`
	// Outer describes the client's terminal, for answers to the program.
	Outer *vterm.Outer `json:"outer,omitempty"`
	// Picture requests the image with this key.
	Picture string `json:"picture,omitempty"`
}

// IsInput reports whether the act is input: such acts are counted (Resume.Acknowledged), unlike size changes.
func (a *Act) IsInput() bool {
	return a.Key != nil || a.Mouse != nil || a.Paste != nil || a.Focus != nil || a.Text != ""
}
