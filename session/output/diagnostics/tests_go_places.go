package diagnostics

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// goLog is what a Go test printed, with the places that it named.
type goLog struct {
	excerpt
	places   []Diagnostic
	indent   string // before a place; deeper lines continue a message
	panicked *Diagnostic
	function string // the stack's newest line with a function
}

// maxGoPlaces bounds the places of one test.
const maxGoPlaces = 50

var (
	goPlace = pattern.Lazy(`^(\s+)(\S[^:]*\.go|[A-Za-z]:[^:]*\.go):(\d+):(?: (.*))?$`)
	goFrame = pattern.Lazy(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
)

// add keeps a line and reads the place in it.
func (l *goLog) add(i int, line string) {
	l.excerpt.add(line)
	if m := match(goPlace, ".go:", line); m != nil && len(l.places) < maxGoPlaces && (l.indent == "" || m[1] == l.indent) {
		l.indent = strings.Clone(m[1])
		l.places = append(l.places, Diagnostic{File: strings.Clone(m[2]), Line: number(m[3]), Severity: Error,
			Message: strings.Clone(strings.TrimSpace(m[4])), Matcher: "go-test", At: i})
		return
	}
	if message, ok := strings.CutPrefix(line, "panic: "); ok && l.panicked == nil {
		message, _, _ = strings.Cut(message, " [recovered")
		l.panicked = &Diagnostic{Severity: Error, Message: "panic: " + message, Matcher: "go-test", At: i}
		return
	}
	if l.panicked != nil {
		l.stack(line)
		return
	}
	if n := len(l.places); n > 0 && l.places[n-1].Message == "" {
		l.places[n-1].Message = assertion(line)
	}
}

// stack reads a panic's place: the first frame in a test file, else the first outside Go's runtime.
func (l *goLog) stack(line string) {
	p := l.panicked
	if strings.HasSuffix(p.File, "_test.go") {
		return
	}
	m := match(goFrame, ".go:", line)
	if m == nil {
		l.function = strings.Clone(line)
		return
	}
	ofGo := slices.ContainsFunc([]string{"testing.", "panic(", "runtime.", "created by ", "reflect."}, func(by string) bool {
		return strings.HasPrefix(l.function, by)
	})
	if !ofGo && (p.File == "" || strings.HasSuffix(m[1], "_test.go")) {
		p.File, p.Line = strings.Clone(m[1]), number(m[2])
	}
}

// assertion returns the message in a line below a place without one, as testify prints it. It returns "" for a heading.
func assertion(line string) string {
	text := strings.TrimSpace(line)
	if label, rest, ok := strings.Cut(text, ":"); ok {
		switch label {
		case "Error Trace":
			return ""
		case "Error":
			text = strings.TrimSpace(rest)
		}
	}
	if strings.HasSuffix(text, ".go") || match(goFrame, ".go:", " "+text) != nil { // more of the trace
		return ""
	}
	return strings.Clone(text)
}

// problems takes the places of a test that failed. A place without a message has the test's name.
func (g *goTests) problems(f *goFailure, suite string) {
	places := f.log.places
	if p := f.log.panicked; p != nil && p.File != "" {
		places = append(places, *p)
	}
	for _, d := range places {
		if len(g.found) >= maxDiagnostics {
			return
		}
		if d.Message == "" {
			d.Message = f.name + " failed"
		}
		d.Package = strings.Clone(suite)
		g.found = append(g.found, d)
	}
}

// withTests adds the places of Go's failed tests to what compilers found, in the order of the output.
func withTests(found []Diagnostic, readers []testReader, best *Tests, dirs *directories) []Diagnostic {
	for _, r := range readers {
		g, isGo := r.(*goTests)
		if !isGo || &g.Tests != best {
			continue
		}
		for _, d := range g.found {
			if dir := dirs.when(d.At); dir != "" && !isAbs(d.File) {
				d.File = join(dir, d.File)
			}
			found = append(found, d)
		}
	}
	slices.SortStableFunc(found, func(a, b Diagnostic) int { return a.At - b.At })
	return found[:min(len(found), maxDiagnostics)]
}

// goBuildOutput returns a compiler's line out of an event of go test -json, and any other line as it is.
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
