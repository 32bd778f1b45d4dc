package expect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// FEATURES: R55
func TestCheck_ReportsProblems(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		want      string // problems, joined by |
	}{
		{"fine", "steps:\n  - send: x\n", ""},
		{"empty", "", "1:1: error: the script is empty"},
		{"not YAML", "steps:\n\t- x", "2:1: error: found character that cannot start any token"},
		{"no steps", "name: x", "1:1: error: steps is missing"},
		{"unknown key", "stepz: []\nsteps: []", `1:1: error: unknown key "stepz"; did you mean "steps"?`},
		{"unknown verb", "steps:\n  - sned: x", `2:5: error: unknown key "sned"; did you mean "send"?`},
		{"unknown verb like no other", "steps: [{whistle: x}]", `1:10: error: unknown key "whistle"; there are spawn, send`},
		{"unknown modifier", "steps:\n  - send: x\n    entre: true", `3:5: error: unknown key "entre"; did you mean "enter"?`},
		{"two verbs", "steps:\n  - send: x\n    keys: y", `3:5: error: a step has one verb: this one has "send" and "keys"`},
		{"twice", "name: a\nname: b\nsteps: []", `2:1: error: "name" is given twice`},
		{"steps is no list", "steps: x", `1:8: error: a list is needed here, not "x"`},
		{"step is no mapping", "steps:\n  - x", `2:5: error: a mapping is needed here, not "x"`},
		{"text is a list", "steps: [{send: [a]}]", `1:16: error: a text is needed here, not a list`},
		{"text is nothing", "steps: [{send: }]", `1:16: error: a text is needed here, not nothing`},
		{"time", "steps:\n  - wait: 5", `2:11: error: a time such as 500ms, or exit, is needed here`},
		{"timeout", "timeout: soon\nsteps: []", `1:10: error: a time such as 500ms, 10s or 2m is needed here, not "soon"`},
		{"boolean", "steps: [{send: x, enter: maybe}]", `1:26: error: true or false is needed here, not "maybe"`},
		{"number", "steps: [{loop: often, do: []}]", `1:16: error: a number is needed here, not "often"`},
		{"regexp", "steps:\n  - expect:\n      regexp: a(", `3:15: error: error parsing regexp: missing closing )`},
		{"regexp of the screen", "steps:\n  - assert: {screen_regexp: a(}", `2:29: error: error parsing regexp: missing closing )`},
		{"pattern of nothing", "steps: [{expect: {regexp: a*}}]", `matches the empty text`},
		{"no pattern", "steps: [{expect: {do: []}}]", `1:18: error: one of text, regexp`},
		{"two patterns", "steps: [{expect: {text: a, regexp: b}}]", `1:18: error: one of text, regexp`},
		{"two timeouts", "steps: [{expect: [{timeout: true}, {timeout: true}]}]", "timeout is given twice"},
		{"exit: false", "steps: [{expect: {exit: false}}]", "only true makes sense here"},
		{"key name", "steps:\n  - keys: <Entr>", `2:11: error: unknown key "<Entr>"; did you mean Enter`},
		{"secret", "steps:\n  - secret: hunter2", `2:13: error: a secret needs a reference`},
		{"of a shell", "steps:\n  - send: echo ${#x}", `2:11: error: the variable "#x" is not defined; a literal ${ is written $${`},
		{"undefined", "vars: {name: x}\nsteps:\n  - send: ${nmae}", `3:11: error: the variable "nmae" is not defined; did you mean "name"?`},
		{"defined by a group", `steps: [{expect: {regexp: '(?P<x>\d)'}}, {send: "${x}${1}${match}${env:HOME}${exit}"}]`, ""},
		{"defined by a loop, a capture, a call", `{procedures: {p: [{send: "${a}${b}${c}"}]}, steps: [{loop: 2, as: a, do: []}, {capture: {b: x}}, {call: p, with: {c: d}}]}`, ""},
		{"bad name", "steps: [{set: {a-b: c}}]", `"a-b" is no name for a variable`},
		{"no such procedure", "procedures: {login: []}\nsteps:\n  - call: logni", `1:14: warning: the procedure "login" is never called|3:11: error: procedure "logni" not found; did you mean "login"?`},
		{"never called", "procedures:\n  p: []\nsteps: []", `2:3: warning: the procedure "p" is never called`},
		{"unreachable step", "steps:\n  - fail: x\n  - send: y", `3:5: warning: this step is never reached`},
		{"unused label", "steps:\n  - loop: 2\n    label: l\n    do: []", `2:5: warning: the label "l" is never used`},
		{"unreachable label", "steps:\n  - send: x\n    label: l", `2:5: warning: the label "l" has no use`},
		{"no such label", "steps:\n  - loop: 2\n    label: l\n    do: [{break: m}, {break: l}]", `4:10: error: no loop around this has the label "m"|4:22: warning: this step is never reached`},
		{"no loop", "steps: [break]", `1:9: error: break is not in a loop`},
		{"a loop around the call is none", "{procedures: {p: [continue]}, steps: [{loop: 1, do: [{call: p}]}]}", `1:19: error: continue is not in a loop`},
		{"no until", "steps: [{repeat: []}]", "1:18: error: until is missing"},
		{"no then", "steps: [{if: {exit: 0}}]", "then is missing"},
		{"no do", "steps: [{loop: 1}]", "do is missing"},
		{"no condition", "steps: [{assert: {}}]", "a condition is needed"},
		{"var alone", "{vars: {v: x}, steps: [{assert: {var: v}}]}", "var goes with equals or matches"},
		{"equals alone", "steps: [{assert: {equals: v}}]", "var goes with equals or matches"},
		{"spawn nothing", "steps: [{spawn: []}]", "spawn needs a command"},
		{"spawn two", "steps: [{spawn: {command: a, argv: [b]}}]", "one is needed"},
		{"no including", "steps: [{include: x}]", "files cannot be included here"},
		{"several at once", "a: 1\nsteps:\n  - b: 2\n  - wait: x\n", `1:1: error: unknown key "a"|3:5: error: unknown key "b"|4:11: error: a time`},
		{"alias", "x: &a [{send: x}]\nsteps: *a", `1:1: error: unknown key "x"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			problems := Check([]byte(tt.src), LoadOptions{})
			want := strings.Split(tt.want, "|")
			if tt.want == "" {
				want = nil
			}
			if len(problems) != len(want) {
				t.Fatalf("got problems %v, want %v", problems, want)
			}
			for i, p := range problems {
				if !strings.Contains(p.String(), want[i]) {
					t.Errorf("got problem %v, want %v", p, want[i])
				}
			}
		})
	}
}

// FEATURES: R55
func TestLoad_Include(t *testing.T) {
	files := map[string]string{
		"login.yaml": "vars: {user: alice, host: h}\nprocedures: {bye: [{send: bye}]}\nsteps:\n  - send: ${user}@${host}\n",
		"self.yaml":  "steps: [{include: self.yaml}]",
		"bad.yaml":   "steps:\n  - sned: x",
	}
	opts := LoadOptions{Include: func(path string) ([]byte, error) {
		if src, ok := files[path]; ok {
			return []byte(src), nil
		}
		return nil, errors.New("no file " + path)
	}}
	f := &fakeDriver{}
	s := mustLoad(t, "vars: {user: bob}\nsteps: [{include: login.yaml}, {call: bye}]", opts)
	if rep := Run(t.Context(), s, f, Options{}); !rep.OK || strings.Join(f.log, ",") != "text bob@h,text bye" {
		t.Errorf("got input %q, report %+v", f.log, rep)
	} else if got := rep.Steps[1].Pos.String(); got != "login.yaml:4:5" {
		t.Errorf("got position %s, want login.yaml:4:5", got)
	}
	for src, want := range map[string]string{
		"steps: [{include: self.yaml}]": "self.yaml:1:19: error: self.yaml includes itself",
		"steps: [{include: bad.yaml}]":  `bad.yaml:2:5: error: unknown key "sned"`,
		"steps: [{include: none}]":      "1:19: error: no file none",
	} {
		if got := fmt.Sprint(Check([]byte(src), opts)); !strings.Contains(got, want) {
			t.Errorf("got problems %s, want %s", got, want)
		}
	}
}

// TestSchema_MatchesDecoder checks that the schema has the same keys as the decoder.
// FEATURES: R55
func TestSchema_MatchesDecoder(t *testing.T) {
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
		OneOf      []json.RawMessage          `json:"oneOf"`
	}
	var doc struct {
		object
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	checkKeys := func(what string, got map[string]json.RawMessage, want ...string) {
		t.Helper()
		slices.Sort(want)
		if g := slices.Sorted(maps.Keys(got)); !slices.Equal(g, want) {
			t.Errorf("%s: the schema has %v, the decoder %v", what, g, want)
		}
	}
	checkKeys("script", doc.Properties, rootKeys...)
	checkKeys("condition", doc.Defs["condition"].Properties, "screen", "screen_regexp", "exit", "cwd", "var", "equals", "matches", "not")
	steps := doc.Defs["step"].OneOf[1:]
	if len(steps) != len(verbs) {
		t.Fatalf("the schema has %d verbs, the decoder %d", len(steps), len(verbs))
	}
	for i, v := range verbs {
		var step object
		if err := json.Unmarshal(steps[i], &step); err != nil {
			t.Fatal(err)
		}
		checkKeys(v.name, step.Properties, slices.Concat([]string{v.name}, v.modifiers, stepKeys)...)
	}
}

// TestLoad_ChecksDirectory checks that a missing directory of a spawn is reported before the script runs.
// FAULT: C
func TestLoad_ChecksDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for cwd, isValid := range map[string]bool{"sub": true, dir: true, ".": true, "nowhere": false, "${x}": true} {
		s, problems := Load([]byte(`{vars: {x: y}, steps: [{spawn: {command: ls, cwd: "`+cwd+`"}}]}`), LoadOptions{Dir: dir})
		if (s != nil) != isValid {
			t.Errorf("cwd %s: got problems %v, want valid %v", cwd, problems, isValid)
		}
	}
}

// FuzzLoad loads mutated scripts.
func FuzzLoad(f *testing.F) {
	f.Add("vars: {a: b}\nsteps:\n  - loop: 3\n    label: l\n    do: [{if: {not: {exit: 0}}, then: [{break: l}]}]\n")
	f.Add("a: &a [*a]\nsteps: [{repeat: [{expect: [{regexp: '(?P<x>.)', do: &s [{send: \"${x}\"}]}]}], until: {screen: x}}, {expect: {text: y, do: *s}}]")
	f.Add("procedures: {p: [{call: p, with: {q: r}}]}\nsteps: [{call: p}, break, {capture: {a: b}}, {spawn: {argv: [x], env: {a: b}}}]")
	f.Fuzz(func(t *testing.T, src string) {
		s, problems := Load([]byte(src), LoadOptions{Include: func(string) ([]byte, error) { return []byte(src), nil }})
		if (s == nil) != (Err(problems) != nil) {
			t.Fatalf("got a script: %v, problems %v", s != nil, problems)
		}
		for _, p := range problems {
			if p.Line < 1 || p.Column < 1 {
				t.Fatalf("problem %v has no position", p)
			}
		}
	})
}
