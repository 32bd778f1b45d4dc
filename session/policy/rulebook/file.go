package rulebook

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// Bounds of a rule file, so that a hostile project's file cannot use much time.
const (
	maxFile     = 512 << 10 // bytes
	maxKeys     = 10_000    // signs of equality: the parser compares each key with all others
	maxParts    = 100       // of a key: the parser goes through all of them for each
	maxRules    = 2_000
	maxExamples = 5_000
)

// File is a valid rule file.
type File struct {
	Path     string
	Hash     string // SHA-256 of its content
	Sections []Section
}

// Section is a group of rules with conditions; the first of a file applies to all callers.
type Section struct {
	Name     string
	Agents   []string      // patterns of agents' labels; nil: any caller
	Sessions []string      // patterns of sessions' names
	Labels   []string      // patterns of sessions' labels, as KEY=VALUE or KEY
	Preset   policy.Preset // preset for subjects of the section; "" if it sets none
	PresetAt tomldoc.Position
	At       tomldoc.Position
	Rules    []Rule
}

// Rule is a policy rule with its conditions of place and time, which the engine does not have.
type Rule struct {
	policy.Rule
	Cwd   []string  // directories within which it counts; nil: anywhere
	Until time.Time // end of its validity; zero: none
	At    tomldoc.Position
}

// Until formats the end of a rule's validity: the last day, if it is a whole day.
func Until(t time.Time) string {
	if t = t.Local(); t.Equal(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)) {
		return t.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// HashOf returns the hash by which a file's content is trusted.
func HashOf(src []byte) string {
	sum := sha256.Sum256(src)
	return hex.EncodeToString(sum[:])
}

// Rules counts the rules of all sections.
func (f *File) Rules() (n int) {
	for i := range f.Sections {
		n += len(f.Sections[i].Rules)
	}
	return n
}

// applies reports whether a section applies to a subject.
func (s *Section) applies(to *Subject) bool {
	if s.Name != "" && s.Name == to.Policy {
		return true
	}
	if s.Agents == nil && s.Sessions == nil && s.Labels == nil {
		return s.Name == "" // for all callers; a named one only on request
	}
	if s.Agents != nil && (to.Agent == "" || !anyGlob(s.Agents, to.Agent)) {
		return false
	}
	if s.Sessions != nil && (to.Session == "" || !anyGlob(s.Sessions, to.Session)) {
		return false
	}
	return s.Labels == nil || s.hasLabels(to.Labels)
}

// hasLabels reports whether a session's labels match all patterns of the section.
func (s *Section) hasLabels(labels map[string]string) bool {
	for key, value := range labels {
		if anyGlob(s.Labels, key) || anyGlob(s.Labels, key+"="+value) {
			return true
		}
	}
	return false
}

// anyGlob reports whether a name matches one of the patterns.
func anyGlob(patterns []string, name string) bool {
	for _, p := range patterns {
		if glob(p, name) {
			return true
		}
	}
	return false
}

// glob reports whether a name matches a pattern in which * is any text and ? any one byte. Its time is linear in both
// for each star.
func glob(pattern, name string) bool {
	p, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			from++
			p, n = star+1, from
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
