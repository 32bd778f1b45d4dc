//go:build unix

package faults

import "testing"

// FEATURES: R127
func TestProjects_Parse(t *testing.T) {
	list, err := projects()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range list {
		n += len(p.faults)
		for _, f := range p.faults {
			if f.script == "" && f.session == "" && f.line == p.run {
				t.Errorf("%s/%s changes nothing", p.name, f.name)
			}
			// The header repeats the command: a cause must not match it.
			if f.cause.MatchString("build:3 `" + f.line + "` failed with exit 1 after 1s; compared with x:1, 2s earlier") {
				t.Errorf("%s/%s: the cause matches the first line of every answer", p.name, f.name)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d faults", n)
	}
}

func TestParse_Rejects(t *testing.T) {
	for _, text := range []string{"", "run: make\n", "run: make\n-- fault/x --\ntrue\n", "run: make\n-- fault/x --\ncause: (\n"} {
		if _, err := parse("p", []byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
