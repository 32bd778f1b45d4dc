package rules

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
)

// SecretResolver does for rules what takes time. Its methods are called on goroutines of their
// own.
type SecretResolver interface {
	// Secret is what a reference stands for (respond.CheckSecret).
	Secret(ctx context.Context, ref string) ([]byte, error)
	// Hook runs a hook and returns what is to be typed.
	Hook(ctx context.Context, h Hook) ([]byte, error)
}

// Hook is a command that a rule has run.
type Hook struct {
	Command  string
	Rule     string            // id
	Captures map[string]string // by number and name; "0" is the match
}

// Host is the session, as the machine needs it.
type Host interface {
	// View is what is known at this moment.
	View() View
	// Screen is the screen as rules see it, veiled if some are. Rows of a shell's line editor are empty.
	Screen(veiled bool) respond.Screen
	// Veil is what veiled rules see output through; nil: as it is.
	Veil() respond.Veil
	// Read reads output from an offset on. at is the offset of what was read: a later one where
	// something is lost. Nothing and no error: there is no more.
	Read(from uint64, buf []byte) (p []byte, at uint64, err error)
	// Do carries an action out.
	Do(Action) error
}

// View is what is known of the session.
type View struct {
	Now     time.Time
	Start   uint64            // offset of the oldest output that is kept
	Offset  uint64            // of the output that was looked at
	Running bool              // the program is
	Live    bool              // output can come
	Echo    respond.EchoState // who shows what is typed
	Modes   vterm.Modes
	// Typed says that something was typed, TypedAt where the output stood then.
	Typed   bool
	TypedAt uint64
}

// ActionKind is what the host is to do.
type ActionKind uint8

// Actions; the comment names the fields in use.
const (
	ActSave   ActionKind = iota + 1 // State, Err: write it down, whole or not at all; nil: there are no rules
	ActFired                        // Firing: record it, and tell of it
	ActLookUp                       // Reply: find out what it types, and call Resolved
	ActAgain                        // Reply, Data, Until: call Resolved again after Poll
	ActUnread                       // fails with typing.ErrAhead while input that was typed may wait to be read
	ActType                         // Data, Secret, Now: type it
)

// Action is something to be done.
type Action struct {
	Kind   ActionKind
	State  []byte
	Err    error // why there is no State
	Firing Firing
	Reply  *Reply
	Data   []byte
	Until  time.Time
	Secret bool // neither the text nor its length is anybody's business
	Now    bool // at once, or not at all
}
