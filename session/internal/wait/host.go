package wait

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Host is the session, as waits need it.
type Host interface {
	// View is what is known at this moment.
	View() View
	// Frame copies the screen, or the rows of it that changed.
	Frame(f *vterm.Frame, q vterm.Query)
	// Above are the lines above the screen in which a secret may begin that goes on on it.
	Above() []vterm.Line
	// Read reads output from an offset on. at is the offset of what was read: a later one where
	// something is lost. Nothing and no error: there is no more.
	Read(from uint64, buf []byte) (p []byte, at uint64, err error)
	// Over tells of a wait that has ended.
	Over(w *Waiter, r Result)
}

// Anchor is a moment: an output offset and the screen's version then.
type Anchor struct{ Off, Version uint64 }

// View is what is known of the session.
type View struct {
	Now     time.Time
	Offset  uint64 // of the output that was looked at
	Version uint64 // of the screen
	Top     uint64 // id of the screen's first row
	Typed   Anchor // where output and screen stood when something was last typed

	Exited     bool // the process has ended
	NoMore     bool // and no process that it left can print
	LastOutput time.Time
	Needs      string // kind of input that the program waits for; empty: none
	Repl       bool   // it is the prompt of a program that takes commands
	Phase      shell.Phase
	// Followed says that the shell tells of itself; PromptAt and the command are known then.
	Followed   bool
	PromptAt   uint64
	Command    string // that ended last
	CommandEnd uint64
	HasCommand bool // one has ended, and none runs
	Alt        bool
	Title      string
	Bells      int
	BellAt     uint64 // offset after the newest one
	Reported   bool   // the program reports its progress
	Percent    int
	Read       Progress
	Agent      Agent
	TypedAt    time.Time // when a line was last typed to its end
}

// Agent is how the coding agent in the session is, as those who watch it found.
type Agent struct {
	State string // empty: none is known
	Sure  bool   // it is no state of before what was typed last
	At    time.Time
}

// Progress is how far a program is by what it prints ([16/40], 40%), as those who read its output
// found. What it reports itself (OSC 9;4) is apart.
type Progress struct {
	Known   bool
	Percent int
	At      uint64 // offset of the output that says so
}
