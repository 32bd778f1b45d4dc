package model

import "strconv"

// Problem is an error that a session printed, with its position in a file.
type Problem struct {
	File         string // HOST:PATH for one of another host
	Line, Column int    // from 1; 0: unknown
	Message      string
	Ref          any // reference for the Editor
}

// Place returns the position in the form that compilers print.
func (p *Problem) Place() string {
	text := p.File
	for _, n := range []int{p.Line, p.Column} {
		if n == 0 {
			break
		}
		text += ":" + strconv.Itoa(n)
	}
	return text
}
