package expect

import (
	"context"
	"errors"
)

// Driver is the terminal that a script talks to. A call ends with the context's error
// when the context does.
type Driver interface {
	// Spawn starts a program in a new terminal and makes it the one talked to.
	Spawn(ctx context.Context, s Spawn) error
	// Type types, and returns when the terminal has taken it all. A secret is sent
	// only while the terminal does not echo, unless forced.
	Type(ctx context.Context, in Input) error
	// Expect waits for the first match of the patterns in output after the previous match, including output from before
	// the call. Echo does not match. It returns ErrExited if the program has ended without a match, and no pattern
	// matches its end.
	Expect(ctx context.Context, patterns []Pattern) (Match, error)
	// Look returns the current state.
	Look(ctx context.Context) (View, error)
}

// ErrExited means that the program ended before what was expected appeared.
var ErrExited = errors.New("the program ended")

// Spawn is a program to start.
type Spawn struct {
	Argv []string // set if Line is not
	Line string   // a command line for a shell
	Cwd  string   // "": as the driver likes
	Env  map[string]string
	Cols int // 0: as the driver likes
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

// Input is something to type.
type Input struct {
	Kind  InputKind
	Value string
	Force bool // of a secret: even while the terminal echoes
}

// Match is what an expectation found.
type Match struct {
	Pattern int // index
	Text    string
	Groups  []string          // Groups[0] is Text
	Names   map[string]string // named groups
}

// View is how a terminal stands.
type View struct {
	Screen   string // rows, joined by newlines, without blanks at their ends
	Cwd      string
	Exited   bool
	ExitCode int // if Exited; 128+N if signal N ended it
}
