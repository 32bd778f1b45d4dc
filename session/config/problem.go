package config

import "github.com/longterm-dev/longterm/session/config/tomldoc"

// What is wrong with a file, and where.
type (
	Place    = tomldoc.Position
	Problem  = tomldoc.Problem
	Problems = tomldoc.Problems
)

// ProblemsOf returns the problems of an error; other errors become one problem.
func ProblemsOf(err error) Problems { return tomldoc.ProblemsOf(err) }
