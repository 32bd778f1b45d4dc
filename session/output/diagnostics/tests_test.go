package diagnostics

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const goVerbose = `=== RUN   TestGood
--- PASS: TestGood (0.00s)
=== RUN   TestBad
    p_test.go:4: some log
    p_test.go:4: got 1
        want 2
--- FAIL: TestBad (0.00s)
=== RUN   TestSub
=== RUN   TestSub/one
=== RUN   TestSub/two
    p_test.go:5: sub failed
--- FAIL: TestSub (0.00s)
    --- PASS: TestSub/one (0.00s)
    --- FAIL: TestSub/two (0.00s)
=== RUN   TestSkip
    p_test.go:6: no
--- SKIP: TestSkip (0.00s)
FAIL
FAIL	example.org/x/p	0.056s
FAIL
`

// goTestJSON converts -v output to events of go test -json.
func goTestJSON(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	enc := json.NewEncoder(&b)
	for sc := bufio.NewScanner(strings.NewReader(text)); sc.Scan(); {
		if err := enc.Encode(map[string]any{"Time": "2026-01-01T00:00:00Z", "Action": "output", "Package": "example.org/x/p", "Output": sc.Text() + "\n"}); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// FEATURES: R28
func TestTestResults(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name, line, text       string
		framework              string
		passed, failed, skiped int
		failures               []string // name, suite, part of the excerpt
	}{
		{"go test", "go test ./...", `--- FAIL: TestBad (0.00s)
    p_test.go:4: some log
    p_test.go:4: got 1
        want 2
--- FAIL: TestSub (0.00s)
    --- FAIL: TestSub/two (0.00s)
        p_test.go:5: sub failed
FAIL
FAIL	example.org/x/p	0.003s
FAIL	example.org/x/q [build failed]
ok  	example.org/x/r	0.003s
FAIL
`, "go", 0, 2, 0, []string{"TestBad|example.org/x/p|want 2", "TestSub/two|example.org/x/p|sub failed"}},
		{"go test -v", "go test -v ./p", goVerbose, "go", 2, 2, 1, []string{"TestBad|example.org/x/p|want 2", "TestSub/two|example.org/x/p|sub failed"}},
		{"go test -json", "go test -json ./p", goTestJSON(t, goVerbose), "go", 2, 2, 1, []string{"TestBad|example.org/x/p|want 2", "TestSub/two|example.org/x/p|sub failed"}},
		{"go test, all well", "go test .", "ok  \texample.org/x\t0.1s\n", "go", 0, 0, 0, nil},
		{"go test, cut off", "go test .", "--- FAIL: TestA (0.00s)\n    a_test.go:1: oh\n", "go", 0, 1, 0, []string{"TestA||oh"}},
		{"make test", "make test", goVerbose, "go", 2, 2, 1, []string{"TestBad|example.org/x/p|want 2", "TestSub/two|example.org/x/p|sub failed"}},
		{"pytest", "python3 -m pytest", `============================= test session starts ==============================
collected 4 items

tests/test_a.py .F.s                                                     [100%]

=================================== FAILURES ===================================
_________________________________ test_numbers _________________________________

    def test_numbers():
>       assert 1 == 2
E       assert 1 == 2

tests/test_a.py:5: AssertionError
________________________________ TestX.test_deep _______________________________
E       ValueError: deep
=========================== short test summary info ============================
FAILED tests/test_a.py::test_numbers - assert 1 == 2
FAILED tests/test_a.py::TestX::test_deep - ValueError: deep
ERROR tests/test_b.py - ImportError: no
==================== 2 failed, 2 passed, 1 skipped, 1 error in 0.12s ====================
`, "pytest", 2, 3, 1, []string{"test_numbers|tests/test_a.py|assert 1 == 2", "TestX::test_deep|tests/test_a.py|ValueError: deep", "tests/test_b.py|tests/test_b.py|ImportError: no"}},
		{"pytest -q", "pytest -q", "....\n4 passed in 0.01s\n", "pytest", 4, 0, 0, nil},
		{"cargo test", "cargo test", `   Compiling ct v0.1.0 (/x/ct)
     Running unittests src/lib.rs (target/debug/deps/ct-c4066ebb79ee0019)

running 3 tests
test tests::good ... ok
test tests::later ... ignored
test tests::bad ... FAILED

failures:

---- tests::bad stdout ----
out

thread 'tests::bad' (22514) panicked at src/lib.rs:3:38:
assertion ` + "`left == right`" + ` failed: numbers


failures:
    tests::bad

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.28s

   Doc-tests ct

running 1 test
test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`, "cargo", 2, 1, 1, []string{"tests::bad|unittests src/lib.rs|failed: numbers"}},
		{"jest", "npx jest", `PASS src/a.test.js
FAIL src/b.test.js
  ● sums › adds numbers

    expect(received).toBe(expected)

    Expected: 3
    Received: 2

  ● fails to run

    boom

Test Suites: 1 failed, 1 passed, 2 total
Tests:       2 failed, 1 skipped, 3 passed, 6 total
Snapshots:   0 total
`, "jest", 3, 2, 1, []string{"sums › adds numbers|src/b.test.js|Received: 2", "fails to run|src/b.test.js|boom"}},
		{"vitest", "npm test", ` ❯ src/a.test.ts (3 tests | 1 failed) 5ms
⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/a.test.ts > sums > adds
AssertionError: expected 2 to be 3
 ❯ src/a.test.ts:5:13
⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 2 passed | 1 skipped (4)
`, "vitest", 2, 1, 1, []string{"sums > adds|src/a.test.ts|expected 2 to be 3"}},
		{"node spec", "node --test", `✔ good (1.08ms)
✖ bad (0.83ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
      at x

▶ suite
  ✖ inner (0.10ms)
    Error: boom

✖ suite (0.33ms)
ℹ tests 5
ℹ pass 1
ℹ fail 3
ℹ cancelled 0
ℹ skipped 1
ℹ todo 0

✖ failing tests:

test at n.test.mjs:2:25
✖ bad (0.83ms)
  AssertionError [ERR_ASSERTION]: 1 == 2
`, "node", 1, 3, 1, []string{"bad||1 == 2", "inner||boom", "suite||"}},
		{"node TAP", "node --test --test-reporter=tap", `TAP version 13
# Subtest: bad
not ok 1 - bad
  ---
  error: '1 == 2'
  ...
ok 2 - skip # SKIP
not ok 3 - later # TODO
1..3
# tests 3
# pass 0
# fail 1
# skipped 1
# todo 1
`, "node", 0, 1, 2, []string{"bad||error: '1 == 2'"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Parse(c.line, &one, c.text)
			if r.Kind != TestRun || r.Tests == nil {
				t.Fatalf("kind %s", r.Kind)
			}
			got := r.Tests
			if got.Framework != c.framework || got.Passed != c.passed || got.Failed != c.failed || got.Skipped != c.skiped {
				t.Errorf("%+v", got)
			}
			if len(got.Failures) != len(c.failures) {
				t.Fatalf("%+v", got.Failures)
			}
			for i, want := range c.failures {
				f := got.Failures[i]
				parts := strings.Split(want, "|")
				if f.Name != parts[0] || f.Suite != parts[1] || !strings.Contains(f.Excerpt, parts[2]) {
					t.Errorf("%+v, want %s", f, want)
				}
			}
		})
	}
	for _, line := range []string{"make", "cat log", "go build ./..."} {
		if r := Parse(line, &one, "4 passed with flying colours\ntest it ... ok\n"); r.Tests != nil {
			t.Errorf("%s: %+v", line, r.Tests)
		}
	}
}

// TestFailures_Bounded checks that all failures are counted, and a bounded number is kept.
//
// FEATURES: R23, R28
func TestFailures_Bounded(t *testing.T) {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "test t%d ... FAILED\n", i)
	}
	b.WriteString("test result: FAILED. 0 passed; 10000 failed; 0 ignored; 0 measured;\n")
	one := 1
	if r := Parse("cargo test", &one, b.String()); r.Tests == nil || r.Tests.Failed != 10_000 || len(r.Tests.Failures) != maxFailures {
		t.Errorf("%+v", r.Summary)
	}
}

// TestGoTests_TabsAsBlanks checks that the package lines of go test are read if a terminal has expanded their tabs.
//
// FEATURES: R28
func TestGoTests_TabsAsBlanks(t *testing.T) {
	r := Parse("go test ./...", nil, "--- FAIL: TestA (0.00s)\nFAIL\nFAIL    example.org/m   0.002s\nok      example.org/n   0.001s\n")
	if r.Tests == nil || r.Tests.Failed != 1 || r.Tests.Failures[0].Suite != "example.org/m" {
		t.Errorf("%+v", r.Tests)
	}
	if r := Parse("go test ./...", nil, "ok      example.org/n   0.001s\n"); r.Tests == nil || r.Tests.Failed != 0 {
		t.Errorf("%+v", r.Tests)
	}
}
