package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// jest reads Jest's output.
type jest struct {
	Tests
	seen    bool
	suite   string
	suiteAt int
	names   map[string]bool // Jest repeats failures at the end of long runs
	current *Failure
	text    excerpt
	reading bool
}

var (
	jestFile  = pattern.Lazy(`^\s*(FAIL|PASS) +(\S+)`)
	jestTest  = pattern.Lazy(`^\s*● (.+)$`)
	jestCount = pattern.Lazy(`(\d+) (passed|failed|skipped|todo|pending)`)
)

func (j *jest) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "Tests:  "):
		j.end()
		j.seen = true
		countInto(&j.Tests, jestCount.FindAllStringSubmatch(line, 10))
	case strings.Contains(line, "● "):
		j.end()
		if m := jestTest.FindStringSubmatch(line); m != nil && !j.names[m[1]] && len(j.names) < maxFailures {
			if j.names == nil {
				j.names = map[string]bool{}
			}
			j.names[strings.Clone(m[1])] = true
			j.current = j.fail(Failure{Name: m[1], Suite: j.suite, At: i})
			j.reading = j.current != nil
		}
	case strings.HasPrefix(line, "FAIL ") || strings.HasPrefix(line, "PASS "), strings.HasPrefix(line, "Test Suites:"):
		j.end()
		if m := jestFile.FindStringSubmatch(line); m != nil {
			j.suite, j.suiteAt = strings.Clone(m[2]), i
		}
	case j.reading:
		j.text.add(line)
	}
}

// end ends the failure whose text came.
func (j *jest) end() {
	if j.reading {
		j.current.Excerpt = j.text.text()
	}
	j.text, j.reading, j.current = excerpt{}, false, nil
}

func (j *jest) finish() *Tests {
	j.end()
	if !j.seen {
		return nil
	}
	j.Framework = "jest"
	return &j.Tests
}

// countInto sets the counts from "3 passed" and the like.
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
	seen    bool
	current *Failure
	text    excerpt
}

var (
	vitestFail  = pattern.Lazy(`^\s*FAIL  (?:\|?[\w-]+\| ?)?(\S+)(?: > (.+))?$`)
	vitestCount = pattern.Lazy(`^\s*Tests  (.*\d+ (?:passed|failed|skipped|todo).*)$`)
)

func (v *vitest) read(i int, line string) {
	switch {
	case strings.Contains(line, "FAIL  "):
		v.end()
		if m := vitestFail.FindStringSubmatch(line); m != nil {
			name := m[2]
			if name == "" {
				name = m[1]
			}
			v.current = v.fail(Failure{Name: name, Suite: m[1], At: i})
		}
	case strings.Contains(line, "Tests  "):
		if m := vitestCount.FindStringSubmatch(line); m != nil {
			v.end()
			v.seen = true
			countInto(&v.Tests, jestCount.FindAllStringSubmatch(m[1], 10))
		}
	case strings.Contains(line, "⎯⎯⎯"):
		v.end()
	case v.current != nil:
		v.text.add(line)
	}
}

func (v *vitest) end() {
	if v.current != nil {
		v.current.Excerpt = v.text.text()
	}
	v.current, v.text = nil, excerpt{}
}

func (v *vitest) finish() *Tests {
	v.end()
	if !v.seen {
		return nil
	}
	v.Framework = "vitest"
	return &v.Tests
}

// nodeTests reads node --test: its spec reporter and TAP.
type nodeTests struct {
	Tests
	seen    int // counts that were seen
	names   map[string]int
	current int // index in Failures plus one of the failure whose text comes
	indent  string
	text    excerpt
	last    bool // in the list of failures at the end, which has the texts
}

var (
	nodeCount = pattern.Lazy(`^(?:#|ℹ) (pass|fail|skipped|todo|cancelled) (\d+)$`)
	nodeFail  = pattern.Lazy(`^(\s*)(?:✖ (.+?) \([\d.]+ms\)|not ok \d+ - (.+?)(?: # (TODO|SKIP).*)?)$`)
)

func (n *nodeTests) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "ℹ "):
		n.end()
		if m := nodeCount.FindStringSubmatch(line); m != nil {
			n.count(m[1], number(m[2]))
		}
	case strings.HasPrefix(line, "✖ failing tests:"):
		n.end()
		n.last = true
	case strings.Contains(line, "✖ ") || strings.Contains(line, "not ok "):
		n.end()
		if m := nodeFail.FindStringSubmatch(line); m != nil && m[4] == "" {
			n.failure(i, m[1], m[2]+m[3])
		}
	case n.current > 0:
		if line != "" && !strings.HasPrefix(line, n.indent+" ") {
			n.end()
			return
		}
		n.text.add(line)
	}
}

func (n *nodeTests) count(what string, k int) {
	n.seen++
	switch what {
	case "pass":
		n.Passed = k
	case "fail", "cancelled":
		n.Failed += k
	case "skipped", "todo":
		n.Skipped += k
	}
}

func (n *nodeTests) failure(i int, indent, name string) {
	at, ok := n.names[name]
	if !ok {
		if n.fail(Failure{Name: name, At: i}) == nil {
			return
		}
		if n.names == nil {
			n.names = map[string]int{}
		}
		at = len(n.Failures)
		n.names[strings.Clone(name)] = at
	}
	n.current, n.indent = at, indent
}

func (n *nodeTests) end() {
	if n.current > 0 {
		if f := &n.Failures[n.current-1]; f.Excerpt == "" {
			f.Excerpt = n.text.text()
		}
	}
	n.current, n.text = 0, excerpt{}
}

func (n *nodeTests) finish() *Tests {
	n.end()
	if n.seen < 2 {
		return nil
	}
	n.Framework = "node"
	return &n.Tests
}
