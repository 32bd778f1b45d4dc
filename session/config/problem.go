package config

import "github.com/longterm-dev/longterm/session/config/tomldoc"

// Problems of a file, with positions.
type (
	Place    = tomldoc.Position
	Problem  = tomldoc.Problem
	Problems = tomldoc.Problems
)

// ProblemsOf returns the problems of an error; other errors become one problem.
func ProblemsOf(err error) Problems { return tomldoc.ProblemsOf(err) }
