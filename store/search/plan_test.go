package search

import (
	"strings"
	"testing"
)

// String shows the expression.
func (e expr) String() string {
	var list []string
	for _, s := range e.subs {
		list = append(list, s.String())
	}
	switch e.op {
	case opLit:
		return "'" + e.lit + "'"
	case opAnd:
		return "(" + strings.Join(list, " & ") + ")"
	case opOr:
		return "(" + strings.Join(list, " | ") + ")"
	}
	return "all"
}

func TestPlan(t *testing.T) {
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{Text: "Main.GO"}, "'main.go'"},
		{Query{Text: "a", Words: []string{"B", "c"}}, "('a' & 'b' & 'c')"},
		{Query{Regexp: "abc"}, "'abc'"},
		{Query{Regexp: "abc", CaseSensitive: true}, "'abc'"},
		{Query{Regexp: "ABC", CaseSensitive: true}, "'abc'"},
		{Query{Regexp: "a.c"}, "('a' & 'c')"},
		{Query{Regexp: "^ab$"}, "'ab'"},
		{Query{Regexp: "ab|cd"}, "('ab' | 'cd')"},
		{Query{Regexp: "x(ab|cd)y"}, "('xaby' | 'xcdy')"},
		{Query{Regexp: "ab.*|cd"}, "('ab' | 'cd')"},
		{Query{Regexp: "ab.*|.*"}, "all"},
		{Query{Regexp: "ab(cd)?"}, "('ab' | 'abcd')"},
		{Query{Regexp: "ab(cd)*"}, "'ab'"},
		{Query{Regexp: "(ab)+"}, "'ab'"},
		{Query{Regexp: "(ab){2,}"}, "('ab' & 'ab')"},
		{Query{Regexp: `main\.go:\d+`}, "'main.go:'"},
		{Query{Regexp: `[ab]x`}, "('ax' | 'bx')"},
		{Query{Regexp: `[^a]`}, "all"},
		{Query{Regexp: `\d{9}`}, "all"},
		{Query{Regexp: `K`}, "'k'"},
		{Query{Regexp: `.*`}, "all"},
		{Query{Regexp: `(?:)`}, "all"},
		{Query{Text: "t", Regexp: `.*`}, "'t'"},
		{Query{Regexp: "a.b.c.d.e.f.g.h.i.j.k"}, "('a' & 'b' & 'c' & 'd' & 'e' & 'f' & 'g' & 'h')"},
	} {
		p, err := newPlan(c.q)
		must(t, err)
		if got := p.expr.String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
}

func TestBounded(t *testing.T) {
	for re, want := range map[string]bool{
		"abc": false, "ab": true, ".*": true, "ab|abc": true, "abc|bcd": false, "a.*b": true, "a.*bcd": false, "日": false,
	} {
		p, err := newPlan(Query{Regexp: re})
		must(t, err)
		if p.scanLimited != want {
			t.Errorf("%s: %v", re, p.scanLimited)
		}
	}
	if p, err := newPlan(Query{Text: "a"}); p.scanLimited || err != nil {
		t.Errorf("a text is bounded, %v", err)
	}
}

// met reports whether a folded line meets a condition, in the simplest way.
func (e expr) met(folded string) bool {
	switch e.op {
	case opLit:
		return strings.Contains(folded, e.lit)
	case opAnd:
		for _, s := range e.subs {
			if !s.met(folded) {
				return false
			}
		}
	case opOr:
		for _, s := range e.subs {
			if s.met(folded) {
				return true
			}
		}
		return false
	}
	return true
}

// FuzzPlan checks that a line that matches also meets the condition. The seeds cover each kind of expression.
func FuzzPlan(f *testing.F) {
	for _, re := range []string{
		"a.c", "(ab|cd)?e", "[a-c]x{2,3}", `\bK\w`, "(?i:aB)c", "a|b|", "(a*)(b+)c?", `^\x{212a}$`, "[kK]{2}", "(?s).a", "(ab|ac|ad)(x|y|z)(1|2|3)", "a{0}b", "ſ",
	} {
		for _, text := range []string{"abc", "cde", "bxxx", "kK", "abc ABC", "K", "adz3", "ſ"} {
			f.Add(re, text, false)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string, sensitive bool) {
		if len(pattern) > 200 {
			return
		}
		p, err := newPlan(Query{Regexp: pattern, CaseSensitive: sensitive})
		if err != nil {
			return
		}
		text = clean(text)
		re := p.matches[0].(regexpMatcher).Regexp
		// Also try text from the pattern itself: random text rarely matches.
		for _, line := range []string{text, pattern, strings.Map(dropMeta, pattern), text + pattern} {
			line = clean(line)
			folded := string(appendFold(nil, []byte(line)))
			if re.MatchString(line) && !(p.expr.met(folded) && strings.Contains(folded, string(p.required))) {
				t.Fatalf("%q matches %q but not %v", pattern, line, p.expr)
			}
		}
	})
}

func dropMeta(r rune) rune {
	if strings.ContainsRune(`\()[]{}*+?|^$.`, r) {
		return -1
	}
	return r
}
