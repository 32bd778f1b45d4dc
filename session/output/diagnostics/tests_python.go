package diagnostics

import (
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// pytest reads pytest's output: sections with a heading for each failure, a short summary with full names, and a last
// line with the counts.
type pytest struct {
	Tests
	hasCounts bool
	section   string              // heading of the failure whose text follows
	texts     map[string]*excerpt // by heading
}

var (
	pytestHead  = pattern.Lazy(`^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{3,}$`)
	pytestShort = pattern.Lazy(`^(FAILED|ERROR) (\S+?)(?:::(\S.*?))?(?: - (.*))?$`)
	pytestCount = pattern.Lazy(`(\d+) (passed|failed|skipped|errors?|xfailed|xpassed)\b`)
	pytestLast  = pattern.Lazy(`^(?:=+ )?(?:no tests ran|\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|warnings?|deselected)\b.*) in [\d.]+s`)
)

func (p *pytest) read(i int, line string) {
	switch {
	case strings.HasPrefix(line, "___"):
		if m := pytestHead.FindStringSubmatch(line); m != nil && len(p.texts) < maxFailures {
			if p.texts == nil {
				p.texts = map[string]*excerpt{}
			}
			p.section = strings.Clone(m[1])
			p.texts[p.section] = &excerpt{}
		}
	case strings.HasPrefix(line, "FAILED ") || strings.HasPrefix(line, "ERROR "):
		if m := pytestShort.FindStringSubmatch(line); m != nil {
			p.readFailure(i, m)
		}
	case strings.Contains(line, " in ") && pytestLast.MatchString(line):
		p.readCounts(line)
	case strings.HasPrefix(line, "==="):
		p.section = ""
	case p.section != "":
		p.texts[p.section].add(line)
	}
}

func (p *pytest) readFailure(i int, m []string) {
	f := Failure{Name: m[3], Suite: m[2], At: i}
	if f.Name == "" {
		f.Name = m[2]
	}
	kept := p.keepFailure(f)
	if kept == nil {
		return
	}
	// Headings contain dots where names contain colons.
	if e := p.texts[strings.ReplaceAll(m[3], "::", ".")]; e != nil {
		kept.Excerpt = e.text()
	} else if e := p.texts[m[2]]; e != nil {
		kept.Excerpt = e.text()
	}
	if kept.Excerpt == "" {
		kept.Excerpt = strings.Clone(m[4])
	}
}

func (p *pytest) readCounts(line string) {
	p.hasCounts = true
	p.Passed, p.Failed, p.Skipped = 0, 0, 0
	for _, m := range pytestCount.FindAllStringSubmatch(line, 10) {
		n := number(m[1])
		switch m[2] {
		case "passed", "xpassed":
			p.Passed += n
		case "failed", "error", "errors":
			p.Failed += n
		case "skipped", "xfailed":
			p.Skipped += n
		}
	}
}

func (p *pytest) finish() *Tests {
	if !p.hasCounts {
		return nil
	}
	p.Framework = "pytest"
	return &p.Tests
}
