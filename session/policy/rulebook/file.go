package rulebook

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// Bounds of a file of rules. They keep what a stranger's project has in it from costing time.
const (
	maxFile     = 512 << 10 // bytes
	maxKeys     = 10_000    // signs of equality: the parser compares each key with all others
	maxParts    = 100       // of a key: the parser goes through all of them for each
	maxRules    = 2_000
	maxExamples = 5_000
)

// File is a file of rules that is in order.
type File struct {
	Path     string
	Hash     string // SHA-256 of its content
	Sections []Section
}

// Section is rules for some; the first of a file is for everybody.
type Section struct {
	Name     string
	Agents   []string // patterns of agents' labels; nil: whoever asks
	Sessions []string // patterns of sessions' names
	Labels   []string // patterns of sessions' labels, as KEY=VALUE or KEY
	Preset   policy.Preset
	PresetAt tomldoc.Place
	At       tomldoc.Place
	Rules    []Rule
}

// Rule is a rule with what the engine does not know of it.
type Rule struct {
	policy.Rule
	Cwd   []string  // directories within which it counts; nil: anywhere
	Until time.Time // from then on it does not count; zero: always
	At    tomldoc.Place
}

// Until is the end of the time that a rule counts, as a person writes it: the last day, where it is one.
func Until(t time.Time) string {
	if t = t.Local(); t.Equal(time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)) {
		return t.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	return t.Format(time.DateTime)
}

// HashOf is the hash by which a file's content is trusted.
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

// applies says whether a section counts for a subject.
func (s *Section) applies(to *Subject) bool {
	if s.Name != "" && s.Name == to.Policy {
		return true
	}
	if s.Agents == nil && s.Sessions == nil && s.Labels == nil {
		return s.Name == "" // for everybody; one with a name only has to be asked for
	}
	if s.Agents != nil && (to.Agent == "" || !anyGlob(s.Agents, to.Agent)) {
		return false
	}
	if s.Sessions != nil && (to.Session == "" || !anyGlob(s.Sessions, to.Session)) {
		return false
	}
	return s.Labels == nil || s.labelled(to.Labels)
}

func (s *Section) labelled(labels map[string]string) bool {
	for key, value := range labels {
		if anyGlob(s.Labels, key) || anyGlob(s.Labels, key+"="+value) {
			return true
		}
	}
	return false
}

func anyGlob(patterns []string, name string) bool {
	for _, p := range patterns {
		if glob(p, name) {
			return true
		}
	}
	return false
}

// glob compares a name with a pattern in which * is any text and ? any one byte, in time linear in both for
// each star.
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
