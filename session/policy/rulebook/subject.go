package rulebook

import (
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
)

// Subject is whom and what rules are chosen for.
type Subject struct {
	Agent   string            // label of an agent; "" is a person
	Session string            // name or id; "" is none
	Labels  map[string]string // of the session
	Cwd     string            // absolute; "" if unknown: then no project's file counts
	Real    bool              // Cwd is without links, as the kernel has it of a process
	Start   string            // where the session began, absolute; projects' files above it count too
	Home    string            // absolute; "" if unknown
	Policy  string            // preset or name of a section that was asked for; "" is none
	Seen    *Seen             // shared by subjects that are asked for together; nil: the files are looked at for this one
}

// Seen is what For has found of the files, for subjects that differ in their Policy: one thing is judged by the same rules
// under each, and the files are looked at once. It is one goroutine's, and for one judgement only.
type Seen struct {
	of       *seenBy
	projects []string
}

// seenBy is on what it depends where projects' files are found.
type seenBy struct {
	cwd, start, home string
	real             bool
}

// by says whether the files were looked at for a subject like this, and notes that they are if not.
func (n *Seen) by(s *Subject) bool {
	by := seenBy{s.Cwd, s.Start, s.Home, s.Real}
	if n.of != nil && *n.of == by {
		return true
	}
	n.of = &by
	return false
}

// Sources say where the rules of an engine come from.
type Sources struct {
	Preset policy.Preset // in effect: the strictest of those that count
	From   string        // where it comes from: "FILE:LINE", "--policy", or "" for what is built in
	Files  []FileStatus  // that were looked at, the person's own first
	Rules  []Entry       // in effect, in the order in which they are judged
	Idle   []Entry       // that are not: expired, or a project's that allows and is not trusted
	soft   bool          // questions of the preset are for agents; this is a person
	byName map[string]int
}

// Entry is a rule and where it stands.
type Entry struct {
	policy.Rule
	File    string
	Line    int
	Column  int
	Section string // name of the section; "" is for everybody
	Until   time.Time
	Why     string // of one that is idle: why it does not count
}

// FileStatus says what became of a file.
type FileStatus struct {
	File     string   `json:"file"`
	Using    string   `json:"using"` // "file", "kept" (the last one that was in order), "none", "broken" (none was ever in order)
	Project  bool     `json:"project"`
	Trusted  bool     `json:"trusted"`
	Changed  bool     `json:"changed,omitempty"` // it was trusted, and is another one now
	Hash     string   `json:"hash,omitempty"`    // SHA-256 of what was read
	Rules    int      `json:"rules"`
	Problems []string `json:"problems"`
}

// Where says where a rule of a judgement stands.
func (s *Sources) Where(rule string) (Entry, bool) {
	i, ok := s.byName[rule]
	if !ok {
		return Entry{}, false
	}
	return s.Rules[i], true
}

// PresetAt is where the preset in effect is set; empty: not in a file.
func (s *Sources) PresetAt() (file string, line int) {
	if at := strings.LastIndexByte(s.From, ':'); at > 0 {
		if n, err := strconv.Atoi(s.From[at+1:]); err == nil {
			return s.From[:at], n
		}
	}
	return "", 0
}

// Warnings are what is wrong with the files, a line each.
func (s *Sources) Warnings() []string {
	var all []string
	for i := range s.Files {
		all = append(all, s.Files[i].Problems...)
	}
	return all
}

// Soften takes back what nobody is to be asked: questions that a preset has, and no rule of a file, when a
// person types the line himself. Denials stay. For all others a judgement stays as it is.
func (s *Sources) Soften(j policy.Judgement) policy.Judgement {
	if !s.soft || j.Verdict != policy.Ask || len(j.Commands) >= policy.MaxCommands {
		return j
	}
	out := policy.Judgement{Commands: make([]policy.Command, len(j.Commands))}
	for i, c := range j.Commands {
		if _, ours := s.byName[c.Rule]; c.Verdict == policy.Ask && !ours {
			c.Verdict, c.Rule, c.Why, c.Instead = policy.Allow, "", "", ""
		} else if c.Verdict == policy.Ask && out.Verdict < policy.Ask {
			out.Verdict, out.Rule, out.Why, out.Instead = policy.Ask, c.Rule, c.Why, c.Instead
			out.Words = strings.Join(c.Argv, " ")
		}
		out.Commands[i] = c
	}
	return out
}
