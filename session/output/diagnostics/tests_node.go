package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// jest reads Jest's output.
type jest struct {
	Tests
	hasCounts bool
	suite     string
	suiteAt   int
	seenNames map[string]bool // Jest repeats failures at the end of long runs
	current   *Failure
	text      excerpt
	inFailure bool // current's text follows
}

var (
	jestFile  = pattern.Lazy(`^\s*(FAIL|PASS) +(\S+)`)
	jestTest  = pattern.Lazy(`^\s*● (.+)$`)
	jestCount = pattern.Lazy(`(\d+) (passed|failed|skipped|todo|pending)`)
)

func (j *jest) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "Tests:  "):
		j.endFailure()
		j.hasCounts = true
		countInto(&j.Tests, jestCount.FindAllStringSubmatch(line, 10))
	case strings.Contains(line, "● "):
		j.endFailure()
		if m := jestTest.FindStringSubmatch(line); m != nil && !j.seenNames[m[1]] && len(j.seenNames) < maxFailures {
			if j.seenNames == nil {
				j.seenNames = map[string]bool{}
			}
			j.seenNames[strings.Clone(m[1])] = true
			j.current = j.keepFailure(Failure{Name: m[1], Suite: j.suite, At: i})
			j.inFailure = j.current != nil
		}
	case strings.HasPrefix(line, "FAIL ") || strings.HasPrefix(line, "PASS "), strings.HasPrefix(line, "Test Suites:"):
		j.endFailure()
		if m := jestFile.FindStringSubmatch(line); m != nil {
			j.suite, j.suiteAt = strings.Clone(m[2]), i
		}
	case j.inFailure:
		j.text.add(line)
	}
}

// endFailure completes the current failure.
func (j *jest) endFailure() {
	if j.inFailure {
		j.current.Excerpt = j.text.text()
	}
	j.text, j.inFailure, j.current = excerpt{}, false, nil
}

func (j *jest) finish() *Tests {
	j.endFailure()
	if !j.hasCounts {
		return nil
	}
	j.Framework = "jest"
	return &j.Tests
}

// countInto sets the counts from "3 passed" and similar texts.
func countInto(t *Tests, found [][]string) {
	t.Passed, t.Failed, t.Skipped = 0, 0, 0
	for _, m := range found {
		switch n := number(m[1]); m[2] {
		case "passed":
			t.Passed += n
		case "failed":
			t.Failed += n
		case "skipped", "todo", "pending":
			t.Skipped += n
		}
	}
}

// vitest reads Vitest's output.
type vitest struct {
	Tests
	hasCounts bool
	current   *Failure
	text      excerpt
}

var (
	vitestFail  = pattern.Lazy(`^\s*FAIL  (?:\|?[\w-]+\| ?)?(\S+)(?: > (.+))?$`)
	vitestCount = pattern.Lazy(`^\s*Tests  (.*\d+ (?:passed|failed|skipped|todo).*)$`)
)

func (v *vitest) read(i int, line string) {
	switch {
	case strings.Contains(line, "FAIL  "):
		v.endFailure()
		if m := vitestFail.FindStringSubmatch(line); m != nil {
			name := m[2]
			if name == "" {
				name = m[1]
			}
			v.current = v.keepFailure(Failure{Name: name, Suite: m[1], At: i})
		}
	case strings.Contains(line, "Tests  "):
		if m := vitestCount.FindStringSubmatch(line); m != nil {
			v.endFailure()
			v.hasCounts = true
			countInto(&v.Tests, jestCount.FindAllStringSubmatch(m[1], 10))
		}
	case strings.Contains(line, "⎯⎯⎯"):
		v.endFailure()
	case v.current != nil:
		v.text.add(line)
	}
}

func (v *vitest) endFailure() {
	if v.current != nil {
		v.current.Excerpt = v.text.text()
	}
	v.current, v.text = nil, excerpt{}
}

func (v *vitest) finish() *Tests {
	v.endFailure()
	if !v.hasCounts {
		return nil
	}
	v.Framework = "vitest"
	return &v.Tests
}

// nodeTests reads node --test: its spec reporter and TAP.
type nodeTests struct {
	Tests
	countLines    int            // number of count lines read
	failureIndex  map[string]int // index in Failures plus one, by name
	current       int            // index in Failures plus one of the failure whose text follows
	indent        string
	text          excerpt
	inFailureList bool // in the final list of failures, which has the texts
}

var (
	nodeCount = pattern.Lazy(`^(?:#|ℹ) (pass|fail|skipped|todo|cancelled) (\d+)$`)
	nodeFail  = pattern.Lazy(`^(\s*)(?:✖ (.+?) \([\d.]+ms\)|not ok \d+ - (.+?)(?: # (TODO|SKIP).*)?)$`)
)

func (n *nodeTests) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "ℹ "):
		n.endFailure()
		if m := nodeCount.FindStringSubmatch(line); m != nil {
			n.addCount(m[1], number(m[2]))
		}
	case strings.HasPrefix(line, "✖ failing tests:"):
		n.endFailure()
		n.inFailureList = true
	case strings.Contains(line, "✖ ") || strings.Contains(line, "not ok "):
		n.endFailure()
		if m := nodeFail.FindStringSubmatch(line); m != nil && m[4] == "" {
			n.beginFailure(i, m[1], m[2]+m[3])
		}
	case n.current > 0:
		if line != "" && !strings.HasPrefix(line, n.indent+" ") {
			n.endFailure()
			return
		}
		n.text.add(line)
	}
}

// addCount records a final count.
func (n *nodeTests) addCount(what string, k int) {
	n.countLines++
	switch what {
	case "pass":
		n.Passed = k
	case "fail", "cancelled":
		n.Failed += k
	case "skipped", "todo":
		n.Skipped += k
	}
}

// beginFailure starts a failure, or continues the one of the same name.
func (n *nodeTests) beginFailure(i int, indent, name string) {
	at, ok := n.failureIndex[name]
	if !ok {
		if n.keepFailure(Failure{Name: name, At: i}) == nil {
			return
		}
		if n.failureIndex == nil {
			n.failureIndex = map[string]int{}
		}
		at = len(n.Failures)
		n.failureIndex[strings.Clone(name)] = at
	}
	n.current, n.indent = at, indent
}

func (n *nodeTests) endFailure() {
	if n.current > 0 {
		if f := &n.Failures[n.current-1]; f.Excerpt == "" {
			f.Excerpt = n.text.text()
		}
	}
	n.current, n.text = 0, excerpt{}
}

func (n *nodeTests) finish() *Tests {
	n.endFailure()
	if n.countLines < 2 {
		return nil
	}
	n.Framework = "node"
	return &n.Tests
}
