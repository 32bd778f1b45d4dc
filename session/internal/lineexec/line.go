package lineexec

import (
	"errors"
	"time"
)

// Errors of lines, as the shell's state causes them.
var (
	ErrBusy         = errors.New("the shell is busy")
	ErrIncomplete   = errors.New("line incomplete: the shell waits for the rest of it")
	ErrForeignShell = errors.New("another shell reads the terminal, whose commands are not followed")
	ErrRefused      = errors.New("line not run: rejected by the shell (for example, history expansion failed)")
)

// Line is a command line. Only the host knows its text.
type Line struct {
	Wait      bool // wait for the shell to be at its prompt, also while it is busy
	Multiline bool // the text has several lines
	// MarkedLines is set by the host when it types the line: the number of typed lines that have marks.
	MarkedLines int

	step       Step
	prompt     uint64    // number of the prompt at which it was typed
	basic      bool      // the shell does not mark its start
	typed      time.Time // time at which it was typed
	started    bool      // a mark reported its start
	cause      error     // why it was dropped; nil: the shell refused it
	refused    bool      // the shell read it but did not run it; its editor still holds it
	repair     bool      // ActRepair was requested
	readsInput bool      // at the last probe the shell read input, but not at its prompt
	suspicion  suspicion // result of earlier probes
}

// Step is the progress of a line.
type Step uint8

// Steps.
const (
	Queued  Step = iota // not typed yet
	Typed               // typed into the shell
	Running             // the shell runs it
	Refused             // the shell read it but did not run it; its line editor still holds it
	Dropped             // Ctrl-C was typed: the next prompt ends it
	Done
)

// Step returns the progress of the line.
func (l *Line) Step() Step { return l.step }

// IsReadingInput reports whether the shell reads input for the line, as far as the kernel's state shows.
func (l *Line) IsReadingInput() bool { return l.readsInput }
