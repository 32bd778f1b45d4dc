package digest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// testReports are outputs of test runners in which most tests passed, with the lines that a digest must keep.
var testReports = []struct {
	name, report string
	want         []string
}{
	{"pytest", `=================================== FAILURES ===================================
___________________________________ test_add ___________________________________

    def test_add():
>       assert add(1, 2) == 4
E       assert 3 == 4
E        +  where 3 = add(1, 2)

test_math.py:5: AssertionError
=========================== short test summary info ============================
FAILED test_math.py::test_add - assert 3 == 4
========================= 1 failed, 99 passed in 0.12s =========================`,
		[]string{"E       assert 3 == 4", "1 failed, 99 passed"}},
	{"unittest", `======================================================================
FAIL: test_add (test_math.TestMath.test_add)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/src/test_math.py", line 7, in test_add
    self.assertEqual(3, 4)
AssertionError: 3 != 4

----------------------------------------------------------------------
Ran 100 tests in 0.003s

FAILED (failures=1)`,
		[]string{"AssertionError: 3 != 4", "FAILED (failures=1)"}},
	{"jest", `FAIL src/sum.test.js
  ● adds 1 + 2 to equal 3

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      3 | test('adds', () => {
    > 4 |   expect(sum(1, 2)).toBe(4);
        |                     ^

      at Object.toBe (src/sum.test.js:4:21)

Test Suites: 1 failed, 9 passed, 10 total
Tests:       1 failed, 99 passed, 100 total
Snapshots:   0 total
Time:        1.2 s`,
		[]string{"Expected: 4", "Received: 3", "Tests:       1 failed, 99 passed, 100 total"}},
	{"vitest", ` ❯ src/sum.test.ts (3 tests | 1 failed) 5ms
   × adds 1 + 2 4ms
     → expected 3 to be 4 // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/sum.test.ts > adds 1 + 2
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ src/sum.test.ts:5:21

 Test Files  1 failed | 9 passed (10)
      Tests  1 failed | 99 passed (100)
   Start at  12:00:00`,
		[]string{"AssertionError: expected 3 to be 4", "- 4\n", "+ 3\n", "      Tests  1 failed | 99 passed (100)"}},
	{"mocha", `  99 passing (20ms)
  1 failing

  1) Calculator
       adds:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

3 !== 4

      + expected - actual

      -3
      +4`,
		[]string{"  1 failing", "Expected values to be strictly equal", "3 !== 4"}},
	{"node --test", `✖ adds (0.9ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:

  3 !== 4

      at TestContext.<anonymous> (file:///src/sum.test.mjs:4:10)
ℹ tests 100
ℹ suites 0
ℹ pass 99
ℹ fail 1
ℹ cancelled 0`,
		[]string{"3 !== 4", "ℹ fail 1"}},
	{"go test", `=== RUN   TestAdd
    add_test.go:9: got 3, want 4
--- FAIL: TestAdd (0.00s)
FAIL
FAIL	example.com/m	0.003s`,
		[]string{"add_test.go:9: got 3, want 4"}},
	{"testify", `--- FAIL: TestAdd (0.00s)
    add_test.go:10: 
        	Error Trace:	/src/add_test.go:10
        	Error:      	Not equal: 
        	            	expected: 4
        	            	actual  : 3
        	Test:       	TestAdd
FAIL
FAIL	example.com/m	0.003s`,
		[]string{"expected: 4", "actual  : 3"}},
	{"cargo test", "test tests::b ... FAILED\n\nfailures:\n\n---- tests::b stdout ----\n\nthread 'tests::b' panicked at src/lib.rs:10:9:\n" +
		"assertion `left == right` failed\n  left: 3\n right: 4\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n\n" +
		"failures:\n    tests::b\n\ntest result: FAILED. 99 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
		[]string{"assertion `left == right` failed", "  left: 3", " right: 4", "99 passed; 1 failed"}},
	{"maven", `[ERROR] Tests run: 4, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.MathTest
[ERROR] com.example.MathTest.adds -- Time elapsed: 0.004 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
	at com.example.MathTest.adds(MathTest.java:12)
[INFO] Results:
[INFO] 
[ERROR] Failures: 
[ERROR]   MathTest.adds:12 expected: <4> but was: <3>
[INFO] 
[ERROR] Tests run: 100, Failures: 1, Errors: 0, Skipped: 0
[INFO] BUILD FAILURE`,
		[]string{"expected: <4> but was: <3>", "Tests run: 100, Failures: 1"}},
	{"rspec", `Failures:

  1) Calculator adds
     Failure/Error: expect(add(1, 2)).to eq(4)

       expected: 4
            got: 3

       (compared using ==)
     # ./spec/calc_spec.rb:6:in 'block (2 levels) in <top (required)>'

Finished in 0.01 seconds (files took 0.1 seconds to load)
100 examples, 1 failure`,
		[]string{"Failure/Error: expect(add(1, 2)).to eq(4)", "expected: 4", "got: 3", "100 examples, 1 failure"}},
	{"minitest", `  1) Failure:
TestMath#test_add [test_math.rb:6]:
Expected: 4
  Actual: 3

100 runs, 120 assertions, 1 failures, 0 errors, 0 skips`,
		[]string{"Expected: 4", "Actual: 3", "1 failures, 0 errors"}},
	{"ctest", `99/100 Test  #99: arithmetic .......................***Failed    0.01 sec
100/100 Test #100: zeta ............................   Passed    0.01 sec

99% tests passed, 1 tests failed out of 100

Total Test time (real) =   1.20 sec

The following tests FAILED:
	 99 - arithmetic (Failed)
Errors while running CTest`,
		[]string{"1 tests failed out of 100"}},
	{"googletest", `[ RUN      ] Calc.Adds
/src/calc_test.cc:10: Failure
Expected equality of these values:
  add(1, 2)
    Which is: 3
  4
[  FAILED  ] Calc.Adds (0 ms)
[  PASSED  ] 99 tests.

 1 FAILED TEST`,
		[]string{"Expected equality of these values:", "    Which is: 3", "1 FAILED TEST"}},
	{"phpunit", `There was 1 failure:

1) MathTest::testAdd
Failed asserting that 3 matches expected 4.

/app/tests/MathTest.php:12

FAILURES!
Tests: 100, Assertions: 120, Failures: 1.`,
		[]string{"Failed asserting that 3 matches expected 4.", "Tests: 100, Assertions: 120, Failures: 1."}},
	{"dotnet test", `  Failed Tests.MathTest.Adds [12 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: 4
Actual:   3
  Stack Trace:
     at Tests.MathTest.Adds() in /src/MathTest.cs:line 12

Failed!  - Failed:     1, Passed:    99, Skipped:     0, Total:   100, Duration: 1 s - Tests.dll (net8.0)`,
		[]string{"Assert.Equal() Failure: Values differ", "Expected: 4", "Actual:   3", "Failed:     1, Passed:    99"}},
	{"assert.h", "prog: test.c:10: int main(): Assertion `p != NULL' failed.", []string{"Assertion `p != NULL' failed."}},
	{"a checksum", "checksum mismatch for x.tar.gz\nexpected sha256:aa, got sha256:bb", []string{"checksum mismatch for x.tar.gz", "expected sha256:aa, got sha256:bb"}},
}

