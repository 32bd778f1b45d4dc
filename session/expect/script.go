package expect

import (
	"fmt"
	"time"
)

// Script is a loaded script without errors.
type Script struct {
	Name        string
	Timeout     time.Duration     // of the whole run; 0: none
	StepTimeout time.Duration     // of a step without a timeout; 0: Options.StepTimeout or the default
	Vars        map[string]string // default values of variables
	Require     []string          // variables that the caller must set
	Steps       []Step
	procedures  map[string]*procedure
}

// procedure is a named list of steps.
type procedure struct {
	pos      Pos
	steps    []Step
	isCalled bool // some step calls it
}

// Pos is a position in a source, 1-based.
type Pos struct {
	File   string `json:"file,omitempty"` // "": the main source
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

// String returns FILE:LINE:COLUMN.
func (p Pos) String() string {
	if p.File != "" {
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// Step is a step of a script.
type Step struct {
	Pos     Pos
	Verb    string
	Name    string
	Label   string        // of a loop, for break and continue
	Timeout time.Duration // 0: the script's
	action  action
}

// Pattern is the pattern of an expectation. One field is set.
type Pattern struct {
	Text   string
	Regexp string
	Exit   bool // matches the end of the program
}

// Actions, one type per verb. Their strings are templates: ${name} is a variable.
type (
	spawnAction struct {
		Argv []string
		Line string // command line for a shell, instead of Argv
		Cwd  string
		Env  map[string]string
		Cols int
		Rows int
	}
	inputAction struct {
		Kind  InputKind
		Text  string
		Enter bool
		Force bool // type a secret even while the terminal echoes
	}
	expectAction struct {
		Branches   []expectBranch
		Timeout    []Step // steps to run on a timeout instead of failing
		hasTimeout bool   // Timeout is set
	}
	expectBranch struct {
		pos     Pos
		pattern Pattern
		steps   []Step
	}
	loopAction struct {
		Times string   // a number, or a template of one; "" with Over
		Over  []string // items, instead of Times
		As    string   // variable set to the number of the round, from 1, or to the item
		Do    []Step
	}
	repeatAction struct {
		Do    []Step
		Until condition
		Max   int
	}
	ifAction struct {
		If         condition
		Then, Else []Step
	}
	waitAction struct {
		Duration time.Duration
		Exit     bool
	}
	assertAction  struct{ condition }
	captureAction struct{ assignments []assignment }
	setAction     struct{ assignments []assignment }
	callAction    struct {
		Procedure string
		With      []assignment
	}
	includeAction struct{ Steps []Step }
	failAction    struct{ Reason string }
	// loopControl is break or continue.
	loopControl struct {
		Label      string // "": the innermost loop
		IsContinue bool   // continue with the next round, instead of ending the loop
	}
)

// assignment is a variable and the template of its value.
type assignment struct {
	pos         Pos
	name, value string
}

// condition holds if all of its set fields hold.
type condition struct {
	Screen       string // text on the screen
	ScreenRegexp string
	Exit         *int // exit status
	Cwd          string
	Var          string // variable compared with Equals or Matches
	Equals       *string
	Matches      string
	Not          *condition
}
