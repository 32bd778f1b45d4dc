//go:build unix

package main

import "testing"

// What looks like a regular expression is recognised; ordinary texts are not.
//
// FAULT: J
func TestRegexpSigns(t *testing.T) {
	for text, want := range map[string]bool{
		`a\|b`: true, "err.*": true, "[0-9]+": true, `\d`: true, "^x": true, "x$": true, "(a|b)": true,
		"hello": false, "main.go:7": false, "a|b": false, "f(x)": false, "3 tests failed": false,
	} {
		if got := regexpSigns.MatchString(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
