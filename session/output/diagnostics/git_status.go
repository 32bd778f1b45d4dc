package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Status is the result of git status.
type Status struct {
	Branch   string   `json:"branch,omitempty"` // "" if detached or unreported
	Detached string   `json:"detached,omitempty"`
	Upstream string   `json:"upstream,omitempty"`
	Ahead    int      `json:"ahead,omitempty"`
	Behind   int      `json:"behind,omitempty"`
	Clean    bool     `json:"clean"`
	Changes  []Change `json:"changes,omitempty"`
}

// Change is a file that git status lists. Index and Worktree are the letters of the short format: M, A, D, R, C, T, U; ? for
// untracked, ! for ignored; " " for unchanged.
type Change struct {
	Path     string `json:"path"`
	From     string `json:"from,omitempty"` // previous name, of a rename or copy
	Index    string `json:"index"`
	Worktree string `json:"worktree"`
}

// statusReader reads git status: long, short and porcelain 1 and 2.
type statusReader struct {
	Status
	section         string
	isStatus        bool
	isTruncated     bool
	isDiverged      bool
	nothingToCommit bool // the long format reports nothing to commit
	isLongFormat    bool // the output has the long format
	lines           int
}

var (
	upstreamLine  = pattern.Lazy(`^Your branch (?:is (ahead of|behind|up to date with)|and) '([^']+)'(?: by (\d+) commits?)?`)
	divergedLine  = pattern.Lazy(`^and have (\d+) and (\d+) different commits?`)
	branchLine    = pattern.Lazy(`^## (?:No commits yet on |Initial commit on )?(.+?)(?:\.\.\.(\S+))?(?: \[(.*)\])?$`)
	aheadBehind   = pattern.Lazy(`(ahead|behind) (\d+)`)
	shortLine     = pattern.Lazy(`^([ MADRCUT?!])([ MADRCUT?!]) (.+)$`)
	longStatus    = pattern.Lazy(`^(?:\t| {8})(?:(new file|modified|deleted|renamed|copied|typechange|both modified|both added|both deleted|added by us|added by them|deleted by us|deleted by them):\s+)?(.+)$`)
	porcelain2    = pattern.Lazy(`^[12u] ([.MADRCUT])([.MADRCUT]) \S+ (.+)$`)
	statusLetters = map[string]string{"new file": "A", "modified": "M", "deleted": "D", "renamed": "R", "copied": "C", "typechange": "T"}
	mergeLetters  = map[string]string{"both modified": "UU", "both added": "AA", "both deleted": "DD", "added by us": "AU",
		"added by them": "UA", "deleted by us": "DU", "deleted by them": "UD"}
	statusSections = map[string]string{"Changes to be committed:": "index", "Changes not staged for commit:": "worktree",
		"Untracked files:": "untracked", "Unmerged paths:": "merge", "Ignored files:": "ignored"}
)

func (s *statusReader) read(_ int, line string) {
	if line != "" {
		s.lines++
	}
	switch {
	case line == "":
	case line[0] == '\t', strings.HasPrefix(line, "        "): // as printed, or with tabs expanded by a terminal
		s.readLong(line)
	case s.section != "" && (strings.HasPrefix(line, "  (") || strings.HasPrefix(line, "no changes added") || strings.HasPrefix(line, "nothing ")):
	case strings.HasPrefix(line, "nothing to commit"), strings.HasPrefix(line, "No commits yet"):
		s.isStatus = true
		s.nothingToCommit = s.nothingToCommit || line[0] == 'n'
	case strings.HasPrefix(line, "## "):
		s.readBranch(line)
	case strings.HasPrefix(line, "# branch."):
		s.readHeader(strings.TrimPrefix(line, "# branch."))
	case statusSections[line] != "":
		s.section = statusSections[line]
	case strings.HasPrefix(line, "On branch "):
		s.Branch, s.isStatus, s.isLongFormat = strings.TrimPrefix(line, "On branch "), true, true
	case strings.HasPrefix(line, "HEAD detached "):
		_, at, _ := strings.Cut(strings.TrimPrefix(line, "HEAD detached "), " ")
		s.Detached, s.isStatus, s.isLongFormat = at, true, true
	case strings.HasPrefix(line, "Your branch "):
		s.readUpstream(line)
	case s.isDiverged && strings.HasPrefix(line, "and have "):
		if m := divergedLine.FindStringSubmatch(line); m != nil {
			s.Ahead, s.Behind = number(m[1]), number(m[2])
		}
	default:
		s.readShort(line)
	}
}

