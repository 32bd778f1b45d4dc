package expect

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
)

var update = flag.Bool("update", false, "write golden files")

// mustLoad returns a valid script.
func mustLoad(t testing.TB, src string, opts LoadOptions) *Script {
	t.Helper()
	s, problems := Load([]byte(src), opts)
	if s == nil {
		t.Fatalf("problems: %v", problems)
	}
	return s
}

// FEATURES: R55
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name    string
		src     string
		fake    fakeDriver
		vars    map[string]string
		log     string // spawned programs and input
		failure string // part of the error; "": none
	}{
		{name: "login", src: `
vars: {user: bob}
steps:
  - spawn: ssh ${user}@host
  - expect: "login: "
  - line: ${user}
  - expect: {regexp: '(?P<what>\w+): $'}
  - secret: env:PW
    enter: true
  - expect: welcome ${what}
  - keys: <C-d>
  - wait: exit
  - assert: {exit: 0, var: exit, equals: "0"}
`, fake: fakeDriver{answers: map[string]string{"spawn": "login: ", "bob": "Password: ", "env:PW": "welcome Password", "<C-d>": "EXIT 0"}},
			log: "spawn ssh bob@host,text bob,keys <Enter>,secret env:PW,keys <Enter>,keys <C-d>"},
		{name: "branches", src: `
steps:
  - expect:
      - text: never
      - regexp: (\d+) apples
        do: [{send: "${1}"}]
      - timeout: true
        do: [{fail: late}]
`, fake: fakeDriver{unread: "12 apples"}, log: "text 12"},
		{name: "not found", src: `steps: [{expect: x, timeout: 3s}, {send: y}]`, fake: fakeDriver{waitsForMatch: true}, failure: `"x" did not appear within 3s`},
		// FAULT: C
		{name: "not found, expanded", src: `{vars: {q: a.b}, steps: [{expect: {regexp: "^${q}$"}, timeout: 3s}]}`, fake: fakeDriver{waitsForMatch: true}, failure: `/^a\.b$/ did not appear within 3s`},
		{name: "default timeout", src: `steps: [{expect: [{text: x}, {regexp: y+}, {exit: true}]}]`, fake: fakeDriver{waitsForMatch: true}, failure: `"x" or /y+/ or exit did not appear within 1m0s`},
		{name: "script's step timeout", src: `{step_timeout: 7s, steps: [{expect: x}]}`, fake: fakeDriver{waitsForMatch: true}, failure: `within 7s`},
		{name: "overall", src: `{timeout: 9s, steps: [{wait: 8s}, {wait: 8s}]}`, failure: "time ran out"},
		{name: "overall while expecting", src: `{timeout: 2s, steps: [{expect: [{text: x}, {timeout: true}]}]}`, fake: fakeDriver{waitsForMatch: true}, failure: "time ran out"},
		{name: "branch for a timeout", src: `steps: [{expect: [{text: x}, {timeout: true, do: [{send: a}, {wait: 2s}, {send: b}]}], timeout: 1s}]`, fake: fakeDriver{waitsForMatch: true}, log: "text a,text b"},
		{name: "timeout excludes the steps of a branch", src: `steps: [{expect: [{text: x, do: [{wait: 5s}, {send: a}]}], timeout: 1s}]`, fake: fakeDriver{unread: "x"}, log: "text a"},
		{name: "ended", src: `steps: [{expect: x}]`, failure: `expecting "x": the program ended`},
		{name: "exit is expected", src: `steps: [{expect: [{text: x}, {exit: true, do: [{assert: {exit: 3}}, {send: "${exit}"}]}]}]`, fake: fakeDriver{exited: true, exitCode: 3}, log: "text 3"},
		{name: "spawn fails", src: `steps: [{spawn: missing}]`, failure: "no program"},
		{name: "loop", src: `steps: [{loop: 3, as: i, do: [{send: "${i}"}]}, {loop: [a, b], as: x, do: [{send: "${x}"}]}]`, log: "text 1,text 2,text 3,text a,text b"},
		{name: "loop of a variable", src: `{vars: {n: 2}, steps: [{loop: "${n}", do: [{send: x}]}]}`, log: "text x,text x"},
		{name: "loop of nonsense", src: `{vars: {n: many}, steps: [{loop: "${n}", do: [{send: x}]}]}`, failure: `"many" is no number`},
		{name: "break and continue", src: `
steps:
  - loop: [a, b, c]
    as: x
    label: outer
    do:
      - if: {var: x, equals: a}
        then: [continue]
      - loop: 5
        do:
          - send: "${x}"
          - if: {var: x, equals: c}
            then: [{break: outer}]
          - break
  - send: end
`, log: "text b,text c,text end"},
		{name: "repeat", src: `steps: [{repeat: [{send: more}], until: {screen: done}}]`,
			fake: fakeDriver{answers: map[string]string{"more": "done"}}, log: "text more"},
		{name: "repeat without success", src: `steps: [{repeat: [{send: more}], until: {screen: done}, max: 3}]`,
			log: "text more,text more,text more", failure: `not so after 3 rounds: "done" is not on the screen`},
		{name: "if else", src: `steps: [{if: {screen: x}, then: [{send: a}], else: [{send: b}]}, {if: {not: {screen: x}}, then: [{send: c}]}]`, log: "text b,text c"},
		{name: "assert", src: `steps: [{assert: {screen: ab, screen_regexp: 'a.', cwd: /tmp, not: {exit: 0}}}]`, fake: fakeDriver{screen: "abc", cwd: "/tmp"}},
		{name: "assert screen", src: `steps: [{assert: {screen: x}}]`, failure: `"x" is not on the screen`},
		{name: "assert cwd", src: `steps: [{assert: {cwd: /x}}]`, fake: fakeDriver{cwd: "/y"}, failure: `the working directory is "/y", not "/x"`},
		{name: "assert exit", src: `steps: [{assert: {exit: 0}}]`, fake: fakeDriver{exited: true, exitCode: 2}, failure: "the exit status is 2, not 0"},
		{name: "assert running", src: `steps: [{assert: {exit: 0}}]`, failure: "the program is running"},
		{name: "assert not", src: `steps: [{assert: {not: {screen: x}}}]`, fake: fakeDriver{screen: "x"}, failure: "what should not be"},
		{name: "assert for a while", src: `steps: [{assert: {screen: x}, timeout: 1s}]`, failure: `not so within 1s`},
		{name: "assert matches", src: `{vars: {v: "1.2"}, steps: [{assert: {var: v, matches: '^\d+$'}}]}`, failure: `v is "1.2" and does not match`},
		{name: "capture", src: `steps: [{capture: {v: 'version (\S+)', all: 'ver\w+'}}, {send: "${v} ${all}"}]`, fake: fakeDriver{screen: "version 1.2"}, log: "text 1.2 version"},
		{name: "capture nothing", src: `steps: [{capture: {v: 'x(\d)'}}]`, failure: "nothing on the screen matches"},
		{name: "set and literals", src: `{vars: {a: "${b}1", b: "2"}, steps: [{set: {c: "${a}!"}}, {send: "$${x} $5 ${c}"}]}`, log: "text ${x} $5 21!"},
		{name: "circle", src: `{vars: {a: "${b}", b: "${a}"}, steps: [{send: x}]}`, failure: "circle"},
		{name: "variables in a regexp are text", src: `{vars: {v: "a.c"}, steps: [{expect: {regexp: "^${v}$"}}]}`, fake: fakeDriver{unread: "abc"}, failure: "ended"},
		{name: "variables in keys are text", src: `{vars: {v: "<Up>"}, steps: [{keys: "${v}<Enter>"}]}`, log: "keys <lt>Up><Enter>"},
		{name: "variables of the caller", src: `{vars: {a: x}, require: [b], steps: [{send: "${a}${b}"}]}`, vars: map[string]string{"a": "1", "b": "2"}, log: "text 12"},
		{name: "missing required variable", src: `{require: [b], steps: [{send: "${b}"}]}`, failure: `"b" must be given`},
		{name: "environment", src: `steps: [{send: "${env:HOME}"}]`, log: "text /home/bob"},
		{name: "no environment", src: `steps: [{send: "${env:NONE}"}]`, failure: `"env:NONE" has no value`},
		{name: "no such group", src: `steps: [{expect: x}, {send: "${1}"}]`, fake: fakeDriver{unread: "x"}, failure: `"1" has no value`},
		{name: "call", src: `
procedures:
  say: [{send: "${word}"}]
steps: [{call: say, with: {word: a}}, {call: say, with: {word: b}}]`, log: "text a,text b"},
		{name: "calls itself", src: `{procedures: {p: [{call: p}]}, steps: [{call: p}]}`, failure: "100 deep"},
		{name: "fail", src: `{vars: {x: y}, steps: [{fail: "so ${x}"}]}`, failure: "so y"},
		{name: "paste", src: `steps: [{paste: "a\nb", enter: true}]`, log: "paste a\nb,keys <Enter>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := mustLoad(t, tt.src, LoadOptions{Vars: tt.vars})
				rep := Run(t.Context(), s, &tt.fake, Options{Vars: tt.vars, LookupEnv: func(name string) (string, bool) {
					return "/home/bob", name == "HOME"
				}})
				if got := strings.Join(tt.fake.log, ","); got != tt.log {
					t.Errorf("got input %q, want %q", got, tt.log)
				}
				if rep.OK != (tt.failure == "") || !strings.Contains(rep.Error, tt.failure) {
					t.Errorf("got OK %v, error %q; want error %q", rep.OK, rep.Error, tt.failure)
				}
			})
		})
	}
}

