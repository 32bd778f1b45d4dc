package wait

import (
	"time"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm"
)

// Host is the session from the waits' view.
type Host interface {
	// View returns the current state.
	View() View
	// Frame copies the screen, or its changed rows.
	Frame(f *vterm.Frame, q vterm.Query)
	// Above returns the lines above the screen in which a secret may start that continues on it.
	Above() []vterm.Line
	// Read reads output from an offset on. at is the offset of p, which is later if output was lost. It returns no data
	// and no error at the end.
	Read(from uint64, buf []byte) (p []byte, at uint64, err error)
	// WaitEnded receives the result of a wait that has ended.
	WaitEnded(w *Waiter, r Result)
}

// Anchor is a moment: an output offset and the screen's version at that time.
type Anchor struct{ Off, Version uint64 }

// View is the state of the session.
type View struct {
	Now       time.Time
	Offset    uint64 // of the output handled so far
	Version   uint64 // of the screen
	Top       uint64 // id of the screen's first row
	LastInput Anchor // output and screen when input was last typed

	Exited     bool // the process has ended
	Drained    bool // and no leftover process can print
	LastOutput time.Time
	InputKind  string // kind of input that the program waits for, or ""
	IsRepl     bool   // it is the prompt of an interpreter
	Phase      shell.Phase
	// HasIntegration reports that the shell has integration; PromptAt and the command are known then.
	HasIntegration  bool
	PromptAt        uint64 // output offset of the newest prompt
	Command         string // the command that ended last
	CommandEnd      uint64 // output offset at the command's end
	HasCommand      bool   // a command has ended, and none runs
	Alt             bool   // a full-screen program is shown
	Title           string
	Bells           int    // number so far
	BellAt          uint64 // offset after the newest one
	ReportsProgress bool   // the program reports its progress
	Percent         int
	ParsedProgress  Progress // from the output
	Agent           Agent
	TypedAt         time.Time // when a line was last typed to its end
	Ports           []int     // TCP ports at which its processes accept connections; read only
	Anomaly         Anomaly
}

// Anomaly is the first line of the newest command that earlier failures of it printed and its good runs did not.
type Anomaly struct {
	Line string // "": none so far
	At   uint64 // its output offset
	// ComparedTo is the output offset at the end of the newest command that has ended and was compared to its end; else 0.
	ComparedTo uint64
}

// Agent is the state of the coding agent in the session, as its observers found it.
type Agent struct {
	State     string    // working, idle, … (package agentstate); "" if unknown
	Confident bool      // the state was observed after the last input
	At        time.Time // time of the observation
}

// Progress is a program's progress as found in its output ([16/40], 40%). Progress that it reports itself (OSC 9;4) is
// in View.
type Progress struct {
	Known   bool
	Percent int
	At      uint64 // offset of the output that shows it
}
