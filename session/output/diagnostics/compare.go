package diagnostics

import "time"

// Run is a finished run of a watched command.
type Run struct {
	Exit     *int   // nil: ended by a signal, or unknown
	Signal   string // the signal that ended it
	Duration time.Duration
	Result   Result
}

// HasFailed reports whether the exit status is not 0 or unknown.
func (r *Run) HasFailed() bool { return r.Exit == nil || *r.Exit != 0 }

// Changes describes the differences between two runs.
type Changes struct {
	NewErrors   []Diagnostic `json:"new_errors,omitempty"`
	FixedErrors []Diagnostic `json:"fixed_errors,omitempty"`
	NewFailures []string     `json:"new_failures,omitempty"` // tests that fail now and did not before
	FixedTests  []string     `json:"fixed_tests,omitempty"`  // tests that failed before and do not now
	// ExitBefore is the previous status, if it changed.
	ExitChanged bool          `json:"exit_changed"`
	ExitBefore  *int          `json:"exit_before,omitempty"`
	Slower      time.Duration `json:"-"` // difference of the durations; negative: faster
}

// maxChanges bounds each list of Changes.
const maxChanges = 100

// Compare returns the changes between two runs.
func Compare(before, after *Run) Changes {
	c := Changes{Slower: after.Duration - before.Duration}
	if !sameExit(before, after) {
		c.ExitChanged, c.ExitBefore = true, before.Exit
	}
	was, is := errorsOf(&before.Result), errorsOf(&after.Result)
	c.NewErrors, c.FixedErrors = subtract(is, was, errorKey), subtract(was, is, errorKey)
	failed, fails := failureNames(&before.Result), failureNames(&after.Result)
	same := func(s string) string { return s }
	c.NewFailures = subtract(fails, failed, same)
	if after.Result.Tests != nil { // without tests in the new run none is fixed
		c.FixedTests = subtract(failed, fails, same)
	}
	return c
}

func sameExit(a, b *Run) bool {
	if a.Exit == nil || b.Exit == nil {
		return a.Exit == b.Exit && a.Signal == b.Signal
	}
	return *a.Exit == *b.Exit
}

// errorIdentity identifies an error while its file is edited: it has no line number.
type errorIdentity struct{ pkg, file, code, message string }

func errorKey(d Diagnostic) errorIdentity { return errorIdentity{d.Package, d.File, d.Code, d.Message} }

func errorsOf(r *Result) []Diagnostic {
	var list []Diagnostic
	for _, d := range r.Diagnostics {
		if d.Severity == Error {
			d.Related = nil
			list = append(list, d)
		}
	}
	return list
}

func failureNames(r *Result) []string {
	if r.Tests == nil {
		return nil
	}
	var list []string
	for _, f := range r.Tests.Failures {
		name := f.Name
		if f.Suite != "" && f.Suite != f.Name {
			name = f.Suite + " " + f.Name
		}
		list = append(list, name)
	}
	return list
}

// subtract returns the elements of list that are not in other, counting repetitions.
func subtract[T any, K comparable](list, other []T, key func(T) K) []T {
	have := map[K]int{}
	for _, v := range other {
		have[key(v)]++
	}
	var out []T
	for _, v := range list {
		k := key(v)
		if have[k] > 0 {
			have[k]--
			continue
		}
		if len(out) < maxChanges {
			out = append(out, v)
		}
	}
	return out
}
