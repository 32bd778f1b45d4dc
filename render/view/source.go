// Package view shows sessions in panes on a person's terminal (tcell).
//
//	Source ─▶ model (sessions, panes, focus) ─▶ draw ─▶ tcell screen
//	tcell events ─▶ keys, mouse ─▶ commands on the model, or the focused session
//
// One goroutine, Run's, owns the model and the screen. Others only fetch: one per stream
// hands its frames over, one reads the terminal, and New and Kill run beside. The viewer
// knows nothing of daemons: a Source is where sessions come from, and reconnecting is the
// Source's business.
//
// Positions are cells of the person's terminal, x and y, 0-based.
package view

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/render"
	"github.com/longterm-dev/longterm/vterm"
)

// Session is what the viewer shows of a session besides its screen.
type Session struct {
	ID       string
	Name     string
	State    string // StateRunning, or how it ended: exited, lost, …
	Command  string
	Cwd      string
	ExitCode *int
	Signal   string // the one that ended it
	Started  time.Time
	Ended    time.Time // zero while it runs
}

// StateRunning is the state of a session that takes input.
const StateRunning = "running"

// Source is where sessions come from. Its methods are called from several goroutines;
// those with a context return when it ends.
type Source interface {
	// Sessions sends the whole list now and after every change, until ctx ends; then it
	// closes the channel.
	Sessions(ctx context.Context) <-chan Update
	// Watch shows a session at a size in cells. It does not block.
	Watch(ctx context.Context, id string, cols, rows int) Stream
	// New starts a session and returns its id.
	New(ctx context.Context) (string, error)
	// Kill ends a session's process.
	Kill(ctx context.Context, id string) error
}

// Update is the state of all sessions.
type Update struct {
	Sessions []Session
	Away     string // why the source cannot be reached; then Sessions says nothing
}

// Stream is a session being shown. Its methods do not block.
type Stream interface {
	// Frames sends what changed. The newest counts: what nobody fetched in time is merged
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
	Key   *vterm.Key
	Mouse *vterm.Mouse
	Paste *string
	Focus *bool
}
