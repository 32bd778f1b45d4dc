package diagnostics

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// goLog is the output of a Go test, with the positions in it.
type goLog struct {
	excerpt
	positions     []Diagnostic
	indent        string // indentation of positions; deeper lines continue a message
	panicPosition *Diagnostic
	lastFunction  string // the stack's newest function
}

// maxGoPositions bounds the positions of one test.
const maxGoPositions = 50

var (
	goPosition = pattern.Lazy(`^(\s+)(\S[^:]*\.go|[A-Za-z]:[^:]*\.go):(\d+):(?: (.*))?$`)
	goFrame    = pattern.Lazy(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
)

// add appends a line and reads the position in it.
func (l *goLog) add(i int, line string) {
	l.excerpt.add(line)
	if m := matchIfContains(goPosition, ".go:", line); m != nil && len(l.positions) < maxGoPositions && (l.indent == "" || m[1] == l.indent) {
		l.indent = strings.Clone(m[1])
		l.positions = append(l.positions, Diagnostic{File: strings.Clone(m[2]), Line: number(m[3]), Severity: Error,
			Message: strings.Clone(strings.TrimSpace(m[4])), Matcher: "go-test", At: i})
		return
	}
	if message, ok := strings.CutPrefix(line, "panic: "); ok && l.panicPosition == nil {
		message, _, _ = strings.Cut(message, " [recovered")
		l.panicPosition = &Diagnostic{Severity: Error, Message: "panic: " + message, Matcher: "go-test", At: i}
		return
	}
	if l.panicPosition != nil {
		l.readStack(line)
		return
	}
	if n := len(l.positions); n > 0 && l.positions[n-1].Message == "" {
		l.positions[n-1].Message = assertionMessage(line)
	}
}

// readStack reads a panic's position: the first frame in a test file, else the first outside Go's runtime.
func (l *goLog) readStack(line string) {
	p := l.panicPosition
	if strings.HasSuffix(p.File, "_test.go") {
		return
	}
	m := matchIfContains(goFrame, ".go:", line)
	if m == nil {
		l.lastFunction = strings.Clone(line)
		return
	}
	ofGo := slices.ContainsFunc([]string{"testing.", "panic(", "runtime.", "created by ", "reflect."}, func(by string) bool {
		return strings.HasPrefix(l.lastFunction, by)
	})
	if !ofGo && (p.File == "" || strings.HasSuffix(m[1], "_test.go")) {
		p.File, p.Line = strings.Clone(m[1]), number(m[2])
	}
}

// assertionMessage returns the message in a line below a position, as testify prints it. It returns "" for a heading.
func assertionMessage(line string) string {
	text := strings.TrimSpace(line)
	if label, rest, ok := strings.Cut(text, ":"); ok {
		switch label {
		case "Error Trace":
			return ""
		case "Error":
			text = strings.TrimSpace(rest)
		}
	}
	if strings.HasSuffix(text, ".go") || matchIfContains(goFrame, ".go:", " "+text) != nil { // more of the trace
		return ""
	}
	return strings.Clone(text)
}

// addPositions adds the positions of a failed test. A position without a message gets the test's name.
func (g *goTests) addPositions(f *goFailure, suite string) {
	places := f.log.positions
	if p := f.log.panicPosition; p != nil && p.File != "" {
		places = append(places, *p)
	}
	for _, d := range places {
		if len(g.positions) >= maxDiagnostics {
			return
		}
		if d.Message == "" {
			d.Message = f.name + " failed"
		}
		d.Package = strings.Clone(suite)
		g.positions = append(g.positions, d)
	}
}

// addTestPositions adds the positions of Go's failed tests to the compilers' findings, in the order of the output.
func addTestPositions(found []Diagnostic, readers []testReader, best *Tests, dirs *directories) []Diagnostic {
	for _, r := range readers {
		g, isGo := r.(*goTests)
		if !isGo || &g.Tests != best {
			continue
		}
		for _, d := range g.positions {
			if dir := dirs.directoryAt(d.At); dir != "" && !isAbs(d.File) {
				d.File = joinPath(dir, d.File)
			}
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Diagnostic) int { return a.At - b.At })
	return found[:min(len(found), maxDiagnostics)]
}

// goBuildOutput returns the compiler's line from an event of go test -json, and any other line unchanged.
func goBuildOutput(line string) string {
	if !strings.HasPrefix(line, `{"`) || !strings.Contains(line, `"Action":"build-output"`) {
		return line
	}
	var e goEvent
	if json.Unmarshal([]byte(line), &e) != nil {
		return line
	}
	return strings.TrimSuffix(e.Output, "\n")
}
