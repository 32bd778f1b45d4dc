package rulebook

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// Lint returns warnings about a valid file: rules that never decide, or no longer do. A project's allow rules lift
// approval requirements of the user's presets; elsewhere are presets that apply if the file sets none.
func Lint(f *File, project bool, now time.Time, elsewhere ...policy.Preset) []tomldoc.Problem {
	var all tomldoc.Problems
	say := func(r *Rule, format string, args ...any) {
		all = append(all, tomldoc.Problem{File: f.Path, Position: r.At, Key: r.Name, Text: fmt.Sprintf(format, args...)})
	}
	lifts := project || slices.ContainsFunc(elsewhere, requiresApproval)
	var allows *Rule
	for i := range f.Sections {
		s := &f.Sections[i]
		lifts = lifts || requiresApproval(s.Preset)
		for k := range s.Rules {
			r := &s.Rules[k]
			if !r.Until.IsZero() && !now.Before(r.Until) {
				say(r, "expired on %s; remove it, or set another day", Until(r.Until))
				continue
			}
			if r.Decision == policy.Allow && !r.Exact && allows == nil {
				allows = r
			}
			if by := shadowing(f, i, k, now); by != nil {
				if by.VerdictText() == r.VerdictText() {
					say(r, "redundant: %q in line %d decides the same for everything it covers", by.Name, by.At.Line)
				} else {
					say(r, "never decides: %q in line %d covers everything it covers, with %s", by.Name, by.At.Line, by.VerdictText())
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

// requiresApproval reports whether a preset requires approval that a rule may lift.
func requiresApproval(p policy.Preset) bool { return stricter(p, policy.BuildDraft) == p }

// shadowing returns an earlier rule that decides everything that rule n covers, at least as strictly, or nil.
func shadowing(f *File, section, n int, now time.Time) *Rule {
	r := &f.Sections[section].Rules[n]
	for _, i := range []int{0, section} {
		s := &f.Sections[i]
		for k := range s.Rules {
			by := &s.Rules[k]
			same := i == section && k == n
			if same || !by.Until.IsZero() && (r.Until.IsZero() || by.Until.Before(r.Until)) || by.Decision < r.Decision || by.Draft && !r.Draft && r.Decision == policy.Ask || !covers(by, r) {
				continue
			}
			if by.Decision == r.Decision && (i == section && k > n) && covers(r, by) {
				continue // equal rules: the later one is redundant
			}
			return by
		}
		if section == 0 {
			break
		}
	}
	return nil
}

// covers reports whether rule a covers everything that b covers.
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
		if !slices.ContainsFunc(b.Options, func(other string) bool { return isSubset(other, o) }) {
			return false
		}
	}
	return true
}

// wordCovers reports whether pattern a covers all that b covers.
func wordCovers(a, b string) bool {
	if a == "*" || isSubset(b, a) {
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

// isSubset reports whether all alternatives of a are among those of b.
func isSubset(a, b string) bool {
	among := strings.Split(b, "|")
	return !slices.ContainsFunc(strings.Split(a, "|"), func(one string) bool { return !slices.Contains(among, one) })
}
