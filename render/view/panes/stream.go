package panes

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Stream is a session being shown. Its methods do not block.
type Stream interface {
	// Frames sends what changed. The newest counts: what was not fetched in time is merged
	// or made up for by a whole screen. It is closed after Close.
	Frames() <-chan Frame
	Act(Input)
	Resize(cols, rows int)
	Close()
}

// Frame is a screen, or what changed of it.
type Frame struct {
	Screen *render.Screen
	Modes  vterm.Modes
}

// Input is something a person does to a session: one field is set.
type Input struct {
	Key   *input.Key
	Mouse *input.Mouse
	Paste *string
	Focus *bool
}
