//go:build unix

package expectrun

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/expect"
)

// stepPrinter prints the steps of a running script. A step with nested steps is printed before them, any other when it
// ends.
type stepPrinter struct {
	w    io.Writer
	open []openStep // steps in progress, outermost first
}

// openStep is a step in progress.
type openStep struct {
	res   expect.Result
	shown bool // its line was printed
}

// addStep records the start of a step.
func (p *stepPrinter) addStep(r expect.Result) {
	for i := range p.open {
		if o := &p.open[i]; !o.shown {
			o.shown = true
			fmt.Fprintf(p.w, "      %s\n", stepText(&o.res))
		}
	}
	p.open = append(p.open, openStep{res: r})
}

// end prints a finished step.
func (p *stepPrinter) end(r expect.Result) {
	last := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	status := "ok"
	if r.Status == expect.Failed {
		status = "FAIL"
	}
	if last.shown && r.Status != expect.Failed {
		return
	}
	fmt.Fprintf(p.w, "%-4s  %s  %s\n", status, stepText(&r), (time.Duration(r.DurationMS) * time.Millisecond).String())
}

// stepText returns a step in one line, with its position and action.
func stepText(r *expect.Result) string {
	text := fmt.Sprintf("%-6s %s%s", r.Pos, strings.Repeat("  ", r.Depth), r.Verb)
	if r.Name != "" {
		text += " (" + r.Name + ")"
	}
	if r.Detail != "" {
		text += " " + r.Detail
	}
	if r.Match != "" && !strings.Contains(r.Detail, r.Match) {
		text += fmt.Sprintf(" → %q", r.Match)
	}
	return output.Printable(text)
}

func printReport(w io.Writer, r *expect.Report) {
	took := (time.Duration(r.DurationMS) * time.Millisecond).String()
	if r.OK {
		fmt.Fprintf(w, "%s: passed, %d steps, %s\n", output.Printable(r.Script), len(r.Steps)+r.Omitted, took)
		return
	}
	where := ""
	for i := range r.Steps {
		if s := &r.Steps[i]; s.Status == expect.Failed {
			where = " at " + s.Pos.String() // the innermost comes last
		}
	}
	fmt.Fprintf(w, "%s: failed%s after %s: %s\n", output.Printable(r.Script), where, took, output.Printable(r.Error))
	if r.Screen == "" {
		return
	}
	fmt.Fprintln(w, "The screen then:")
	for line := range strings.SplitSeq(r.Screen, "\n") {
		fmt.Fprintf(w, "  │ %s\n", output.Printable(line))
	}
}
