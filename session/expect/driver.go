package expect

import (
	"context"
	"errors"
)

// Driver is the terminal of a script. A call returns the context's error when the context ends.
type Driver interface {
	// Spawn starts a program in a new terminal, which becomes the current one.
	Spawn(ctx context.Context, s Spawn) error
	// Type types input, and returns when the terminal has accepted all of it. A secret is sent only while the terminal
	// does not echo, unless forced.
	Type(ctx context.Context, in Input) error
	// Expect waits for the first match of the patterns in output after the previous match, including output from before
	// the call. Echo does not match. It returns ErrExited if the program has ended without a match, and no pattern
	// matches its end.
	Expect(ctx context.Context, patterns []Pattern) (Match, error)
	// State returns the current state of the terminal.
	State(ctx context.Context) (TerminalState, error)
}

// ErrExited is returned if the program ended before a match.
var ErrExited = errors.New("the program ended")

// Spawn describes a program to start. Argv or Line is set.
type Spawn struct {
	Argv []string
	Line string // a command line for a shell
	Cwd  string // "": the driver's default
	Env  map[string]string
	Cols int // 0: the driver's default
	Rows int
}

// InputKind is the way in which input is typed.
type InputKind string

// Kinds of input.
const (
	InputText   InputKind = "text"   // as it is
	InputKeys   InputKind = "keys"   // keys by name (input.ParseKeys)
	InputPaste  InputKind = "paste"  // bracketed if the program enabled that
	InputSecret InputKind = "secret" // Value refers to it (respond.CheckSecret)
)

// Input is input to type.
type Input struct {
	Kind  InputKind
	Value string
	Force bool // type a secret even while the terminal echoes
}

// Match is the match of an expectation.
type Match struct {
	Pattern     int // index in the patterns
	Text        string
	Groups      []string          // Groups[0] is Text
	NamedGroups map[string]string // named groups
}

// TerminalState is the state of a terminal.
type TerminalState struct {
	Screen   string // rows joined by newlines, without trailing blanks
	Cwd      string
	Exited   bool
	ExitCode int // if Exited; 128+N if signal N ended it
}
