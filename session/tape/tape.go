// Package tape parses tapes: scripts that type into a terminal and record it for documentation, in the language of VHS
// (github.com/charmbracelet/vhs), whose tapes mostly play unchanged. It only parses; cmd/internal/tapeplay plays the
// steps.
//
//	Output demo.gif
//	Set FontSize 20
//	Type "make"
//	Enter
//	Wait
//	Screenshot made.png
//
// A line has one or more commands; # starts a comment. Settings apply to the whole tape, except TypingSpeed, which
// applies from its place on. Lines and columns of errors are 1-based, columns in bytes.
package tape

import (
	"fmt"
	"regexp"
	"time"
)

// Tape is a script.
type Tape struct {
	Outputs  []string // files to make, by their endings
	Requires []string // programs that have to be there
	Env      []string // NAME=VALUE
	Settings Settings
	Steps    []Step
	// Ignored are settings of VHS that mean nothing here, each once.
	Ignored []string
}

// Settings apply to the whole tape. Zero values mean the player's defaults.
type Settings struct {
	Shell         string // bash, zsh, fish, sh or a path
	Cols, Rows    int    // cells
	Width, Height int    // pixels; cells count where both are given
	FontSize      float64
	Padding       int    // pixels
	Margin        int    // pixels
	MarginColor   string // #rrggbb
	Window        bool
	FPS           float64
	Speed         float64 // of playback, 2 being twice as fast
	Theme         string
	WaitTimeout   time.Duration
	WaitPattern   *regexp.Regexp
}

// Kind is what a step does.
type Kind string

// Kinds of steps.
const (
	Type       Kind = "Type"       // Text, Delay after each character
	Key        Kind = "Key"        // Text is a key as vterm/input names it; Count times, Delay after each
	Sleep      Kind = "Sleep"      // Delay
	Wait       Kind = "Wait"       // until Pattern is found, or the default one, for at most Delay
	Hide       Kind = "Hide"       // what is done from here is not shown
	Show       Kind = "Show"       // it is again
	Screenshot Kind = "Screenshot" // of the screen now, into the file Text
	Copy       Kind = "Copy"       // Text, for Paste
	Paste      Kind = "Paste"
)

// Step is one thing to do.
type Step struct {
	Line    int
	Kind    Kind
	Text    string
	Count   int
	Delay   time.Duration
	Pattern *regexp.Regexp // nil: the setting's
	Screen  bool           // Wait looks at the whole screen instead of the cursor's line
}

// Error is a mistake in a tape.
type Error struct {
	File         string
	Line, Column int
	Message      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Bounds of a tape.
const (
	MaxBytes   = 1 << 20
	maxSteps   = 100_000
	maxCount   = 10_000
	maxDelay   = time.Hour
	maxSource  = 8   // tapes within tapes, deep
	maxSources = 100 // and in all

	defaultSpeed = 50 * time.Millisecond
)
