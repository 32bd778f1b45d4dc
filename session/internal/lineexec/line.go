package lineexec

import (
	"errors"
	"time"
)

// Errors of lines.
var (
	ErrBusy       = errors.New("the shell is busy")
	ErrIncomplete = errors.New("line incomplete: the shell waits for the rest of it")
	ErrForeign    = errors.New("another shell reads the terminal, whose commands are not followed")
	ErrRefused    = errors.New("line not run: rejected by the shell (for example, history expansion failed)")
)

// Line is a command line. Only the host knows its text.
type Line struct {
	Wait  bool // wait for the shell to be at its prompt, even if it is busy
	Parts bool // it has several lines
	// Wrapped is set by the host when it types the line: the number of typed lines that have marks.
	Wrapped int

	step      Step
	prompt    uint64 // the one it was typed at
	basic     bool   // its shell does not mark its start
	typed     time.Time
	begun     bool
	cause     error // of Dropped; nil: the line was refused
	refused   bool  // it was read, but not run, and is still in the editor
	repair    bool  // ActRepair was requested
	asks      bool  // at the last probe the shell read input, and not as it does at its prompt
	suspicion suspicion
}

// Step is the progress of a line.
type Step uint8

// Steps.
const (
	Waits   Step = iota // for the prompt
	Typed               // the shell has it
	Runs                // and runs it
	Refused             // the shell read it but did not run it; its line editor still holds it
	Dropped             // Ctrl-C was typed: the next prompt ends it
	Over
)

// Step returns the progress of the line.
func (l *Line) Step() Step { return l.step }

// IsAsking reports whether the shell reads input for the line, as far as the kernel's state shows.
func (l *Line) IsAsking() bool { return l.asks }
