package lineexec

import (
	"errors"
	"time"
)

// Errors of lines.
var (
	ErrBusy       = errors.New("the shell is busy")
	ErrIncomplete = errors.New("the line is incomplete: the shell asks for the rest of it")
	ErrForeign    = errors.New("another shell reads the terminal, whose commands are not followed")
	ErrRefused    = errors.New("the shell took the line and did not run it (its history expansion failed, say)")
)

// Line is a command line on its way. Its text is the host's business.
type Line struct {
	Wait  bool // wait for the shell to be at its prompt, whatever it does now
	Parts bool // it has several lines
	Keeps bool // it may read from the terminal with the shell's own editor
	// Wrapped is set by the host when it types it: how many lines were typed for it that tell
	// of themselves.
	Wrapped int

	step    Step
	prompt  uint64 // the one it was typed at
	basic   bool   // its shell does not tell when it begins
	typed   time.Time
	begun   bool
	cause   error // of Dropped; nil: it was refused
	refused bool  // it was read, but not run, and stands in the editor
	repair  bool  // ActRepair was asked for
	doubt   doubt
}

// Step is where a line is.
type Step uint8

// Steps.
const (
	Waits   Step = iota // for the prompt
	Typed               // the shell has it
	Runs                // and runs it
	Refused             // it has ended, and stands in the editor
	Dropped             // Ctrl-C was typed: the next prompt ends it
	Over
)

// Step is where the line is.
func (l *Line) Step() Step { return l.step }
