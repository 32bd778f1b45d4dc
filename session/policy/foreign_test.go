package policy

import "testing"

// TestForeignShells checks that syntax beyond plain words in unsupported shells needs approval, and that lines harmful
// in any shell are denied.
//
// FEATURES: R62
func TestForeignShells(t *testing.T) {
	for _, shell := range []string{"nu", "xonsh", "elvish", "tcsh", "csh", "/usr/bin/nu", "-tcsh"} {
		for preset, lines := range map[string]map[string]Verdict{
			"build":    {"ls -l src": Allow, "git status": Allow, "ls | each { $in }": Ask, "alias ls rm": Ask, "ls; !!": Ask, "rm -rf /": Deny},
			"readonly": {"ls -l": Allow, "ls $x": Ask},
			"hard":     {"ls | each { $in }": Allow, "rm -rf / ": Deny},
		} {
			e := engineFor(t, preset)
			for line, want := range lines {
				if j := e.Judge(Line{Text: line, Shell: shell}); j.Verdict != want {
					t.Errorf("%s, %s: %s is %v (%s), want %v", shell, preset, line, j.Verdict, j.Why, want)
				}
			}
		}
	}
}
