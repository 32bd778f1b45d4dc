package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/output/diagnostics"
)

// ListKey is a key of a section that comes several times, as [[matchers]] does.
type ListKey struct{ Name, Kind, Help string }

// MatcherKeys are the keys of [[matchers]].
var MatcherKeys = []ListKey{
	{"name", "text", "of the matcher; that of a built-in one replaces it"},
	{"patterns", "list of texts", "regular expressions (RE2) for successive lines, with the groups file, line, column, severity, code and message, as in `(?P<file>\\S+)`"},
	{"commands", "list of texts", "programs it is for; without: any"},
	{"contains", "list of texts", "the first line has one of these in it; saves time"},
	{"severity", "error, warning, note", "default if no group sets it"},
	{"loop", "true or false", "the last of several patterns may match any number of lines, each a problem"},
}

// matchers gathers [[matchers]].
type matchers struct {
	list     []diagnostics.Matcher
	at       []Place // of each
	patterns []Place // of its patterns
	loops    []bool
}

func (m *matchers) item(d *decoder, it *tomldoc.Item) {
	if len(it.Path) < 3 {
		d.problem(it.At, "matchers", "problem matchers are sections; write [[matchers]]")
		return
	}
	n, err := strconv.Atoi(it.Path[1])
	name := "matchers." + strings.Join(it.Path[2:], ".")
	if err != nil || len(it.Path) != 3 {
		d.problem(it.At, name, "no such key; [[matchers]] has %s", strings.Join(matcherKeyNames(), ", "))
		return
	}
	for len(m.list) <= n {
		m.list, m.at = append(m.list, diagnostics.Matcher{}), append(m.at, it.At)
		m.patterns, m.loops = append(m.patterns, it.At), append(m.loops, false)
	}
	to := &m.list[n]
	var texts []string
	texts, err = listOf(it.Data)
	switch it.Path[2] {
	case "name":
		err = textOf(it.Data, &to.Name)
		m.at[n] = it.Value
	case "severity":
		err = textOf(it.Data, (*string)(&to.Severity))
	case "commands":
		to.Commands = texts
	case "contains":
		to.Contains = texts
	case "patterns":
		m.patterns[n] = it.Value
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
		d.problem(it.At, name, "no such key%s; [[matchers]] has %s", suggest(it.Path[2], matcherKeyNames()), strings.Join(matcherKeyNames(), ", "))
		return
	}
	if err != nil {
		d.problem(it.Value, name, "found %s, %v", tomldoc.TypeName(it.Data), err)
	}
}

func matcherKeyNames() []string {
	var names []string
	for _, k := range MatcherKeys {
		names = append(names, k.Name)
	}
	return names
}

func textOf(data any, to *string) error {
	s, ok := data.(string)
	if !ok {
		return errors.New("want a text")
	}
	*to = s
	return nil
}

func listOf(data any) ([]string, error) {
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

// finish compiles each matcher and reports errors with their place.
func (m *matchers) finish(d *decoder) {
	var names []string
	for i := range m.list {
		if n := len(m.list[i].Patterns); m.loops[i] && n > 0 {
			m.list[i].Patterns[n-1].Loop = true
		}
		if slices.Contains(names, m.list[i].Name) {
			d.problem(m.at[i], "matchers", "the name %q comes twice", m.list[i].Name)
		}
		names = append(names, m.list[i].Name)
		_, err := diagnostics.NewParser(m.list[i])
		var wrong *diagnostics.MatcherError
		if !errors.As(err, &wrong) {
			continue
		}
		at, what := m.at[i], wrong.Reason
		if wrong.Pattern >= 0 {
			at, what = m.patterns[i], "pattern "+strconv.Itoa(wrong.Pattern+1)+": "+what
		}
		d.problem(at, "matchers", "%s", what)
	}
	if d.file.Settings.Matchers = m.list; len(m.list) > 0 {
		d.file.places["matchers"] = m.at[0]
	}
}
