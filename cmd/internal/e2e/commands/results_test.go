//go:build unix

package commands

import (
	"encoding/json"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

var cutNote = regexp.MustCompile(`(?m)^\[… (\d+) bytes, (\d+) lines left out: longterm (output [^…]*) …\]\n`)

// whole replaces a note by the output of its command.
func whole(i *e2e.Instance, text string) string {
	i.T.Helper()
	m := cutNote.FindStringSubmatchIndex(text)
	if m == nil {
		i.T.Fatalf("no note of omitted output in %q", text[:min(len(text), 500)])
	}
	left := i.Run(strings.Fields(text[m[6]:m[7]])...)
	return text[:m[0]] + left + text[m[1]:]
}

func numbers(n string) string {
	b, _ := exec.Command("seq", n).Output()
	return string(b)
}

// TestBudgetsEverywhere reads output within a budget over each interface. The command in the notice returns exactly the
// omitted bytes.
//
// FAULT: B5
// FEATURES: R23
func TestBudgetsEverywhere(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	want := numbers("20000")
	check := func(what, text string, max int) {
		t.Helper()
		if len(text) > max {
			t.Errorf("%s: %d bytes, budget %d", what, len(text), max)
		}
		if got := whole(i, text); got != want {
			t.Errorf("%s: %d bytes with the omitted output, want %d", what, len(got), len(want))
		}
	}
	check("run", i.Run("run", "--max-output", "1000", "--", "seq", "20000"), 1000)
	check("run --pipe", i.Run("run", "--pipe", "--max-output", "1000", "--", "seq", "20000"), 1000)
	check("run --raw", strings.ReplaceAll(i.Run("run", "--pipe", "--raw", "--max-output", "1000", "--", "seq", "20000"), "\r", ""), 1000)
	for _, args := range [][]string{{"run", "--json", "--max-output", "1000", "--"}, {"run", "--json", "--agent", "a", "--"}, {"run", "--json", "--pipe", "--agent", "a", "--"}} {
		r := e2e.Decode[api.Result](t, i.Run(append(args, "seq", "20000")...))
		if !r.Truncated || r.Omitted == nil || r.Omitted.Bytes == 0 || r.Omitted.End <= r.Omitted.Start {
			t.Errorf("%q: truncated %t, %+v", args, r.Truncated, r.Omitted)
		}
		check(strings.Join(args, " "), r.Output, map[bool]int{true: 1000, false: 16 << 10}[len(args) > 3 && args[2] == "--max-output"])
	}
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	check("exec", i.Run("exec", "--max-output", "1000", "b", "seq 20000"), 1000)
	r := e2e.Decode[api.Result](t, i.Run("exec", "--json", "--agent", "a", "b", "seq 20000"))
	check("exec --json", r.Output, 16<<10)
	body, _ := i.Post("/sessions/b/exec", `{"line":"seq 20000","max_output":500}`)
	check("POST exec", e2e.Decode[api.Result](t, body).Output, 500)
	check("jobs show", e2e.Decode[api.Job](t, i.Run("jobs", "show", "--json", r.Job)).Result.Output, 4<<10)

	i.Run("new", "-n", "s", "--", "sh", "-c", "seq 20000; sleep 1000")
	i.Run("wait", "s", "--for", "text=20000")
	check("output", i.Run("output", "--max-output", "700", "s"), 700)
	text := e2e.Decode[api.OutputText](t, i.Run("output", "--json", "--max-output", "700", "s"))
	check("output --json", text.Text, 700)
	body, _ = i.Get("/sessions/s/output/text")
	check("GET output/text", e2e.Decode[api.OutputText](t, body).Text, 16<<10)

	i.Run("new", "-n", "wide", "--cols", "200", "--rows", "60", "--", "sh", "-c", "seq -w 10000 | tr '\\n' ' '; sleep 1000")
	i.Run("wait", "wide", "--for", "quiet=300ms")
	if body, _ := i.Get("/sessions/wide/screen/text"); len(body) > 4<<10 || !strings.Contains(body, "left out: longterm screen ") {
		t.Errorf("GET screen/text: %d bytes: %q", len(body), body[:min(len(body), 300)])
	}
	if body, _ := i.Get("/sessions/wide/screen/text?max_output=300"); len(body) > 300 || !strings.Contains(body, "[…") {
		t.Errorf("GET screen/text of 300: %d bytes", len(body))
	}
	if all, _ := i.Get("/sessions/wide/screen/text?" + url.Values{"max_output": {"-1"}}.Encode()); len(all) < 10_000 || strings.Contains(all, "[…") {
		t.Errorf("GET screen/text of all: %d bytes", len(all))
	}
	if out := i.Run("screen", "--max-output", "300", "wide"); len(out) > 301 {
		t.Errorf("screen: %d bytes", len(out))
	}
}

// TestLimitOfALineEverywhere limits the length of lines over each interface.
//
// FAULT: B5
// FEATURES: R23
func TestLimitOfALineEverywhere(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	for _, args := range [][]string{{"run"}, {"run", "--pipe"}, {"run", "--json"}} {
		out := i.Run(append(args, "--max-line", "100", "-c", "head -c 5000 /dev/zero | tr '\\0' x; echo; echo short")...)
		if args[len(args)-1] == "--json" {
			out = e2e.Decode[api.Result](t, out).Output
		}
		long, rest, _ := strings.Cut(out, "\n")
		if rest != "short\n" || len(long) > 100 || !strings.Contains(long, " bytes of this line …]") {
			t.Errorf("%q: %q", args, out)
		}
	}
}

// TestExitCodeIsNoSignal checks that a shell's exit code above 128 is not reported as a signal. run, exec and HTTP
// agree.
//
// FAULT: B14
// FEATURES: R2
func TestExitCodeIsNoSignal(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	for _, c := range []struct {
		line   string
		code   int // of exec; -1: null
		run    int
		signal string // of run
	}{
		{"(exit 0)", 0, 0, ""}, {"(exit 3)", 3, 3, ""}, {"(exit 137)", 137, 137, ""}, {"(exit 255)", 255, 255, ""},
		{"bash -c 'kill -9 $$'", 137, -1, "SIGKILL"},
	} {
		out, _, _ := i.Try("exec", "--json", "b", c.line)
		r := e2e.Decode[api.Result](t, out)
		if r.ExitCode == nil || *r.ExitCode != c.code || r.Signal != "" || r.State != "exited" || r.PGID == 0 {
			t.Errorf("exec %s: %s", c.line, out)
		}
		body, _ := i.Post("/sessions/b/exec", `{"line":"`+c.line+`"}`)
		if r := e2e.Decode[api.Result](t, body); r.ExitCode == nil || *r.ExitCode != c.code || r.Signal != "" {
			t.Errorf("POST exec %s: %s", c.line, body)
		}
		out, _, status := i.Try("run", "--json", "-c", "exec "+strings.Trim(c.line, "()"))
		if strings.HasPrefix(c.line, "(") {
			out, _, status = i.Try("run", "--json", "-c", strings.Trim(c.line, "()"))
		}
		r = e2e.Decode[api.Result](t, out)
		switch {
		case c.run < 0 && (r.ExitCode != nil || r.Signal != c.signal || r.State != "signalled" || status != 137):
			t.Errorf("run %s: %d %s", c.line, status, out)
		case c.run >= 0 && (r.ExitCode == nil || *r.ExitCode != c.run || r.Signal != "" || r.State != "exited" || status != c.run || r.PGID != r.PID):
			t.Errorf("run %s: %d %s", c.line, status, out)
		}
	}
}

// TestOutputRangeIsACursor continues to read from the end of a running line's output range.
//
// FAULT: B15
func TestOutputRangeIsACursor(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	gate := e2e.FIFO(t)
	i.Run("new", "-n", "b", "--", "bash", "--norc")
	out, _, _ := i.Try("exec", "--json", "--yield", "1s", "b", "echo one; read x < "+gate+"; echo two")
	r := e2e.Decode[api.Result](t, out)
	if r.State != "running" || r.Output != "one\n" || r.Range.End <= r.Range.Start {
		t.Fatalf("%+v", r)
	}
	var c struct {
		Output api.Range `json:"output_range"`
	}
	if err := json.Unmarshal([]byte(i.Run("commands", "--json", "b", "0")), &c); err != nil || c.Output.End < r.Range.End {
		t.Errorf("commands: %+v %v", c, err)
	}
	i.Run("run", "--", "sh", "-c", "echo go > "+gate)
	i.Run("jobs", "wait", r.Job)
	j := jobOf(i, r.Job)
	body, _ := i.Get("/sessions/b/output/text?" + url.Values{
		"from": {jsonNumber(r.Range.End)}, "to": {jsonNumber(j.Result.Range.End)},
	}.Encode())
	if got := e2e.Decode[api.OutputText](t, body).Text; got != "two\n" {
		t.Errorf("from the cursor on: %q", got)
	}
}

func jsonNumber(n uint64) string { b, _ := json.Marshal(n); return string(b) }
