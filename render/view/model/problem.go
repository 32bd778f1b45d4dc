package model

import "strconv"

// Problem is an error that a session printed, with its place in a file.
type Problem struct {
	File         string // HOST:PATH for one of another host
	Line, Column int    // from 1; 0: unknown
	Message      string
	Ref          any // what whoever found it knows it by
}

// Place is where it is, as compilers print it.
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