// FEATURES: R55
func TestRun_Canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rep := Run(ctx, mustLoad(t, `steps: [{expect: x}]`, LoadOptions{}), &fakeDriver{waitsForMatch: true}, Options{})
	if rep.OK || rep.Error != context.Canceled.Error() {
		t.Errorf("got report %+v, want error %v", rep, context.Canceled)
	}
}

// FEATURES: R55
func TestReport_Formats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := mustLoad(t, `
name: demo
vars: {token: s3cret}
steps:
  - spawn: prog
  - expect: {regexp: '\d+'}
    name: a number
  - send: ${token}
  - loop: 2
    do:
      - wait: 250ms
  - expect: nothing
    timeout: 2s
  - send: never
`, LoadOptions{})
		ended := 0
		rep := Run(t.Context(), s, &fakeDriver{answers: map[string]string{"spawn": "abc 42 \x01"}, waitsForMatch: true},
			Options{OnStepEnd: func(Result) { ended++ }})
		if ended != 7 {
			t.Errorf("got %d calls of OnStepEnd, want 7", ended)
		}
		js, err := json.MarshalIndent(rep, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(js), "s3cret") {
			t.Error("the report has the value of a variable")
		}
		checkGolden(t, "report.json", append(js, '\n'))
		var x bytes.Buffer
		if err := WriteJUnit(&x, rep); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, "report.xml", x.Bytes())
		for dec := xml.NewDecoder(&x); ; {
			if _, err := dec.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestWriteJUnit_FailureWithoutStep checks that a failure outside of the steps is also in the XML.
func TestWriteJUnit_FailureWithoutStep(t *testing.T) {
	var x bytes.Buffer
	if err := WriteJUnit(&x, Report{Script: "s", Error: "no <variable>"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`failures="1"`, `tests="1"`, "no &lt;variable&gt;"} {
		if !strings.Contains(x.String(), want) {
			t.Errorf("%s is not in %s", want, x.String())
		}
	}
}

// TestReport_BoundsSteps checks that a long run lists its first steps only.
func TestReport_BoundsSteps(t *testing.T) {
	rep := Run(t.Context(), mustLoad(t, `steps: [{loop: 20000, do: [{set: {a: b}}]}]`, LoadOptions{}), &fakeDriver{}, Options{})
	if len(rep.Steps) != maxResults || rep.Omitted != 20001-maxResults || !rep.OK {
		t.Errorf("got %d steps, %d omitted, want %d, %d", len(rep.Steps), rep.Omitted, maxResults, 20001-maxResults)
	}
}

// checkGolden compares got with a file in testdata, or writes the file with -update.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
	}
}

// TestReport_HasExitStatus_WhenProgramEndsSoon checks that the report has the exit status of a program that ends with
// its last expected output. A program that continues delays the report by at most endGrace.
// FEATURES: R55
func TestReport_HasExitStatus_WhenProgramEndsSoon(t *testing.T) {
	script := mustLoad(t, "steps: [{spawn: job}, {expect: bye}]", LoadOptions{})
	ends := &fakeDriver{answers: map[string]string{"spawn": "bye"}, endsOnExpectExit: true, exitCode: 3}
	if r := Run(t.Context(), script, ends, Options{}); !r.OK || r.ExitCode == nil || *r.ExitCode != 3 {
		t.Errorf("a program that ends: got report %+v", r)
	}
	synctest.Test(t, func(t *testing.T) {
		continues := &fakeDriver{answers: map[string]string{"spawn": "bye"}, waitsForMatch: true}
		if r := Run(t.Context(), script, continues, Options{}); !r.OK || r.ExitCode != nil {
			t.Errorf("a program that continues: got report %+v", r)
		}
	})
}
