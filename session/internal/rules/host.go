package rules

import (
	"context"
	"time"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
)

// ReplyResolver looks up secrets and runs hooks for rules. Its methods may block, and are called on separate goroutines.
type ReplyResolver interface {
	// Secret returns the value of a reference (respond.CheckSecret).
	Secret(ctx context.Context, ref string) ([]byte, error)
	// Hook runs a hook and returns the bytes to type.
	Hook(ctx context.Context, h Hook) ([]byte, error)
}

// Hook is a command that a rule runs.
type Hook struct {
	Command  string
	Rule     string            // id
	Captures map[string]string // by number and name; "0" is the match
}

// Host is the session from the machine's view.
type Host interface {
	// View returns the current state.
	View() View
	// Screen returns the screen for rules, with secrets redacted if redacted is set. Rows of a shell's line editor are
	// empty.
	Screen(redacted bool) respond.Screen
	// Redactor returns the redactor for rules that get redacted output. It returns nil if no secrets are known.
	Redactor() respond.Redactor
	// Read reads output from an offset on. at is the offset of p, which is later if output was lost. It returns no data
	// and no error at the end.
	Read(from uint64, buf []byte) (p []byte, at uint64, err error)
	// Do carries out an action.
	Do(Action) error
}

// View is the state of the session.
type View struct {
	Now     time.Time
	Start   uint64            // offset of the oldest retained output
	Offset  uint64            // of the output handled so far
	Running bool              // the program is running
	Live    bool              // output may still come
	Echo    respond.EchoState // which side echoes input
	Modes   vterm.Modes
	// Typed reports that input came, TypedAt the output offset at that time.
	Typed   bool
	TypedAt uint64
}

// ActionKind is the kind of an Action.
type ActionKind uint8

// Kinds of actions; the comment names the fields in use.
const (
	ActSave    ActionKind = iota + 1 // State, Err: save it atomically; State is nil without rules
	ActMatched                       // Match: log and publish this match or failure
	ActLookUp                        // Reply: find out what it types, and call HandleLookup
	ActRetry                         // Reply, Data, Until: call HandleLookup again after EchoPollInterval
	ActUnread                        // fails with inputqueue.ErrUnreadInput while earlier input may be unread
	ActType                          // Data, Secret, Now: type it
)

// Action is a request to the host.
type Action struct {
	Kind     ActionKind
	State    []byte
	Err      error // why State is nil despite rules
	Match    MatchRecord
	Reply    *Reply
	Data     []byte
	Deadline time.Time // deadline of the retries
	Secret   bool      // neither the text nor its length may be shown
	Now      bool      // types at once, or fails
}
