package renderrun

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

// renderInput renders an input by the given flags.
func renderInput(t *testing.T, input string, args ...string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(input), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	r := Renderer{Printer: &output.Printer{Stdout: &b, Stderr: &b}}
	f := pflag.NewFlagSet("render", pflag.ContinueOnError)
	r.Register(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	err := r.Run([]string{path})
	return b.String(), err
}

func TestRender(t *testing.T) {
	for _, c := range []struct {
		input string
		args  []string
		want  string
	}{
		{"one\r\n\x1b[31mtwo\x1b[m", []string{"--rows", "2"}, "one\ntwo\n"},
		{"1\r\n2\r\n3\r\n4", []string{"--rows", "2", "--scrollback", "1"}, "2\n3\n4\n"},
		{"abcdef", []string{"--cols", "6", "--rows", "2", "--resize", "3x2"}, "abc\ndef\n"},
		{"\x1b[c", []string{"--replies"}, "\x1b[?"},
	} {
		if got, err := renderInput(t, c.input, c.args...); err != nil || !strings.HasPrefix(got, c.want) {
			t.Errorf("%q %q: %q %v", c.input, c.args, got, err)
		}
	}
	for _, args := range [][]string{{"--cols", "0"}, {"--resize", "3"}, {"--engine", "none"}, {"--format", "pdf"}} {
		if _, err := renderInput(t, "", args...); exit.Status(err) != api.ExitUsage {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// TestBatch checks that an invalid line gets an error in its response, and that later ones are still rendered.
func TestBatch(t *testing.T) {
	out, err := renderInput(t, `{"id": 1, "data": "YQ=="}`+"\n"+`nonsense`+"\n"+`{"id": "x", "cols": 100000, "rows": 2}`+"\n"+`{"id": "y", "data": "Yg=="}`+"\n", "--batch", "--cols", "5", "--rows", "1")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct{ id, text string }{{"1", "a"}, {"null", ""}, {`"x"`, ""}, {`"y"`, "b"}}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%q", out)
	}
	for i, line := range lines {
		var got struct {
			ID     json.RawMessage
			Error  string
			Screen *struct {
				Lines []struct{ Text string }
			}
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatal(err)
		}
		ok := got.Screen != nil && strings.TrimSpace(got.Screen.Lines[0].Text) == want[i].text && got.Error == ""
		if string(got.ID) != want[i].id || ok != (want[i].text != "") || !ok && got.Error == "" {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}
