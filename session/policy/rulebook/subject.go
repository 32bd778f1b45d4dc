package rulebook

import (
	"strconv"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/policy"
)

// Subject is the caller and place that rules are chosen for.
type Subject struct {
	Agent         string            // label of an agent; "" is a user
	Session       string            // name or id; "" for none
	Labels        map[string]string // of the session
	Cwd           string            // absolute; "" if unknown: then no project's file counts
	IsCwdResolved bool              // Cwd has no links, as for a process whose directory the kernel reports
	StartDir      string            // where the session began, absolute; projects' files above it count too
	Home          string            // absolute; "" if unknown
	Policy        string            // requested preset or section; "" for none
	Cache         *LookupCache      // shared by subjects of one request; nil: check the files for this one
}

// LookupCache caches the project files found by For, for subjects that differ only in their Policy: all are judged by
// the same rules, and the files are checked once. Use it from one goroutine and for one judgement only.
type LookupCache struct {
	key      *lookupKey
	projects []string
}

// lookupKey holds the properties of a subject that determine its project files.
type lookupKey struct {
	cwd, start, home string
	real             bool
}

// isFor reports whether the cache already has the project files for a subject with these directories. Otherwise it records the
// directories of the subject.
func (n *LookupCache) isFor(s *Subject) bool {
	by := lookupKey{s.Cwd, s.StartDir, s.Home, s.IsCwdResolved}
	if n.key != nil && *n.key == by {
		return true
	}
	n.key = &by
	return false
}

// Sources are the origins of an engine's rules.
type Sources struct {
	Preset              policy.Preset  // in effect: the strictest of those that count
	From                string         // where it comes from: "FILE:LINE", "--policy", or "" for what is built in
	Files               []FileStatus   // checked files, the user's own first
	Rules               []Entry        // rules in effect, in the order of evaluation
	Ineffective         []Entry        // rules without effect: expired, or allow rules of a project that is not trusted
	presetForAgentsOnly bool           // findings of the preset need approval for agents only; this is a user
	byName              map[string]int // indices in Rules
}

// Entry is a rule and its place.
type Entry struct {
	policy.Rule
	File    string
	Line    int
	Column  int
	Section string // name of the section; "" for all callers
	Until   time.Time
	Why     string // why a rule without effect does not count
}

// FileStatus is the state of a file.
type FileStatus struct {
	File string `json:"file"`
	// "file", "kept" (the last valid version), "none", "broken" (no version was ever valid)
	Using    string   `json:"using"`
	Project  bool     `json:"project"`
	Trusted  bool     `json:"trusted"`
	Changed  bool     `json:"changed,omitempty"` // was trusted, and has changed since
	Hash     string   `json:"hash,omitempty"`    // SHA-256 of the content
	Rules    int      `json:"rules"`
	Problems []string `json:"problems"`
}

// FindRule returns the place of a judgement's rule.
func (s *Sources) FindRule(rule string) (Entry, bool) {
	i, ok := s.byName[rule]
	if !ok {
		return Entry{}, false
	}
	return s.Rules[i], true
}

// PresetAt returns where the preset in effect is set; empty if not in a file.
func (s *Sources) PresetAt() (file string, line int) {
	if at := strings.LastIndexByte(s.From, ':'); at > 0 {
		if n, err := strconv.Atoi(s.From[at+1:]); err == nil {
			return s.From[:at], n
		}
	}
	return "", 0
}

// Warnings returns the problems of the files, one per line.
func (s *Sources) Warnings() []string {
	var all []string
	for i := range s.Files {
		all = append(all, s.Files[i].Problems...)
	}
	return all
}

// WaivePresetApprovals lifts approval requirements that come from a preset and no file rule, for a line that a user typed. Denials
// stay. Other judgements stay unchanged.
func (s *Sources) WaivePresetApprovals(j policy.Judgement) policy.Judgement {
	if !s.presetForAgentsOnly || j.Verdict != policy.Ask || len(j.Commands) >= policy.MaxCommands {
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
