package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Commit is a commit that git log lists.
type Commit struct {
	Hash    string   `json:"hash"` // as printed: whole or short
	Refs    []string `json:"refs,omitempty"`
	Merge   []string `json:"merge,omitempty"` // parents, of a merge
	Author  string   `json:"author,omitempty"`
	Email   string   `json:"email,omitempty"`
	Date    string   `json:"date,omitempty"` // as printed
	Subject string   `json:"subject,omitempty"`
	Body    string   `json:"body,omitempty"`
}

// logReader reads git log: the default format and --oneline, with --graph or without.
type logReader struct {
	commits []Commit
	open    bool // the last commit may continue
	graphed bool // lines start with a graph, possibly blank
	body    excerpt
	lost    bool
}

var (
	graph      = pattern.Lazy(`^[*|/\\_ ]+`)
	commitLine = pattern.Lazy(`^commit ([0-9a-f]{7,64})(?: \((.*)\))?$`)
	oneline    = pattern.Lazy(`^([0-9a-f]{7,64}) (?:\(([^)]*)\) )?(.*)$`)
	authorLine = pattern.Lazy(`^Author:\s+(.*?) <([^>]*)>$`)
)

func (l *logReader) read(_ int, line string) {
	l.graphed = l.graphed || strings.HasPrefix(line, "*")
	if l.graphed {
		rest := graph.ReplaceAllString(line, "")
		if rest == "" {
			return
		}
		if !commitLine.MatchString(rest) && !oneline.MatchString(rest) && !header(rest) {
			rest = "    " + rest
		}
		line = rest
	}
	if m := commitLine.FindStringSubmatch(line); m != nil {
		l.open = l.add(Commit{Hash: m[1], Refs: refs(m[2])})
		return
	}
	if l.open {
		l.detail(&l.commits[len(l.commits)-1], line)
		return
	}
	if m := oneline.FindStringSubmatch(line); m != nil {
		l.add(Commit{Hash: m[1], Refs: refs(m[2]), Subject: m[3]})
	}
}

func header(s string) bool {
	return strings.HasPrefix(s, "Author:") || strings.HasPrefix(s, "Date:") || strings.HasPrefix(s, "Merge:")
}

// detail reads a line of the default format after the first.
func (l *logReader) detail(c *Commit, line string) {
	switch {
	case strings.HasPrefix(line, "Author:"):
		if m := authorLine.FindStringSubmatch(line); m != nil {
			c.Author, c.Email = strings.Clone(m[1]), strings.Clone(m[2])
		}
	case strings.HasPrefix(line, "Date:"):
		c.Date = strings.Clone(strings.TrimSpace(strings.TrimPrefix(line, "Date:")))
	case strings.HasPrefix(line, "Merge:"):
		c.Merge = strings.Fields(strings.TrimPrefix(line, "Merge:"))
	case strings.HasPrefix(line, "    "):
		if c.Subject == "" {
			c.Subject = strings.Clone(strings.TrimSpace(line))
		} else {
			l.body.add(line[4:])
		}
	case line == "":
		if l.body.b.Len() > 0 {
			l.body.add(line)
		}
	}
}

func (l *logReader) add(c Commit) bool {
	l.end()
	if len(l.commits) >= maxEntries {
		l.lost = true
		return false
	}
	c.Hash, c.Subject = strings.Clone(c.Hash), strings.Clone(c.Subject)
	l.commits = append(l.commits, c)
	return true
}

func (l *logReader) end() {
	if l.open && len(l.commits) > 0 {
		l.commits[len(l.commits)-1].Body = l.body.text()
	}
	l.body = excerpt{}
}

func refs(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

func (l *logReader) into(r *Result) {
	l.end()
	if len(l.commits) > 0 {
		r.Kind, r.GitLog, r.Truncated = GitLog, l.commits, l.lost
	}
}