// TestDigest_IncludesTestReports checks that the report of a test run in the middle of a long log is kept: failed
// tests, expected and actual values, and the counts. It outranks older errors of the log, also in a small budget.
//
// FEATURES: R88, R105
func TestDigest_IncludesTestReports(t *testing.T) {
	tier.Full(t)
	words := proseLines(1200)
	for _, r := range testReports {
		for _, noisy := range []bool{false, true} {
			lines := append([]string{}, words[:600]...)
			if noisy {
				for i := 50; i < len(lines); i += 50 {
					lines[i] = fmt.Sprintf("2026-01-01T00:00:00Z ERROR [%s] connection refused", lines[i][:12])
				}
			}
			lines = append(append(lines, strings.Split(r.report, "\n")...), words[600:]...)
			for _, d := range []*Digest{{Max: 1200}, {Max: 8000}, {Max: 1200, Fold: true}, {Max: 8000, Fold: true}} {
				text, _ := addAll(d, lines...)
				for _, want := range append(r.want, words[1199]) {
					if !strings.Contains(text, want) {
						t.Errorf("%s, noisy %v, %d bytes, fold %v: got no %q in:\n%s", r.name, noisy, d.Max, d.Fold, want, text)
					}
				}
				if len(text) > d.Max {
					t.Errorf("%s: got %d bytes, want at most %d", r.name, len(text), d.Max)
				}
			}
		}
	}
}

// TestCountsFailures_OrdinaryLines checks that lines that count no failures, or only contain such words, are neither
// counts nor assertions.
func TestCountsFailures_OrdinaryLines(t *testing.T) {
	for _, line := range []string{
		"0 failed", "0 errors", "no errors", "100 passed, 0 failed in 0.1s", "Tests run: 100, Failures: 0, Errors: 0, Skipped: 3",
		"100% tests passed, 0 tests failed out of 100", "test result: ok. 99 passed; 0 failed; 0 ignored", "passed 100 failed 0", "failed=0",
		"100 examples, 0 failures", `"failed":0,"passed":3`, "ℹ fail 0", "# fail 0", "Failed: 0, Passed: 100", "0.0 failed", "000 failures",
		`127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 500`, `"GET /errors/500 HTTP/1.1" 200 31`, "errors.go has 3 lines",
		"test-1 failed-jobs.txt", "17 error.html", "as expected: all is well", "unexpected: got more", "it received what was expected",
		"an error 5 is a code", "module3 failover 2", "3 failovers", "I got what they want", "assertions hold, none failed: 0",
	} {
		if countsFailures(line) {
			t.Errorf("countsFailures(%q) = true, want false", line)
		}
		if isAssertion(line) {
			t.Errorf("isAssertion(%q) = true, want false", line)
		}
	}
	for _, line := range []string{"3 errors generated.", "Found 1 error.", "1,204 failed", "failed: 3", `"failed": 3`, "failures=2", "3 failed 97 passed", "2 test suites failed"} {
		if !countsFailures(line) {
			t.Errorf("countsFailures(%q) = false, want true", line)
		}
	}
}
