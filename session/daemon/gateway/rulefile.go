package gateway

import "github.com/longterm-dev/longterm/session/policy/rulebook"

// RuleFile says what became of the person's file of rules, which is looked at for that: one with mistakes is
// told of in the log at once, and not only when somebody asks for something.
func (g *Gateway) RuleFile() rulebook.FileStatus {
	if book, ok := g.c.Rules.(interface{ Status() rulebook.FileStatus }); ok {
		return book.Status()
	}
	return rulebook.FileStatus{Using: "none", Problems: []string{}}
}
