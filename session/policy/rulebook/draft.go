package rulebook

import (
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/policy"
)

// partialRule is a rule while its keys are decoded.
type partialRule struct {
	Rule
	section, n int // index of its section, and of the rule there; -1 for short rules
	at         tomldoc.Position
	words      *tomldoc.Item
	match      *tomldoc.Item
	notMatch   *tomldoc.Item
	decided    bool // it has a decision
	hasProblem bool // its keys have a problem: no problems that follow from it are added
}

// item decodes a key of a rule.
func (r *partialRule) item(d *decoder, it *tomldoc.Item, key string) {
	ok := true
	switch key {
	case "name":
		if ok = d.text(it, key, &r.Name); ok {
			ok = d.ruleName(it, r.Name)
		}
	case "program":
		ok = d.text(it, key, &r.Program) && d.programName(it.ValuePos, r.Program)
	case "words":
		r.words = it
		ok = d.list(it, key, &r.Words, true)
	case "options":
		ok = d.texts(it, key, &r.Options) && d.options(it, r.Options)
	case "exact":
		if r.Exact, ok = it.Data.(bool); !ok {
			d.problem(it.ValuePos, key, "found %s, want true or false, without quotes", tomldoc.TypeName(it.Data))
		}
	case "decision":
		r.decided = true
		ok = d.decision(it, &r.Rule.Rule)
	case "cwd":
		if ok = d.texts(it, key, &r.Cwd); ok {
			for i, dir := range r.Cwd {
				if wrong := d.directory(dir); wrong != "" {
					d.problem(d.doc.Element(it, i), key, "%q: %s", dir, wrong)
					ok = false
				}
			}
		}
	case "reason":
		ok = d.text(it, key, &r.Rule.Why)
	case "instead":
		ok = d.text(it, key, &r.Instead)
	case "match":
		r.match = it
		ok = d.texts(it, key, &r.Match)
	case "not_match":
		r.notMatch = it
		ok = d.texts(it, key, &r.NotMatch)
	case "until":
		ok = d.until(it, &r.Until)
	default:
		d.problem(it.At, key, "no such key%s; [[rules]] has %s", suggest(key, names(RuleKeys)), strings.Join(names(RuleKeys), ", "))
		ok = false
	}
	r.hasProblem = r.hasProblem || !ok
}

// ruleName checks a rule's name.
func (d *decoder) ruleName(it *tomldoc.Item, name string) bool {
	switch {
	case strings.TrimSpace(name) == "" || len(name) > 200 || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		d.problem(it.ValuePos, "name", "a name has 1 to 200 letters, and no control characters")
	case strings.HasPrefix(name, "hard:") || slices.Contains(reserved, name):
		d.problem(it.ValuePos, "name", "%q is the name of something built in; choose another", name)
	default:
		return true
	}
	return false
}

// programName checks the name of a rule's program.
func (d *decoder) programName(at tomldoc.Position, name string) bool {
	switch {
	case name == "" || strings.ContainsAny(name, " \t\n"):
		d.problem(at, "program", "%q is no name of a program; write its arguments under words and options", name)
	case strings.Contains(name, "/") && !path.IsAbs(name):
		d.problem(at, "program", "write it without its directory, as in %q, or absolute", path.Base(name))
	case strings.ContainsAny(name, "*?|"):
		d.problem(at, "program", "a rule is about one program; write a rule for each")
	default:
		return true
	}
	return false
}

// operands reports whether the words of a rule are valid there, and its options next to them.
func (d *decoder) operands(r *partialRule) bool {
	if r.Exact {
		if len(r.Options) > 0 {
			d.problem(r.at, "options", "a rule about exact words has no options; write them under words, in their order")
		}
		return len(r.Options) == 0
	}
	for i, w := range r.Words {
		if strings.HasPrefix(w, "-") || w == "" {
			d.problem(d.doc.Element(r.words, i), "words", "%q is an option; write it under options", w)
			return false
		}
	}
	return true
}

// options checks the options of a rule.
func (d *decoder) options(it *tomldoc.Item, options []string) bool {
	for i, o := range options {
		for one := range strings.SplitSeq(o, "|") {
			if !strings.HasPrefix(one, "-") && !strings.HasPrefix(one, "/") && !strings.HasPrefix(one, "+") {
				d.problem(d.doc.Element(it, i), "options", "%q is not an option (options start with -); move it to words", one)
				return false
			}
		}
	}
	return true
}

// decision decodes allow, ask or deny.
func (d *decoder) decision(it *tomldoc.Item, to *policy.Rule) bool {
	var text string
	if !d.text(it, "decision", &text) {
		return false
	}
	if text == policy.Draft {
		to.Decision, to.Draft = policy.Ask, true
		return true
	}
	for _, v := range []policy.Verdict{policy.Allow, policy.Ask, policy.Deny} {
		if v.String() == text {
			to.Decision = v
			return true
		}
	}
	d.problem(it.ValuePos, "decision", "%q is no decision%s; there are allow, ask, draft and deny", text, suggest(text, []string{"allow", "ask", policy.Draft, "deny"}))
	return false
}

