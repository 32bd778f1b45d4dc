package diagnostics

import (
	"encoding/json"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// goTests reads go test: plain, -v and -json. The events of -json are converted to lines separately for each package, since
// packages run at the same time.
type goTests struct {
	Tests
	plain     goOutput
	byPackage map[string]*goOutput
	hasTests  bool
	positions []Diagnostic // positions in the output of failed tests
}

// goOutput is the state of reading one package's output.
type goOutput struct {
	logs        map[string]*goLog // logs of running tests, by name
	runningTest string            // test whose log lines follow
	failedTest  string            // failed test whose log lines follow
	pending     []goFailure       // failures of the package so far
	partialLine string            // incomplete line of -json
}

// goFailure is a failed test with its log.
type goFailure struct {
	name string
	at   int
	log  *goLog
}

func newGoTests() *goTests {
	return &goTests{Tests: Tests{Framework: "go"}, byPackage: map[string]*goOutput{}}
}

var (
	goTestStart   = pattern.Lazy(`^=== (?:RUN|CONT|NAME|PAUSE)\s+(\S*)`)
	goPackageLine = pattern.Lazy(`^(ok|FAIL|---|\?)\s+(\S+)\s+(.*)$`)
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

// maxTestName bounds a test's name, in bytes: its parents are looked up by each part of the name.
const maxTestName = 512

// maxGoPackages bounds the packages of -json output that are tracked at a time.
const maxGoPackages = 10_000

// goEvent is an event of go test -json.
type goEvent struct {
	Action, Package, Test, Output string
}

func (g *goTests) read(i int, line string) {
	if strings.HasPrefix(line, `{"`) && strings.Contains(line, `"Action":`) {
		var e goEvent
		if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
			g.hasTests = true
			if e.Action == "output" {
				g.addEvent(i, e)
			}
			return
		}
	}
	g.readLine(&g.plain, i, line)
}

// addEvent reads a piece of output; go test -json splits at lines mostly, but not always.
func (g *goTests) addEvent(i int, e goEvent) {
	o := g.byPackage[e.Package]
	if o == nil {
		if len(g.byPackage) >= maxGoPackages {
			return
		}
		o = &goOutput{}
		g.byPackage[e.Package] = o
	}
	text := o.partialLine + e.Output
	for {
		line, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		if _, _, isResult := goResult(line); e.Test != "" && !isResult && !strings.HasPrefix(line, "=== ") {
			o.runningTest = e.Test // separates tests that run at the same time
		}
		g.readLine(o, i, line)
		text = rest
	}
	o.partialLine = text[:min(len(text), maxLineBytes)]
}

// readLine reads a line of a package's output.
func (g *goTests) readLine(o *goOutput, i int, line string) {
	switch {
	case strings.HasPrefix(line, "=== "):
		if m := goTestStart.FindStringSubmatch(line); m != nil {
			o.runningTest, o.failedTest, g.hasTests = strings.Clone(m[1]), "", true
		}
	case strings.Contains(line, "--- "):
		if outcome, name, ok := goResult(line); ok {
			g.addResult(o, i, outcome, name)
			return
		}
		o.addLog(i, line)
	case line == "PASS" || line == "FAIL" || strings.HasPrefix(line, "exit status "):
		o.runningTest, o.failedTest = "", ""
	case isGoPackageLine(line):
		if m := goPackageLine.FindStringSubmatch(line); m != nil {
			g.endPackage(o, i, m[1], m[2], m[3])
		}
	default:
		o.addLog(i, line)
	}
}

// isGoPackageLine reports whether a line is about a package. A terminal may have expanded its tab.
func isGoPackageLine(line string) bool {
	for _, begin := range []string{"FAIL\t", "FAIL    ", "ok  \t", "ok      ", "?   \t", "?       "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// addLog adds a line to the log of its test: before the result with -v, after it otherwise.
func (o *goOutput) addLog(i int, line string) {
	if o.failedTest != "" {
		if len(o.pending) > 0 {
			o.pending[len(o.pending)-1].log.add(i, line)
		}
		return
	}
	if o.runningTest == "" {
		return
	}
	if o.logs == nil {
		o.logs = map[string]*goLog{}
	}
	e := o.logs[o.runningTest]
	if e == nil {
		if len(o.logs) >= maxFailures {
			return
		}
		e = &goLog{}
		o.logs[o.runningTest] = e
	}
	e.add(i, line)
}

// addResult counts a test's result and starts its failure.
func (g *goTests) addResult(o *goOutput, i int, outcome, name string) {
	g.hasTests = true
	log := o.logs[name]
	delete(o.logs, name)
	o.failedTest = ""
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
		o.failedTest = name
		if len(o.pending) < maxFailures {
			o.pending = append(o.pending, goFailure{strings.Clone(name), i, log})
		}
	}
}

// endPackage ends a package and names its failures. A test with failed subtests is not counted itself, nor is a package
// that was not built.
func (g *goTests) endPackage(o *goOutput, i int, outcome, name, rest string) {
	g.hasTests = true
	rest = strings.TrimRight(rest, " ")
	unbuilt := rest == "[build failed]" || rest == "[setup failed]"
	if unbuilt && len(g.Unbuilt) < maxFailures {
		g.Unbuilt = append(g.Unbuilt, strings.Clone(name))
	}
	if outcome == "FAIL" && len(o.pending) == 0 && !unbuilt {
		g.Failed++
		if f := g.keepFailure(Failure{Name: name, Suite: name, At: i}); f != nil {
			f.Excerpt = strings.Clone(rest)
		}
	}
	g.flush(o, name)
}

// flush adds the failures of a package to the result.
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
		g.addPositions(&p, suite)
		if parents[p.name] {
			g.Failed--
			continue
		}
		if f := g.keepFailure(Failure{Name: p.name, Suite: suite, At: p.at}); f != nil {
			f.Excerpt = p.log.text()
		}
	}
	*o = goOutput{}
}

func (g *goTests) finish() *Tests {
	g.flush(&g.plain, "")
	for name, o := range g.byPackage {
		if len(o.pending) > 0 { // cut off before the end of the package
			g.flush(o, name)
		}
	}
	if !g.hasTests {
		return nil
	}
	return &g.Tests
}
