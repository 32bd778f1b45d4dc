package diagnostics

import (
	"encoding/json"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// goTests reads go test: plain, -v and -json. The last is turned back into lines, for
// each package by itself, since packages run at the same time.
type goTests struct {
	Tests
	plain goOutput
	json  map[string]*goOutput
	seen  bool
	found []Diagnostic // places that failed tests named
}

// goOutput is what is known while a package's output is read.
type goOutput struct {
	logs    map[string]*goLog // of tests that run, by name
	running string            // whose log lines come
	failed  string            // the failure whose log lines come
	pending []goFailure       // of the package
	line    string            // of -json: an unfinished line
}

type goFailure struct {
	name string
	at   int
	log  *goLog
}

func newGoTests() *goTests {
	return &goTests{Tests: Tests{Framework: "go"}, json: map[string]*goOutput{}}
}

var (
	goRun   = pattern.Lazy(`^=== (?:RUN|CONT|NAME|PAUSE)\s+(\S*)`)
	goSuite = pattern.Lazy(`^(ok|FAIL|---|\?)\s+(\S+)\s+(.*)$`)
)

// goResult reads "--- PASS: TestX (0.00s)", by hand since there may be very many.
func goResult(line string) (outcome, name string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), "--- ")
	if !ok {
		return "", "", false
	}
	outcome, rest, ok = strings.Cut(rest, ": ")
	if !ok || outcome != "PASS" && outcome != "FAIL" && outcome != "SKIP" && outcome != "BENCH" {
		return "", "", false
	}
	name, _, ok = strings.Cut(rest, " (")
	return outcome, name[:min(len(name), maxTestName)], ok && name != ""
}

// maxTestName bounds a test's name: its parents are looked up by each part of it.
const maxTestName = 512

// maxGoPackages bounds the packages of -json output that are followed at a time.
const maxGoPackages = 10_000

type goEvent struct {
	Action, Package, Test, Output string
}

func (g *goTests) read(i int, line string) {
	if strings.HasPrefix(line, `{"`) && strings.Contains(line, `"Action":`) {
		var e goEvent
		if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
			g.seen = true
			if e.Action == "output" {
				g.event(i, e)
			}
			return
		}
	}
	g.take(&g.plain, i, line)
}

// event takes a piece of output; go test -json cuts at lines mostly, but not always.
func (g *goTests) event(i int, e goEvent) {
	o := g.json[e.Package]
	if o == nil {
		if len(g.json) >= maxGoPackages {
			return
		}
		o = &goOutput{}
		g.json[e.Package] = o
	}
	text := o.line + e.Output
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		if _, _, isResult := goResult(line); e.Test != "" && !isResult && !strings.HasPrefix(line, "=== ") {
			o.running = e.Test // separates tests that run at the same time
		}
		g.take(o, i, line)
		text = rest
	}
	o.line = text[:min(len(text), maxLineBytes)]
}

func (g *goTests) take(o *goOutput, i int, line string) {
	switch {
	case strings.HasPrefix(line, "=== "):
		if m := goRun.FindStringSubmatch(line); m != nil {
			o.running, o.failed, g.seen = strings.Clone(m[1]), "", true
		}
	case strings.Contains(line, "--- "):
		if outcome, name, ok := goResult(line); ok {
			g.result(o, i, outcome, name)
			return
		}
		o.log(i, line)
	case line == "PASS" || line == "FAIL" || strings.HasPrefix(line, "exit status "):
		o.running, o.failed = "", ""
	case isGoSuite(line):
		if m := goSuite.FindStringSubmatch(line); m != nil {
			g.suite(o, i, m[1], m[2], m[3])
		}
	default:
		o.log(i, line)
	}
}

// isGoSuite reports a line about a package. A terminal has made blanks of its tab.
func isGoSuite(line string) bool {
	for _, begin := range []string{"FAIL\t", "FAIL    ", "ok  \t", "ok      ", "?   \t", "?       "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// log adds a line to the test that it is from: before its result with -v, after it else.
func (o *goOutput) log(i int, line string) {
	if o.failed != "" {
		if len(o.pending) > 0 {
			o.pending[len(o.pending)-1].log.add(i, line)
		}
		return
	}
	if o.running == "" {
		return
	}
	if o.logs == nil {
		o.logs = map[string]*goLog{}
	}
	e := o.logs[o.running]
	if e == nil {
		if len(o.logs) >= maxFailures {
			return
		}
		e = &goLog{}
		o.logs[o.running] = e
	}
	e.add(i, line)
}

func (g *goTests) result(o *goOutput, i int, outcome, name string) {
	g.seen = true
	log := o.logs[name]
	delete(o.logs, name)
	o.failed = ""
	switch outcome {
	case "PASS":
		g.Passed++
	case "SKIP":
		g.Skipped++
	case "FAIL":
		g.Failed++
		if log == nil {
			log = &goLog{}
		}
		o.failed = name
		if len(o.pending) < maxFailures {
			o.pending = append(o.pending, goFailure{strings.Clone(name), i, log})
		}
	}
}

// suite ends a package: its failures get its name. A test with failed subtests is not
// counted itself, nor is a package that was not built.
func (g *goTests) suite(o *goOutput, i int, outcome, name, rest string) {
	g.seen = true
	rest = strings.TrimRight(rest, " ")
	unbuilt := rest == "[build failed]" || rest == "[setup failed]"
	if unbuilt && len(g.Unbuilt) < maxFailures {
		g.Unbuilt = append(g.Unbuilt, strings.Clone(name))
	}
	if outcome == "FAIL" && len(o.pending) == 0 && !unbuilt {
		g.Failed++
		if f := g.fail(Failure{Name: name, Suite: name, At: i}); f != nil {
			f.Excerpt = strings.Clone(rest)
		}
	}
	g.flush(o, name)
}

func (g *goTests) flush(o *goOutput, suite string) {
	parents := map[string]bool{}
	for _, p := range o.pending {
		for n := p.name; ; {
			cut := strings.LastIndexByte(n, '/')
			if cut < 0 {
				break
			}
			n = n[:cut]
			parents[n] = true
		}
	}
	for _, p := range o.pending {
		g.problems(&p, suite)
		if parents[p.name] {
			g.Failed--
			continue
		}
		if f := g.fail(Failure{Name: p.name, Suite: suite, At: p.at}); f != nil {
			f.Excerpt = p.log.text()
		}
	}
	*o = goOutput{}
}

func (g *goTests) finish() *Tests {
	g.flush(&g.plain, "")
	for name, o := range g.json {
		if len(o.pending) > 0 { // cut off: in no order, but that is all there is
			g.flush(o, name)
		}
	}
	if !g.seen {
		return nil
	}
	return &g.Tests
}