// until decodes the end of a rule's validity: its last day, or a time.
func (d *decoder) until(it *tomldoc.Item, to *time.Time) bool {
	text, isText := it.Data.(string)
	if !isText && it.Data == nil {
		text = string(d.doc.Src[it.Raw.From:it.Raw.To])
	}
	t, err := parseUntil(strings.TrimSpace(text))
	if err != nil {
		d.problem(it.ValuePos, "until", "this is no day and no time; write it as 2026-12-01, or 2026-12-01T18:00:00Z")
		return false
	}
	*to = t
	return true
}

// parseUntil parses a day, as its end, or a time.
func parseUntil(text string) (time.Time, error) {
	if day, err := time.ParseInLocation(time.DateOnly, text, time.Local); err == nil {
		return day.AddDate(0, 0, 1), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, errors.New("no time")
}

// shellSyntax returns the part of a short rule that has meaning only to a shell, so that the rule would never match, or
// "".
func shellSyntax(text string) string {
	if strings.Contains(text, "\n") {
		return "a line break"
	}
	for i, word := range strings.Fields(text) {
		switch {
		case i == 0 && word == "exactly":
			return ""
		case i == 0 && strings.HasPrefix(word, "-"), strings.HasPrefix(word, "$"), strings.Contains(word, "`"):
			return word
		case slices.Contains([]string{"|", "||", "&", "&&", ";", "<", ">", ">>", "2>&1"}, word):
			return word
		}
	}
	return ""
}

// short decodes a list of short rules, as in deny = ["git push --force"].
func (d *decoder) short(section int, it *tomldoc.Item, key string) {
	var list []string
	d.texts(it, key, &list)
	verdict := map[string]policy.Verdict{"allow": policy.Allow, "ask": policy.Ask, policy.Draft: policy.Ask, "deny": policy.Deny}[key]
	for i, text := range list {
		at := d.doc.Element(it, i)
		if text == "" { // its problem was already reported
			continue
		}
		if sign := shellSyntax(text); sign != "" {
			d.problem(at, key, "%q is about one command, and no shell reads it: %s means nothing in it; name a program and its words", text, sign)
			continue
		}
		r, err := policy.ParseRule(text, verdict)
		if err != nil {
			d.problem(at, key, "%s", strings.TrimPrefix(err.Error(), "policy: "))
			continue
		}
		if key == policy.Draft {
			r.Draft, r.Name = true, policy.Draft+strings.TrimPrefix(r.Name, policy.Ask.String())
			r.Why = "rule " + r.Name
		}
		if d.programName(at, r.Program) {
			d.rules = append(d.rules, &partialRule{Rule: Rule{Rule: r}, section: section, n: -1, at: at, decided: true})
		}
	}
}

// finish checks each rule as a whole, with its examples, and puts it into its section.
func (d *decoder) finish() {
	named := map[string]bool{}
	for _, r := range d.rules {
		if r.Name != "" && r.n >= 0 {
			if named[r.Name] {
				d.problem(r.at, "name", "another rule has the name %q; choose another", r.Name)
			}
			named[r.Name] = true
		}
		if r.hasProblem {
			continue
		}
		switch {
		case r.Program == "":
			d.problem(r.at, "program", "the rule names no program; write program = \"…\"")
			continue
		case !r.decided:
			d.problem(r.at, "decision", "the rule lacks a decision; add decision = \"allow\", \"ask\" or \"deny\"")
			continue
		}
		if r.n >= 0 && !d.operands(r) {
			continue
		}
		d.check(r)
		r.Match, r.NotMatch = nil, nil // checked: engines made of the rule need not do it again
		r.At = r.at
		s := &d.file.Sections[r.section]
		s.Rules = append(s.Rules, r.Rule)
	}
}

// check evaluates each of a rule's examples alone, so that a problem names the place of the example that does not
// match.
func (d *decoder) check(r *partialRule) {
	bare := r.Rule.Rule
	bare.Match, bare.NotMatch = nil, nil
	try := func(it *tomldoc.Item, key string, i int, one policy.Rule) {
		if d.examples++; d.examples > maxExamples {
			if d.examples == maxExamples+1 {
				d.problem(d.doc.Element(it, i), key, "there are more than %d examples; take out what is not needed", maxExamples)
			}
			return
		}
		if _, err := policy.New(policy.Options{Preset: policy.Off, Rules: []policy.Rule{one}}); err != nil {
			d.problem(d.doc.Element(it, i), key, "%s", strings.TrimPrefix(err.Error(), "policy: "))
		}
	}
	for i, line := range r.Match {
		one := bare
		one.Match = []string{line}
		try(r.match, "match", i, one)
	}
	for i, line := range r.NotMatch {
		one := bare
		one.NotMatch = []string{line}
		try(r.notMatch, "not_match", i, one)
	}
	e, err := policy.New(policy.Options{Preset: policy.Off, Rules: []policy.Rule{bare}})
	if err != nil || e == nil {
		d.problem(r.at, "rules", "%s", strings.TrimPrefix(err.Error(), "policy: "))
	}
	if r.Name == "" {
		r.Name = r.Rule.Rule.String()
	}
	if r.Decision != policy.Allow && r.Rule.Why == "" {
		r.Rule.Why = "rule " + r.Name
	}
}
