package rulebook

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/policy"
)

// TestAShownRuleIsTheSameTyped checks that a rule that is typed as shown gives the same rule, for any characters in its
// words, and with any rules beside it.
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
		if rules, err := policy.ParseTexts(text); err == nil {
			t.Errorf("%s is read as %v", text, rules)
		}
	}
}

// sameTyped shows rules about a word and parses them as shown, in each way to type rules.
func sameTyped(t *testing.T, word string) string {
	t.Helper()
	exact := policy.Rule{Program: "rm", Words: []string{"-rf", word}, Exact: true, Decision: policy.Allow}
	exact.Name = exact.String()
	other := policy.Rule{Program: "go", Words: []string{"test"}, Decision: policy.Allow}
	other.Name = other.String()
	all, err := policy.ParseTexts(exact.String() + "; " + other.String())
	if want := []policy.Rule{exact, other}; err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%q is shown as %s, and read as %q, %v", word, exact, all, err)
	}
	if one, err := policy.ParseRule(exact.String(), policy.Allow); err != nil || !reflect.DeepEqual(one.Words, exact.Words) {
		t.Errorf("%q is shown as %s, and read in a file as %q, %v", word, exact, one.Words, err)
	}
	if !utf8.ValidString(word) { // no rule file can contain it, which is reported
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

// TestShownProgramsAndOptions checks that a program and an option are quoted like words: what a shell or a list of
// rules would split stays one.
//
// FEATURES: R63
func TestShownProgramsAndOptions(t *testing.T) {
	for _, odd := range []string{"x;git", "it's", `a"b`, "a b", "$'x'", "a\u202eb", "`x`"} {
		for _, r := range []policy.Rule{
			{Program: odd, Words: []string{"push", "--force"}, Exact: true}, {Program: "git", Words: []string{"push"}, Options: []string{"--" + odd}},
		} {
			r.Decision = policy.Allow
			r.Name = r.String()
			if typed, err := policy.ParseTexts(r.String()); err != nil || !reflect.DeepEqual(typed, []policy.Rule{r}) {
				t.Errorf("%q is shown as %s, and read as %q, %v", odd, r.String(), typed, err)
			}
		}
	}
}

// TestRulesNameNoMarks checks that no rule names the characters that represent unknown text: such a rule would be about
// any word.
//
// FEATURES: R63
func TestRulesNameNoMarks(t *testing.T) {
	for n := range 6 {
		raw := string(rune(n))
		for _, text := range []string{"git push a" + raw, fmt.Sprintf(`git push $'\x%02x'`, n), fmt.Sprintf(`git push $'\%o'`, n), fmt.Sprintf(`git push $'\u000%d'`, n),
			fmt.Sprintf(`git push $'\c%c'`, '@'+n), "git" + raw + " push", "git push -" + raw} {
			if rules, err := policy.ParseTexts(text); err == nil {
				t.Errorf("%q is read as %q", text, rules)
			}
			if strings.Contains(text, "$'") {
				text = "exactly " + text // only then are they quotes in a short rule
			}
			if r, err := policy.ParseRule(text, policy.Allow); err == nil {
				t.Errorf("%q is read in a file as %q", text, r)
			}
		}
		if _, err := policy.New(policy.Options{Rules: []policy.Rule{{Program: "git", Words: []string{raw}, Decision: policy.Allow}}}); err == nil {
			t.Errorf("an engine has a rule with %q", raw)
		}
		for _, key := range []string{"program = %s", "program = \"git\"\nwords = [%s]", "program = \"git\"\noptions = [%s]"} {
			file := "[[rules]]\ndecision = \"allow\"\n" + fmt.Sprintf(key, fmt.Sprintf(`"-\u%04X"`, n)) + "\n"
			if _, err := Decode("policy.toml", []byte(file), false); err == nil || !strings.Contains(err.Error(), "control character") {
				t.Errorf("%s is read: %v", file, err)
			}
		}
	}
	if r, err := policy.ParseText(`exactly x $'\cZ\c?'`); err != nil || r.Words[0] != "\x1a\x7f" {
		t.Errorf("control characters are read as %q, %v", r.Words, err)
	}
}

// TestAppendedRulesAreReadable checks that appended rules are text that a user can read: valid UTF-8 without invisible
// characters.
//
// FEATURES: R63
func TestAppendedRulesAreReadable(t *testing.T) {
	for _, r := range []policy.Rule{
		{Program: "x\xff", Exact: true, Decision: policy.Allow}, {Program: "x", Words: []string{"\xff"}, Exact: true, Decision: policy.Allow},
		{Program: "x", Options: []string{"-\xff"}, Decision: policy.Allow},
	} {
		if err := AppendRule(filepath.Join(t.TempDir(), "policy.toml"), r, "why"); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%q: %v", r, err)
		}
	}
	r := policy.Rule{Program: "touch", Words: []string{"a\u202eb\u200b\\\"\U000e0072ä\\U0000202e"}, Exact: true, Decision: policy.Allow}
	text := RuleTOML(r, "why")
	if !strings.Contains(text, `"a\u202Eb\u200B\\\"\U000E0072ä\\U0000202e"`) {
		t.Errorf("written as %s", text)
	}
	if f, err := Decode("policy.toml", []byte(text), false); err != nil || !reflect.DeepEqual(f.Sections[0].Rules[0].Words, r.Words) {
		t.Errorf("%s is read as %v, %v", text, f, err)
	}
}
