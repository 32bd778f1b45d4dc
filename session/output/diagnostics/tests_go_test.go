package diagnostics

import (
	"fmt"
	"strings"
	"testing"
)

// listDiagnostics formats a result's diagnostics, one per line.
func listDiagnostics(r *Result) string {
	var b strings.Builder
	for _, d := range r.Diagnostics {
		fmt.Fprintf(&b, "%s|%s:%d:%d %s %s\n", d.Package, d.File, d.Line, d.Column, d.Severity, d.Message)
	}
	return b.String()
}

// FAULT: H22
//
// FEATURES: R28 R82
func TestGoTests_AssertionsAreProblems(t *testing.T) {
	const tail = "FAIL\nFAIL\texample.org/x/p\t0.05s\nFAIL\n"
	const verbose = "=== RUN   TestGood\n    p_test.go:3: fine here\n--- PASS: TestGood (0.00s)\n=== RUN   TestSkip\n    p_test.go:6: no\n--- SKIP: TestSkip (0.00s)\n" +
		"=== RUN   TestBad\n    p_test.go:4: got 1, want 2\n        q_test.go:9: a line of the message\n--- FAIL: TestBad (0.00s)\n" + tail
	for _, c := range []struct{ name, line, text, want string }{
		{"failed", "go test ./...", "--- FAIL: TestBad (0.00s)\n    p_test.go:4: got 1, want 2\n    p_test.go:5: got 3, want 4\n" + tail,
			"example.org/x/p|p_test.go:4:0 error got 1, want 2\nexample.org/x/p|p_test.go:5:0 error got 3, want 4\n"},
		{"verbose", "go test -v ./...", verbose, "example.org/x/p|p_test.go:4:0 error got 1, want 2\n"},
		{"json", "go test -json ./...", goTestJSON(t, verbose), "example.org/x/p|p_test.go:4:0 error got 1, want 2\n"},
		{"subtest and its parent", "go test", "--- FAIL: TestSub (0.00s)\n    p_test.go:9: parent\n    --- FAIL: TestSub/x (0.00s)\n        p_test.go:5: sub\n" + tail,
			"example.org/x/p|p_test.go:9:0 error parent\nexample.org/x/p|p_test.go:5:0 error sub\n"},
		{"make", "make test", "make: Entering directory '/w/m'\n--- FAIL: TestBad (0.00s)\n    p_test.go:4: got 1\n" + tail, "example.org/x/p|/w/m/p_test.go:4:0 error got 1\n"},
		{"testify", "go test", "--- FAIL: TestBad (0.00s)\n    p_test.go:4: \n        \tError Trace:\t/w/p_test.go:4\n        \t            \t/w/q_test.go:8\n        \tError:      \tNot equal: 1 and 2\n" + tail,
			"example.org/x/p|p_test.go:4:0 error Not equal: 1 and 2\n"},
		{"no message", "go test", "--- FAIL: TestBad (0.00s)\n    p_test.go:4:\n" + tail, "example.org/x/p|p_test.go:4:0 error TestBad failed\n"},
		{"panic", "go test", "--- FAIL: TestPanic (0.00s)\npanic: nil map [recovered, repanicked]\n\ngoroutine 7 [running]:\ntesting.tRunner.func1.2({0x5, 0x6})\n\t/go/src/testing/testing.go:1974 +0x232\n" +
			"panic({0x55a7a0?, 0x6cac60?})\n\t/go/src/runtime/panic.go:860 +0x13a\nexample.org/x/p.F(...)\n\t/w/p.go:7\nexample.org/x/p.TestPanic(0x2)\n\t/w/p_test.go:3 +0x28\n" +
			"testing.tRunner(0x2, 0x5)\n\t/go/src/testing/testing.go:2036 +0xea\nFAIL\texample.org/x/p\t0.01s\n",
			"example.org/x/p|/w/p_test.go:3:0 error panic: nil map\n"},
		{"compiler and test", "go test ./...", "# example.org/x/q\nq/q.go:2:5: undefined: z\n--- FAIL: TestBad (0.00s)\n    p_test.go:4: got 1\n" + tail + "FAIL\texample.org/x/q [build failed]\n",
			"|q/q.go:2:5 error undefined: z\nexample.org/x/p|p_test.go:4:0 error got 1\n"},
	} {
		r := Parse(c.line, nil, c.text)
		if got := listDiagnostics(&r); got != c.want {
			t.Errorf("%s: %s; want %s", c.name, got, c.want)
		}
	}
}

// FAULT: H22
//
// FEATURES: R28
func TestGoTests_BuildFailureIsNoTest(t *testing.T) {
	one := 1
	for _, c := range []struct{ name, line, text, gist string }{
		{"build", "go test ./...", "# example.org/x\nx.go:2:5: undefined: z\nFAIL\texample.org/x [build failed]\nFAIL\n",
			"exit 1; 0 failed, 0 passed, 0 skipped; 1 package not built; first: x.go:2:5: undefined: z"},
		{"setup", "go test ./...", "# example.org/x\nx_test.go:2:5: no required module provides package y\nFAIL    example.org/x [setup failed]  \nFAIL\n",
			"exit 1; 0 failed, 0 passed, 0 skipped; 1 package not built; first: x_test.go:2:5: no required module provides package y"},
		{"json", "go test -json ./...", `{"ImportPath":"example.org/x","Action":"build-output","Output":"x.go:2:5: undefined: z\n"}` + "\n" +
			`{"Action":"output","Package":"example.org/x","Output":"FAIL\texample.org/x [build failed]\n"}` + "\n",
			"exit 1; 0 failed, 0 passed, 0 skipped; 1 package not built; first: x.go:2:5: undefined: z"},
		{"without a place", "go test ./...", "FAIL\texample.org/x [setup failed]\nFAIL\n", "exit 1; 0 failed, 0 passed, 0 skipped; 1 package not built"},
	} {
		r := Parse(c.line, &one, c.text)
		if r.Tests == nil || r.Tests.Failed != 0 || len(r.Tests.Failures) != 0 || len(r.Tests.Unbuilt) != 1 || r.Summary.Errors == 0 || r.Summary.Gist != c.gist {
			t.Errorf("%s: %+v, %+v", c.name, r.Tests, r.Summary)
		}
	}
}
