package panes

import (
	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Stream is the connection to a shown session. Its methods do not block.
type Stream interface {
	// Frames returns the channel of changes. Frames that are not received in time are merged, or replaced by a full
	// screen. The channel is closed after Close.
	Frames() <-chan Frame
	// SendInput sends input. n is its number among typed input, from 1, if its echo may be slow and frames acknowledge it;
	// else 0.
	SendInput(Input) (n uint64)
	Resize(cols, rows int)
	// Picture requests an image by the key in a line. A Frame answers, unless the stream reconnects first.
	Picture(key string)
	// Close closes the stream. unsent is the number of typed bytes that will not reach the session.
	Close() (unsent int)
}

// Frame is a screen, or a change of it.
type Frame struct {
	Screen *render.Screen
	Modes  vterm.Modes
	// InputRejected reports that the session rejected input, because a user made this viewer view-only.
	InputRejected bool
	// Acked is the number of the last acknowledged input (Stream.Act).
	Acked uint64
	// Reconnecting reports that the connection was lost. The frame contains nothing else. Unacknowledged input is sent again.
	Reconnecting bool
	// Effects are the program's bells, notifications and clipboard writes since the last frame.
	Effects []Effect
	// Picture is a requested image. The frame holds nothing else.
	Picture *Picture
}

// Effect is a bell, notification or clipboard write of a program. It happens once and is not part of the screen.
type Effect struct {
	Kind        EffectKind
	Title, Text string // of a notification; of a clipboard write, Title names the selections as in OSC 52
}

// EffectKind is a kind of Effect.
type EffectKind uint8

// Kinds of effects.
const (
	EffectBell EffectKind = iota
	EffectNotify
	EffectClipboard
)

// Picture is an image as PNG; empty means no longer shown, or undecodable.
type Picture struct {
	Key string
	PNG []byte
}

// Input is an input event for a session: one field is set.
type Input struct {
	Key   *input.Key
	Mouse *input.Mouse
	Paste *string
	Focus *bool
	Outer *vterm.Outer // description of the viewer's terminal
}
