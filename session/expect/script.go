package expect

import (
	"fmt"
	"time"
)

// Script is a checked script.
type Script struct {
	Name        string
	Timeout     time.Duration // of all; 0: none
	StepTimeout time.Duration // of a step without a timeout; 0: Options' or the default
	Vars        map[string]string
	Require     []string // variables that must be given
	Steps       []Step
	procedures  map[string]*procedure
}

// procedure is a named list of steps.
type procedure struct {
	pos    Pos
	steps  []Step
	called bool
}

// Pos is a place in a source.
type Pos struct {
	File   string `json:"file,omitempty"` // "": the script itself
	Line   int    `json:"line"`
	Column int    `json:"column"`
}

func (p Pos) String() string {
	if p.File != "" {
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// Step is one step.
type Step struct {
	Pos     Pos
	Verb    string
	Name    string
	Label   string
	Timeout time.Duration // 0: the script's
	action  action
}

// Pattern is what an expectation looks for. One field is set.
type Pattern struct {
	Text   string
	Regexp string
	Exit   bool // the program ends
}

// Actions, one type per verb. Strings are templates: ${name} is a variable.
type (
	spawn struct {
		Argv []string
		Line string // for a shell, instead of Argv
		Cwd  string
		Env  map[string]string
		Cols int
		Rows int
	}
	typing struct {
		Kind  InputKind
		Text  string
		Enter bool
		Force bool
	}
	expect struct {
		Branches []branch
		Timeout  []Step // run instead of failing
		OnTime   bool   // Timeout is given
	}
	branch struct {
		pos     Pos
		pattern Pattern
		do      []Step
	}
	loop struct {
		Times string // a number or a template of one; "" with Over
		Over  []string
		As    string // variable that takes the number, from 1, or the item
		Do    []Step
	}
	repeat struct {
		Do    []Step
		Until condition
		Max   int
	}
	choose struct {
		If         condition
		Then, Else []Step
	}
	wait struct {
		For  time.Duration
		Exit bool
	}
	assert  struct{ condition }
	capture struct{ list []pair }
	set     struct{ list []pair }
	call    struct {
		Procedure string
		With      []pair
	}
	include struct{ Steps []Step }
	fail    struct{ Reason string }
	leave   struct {
		Label string // "": the innermost loop
		Next  bool   // continue with the next round
	}
)

// pair is a name and a template, in the order written.
type pair struct {
	pos         Pos
	name, value string
}

// condition holds if all that is given holds.
type condition struct {
	Screen       string
	ScreenRegexp string
	Exit         *int
	Cwd          string
	Var          string
	Equals       *string
	Matches      string
	Not          *condition
}
