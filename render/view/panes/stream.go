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
	// Act does something. n is its number among what is typed, from 1, where its echo may be long in coming and frames say
	// what was taken; else 0.
	Act(Input) (n uint64)
	Resize(cols, rows int)
	// Picture asks for the image of a key that a line has; a Frame answers, unless the stream has begun anew meanwhile.
	Picture(key string)
	// Close ends it. unsent is how many bytes were typed that will not reach the session.
	Close() (unsent int)
}

// Frame is a screen, or what changed of it.
type Frame struct {
	Screen *render.Screen
	Modes  vterm.Modes
	// Held says that what was typed did not reach the session: a person has this viewer look only there.
	Held bool
	// Taken is how much of what was typed was taken there (Stream.Act).
	Taken uint64
	// Anew says that the connection was lost, and is all that the frame has. What was typed and not taken is sent again.
	Anew bool
	// Effects are the program's bells, notifications and clipboard writes since the last frame.
	Effects []Effect
	// Picture is an image that was asked for, and all that the frame has.
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

// Picture is an image as PNG; empty: it is not shown any more, or is none.
type Picture struct {
	Key string
	PNG []byte
}

// Input is something a person does to a session: one field is set.
type Input struct {
	Key   *input.Key
	Mouse *input.Mouse
	Paste *string
	Focus *bool
	Outer *vterm.Outer // describes the terminal that the viewer is on
}
