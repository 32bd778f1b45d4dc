package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Commit is a commit that git log lists.
type Commit struct {
	Hash    string   `json:"hash"` // as printed: whole or short
	Refs    []string `json:"refs,omitempty"`
	Merge   []string `json:"merge,omitempty"` // parents of a merge
	Author  string   `json:"author,omitempty"`
	Email   string   `json:"email,omitempty"`
	Date    string   `json:"date,omitempty"` // as printed
	Subject string   `json:"subject,omitempty"`
	Body    string   `json:"body,omitempty"`
}

// logReader reads git log: the default format and --oneline, with --graph or without.
type logReader struct {
	commits      []Commit
	isCommitOpen bool // following lines belong to the last commit
	hasGraph     bool // lines start with a graph, possibly blank
	body         excerpt
	isTruncated  bool // commits beyond maxEntries were dropped
}

var (
	graph      = pattern.Lazy(`^[*|/\\_ ]+`)
	commitLine = pattern.Lazy(`^commit ([0-9a-f]{7,64})(?: \((.*)\))?$`)
	oneline    = pattern.Lazy(`^([0-9a-f]{7,64}) (?:\(([^)]*)\) )?(.*)$`)
	authorLine = pattern.Lazy(`^Author:\s+(.*?) <([^>]*)>$`)
)

func (l *logReader) read(_ int, line string) {
	l.hasGraph = l.hasGraph || strings.HasPrefix(line, "*")
	if l.hasGraph {
		rest := graph.ReplaceAllString(line, "")
		if rest == "" {
			return
		}
		if !commitLine.MatchString(rest) && !oneline.MatchString(rest) && !isHeader(rest) {
			rest = "    " + rest
		}
		line = rest
	}
	if m := commitLine.FindStringSubmatch(line); m != nil {
		l.isCommitOpen = l.addCommit(Commit{Hash: m[1], Refs: splitRefs(m[2])})
		return
	}
	if l.isCommitOpen {
		l.readDetail(&l.commits[len(l.commits)-1], line)
		return
	}
	if m := oneline.FindStringSubmatch(line); m != nil {
		l.addCommit(Commit{Hash: m[1], Refs: splitRefs(m[2]), Subject: m[3]})
	}
}

func isHeader(s string) bool {
	return strings.HasPrefix(s, "Author:") || strings.HasPrefix(s, "Date:") || strings.HasPrefix(s, "Merge:")
}

// readDetail reads a line of the default format after the first.
func (l *logReader) readDetail(c *Commit, line string) {
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

// addCommit appends a commit unless there are too many.
func (l *logReader) addCommit(c Commit) bool {
	l.endCommit()
	if len(l.commits) >= maxEntries {
		l.isTruncated = true
		return false
	}
	c.Hash, c.Subject = strings.Clone(c.Hash), strings.Clone(c.Subject)
	l.commits = append(l.commits, c)
	return true
}

// endCommit completes the last commit.
func (l *logReader) endCommit() {
	if l.isCommitOpen && len(l.commits) > 0 {
		l.commits[len(l.commits)-1].Body = l.body.text()
	}
	l.body = excerpt{}
}

func splitRefs(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ", ")
}

func (l *logReader) fill(r *Result) {
	l.endCommit()
	if len(l.commits) > 0 {
		r.Kind, r.GitLog, r.Truncated = GitLog, l.commits, l.isTruncated
	}
}
