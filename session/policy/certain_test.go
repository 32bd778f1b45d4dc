package policy

import "testing"

// What a line assigns or declares counts for what follows only where it is sure to have happened.
//
// FEATURES: R60 R62
func TestWhatIsNotSureToHaveHappened(t *testing.T) {
	e, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		line string
		want Verdict
	}{
		{`x=rm; false && x=ls; $x -rf /`, Ask},
		{`x=rm; test 1 = 2 && x=ls; $x -rf /`, Ask},
		{`x=/; false && x=/tmp/a; rm -rf $x`, Ask},
		{`x=rm; false && x=ls || $x -rf /`, Ask},
		{`x=rm; true && x=ls; $x -l`, Allow},
		{`export A=ls && export B=-l && $A $B`, Allow},
		{`export GIT_EDITOR=/tmp/x; false && export GIT_EDITOR=vi; git commit`, Ask},
		{`false && cd /tmp/foo; rm -rf *`, Ask},
		{`cd /tmp/foo && rm -rf *`, Allow},
		{`set -- rm; false && set -- ls; $1 -rf /`, Ask},
		{`set -- rm; set -- ls; $1 -l`, Allow},

		{`rm() { echo; }; rm -rf /`, Allow},
		{`rm() { echo; }; unset -f rm; rm -rf /`, Deny},
		{`false && rm() { echo; }; rm -rf /`, Deny},
		{`true || rm() { echo; }; rm -rf /`, Deny},
		{`if false; then rm() { echo; }; fi; rm -rf /`, Deny},
		{`(rm() { echo; }); rm -rf /`, Deny},
		{`rm() { echo; } | true; rm -rf /`, Deny},
		{`rm() { echo; } & rm -rf /`, Deny},
		{`alias rm=echo; rm -rf /`, Deny},
		{`alias rm=echo; unalias rm; rm -rf /`, Deny},
		{`alias ll='ls -l'; ll /tmp`, Allow},

		{`readonly x=rm; x=ls; $x -rf /`, Ask},
		{`x=rm; local x=ls; $x -rf /`, Ask},
		{`declare -l x=RM; $x -rf /`, Ask},
		{`declare -n r=y; y=ls; r=rm; $y -rf /`, Ask},
		{`x=rm; f() { local x=ls; }; f; $x -rf /`, Ask},
		{`x=rm; f() { return; x=ls; }; f; $x -rf /`, Ask},
		{`x=rm; trap 'x=ls' EXIT; $x -rf /`, Ask},
		{`x=rm; bash -c 'x=ls'; $x -rf /`, Deny},
		{`x=rm; eval 'x=ls'; $x -l`, Allow},
	} {
		if j := e.Judge(Line{Text: row.line, Cwd: "/home/me/site", Home: "/home/me"}); j.Verdict != row.want {
			t.Errorf("%s\n\t%v (%s: %s), want %v", row.line, j.Verdict, j.Rule, j.Why, row.want)
		}
	}
}
