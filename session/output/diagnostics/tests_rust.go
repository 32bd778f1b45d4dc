package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// cargoTests reads cargo test.
type cargoTests struct {
	Tests
	hasCounts bool
	suite     string
	failedAt  map[string]int // line of each failed test of the current suite
	logs      map[string]*excerpt
	current   *excerpt
	order     []string
}

var (
	cargoTest  = pattern.Lazy(`^test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)`)
	cargoStdio = pattern.Lazy(`^---- (.+) (?:stdout|stderr) ----$`)
	cargoSum   = pattern.Lazy(`^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoSuite = pattern.Lazy(`^\s+(?:Running|Doc-tests) (.+?)(?: \(.*\))?$`)
)

func (c *cargoTests) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "test result: "):
		if m := cargoSum.FindStringSubmatch(line); m != nil {
			c.hasCounts = true
			c.Passed += number(m[1])
			c.Failed += number(m[2])
			c.Skipped += number(m[3])
			c.flush()
		}
	case strings.HasPrefix(line, "test "):
		if m := cargoTest.FindStringSubmatch(line); m != nil && m[2] == "FAILED" && len(c.order) < maxFailures {
			if c.failedAt == nil {
				c.failedAt, c.logs = map[string]int{}, map[string]*excerpt{}
			}
			name := strings.Clone(m[1])
			c.failedAt[name] = i
			c.order = append(c.order, name)
		}
	case strings.HasPrefix(line, "---- "):
		c.current = nil
		if m := cargoStdio.FindStringSubmatch(line); m != nil && c.logs != nil && len(c.logs) < maxFailures {
			c.current = &excerpt{}
			c.logs[strings.Clone(m[1])] = c.current
		}
	case line == "failures:":
		c.current = nil
	case c.current != nil:
		c.current.add(line)
	case strings.Contains(line, "Running ") || strings.Contains(line, "Doc-tests "):
		if m := cargoSuite.FindStringSubmatch(line); m != nil {
			c.suite = strings.Clone(m[1])
		}
	}
}

func (c *cargoTests) flush() {
	for _, name := range c.order {
		f := c.keepFailure(Failure{Name: name, Suite: c.suite, At: c.failedAt[name]})
		if e := c.logs[name]; f != nil && e != nil {
			f.Excerpt = e.text()
		}
	}
	c.failedAt, c.logs, c.current, c.order = nil, nil, nil, nil
}

func (c *cargoTests) finish() *Tests {
	if !c.hasCounts {
		return nil
	}
	c.Framework = "cargo"
	c.flush()
	return &c.Tests
}
