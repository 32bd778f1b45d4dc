//go:build unix

package main

import (
	"encoding/json"
	"io"
	"net/url"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
)

// get asks the daemon over HTTP.
func (i *instance) get(path string) (string, int) {
	i.t.Helper()
	resp, err := httpClient(i).Get("http://longterm" + api.Version + path)
	if err != nil {
		i.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		i.t.Fatal(err)
	}
	return string(b), resp.StatusCode
}

var cutNote = regexp.MustCompile(`(?m)^\[… (\d+) bytes, (\d+) lines left out: longterm (output [^…]*) …\]\n`)

// whole puts what a note's command reads in the note's place.
func (i *instance) whole(text string) string {
	i.t.Helper()
	m := cutNote.FindStringSubmatchIndex(text)
	if m == nil {
		i.t.Fatalf("no note of what is left out in %q", text[:min(len(text), 500)])
	}
	left := i.run(strings.Fields(text[m[6]:m[7]])...)
	return text[:m[0]] + left + text[m[1]:]
}

func numbers(n string) string {
	b, _ := exec.Command("seq", n).Output()
	return string(b)
}

// Those who ask for a budget get it, from every door, and what the note in the middle says
// reads the rest to the byte.
//
// FAULT: B5
// FEATURES: R23
func TestBudgetsEverywhere(t *testing.T) {
	i := newInstance(t)
	want := numbers("20000")
	check := func(what, text string, max int) {
		t.Helper()
		if len(text) > max {
			t.Errorf("%s: %d bytes, %d asked for", what, len(text), max)
		}
		if got := i.whole(text); got != want {
			t.Errorf("%s: %d bytes with what was left out, want %d", what, len(got), len(want))
		}
	}
	check("run", i.run("run", "--max-output", "1000", "--", "seq", "20000"), 1000)
	check("run --pipe", i.run("run", "--pipe", "--max-output", "1000", "--", "seq", "20000"), 1000)
	check("run --raw", strings.ReplaceAll(i.run("run", "--pipe", "--raw", "--max-output", "1000", "--", "seq", "20000"), "\r", ""), 1000)
	for _, args := range [][]string{{"run", "--json", "--max-output", "1000", "--"}, {"run", "--json", "--"}, {"run", "--json", "--pipe", "--"}} {
		r := decode[api.Result](t, i.run(append(args, "seq", "20000")...))
		if !r.Truncated || r.Omitted == nil || r.Omitted.Bytes == 0 || r.Omitted.End <= r.Omitted.Start {
			t.Errorf("%q: truncated %t, %+v", args, r.Truncated, r.Omitted)
		}
		check(strings.Join(args, " "), r.Output, map[bool]int{true: 1000, false: 16 << 10}[len(args) > 3 && args[2] == "--max-output"])
	}
	i.run("new", "-n", "b", "--", "bash", "--norc")
	check("exec", i.run("exec", "--max-output", "1000", "b", "seq 20000"), 1000)
	r := decode[api.Result](t, i.run("exec", "--json", "b", "seq 20000"))
	check("exec --json", r.Output, 16<<10)
	body, _ := post(t, i, "/sessions/b/exec", `{"line":"seq 20000","max_output":500}`)
	check("POST exec", decode[api.Result](t, body).Output, 500)
	check("jobs show", decode[api.Job](t, i.run("jobs", "show", "--json", r.Job)).Result.Output, 4<<10)

	i.run("new", "-n", "s", "--", "sh", "-c", "seq 20000; sleep 1000")
	i.run("wait", "s", "--for", "text=20000")
	check("output", i.run("output", "--max-output", "700", "s"), 700)
	text := decode[api.OutputText](t, i.run("output", "--json", "--max-output", "700", "s"))
	check("output --json", text.Text, 700)
	body, _ = i.get("/sessions/s/output/text")
	check("GET output/text", decode[api.OutputText](t, body).Text, 16<<10)

	i.run("new", "-n", "wide", "--cols", "200", "--rows", "60", "--", "sh", "-c", "seq -w 10000 | tr '\\n' ' '; sleep 1000")
	i.run("wait", "wide", "--for", "quiet=300ms")
	if body, _ := i.get("/sessions/wide/screen/text"); len(body) > 4<<10 || !strings.Contains(body, "left out: longterm screen ") {
		t.Errorf("GET screen/text: %d bytes: %q", len(body), body[:min(len(body), 300)])
	}
	if body, _ := i.get("/sessions/wide/screen/text?max_output=300"); len(body) > 300 || !strings.Contains(body, "[…") {
		t.Errorf("GET screen/text of 300: %d bytes", len(body))
	}
	if all, _ := i.get("/sessions/wide/screen/text?" + url.Values{"max_output": {"-1"}}.Encode()); len(all) < 10_000 || strings.Contains(all, "[…") {
		t.Errorf("GET screen/text of all: %d bytes", len(all))
	}
	if out := i.run("screen", "--max-output", "300", "wide"); len(out) > 301 {
		t.Errorf("screen: %d bytes", len(out))
	}
}

