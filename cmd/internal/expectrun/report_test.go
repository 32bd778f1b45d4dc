//go:build unix

package expectrun

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/expect"
)

// TestSteps checks that a step that contains others is printed before them, and other steps when they end.
func TestSteps(t *testing.T) {
	var b bytes.Buffer
	p := &stepPrinter{w: &b}
	group, step := expect.Result{Verb: "repeat"}, expect.Result{Verb: "expect", Depth: 1, Detail: "name\x1b", Match: "Name: "}
	p.addStep(group)
	p.addStep(step)
	p.end(step)
	step.Status = expect.Failed
	p.addStep(step)
	p.end(step)
	p.end(group)
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "repeat") || !strings.HasPrefix(lines[1], "ok  ") || !strings.HasPrefix(lines[2], "FAIL") ||
		!strings.Contains(lines[1], `name`+"\uFFFD"+` → "Name: "`) {
		t.Errorf("%q", lines)
	}
}

// TestLoad checks that an error of a script is reported with its position, and nothing runs.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.yaml")
	var b bytes.Buffer
	for _, c := range []struct {
		text  string
		check bool
		want  string
		code  int
	}{
		{"steps:\n  - nonsense: 1\n", false, path + ":2:", api.ExitUsage},
		{"steps:\n  - nonsense: 1\n", true, path + ":2:", api.ExitUsage},
		{"steps:\n  - spawn: [\"true\"]\n", true, "", 0},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		b.Reset()
		x := Runner{Printer: &output.Printer{Stdout: &b, Stderr: &b}, Path: path, Check: c.check}
		if _, err := x.Load(); exit.Status(err) != c.code || !strings.Contains(b.String(), c.want) {
			t.Errorf("%q: %v: %s", c.text, err, b.String())
		}
	}
	x := Runner{Printer: &output.Printer{Stdout: &b, Stderr: &b}, Recording: path}
	if err := x.Record(t.Context(), []string{"true"}); exit.Status(err) != api.ExitUsage {
		t.Errorf("an existing file is overwritten: %v", err)
	}
}
