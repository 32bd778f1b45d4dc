package config

import "github.com/longterm-dev/longterm/session/config/tomldoc"

// What is wrong with a file, and where.
type (
	Place    = tomldoc.Place
	Problem  = tomldoc.Problem
	Problems = tomldoc.Problems
)

// ProblemsOf are the problems an error is made of; one that is none of ours is one.
func ProblemsOf(err error) Problems { return tomldoc.ProblemsOf(err) }
