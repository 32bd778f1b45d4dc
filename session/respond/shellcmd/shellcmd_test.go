//go:build unix

package shellcmd

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session/identity"
)

// FEATURES: R54
func TestCommand_Run(t *testing.T) {
	for _, tt := range []struct {
		name      string
		c         Command
		want, err string
	}{
		{"arguments", Command{Line: `printf '%s|%s' "$1" "$2"`, Args: []string{"a b", "$(x)"}}, "a b|$(x)", ""},
		{"input", Command{Line: "cat", Stdin: strings.NewReader("in")}, "in", ""},
		{"fails", Command{Line: "echo hush >&2; exit 3"}, "", "exit status 3"},
		{"too much", Command{Line: "yes | head -1000"}, "", "more than 100 bytes"},
		{"too much without end", Command{Line: "yes"}, "", "more than 100 bytes"},
		{"hangs", Command{Line: "sleep 600; true", Timeout: 50 * time.Millisecond}, "", "no answer within 50ms"},
		{"leftover process", Command{Line: "sleep 5 & echo x"}, "x\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.c.Max = 100
			if tt.c.Timeout == 0 {
				tt.c.Timeout = time.Minute
			}
			got, err := tt.c.Run(t.Context())
			switch {
			case tt.err == "" && (err != nil || string(got) != tt.want):
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), "hush")):
				t.Errorf("got %q, %v; want %q", got, err, tt.err)
			}
		})
	}
}

// TestCommand_Run_LabelsAgentProcesses checks that a command for an agent has the agent's label in its environment and
// in AgentOf while it runs. A user's command has none.
// FEATURES: R63 R107
func TestCommand_Run_LabelsAgentProcesses(t *testing.T) {
	for _, label := range []string{"", "claude"} {
		dir := t.TempDir()
		out, in := filepath.Join(dir, "out"), filepath.Join(dir, "in")
		for _, p := range []string{out, in} {
			if err := syscall.Mkfifo(p, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		ctx := identity.WithActor(t.Context(), identity.Actor{Agent: label})
		c := Command{Line: `echo "$$ $LONGTERM_AGENT" >"$1"; read x <"$2"`, Args: []string{out, in}, Max: 100, Timeout: time.Minute, Env: []string{"PATH=" + os.Getenv("PATH")}}
		ended := make(chan error)
		go func() {
			_, err := c.Run(ctx)
			ended <- err
		}()
		printed, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		number, envLabel, _ := strings.Cut(strings.TrimSuffix(string(printed), "\n"), " ")
		pid, err := strconv.Atoi(number)
		if err != nil || envLabel != label || AgentOf(pid) != label {
			t.Errorf("label %q: AgentOf returned %q, the command printed %q, %v", label, AgentOf(pid), printed, err)
		}
		if err := os.WriteFile(in, []byte("\n"), 0); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil || AgentOf(pid) != "" || label != "" && !RanForAgents() {
			t.Errorf("label %q: got %v; after the end AgentOf %q, RanForAgents %v", label, err, AgentOf(pid), RanForAgents())
		}
	}
}
