package pattern

import (
	"regexp"
	"testing"
)

// TestNeeds checks that the required text of a pattern is part of each match, and a line without it is not searched.
func TestNeeds(t *testing.T) {
	for _, tt := range []struct {
		expr string
		may  []string // match, or might
		not  []string // are known not to
	}{
		{`[:?>] $`, []string{"Name: ", "a > b "}, []string{"", "some words ", "Name: x"}},
		{`(?i)(?:(pin)\s*[:：]\s*[*•]*|x$)\s*$`, []string{"PIN: ***", "PIN:•", "PIN: ", "X"}, []string{"pin: yes", "pin"}},
		{`(?:a$|(b{0,2}c?)$)`, []string{"", "z"}, nil},
		{`(?i)password\s*[:：]`, []string{"Password:", "Passwort：", "é"}, []string{"a password without an end"}},
		{`(?:yes/no|[[]y[]])+\?*$`, []string{"yes/no", "[y]"}, []string{"yes or no"}},
		{`(?i)Kelvin`, []string{"\u212aelvin", "KELVIN"}, []string{"cold"}},
		{`x{2,3}y*`, []string{"xx"}, []string{"yy"}},
		{`x{0,3}|[^a]|`, []string{"", "a"}, nil},
		{`\d\s?%|\bETA\b`, []string{"5 %", "ETA 5", "LESS"}, []string{"5 of 6"}},
		{`[\x{fffd}]`, []string{"\xff"}, []string{"f"}},
		{`[a-z]+`, []string{"a"}, []string{"?"}},
		{`[\pL_]+x*`, []string{"a", "é", "?é"}, []string{"?"}},
		{`[^\x00-\x{10FFFF}]`, nil, []string{"a", ""}},
	} {
		p := Lazy(tt.expr)
		for _, text := range tt.may {
			if !p.may(text) {
				t.Errorf("%q does not contain the required text of %s", text, tt.expr)
			}
		}
		for _, text := range tt.not {
			if p.may(text) || p.MatchString(text) {
				t.Errorf("%q is searched for %s", text, tt.expr)
			}
		}
	}
}

// FuzzNeeds searches for a pattern that matches a text without its required text.
func FuzzNeeds(f *testing.F) {
	for _, src := range Sources() {
		f.Add(src, "Password: [y/N]? --More-- 50% done")
	}
	f.Add(`(?i)k|[:?]{2,}x*`, "\u212a")
	f.Fuzz(func(t *testing.T, src, text string) {
		re, err := regexp.Compile(src)
		if err != nil || len(src) > MaxBytes {
			t.Skip("no pattern")
		}
		if n := needsOf(src); re.MatchString(text) && !n.in(text) {
			t.Errorf("%q matches %q without its required text", src, text)
		}
	})
}
