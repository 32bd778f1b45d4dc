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

// ProjectProblems say what is wrong with files of rules of projects, and what counts there instead, a line each.
func (g *Gateway) ProjectProblems() (lines []string) {
	book, ok := g.c.Rules.(interface{ ProjectProblems() []rulebook.FileStatus })
	if !ok {
		return nil
	}
	for _, f := range book.ProjectProblems() {
		counts := "the last one in order counts there"
		if f.Using == "broken" {
			counts = "agents there are asked about all but reading"
		}
		for _, p := range f.Problems {
			lines = append(lines, "rules of a project: "+p+"; "+counts)
		}
	}
	return lines
}
