package rulebook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// Lint is what is odd about a file that is in order: rules that never decide anything, or not any more. What
// a project's file allows lifts questions of the presets of the person's; elsewhere are presets that count where the file
// names none.
func Lint(f *File, project bool, now time.Time, elsewhere ...policy.Preset) []tomldoc.Problem {
	var all tomldoc.Problems
	say := func(r *Rule, format string, args ...any) {
		all = append(all, tomldoc.Problem{File: f.Path, Place: r.At, Key: r.Name, Text: fmt.Sprintf(format, args...)})
	}
	lifts := project || slices.ContainsFunc(elsewhere, asks)
	var allows *Rule
	for i := range f.Sections {
		s := &f.Sections[i]
		lifts = lifts || asks(s.Preset)
		for k := range s.Rules {
			r := &s.Rules[k]
			if !r.Until.IsZero() && !now.Before(r.Until) {
				say(r, "it expired on %s and counts no more; take it out, or give it another day", Until(r.Until))
				continue
			}
			if r.Decision == policy.Allow && !r.Exact && allows == nil {
				allows = r
			}
			if by := decider(f, i, k, now); by != nil {
				if by.Decision == r.Decision {
					say(r, "it is not needed: %q in line %d says the same of all that it is about", by.Name, by.At.Line)
				} else {
					say(r, "it never decides: all that it is about is decided by %q in line %d, which says %s", by.Name, by.At.Line, by.Decision)
				}
			}
		}
	}
	if allows != nil && !lifts {
		say(allows, "no preset of this file or of the configuration (policy.default, policy.agents) asks what it would allow: rules that allow lift "+
			"questions of the presets build, readonly and listed")
	}
	return all
}

// asks says that a preset asks about what a rule may allow.
func asks(p policy.Preset) bool { return stricter(p, policy.Build) == p }

// decider is a rule that decides all that another one is about, and is at least as strict.
func decider(f *File, section, n int, now time.Time) *Rule {
	r := &f.Sections[section].Rules[n]
	for _, i := range []int{0, section} {
		s := &f.Sections[i]
		for k := range s.Rules {
			by := &s.Rules[k]
			same := i == section && k == n
			if same || !by.Until.IsZero() && (r.Until.IsZero() || by.Until.Before(r.Until)) || by.Decision < r.Decision || !covers(by, r) {
				continue
			}
			if by.Decision == r.Decision && (i == section && k > n) && covers(r, by) {
				continue // they say the same: the later one is not needed
			}
			return by
		}
		if section == 0 {
			break
		}
	}
	return nil
}

// covers says that a rule is about everything that another is about.
func covers(a, b *Rule) bool {
	if a.Program != b.Program || a.Cwd != nil && !slices.Equal(a.Cwd, b.Cwd) {
		return false
	}
	if a.Exact || b.Exact {
		return a.Exact && b.Exact && slices.Equal(a.Words, b.Words)
	}
	if len(a.Words) > len(b.Words) {
		return false
	}
	for i, w := range a.Words {
		if !wordCovers(w, b.Words[i]) {
			return false
		}
	}
	for _, o := range a.Options {
		if !slices.ContainsFunc(b.Options, func(other string) bool { return within(other, o) }) {
			return false
		}
	}
	return true
}

// wordCovers says that a pattern is about all that another is about.
func wordCovers(a, b string) bool {
	if a == "*" || within(b, a) {
		return true
	}
	for _, one := range strings.Split(b, "|") {
		if !slices.ContainsFunc(strings.Split(a, "|"), func(p string) bool {
			return p == one || strings.HasSuffix(p, "*") && strings.HasPrefix(one, p[:len(p)-1])
		}) {
			return false
		}
	}
	return true
}

// within says that all alternatives of a are among those of b.
func within(a, b string) bool {
	among := strings.Split(b, "|")
	return !slices.ContainsFunc(strings.Split(a, "|"), func(one string) bool { return !slices.Contains(among, one) })
}
