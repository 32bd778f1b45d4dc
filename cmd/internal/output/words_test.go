//go:build unix

package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
)

func TestWords(t *testing.T) {
	for ms, want := range map[int64]string{0: "0.0s", 9_940: "9.9s", 10_000: "10s", 59_999: "59s", 65_000: "1m05s", 3_599_000: "59m59s", 3_600_000: "1h00m", 49 * 3_600_000: "2d01h"} {
		if got := Elapsed(ms); got != want {
			t.Errorf("%d ms: %s, want %s", ms, got, want)
		}
	}
	if got := Shorten("über", 3); got != "üb…" {
		t.Error(got)
	}
	one := 1
	for want, s := range map[string]api.Session{"running": {State: "running"}, "exited(1)": {State: "exited", ExitCode: &one}, "signalled(SIGKILL)": {State: "signalled", Signal: "SIGKILL"}} {
		if got := StateText(&s); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := Printable("a\x1b[1mb\x9bc\n"); got != "a\uFFFD[1mb\uFFFDc\uFFFD" {
		t.Errorf("%q", got)
	}
}

// TestTextWriter checks that a redrawn line is printed again, and output that is appended to a line is not.
func TestTextWriter(t *testing.T) {
	var b bytes.Buffer
	w := NewTextWriter(&b)
	for _, p := range []string{"50%", "\r60%", " done\n\x1b[1mbold\x1b[m", "er\n", "Name: "} {
		if err := w.Put(api.Output{Data: []byte(p)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil || b.String() != "50%\n60% done\nbolder\nName: \n" {
		t.Errorf("%q %v", b.String(), err)
	}
	if got := PlainText([]byte("a\x1b[31mb\r\nc")); got != "ab\nc" {
		t.Errorf("%q", got)
	}
}

// TestBudget checks that within a budget the head and the tail are printed, and between them the command that prints
// the rest.
func TestBudget(t *testing.T) {
	var b bytes.Buffer
	w := BudgetFlags{Bytes: 200}.Writer(&b, false, "0123456789", "")
	at := uint64(0)
	for range 1000 {
		line := []byte("a line\r\n")
		if err := w.Put(api.Output{From: at, Next: at + 8, Data: line}); err != nil {
			t.Fatal(err)
		}
		at += 8
	}
	if err := w.Flush(); err != nil || !w.IsTruncated() || b.Len() > 400 || !strings.Contains(b.String(), "left out") {
		t.Errorf("%v, %v: %q", err, w.IsTruncated(), b.String())
	}
	if err := (&BudgetFlags{Line: MaxBudget + 1}).Check(); err == nil {
		t.Error("a too large budget is accepted")
	}
}

func TestPrint(t *testing.T) {
	var b bytes.Buffer
	p := Printer{Stdout: &b, Stderr: &b}
	c := p.JSONFlag(&cobra.Command{})
	for _, x := range []struct{ args, want string }{
		{"", ""}, {"--json", "{\n  \"state\": \"<exited>\",\n  \"n\": null\n}\n"}, {"--json=brief", "{\"state\":\"<exited>\"}\n"}, {"--json=false", ""},
	} {
		b.Reset()
		if err := c.ParseFlags(strings.Fields(x.args)); err != nil {
			t.Fatal(err)
		}
		err := p.Print(struct {
			State string `json:"state"`
			N     *int   `json:"n"`
		}{State: "<exited>"}, nil)
		if err != nil || b.String() != x.want {
			t.Errorf("%s: %q %v", x.args, b.String(), err)
		}
	}
	if err := c.ParseFlags([]string{"--json=x"}); err == nil {
		t.Error("--json=x is accepted")
	}
}

// TestLabelled_SandboxAndUnknownStatus checks that the labelled text names what a sandbox enforces, and why an exit
// code is missing.
//
// FAULT: J H3
func TestLabelled_SandboxAndUnknownStatus(t *testing.T) {
	text := LabelledText("x", &api.Result{State: "exited", ExitUnknown: api.ExitNotReported, Sandbox: &api.Sandbox{
		Profile: "workspace", Level: "landlock", Network: "off", Holds: []string{"writing outside", "the network"}, OnDifference: "ask",
	}})
	for _, want := range []string{
		"Sandbox: workspace, enforced by landlock, network off, asks about unlisted accesses\n", "Sandbox Holds: writing outside; the network\n",
		"Sandbox Does Not Hold: (none)\n", "Exit Code: (unknown: the line may have failed)\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if text = LabelledText("x", &api.Result{State: "exited", ExitUnknown: api.ExitNone}); !strings.Contains(text, "Exit Code: (none: ") || strings.Contains(text, "Sandbox") {
		t.Error(text)
	}
}
