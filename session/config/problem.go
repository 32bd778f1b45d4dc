package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
)

// Place is where something stands in the file.
type Place = tomldoc.Place

// Problem is something wrong with a file.
type Problem struct {
	File string `json:"file,omitempty"`
	Place
	Key  string `json:"key,omitempty"`
	Text string `json:"text"`
}

func (p Problem) Error() string {
	where := p.File
	if p.Line > 0 {
		if where != "" {
			where += ":"
		}
		where += fmt.Sprintf("%d:%d", p.Line, p.Column)
	}
	if where != "" {
		where += ": "
	}
	if p.Key != "" {
		where += p.Key + ": "
	}
	return where + p.Text
}

// Problems are all that is wrong with a file, in its order.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// ProblemsOf are the problems an error is made of; one that is none of ours is one.
func ProblemsOf(err error) Problems {
	var list Problems
	if err == nil || errors.As(err, &list) {
		return list
	}
	var syntax *tomldoc.Error
	if errors.As(err, &syntax) {
		return Problems{{Place: syntax.Place, Text: syntax.Text}}
	}
	return Problems{{Text: err.Error()}}
}
