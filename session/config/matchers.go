package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// ListKey is a key of an array section such as [[matchers]].
type ListKey struct{ Name, Kind, Help string }

// MatcherKeys lists the keys of [[matchers]].
var MatcherKeys = []ListKey{
	{"name", "text", "of the matcher; that of a built-in one replaces it"},
	{"patterns", "list of texts", "regular expressions (RE2) for successive lines, with the groups file, line, column, severity, code and message, as in `(?P<file>\\S+)`"},
	{"commands", "list of texts", "programs it is for; without: any"},
	{"contains", "list of texts", "the first line has one of these in it; saves time"},
	{"severity", "error, warning, note", "default if no group sets it"},
	{"loop", "true or false", "the last of several patterns may match any number of lines, each a problem"},
}

// matcherDecoder collects [[matchers]].
type matcherDecoder struct {
	list             []diagnostics.Matcher
	positions        []Place // of each matcher
	patternPositions []Place // of each matcher's patterns
	loops            []bool
}

// readItem reads a key of a matcher.
func (m *matcherDecoder) readItem(d *decoder, it *tomldoc.Item) {
	if len(it.Path) < 3 {
		d.addProblem(it.At, "matchers", "problem matchers are sections; write [[matchers]]")
		return
	}
	n, err := strconv.Atoi(it.Path[1])
	name := "matchers." + strings.Join(it.Path[2:], ".")
	if err != nil || len(it.Path) != 3 {
		d.addProblem(it.At, name, "no such key; [[matchers]] has %s", strings.Join(matcherKeyNames(), ", "))
		return
	}
	for len(m.list) <= n {
		m.list, m.positions = append(m.list, diagnostics.Matcher{}), append(m.positions, it.At)
		m.patternPositions, m.loops = append(m.patternPositions, it.At), append(m.loops, false)
	}
	to := &m.list[n]
	var texts []string
	texts, err = stringList(it.Data)
	switch it.Path[2] {
	case "name":
		err = setString(it.Data, &to.Name)
		m.positions[n] = it.ValuePos
	case "severity":
		err = setString(it.Data, (*string)(&to.Severity))
	case "commands":
		to.Commands = texts
	case "contains":
		to.Contains = texts
	case "patterns":
		m.patternPositions[n] = it.ValuePos
		for _, t := range texts {
			to.Patterns = append(to.Patterns, diagnostics.Pattern{Regexp: t})
		}
	case "loop":
		isBool := false
		m.loops[n], isBool = it.Data.(bool)
		if err = nil; !isBool {
			err = errors.New("want true or false")
		}
	default:
		d.addProblem(it.At, name, "no such key%s; [[matchers]] has %s", suggest(it.Path[2], matcherKeyNames()), strings.Join(matcherKeyNames(), ", "))
		return
	}
	if err != nil {
		d.addProblem(it.ValuePos, name, "found %s, %v", tomldoc.TypeName(it.Data), err)
	}
}

// matcherKeyNames returns the names of MatcherKeys.
func matcherKeyNames() []string {
	var names []string
	for _, k := range MatcherKeys {
		names = append(names, k.Name)
	}
	return names
}

// setString stores a text.
func setString(data any, to *string) error {
	s, ok := data.(string)
	if !ok {
		return errors.New("want a text")
	}
	*to = s
	return nil
}

// stringList returns a list of texts.
func stringList(data any) ([]string, error) {
	wrong := errors.New(`want a list of texts, as in ["a", "b"]`)
	list, ok := data.([]any)
	if !ok {
		return nil, wrong
	}
	var texts []string
	for _, v := range list {
		t, ok := v.(string)
		if !ok {
			return nil, wrong
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// compileAll compiles each matcher, reports errors with their positions, and stores the matchers.
func (m *matcherDecoder) compileAll(d *decoder) {
	var names []string
	for i := range m.list {
		if n := len(m.list[i].Patterns); m.loops[i] && n > 0 {
			m.list[i].Patterns[n-1].Loop = true
		}
		if slices.Contains(names, m.list[i].Name) {
			d.addProblem(m.positions[i], "matchers", "the name %q comes twice", m.list[i].Name)
		}
		names = append(names, m.list[i].Name)
		_, err := diagnostics.NewParser(m.list[i])
		var wrong *diagnostics.MatcherError
		if !errors.As(err, &wrong) {
			continue
		}
		at, what := m.positions[i], wrong.Reason
		if wrong.Pattern >= 0 {
			at, what = m.patternPositions[i], "pattern "+strconv.Itoa(wrong.Pattern+1)+": "+what
		}
		d.addProblem(at, "matchers", "%s", what)
	}
	if d.file.Settings.Matchers = m.list; len(m.list) > 0 {
		d.file.positions["matchers"] = m.positions[0]
	}
}
