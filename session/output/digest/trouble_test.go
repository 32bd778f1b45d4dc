package digest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// proseLines returns n lines of words that have different shapes.
func proseLines(n int) []string {
	r := rand.New(rand.NewPCG(1, 2))
	var all []string
	for range n {
		var words []string
		for range 9 {
			word := make([]byte, 3+r.IntN(6))
			for i := range word {
				word[i] = "bcdghklmoprstuvwy"[r.IntN(17)]
			}
			words = append(words, string(word))
		}
		all = append(all, strings.Join(words, " "))
	}
	return all
}

// TestDigest_IncludesTrouble_AmongProse checks that a line that only looks like a failure is kept among lines of
// different shapes.
//
// FEATURES: R88, R105
func TestDigest_IncludesTrouble_AmongProse(t *testing.T) {
	for _, says := range []string{
		"thread 'main' panicked at src/main.rs:3:5:", "java.lang.NullPointerException: null",
		`Exception in thread "main" java.lang.IllegalStateException: x`, "npm ERR! code ELIFECYCLE", "not ok 17 - should work",
		"  ● suite › test", "(node:1) UnhandledPromiseRejectionWarning: x", "bash: line 3: 4711 Killed   ./server",
		"cp: error writing x: No space left on device", "E: Unable to locate package foo", "E   assert False",
		"ssh: connect to host x port 22: Connection refused", "Out of memory: Killed process 4711 (java)",
		"FEHLER: so nicht", "timeout exceeded while waiting", "java.lang.OutOfMemoryError",
	} {
		lines := proseLines(6000)
		lines[3000] = says
		for _, fold := range []bool{false, true} {
			text, _ := addAll(&Digest{Max: 8000, Fold: fold}, lines...)
			if !strings.Contains(text, says) || !strings.Contains(text, lines[5999]) || len(text) > 8000 {
				t.Errorf("fold %v: got no %q in %d bytes", fold, says, len(text))
			}
			if !strings.Contains(text, lines[3001]) {
				t.Errorf("fold %v: got no line after %q", fold, says)
			}
		}
	}
	for _, harmless := range []string{"0 errors, 3 files", "errorcode table", "terror and panics", "prefailed to", "Killedar", "a note: ok 3"} {
		if IsTrouble(harmless) {
			t.Errorf("IsTrouble(%q) = true, want false", harmless)
		}
	}
}

// TestDigest_ErrorsOutrankTrouble checks that an error outranks lines that only look like one, however many they are.
func TestDigest_ErrorsOutrankTrouble(t *testing.T) {
	lines := proseLines(6000)
	for i := range 5000 {
		lines[i] += " timed out " + fmt.Sprint(lines[i+1])
	}
	lines[5500] = "file.c:12:3: error: expected expression"
	if text, _ := digestOf(2000, lines...); !strings.Contains(text, lines[5500]) || !strings.Contains(text, lines[5999]) {
		t.Errorf("got no error in:\n%s", text)
	}
}
