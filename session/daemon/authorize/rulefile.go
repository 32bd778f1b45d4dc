package authorize

import "github.com/longterm-dev/longterm/session/policy/rulebook"

// RuleFile checks the user's rule file and returns its status, so that mistakes are logged at once and not only at the
// next request.
func (g *Gateway) RuleFile() rulebook.FileStatus {
	if book, ok := g.c.Rules.(interface{ Status() rulebook.FileStatus }); ok {
		return book.Status()
	}
	return rulebook.FileStatus{Using: "none", Problems: []string{}}
}

// ProjectProblems lists the mistakes in projects' rule files and the rules that apply instead, one line each.
func (g *Gateway) ProjectProblems() (lines []string) {
	book, ok := g.c.Rules.(interface{ ProjectProblems() []rulebook.FileStatus })
	if !ok {
		return nil
	}
	for _, f := range book.ProjectProblems() {
		counts := "the last one in order counts there"
		if f.Using == "broken" {
			counts = "agents there need approval for all but reading"
		}
		for _, p := range f.Problems {
			lines = append(lines, "rules of a project: "+p+"; "+counts)
		}
	}
	return lines
}
