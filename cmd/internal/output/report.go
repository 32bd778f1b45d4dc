package output

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/api"
)

// LabelledText returns a result as labelled text, in which every label is always present: for models without a schema.
func LabelledText(line string, r *api.Result) string {
	none := func(s string) string { return cmp.Or(strings.TrimRight(s, "\n"), "(none)") }
	exit := "(none)"
	switch {
	case r.ExitCode != nil:
		exit = strconv.Itoa(*r.ExitCode)
	case r.ExitUnknown == api.ExitNone:
		exit = "(none: the program reports none for a line)"
	case r.ExitUnknown == api.ExitNotReported:
		exit = "(unknown: the line may have failed)"
	}
	problem := r.Error
	if problem == "" && r.State != "exited" {
		problem = r.Message
	}
	rows := [][2]string{{"Command", line}, {"Directory", none(cmp.Or(r.CwdBefore, r.CwdAfter))}}
	if r.Stderr != nil && *r.Stderr != "" {
		rows = append(rows, [2]string{"Stdout", none(*r.Stdout)}, [2]string{"Stderr", none(*r.Stderr)})
	} else {
		rows = append(rows, [2]string{"Output", none(r.Output)})
	}
	if r.Summary != "" {
		rows = append(rows, [2]string{"Summary", r.Summary})
	}
	if r.SummaryError != "" {
		rows = append(rows, [2]string{"Summary Error", r.SummaryError})
	}
	if note, ok := strings.CutPrefix(r.EnvNote(), "environment: "); ok {
		rows = append(rows, [2]string{"Environment", note})
	}
	if r.BinaryBytes > 0 {
		rows = append(rows, [2]string{"Left Out", fmt.Sprintf("%d bytes that are not text", r.BinaryBytes)})
	}
	pids := strings.Trim(fmt.Sprint(r.Background), "[]")
	rows = append(rows, [2]string{"Error", none(problem)}, [2]string{"Exit Code", exit}, [2]string{"Signal", none(r.Signal)},
		[2]string{"Background PIDs", none(strings.ReplaceAll(pids, " ", ", "))})
	if b := r.Sandbox; b != nil {
		rows = append(rows, [2]string{"Sandbox", SandboxText(b)}, [2]string{"Sandbox Holds", none(strings.Join(b.Holds, "; "))},
			[2]string{"Sandbox Does Not Hold", none(strings.Join(b.NotHeld, "; "))})
	}
	if IsUnfinished(r.State) {
		rows = append(rows, [2]string{"Job", r.Job})
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%s: %s\n", row[0], row[1])
	}
	return b.String()
}
