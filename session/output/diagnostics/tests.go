package diagnostics

import (
	"strings"
)

// Tests is the outcome of a test run.
type Tests struct {
	Framework string    `json:"framework"` // go, pytest, cargo, jest, vitest, node
	Passed    int       `json:"passed"`    // tests; 0 if the runner reports no count
	Failed    int       `json:"failed"`    // tests, and packages or files that failed without a test
	Skipped   int       `json:"skipped"`
	Failures  []Failure `json:"failures,omitempty"`
	Unbuilt   []string  `json:"unbuilt,omitempty"` // Go packages whose tests did not compile
}

// Failure is a test that failed.
type Failure struct {
	Name    string `json:"name"`
	Suite   string `json:"suite,omitempty"` // package or file
	Excerpt string `json:"excerpt,omitempty"`
	At      int    `json:"at"` // index of the output's line
	// Directory is the directory in which the test ran, as make reported it.
	Directory string `json:"directory,omitempty"`
}

// testReader reads the output of one framework.
type testReader interface {
	reader
	finish() *Tests // nil: the output is of another framework
}

// testReaders returns readers for the frameworks that a command may run.
func testReaders(c Command) []testReader {
	switch {
	case c.Name == "go" && c.Subcommand() == "test", c.Name == "gotestsum":
		return []testReader{newGoTests()}
	case c.Name == "pytest" || c.Name == "py.test":
		return []testReader{&pytest{}}
	case c.Name == "cargo" || c.Name == "cross":
		return []testReader{&cargoTests{}}
	case c.Name == "jest" || c.Name == "react-scripts":
		return []testReader{&jest{}}
	case c.Name == "vitest":
		return []testReader{&vitest{}}
	case c.Name == "node" && c.HasOption("--test"):
		return []testReader{&nodeTests{}}
	case testlessCommands[c.Name]:
		return nil
	}
	return []testReader{newGoTests(), &pytest{}, &cargoTests{}, &jest{}, &vitest{}, &nodeTests{}}
}

// testlessCommands run no tests without a verb that is handled above.
var testlessCommands = set("gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "tsc", "javac", "eslint", "go", "ld", "git", "python", "node")

// bestTests returns the result of the framework with the most tests.
func bestTests(readers []testReader) *Tests {
	var best *Tests
	for _, r := range readers {
		t := r.finish()
		if t != nil && (best == nil || t.total() > best.total()) {
			best = t
		}
	}
	return best
}

func (t *Tests) total() int { return t.Passed + t.Failed + t.Skipped }

// keepFailure keeps a failure if there is room.
func (t *Tests) keepFailure(f Failure) *Failure {
	if len(t.Failures) >= maxFailures {
		return nil
	}
	f.Name, f.Suite = strings.Clone(f.Name), strings.Clone(f.Suite)
	t.Failures = append(t.Failures, f)
	return &t.Failures[len(t.Failures)-1]
}

// excerpt collects lines up to maxExcerptBytes, without blank lines at the ends.
type excerpt struct{ b strings.Builder }

func (e *excerpt) add(line string) {
	if strings.TrimSpace(line) == "" && e.b.Len() == 0 || e.b.Len()+len(line) >= maxExcerptBytes {
		return
	}
	if e.b.Len() > 0 {
		e.b.WriteByte('\n')
	}
	e.b.WriteString(line)
}

func (e *excerpt) text() string { return strings.TrimRight(e.b.String(), " \t\n") }