// FAULT: B5
// FEATURES: R23
func TestLimitOfALineEverywhere(t *testing.T) {
	i := newInstance(t)
	for _, args := range [][]string{{"run"}, {"run", "--pipe"}, {"run", "--json"}} {
		out := i.run(append(args, "--max-line", "100", "-c", "head -c 5000 /dev/zero | tr '\\0' x; echo; echo short")...)
		if args[len(args)-1] == "--json" {
			out = decode[api.Result](t, out).Output
		}
		long, rest, _ := strings.Cut(out, "\n")
		if rest != "short\n" || len(long) > 100 || !strings.Contains(long, " bytes of this line …]") {
			t.Errorf("%q: %q", args, out)
		}
	}
}

// A shell tells a code; only the kernel tells a signal. run, exec and HTTP agree.
//
// FAULT: B14
// FEATURES: R2
func TestExitCodeIsNoSignal(t *testing.T) {
	i := newInstance(t)
	i.run("new", "-n", "b", "--", "bash", "--norc")
	for _, c := range []struct {
		line   string
		code   int // of exec; -1: null
		run    int
		signal string // of run
	}{
		{"(exit 0)", 0, 0, ""}, {"(exit 3)", 3, 3, ""}, {"(exit 137)", 137, 137, ""}, {"(exit 255)", 255, 255, ""},
		{"bash -c 'kill -9 $$'", 137, -1, "SIGKILL"},
	} {
		out, _, _ := i.try("exec", "--json", "b", c.line)
		r := decode[api.Result](t, out)
		if r.ExitCode == nil || *r.ExitCode != c.code || r.Signal != "" || r.State != "exited" || r.PGID == 0 {
			t.Errorf("exec %s: %s", c.line, out)
		}
		body, _ := post(t, i, "/sessions/b/exec", `{"line":"`+c.line+`"}`)
		if r := decode[api.Result](t, body); r.ExitCode == nil || *r.ExitCode != c.code || r.Signal != "" {
			t.Errorf("POST exec %s: %s", c.line, body)
		}
		out, _, status := i.try("run", "--json", "-c", "exec "+strings.Trim(c.line, "()"))
		if strings.HasPrefix(c.line, "(") {
			out, _, status = i.try("run", "--json", "-c", strings.Trim(c.line, "()"))
		}
		r = decode[api.Result](t, out)
		switch {
		case c.run < 0 && (r.ExitCode != nil || r.Signal != c.signal || r.State != "signalled" || status != 137):
			t.Errorf("run %s: %d %s", c.line, status, out)
		case c.run >= 0 && (r.ExitCode == nil || *r.ExitCode != c.run || r.Signal != "" || r.State != "exited" || status != c.run || r.PGID != r.PID):
			t.Errorf("run %s: %d %s", c.line, status, out)
		}
	}
}

// While a line runs, the end of what it printed is a cursor: reading goes on there.
//
// FAULT: B15
func TestOutputRangeIsACursor(t *testing.T) {
	i := newInstance(t)
	gate := fifo(t)
	i.run("new", "-n", "b", "--", "bash", "--norc")
	out, _, _ := i.try("exec", "--json", "--yield", "1s", "b", "echo one; read x < "+gate+"; echo two")
	r := decode[api.Result](t, out)
	if r.State != "running" || r.Output != "one\n" || r.Range.End <= r.Range.Start {
		t.Fatalf("%+v", r)
	}
	var c struct {
		Output api.Range `json:"output_range"`
	}
	if err := json.Unmarshal([]byte(i.run("commands", "--json", "b", "0")), &c); err != nil || c.Output.End < r.Range.End {
		t.Errorf("commands: %+v %v", c, err)
	}
	i.run("run", "--", "sh", "-c", "echo go > "+gate)
	i.run("jobs", "wait", r.Job)
	j := i.jobOf(r.Job)
	body, _ := i.get("/sessions/b/output/text?" + url.Values{
		"from": {jsonNumber(r.Range.End)}, "to": {jsonNumber(j.Result.Range.End)},
	}.Encode())
	if got := decode[api.OutputText](t, body).Text; got != "two\n" {
		t.Errorf("from the cursor on: %q", got)
	}
}

func jsonNumber(n uint64) string { b, _ := json.Marshal(n); return string(b) }