func (s *statusReader) readUpstream(line string) {
	m := upstreamLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	s.Upstream = m[2]
	switch m[1] {
	case "ahead of":
		s.Ahead = number(m[3])
	case "behind":
		s.Behind = number(m[3])
	case "":
		s.isDiverged = true
	}
}

func (s *statusReader) readBranch(line string) {
	s.isStatus = true
	m := branchLine.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if m[1] == "HEAD (no branch)" {
		s.Detached = "HEAD"
	} else {
		s.Branch = m[1]
	}
	s.Upstream = m[2]
	for _, ab := range aheadBehind.FindAllStringSubmatch(m[3], 2) {
		if ab[1] == "ahead" {
			s.Ahead = number(ab[2])
		} else {
			s.Behind = number(ab[2])
		}
	}
}

// readHeader reads a header line of porcelain 2.
func (s *statusReader) readHeader(h string) {
	s.isStatus = true
	key, value, _ := strings.Cut(h, " ")
	switch key {
	case "head":
		if value == "(detached)" {
			s.Detached = "HEAD"
		} else {
			s.Branch = value
		}
	case "upstream":
		s.Upstream = value
	case "ab":
		a, b, _ := strings.Cut(value, " ")
		s.Ahead, s.Behind = number(strings.TrimPrefix(a, "+")), number(strings.TrimPrefix(b, "-"))
	}
}

// readLong reads a file of the long format.
func (s *statusReader) readLong(line string) {
	m := longStatus.FindStringSubmatch(line)
	if m == nil {
		return
	}
	c := Change{Path: m[2], Index: " ", Worktree: " "}
	letter := statusLetters[m[1]]
	switch {
	case mergeLetters[m[1]] != "":
		c.Index, c.Worktree = mergeLetters[m[1]][:1], mergeLetters[m[1]][1:]
	case s.section == "index":
		c.Index = letter
	case s.section == "worktree":
		c.Worktree = letter
	case s.section == "untracked":
		c.Index, c.Worktree = "?", "?"
	case s.section == "ignored":
		c.Index, c.Worktree = "!", "!"
	default:
		return
	}
	if letter == "R" || letter == "C" {
		if from, to, ok := strings.Cut(c.Path, " -> "); ok {
			c.From, c.Path = from, to
		}
	}
	s.addChange(c)
}

// readShort reads a line of the short format and of both porcelain ones.
func (s *statusReader) readShort(line string) {
	if m := porcelain2.FindStringSubmatch(line); m != nil {
		s.readPorcelain2(line[0], m)
		return
	}
	if rest, ok := strings.CutPrefix(line, "? "); ok {
		s.addChange(Change{Path: rest, Index: "?", Worktree: "?"})
		return
	}
	m := shortLine.FindStringSubmatch(line)
	if m == nil || m[1] == " " && m[2] == " " {
		return
	}
	c := Change{Path: m[3], Index: m[1], Worktree: m[2]}
	if from, to, ok := strings.Cut(c.Path, " -> "); ok && strings.ContainsAny(m[1]+m[2], "RC") {
		c.From, c.Path = from, to
	}
	s.addChange(c)
}

// readPorcelain2 reads a change of porcelain 2. After the letters come the submodule's state (skipped by the expression)
// and modes and hashes, whose number depends on the kind of line.
func (s *statusReader) readPorcelain2(kind byte, m []string) {
	fields := map[byte]int{'1': 5, '2': 6, 'u': 7}[kind]
	parts := strings.SplitN(m[3], " ", fields+1)
	if len(parts) <= fields {
		return
	}
	c := Change{Path: parts[fields], Index: strings.ReplaceAll(m[1], ".", " "), Worktree: strings.ReplaceAll(m[2], ".", " ")}
	if to, from, ok := strings.Cut(c.Path, "\t"); ok {
		c.Path, c.From = to, from
	}
	s.addChange(c)
}

func (s *statusReader) addChange(c Change) {
	s.isStatus = true
	if len(s.Changes) >= maxEntries {
		s.isTruncated = true
		return
	}
	c.Path, c.From = strings.Clone(unquote(c.Path)), strings.Clone(unquote(c.From))
	s.Changes = append(s.Changes, c)
}

func (s *statusReader) fill(r *Result) {
	quiet := r.Exit != nil && *r.Exit == 0 && s.lines == 0 // the short format prints nothing for a clean tree
	if !s.isStatus && !quiet || s.isLongFormat && len(s.Changes) == 0 && !s.nothingToCommit {
		return // unreadable output does not count as clean
	}
	s.Clean = len(s.Changes) == 0
	r.Kind, r.GitStatus, r.Truncated = GitStatus, &s.Status, s.isTruncated
}
