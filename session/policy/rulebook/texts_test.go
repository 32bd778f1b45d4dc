package rulebook

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/policy"
)

// Who types a rule as it is shown gives the same rule, whatever characters are in its words, and whatever stands beside it.
//
// FEATURES: R63
func TestAShownRuleIsTheSameTyped(t *testing.T) {
	for _, c := range []struct{ word, shown string }{
		{"plain", "plain"}, {"my build", "'my build'"}, {"a\tb", `$'a\tb'`}, {"a\x1b[31mb", `$'a\x1b[31mb'`}, {"it's\x7f", `$'it\'s\x7f'`},
		{"a;b\r", `$'a;b\r'`}, {"\xff\xfe", `$'\xff\xfe'`}, {"\u202etxt", `$'\xe2\x80\xaetxt'`}, {`back\slash` + "\n", `$'back\\slash\n'`}, {"", "''"},
		{"$'x'", `'$'\''x'\'''`}, {"ä", "ä"},
	} {
		shown := sameTyped(t, c.word)
		if want := strings.ReplaceAll(c.shown, `\x1b`, `\e`); !strings.HasSuffix(shown, " "+want) {
			t.Errorf("%q is shown as %s, want … %s", c.word, shown, want)
		}
	}
	for _, text := range []string{`exactly rm $'a`, `exactly rm $'a\'`, `exactly rm $'`} {
		if rules, err := ParseTexts(text); err == nil {
			t.Errorf("%s is taken for %v", text, rules)
		}
	}
}

// sameTyped shows rules about a word and reads them as they are shown, by the ways on which rules are typed.
func sameTyped(t *testing.T, word string) string {
	t.Helper()
	exact := policy.Rule{Program: "rm", Words: []string{"-rf", word}, Exact: true, Decision: policy.Allow}
	exact.Name = exact.String()
	other := policy.Rule{Program: "go", Words: []string{"test"}, Decision: policy.Allow}
	other.Name = other.String()
	all, err := ParseTexts(exact.String() + "; " + other.String())
	if want := []policy.Rule{exact, other}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%q is shown as %s, and read as %q, %v", word, exact, all, err)
	}
	if one, err := policy.ParseRule(exact.String(), policy.Allow); err != nil || !reflect.DeepEqual(one.Words, exact.Words) {
		t.Errorf("%q is shown as %s, and read in a file as %q, %v", word, exact, one.Words, err)
	}
	if !utf8.ValidString(word) { // no file of rules can have it, and that is said
		if err := AppendRule(filepath.Join(t.TempDir(), "policy.toml"), exact, "why"); err == nil {
			t.Errorf("%q is written", word)
		}
	} else if f, err := Decode("policy.toml", []byte(RuleTOML(exact, "why")), false); err != nil || !reflect.DeepEqual(f.Sections[0].Rules[0].Words, exact.Words) {
		t.Errorf("%q is written as %s, which is read as %v, %v", word, RuleTOML(exact, "why"), f, err)
	}
	return exact.String()
}

func FuzzShownRules(f *testing.F) {
	for _, seed := range []string{"a", "a b", "a\x1bb", "$'", "'", `\`, ";", "\u2028", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) > 200 || strings.ContainsAny(word, "\x00\x01\x02\x03\x04\x05") {
			t.Skip("no argument, or one of the marks that no rule is proposed for")
		}
		sameTyped(t, word)
	})
}
