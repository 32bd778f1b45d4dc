//go:build unix

package request

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
)

func isUsage(err error) bool {
	var usage exit.UsageError
	return errors.As(err, &usage)
}

func TestCondition(t *testing.T) {
	for text, want := range map[string]string{
		"text=a=b": `{"kind":"text","text":"a=b"}`, "text:a": `{"kind":"text","text":"a"}`, "re=^x$": `{"kind":"regexp","pattern":"^x$"}`,
		"gone=x": `{"kind":"gone","text":"x"}`, "gone=re=x+": `{"kind":"gone","pattern":"x+"}`, "exit": `{"kind":"exit"}`,
		"command-end": `{"kind":"command"}`, "input=password": `{"kind":"input","text":"password"}`, "fullscreen=off": `{"kind":"fullscreen","off":true}`,
		"port": `{"kind":"port"}`, "port=any": `{"kind":"port"}`, "port=3000": `{"kind":"port","port":3000}`,
		"progress=50%": `{"kind":"progress","percent":50}`, "cursor=3,": `{"kind":"cursor","row":3}`, "cursor=,0": `{"kind":"cursor","col":0}`,
		"quiet=1.5s": `{"kind":"quiet","quiet_ms":1500}`, "quiet=1us": `{"kind":"quiet","quiet_ms":1}`, "quiet": `{"kind":"quiet"}`,
	} {
		c, err := Condition(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var got, wanted api.Condition
		b, _ := json.Marshal(c)
		if json.Unmarshal(b, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
			t.Fatal(text)
		}
		w, _ := json.Marshal(wanted)
		if string(b) != string(w) {
			t.Errorf("%s: %s, want %s", text, b, w)
		}
	}
	for _, text := range []string{"", "x", "input=x", "fullscreen=maybe", "progress=101", "progress=x", "cursor=a,b", "cursor", "text=", "text", "re=", "re=(", "gone=", "gone=re=(", "quiet=0s", "quiet=x", "port=", "port=0", "port=65536", "port=-1", "port=x", "port=80,81"} {
		if c, err := Condition(text); !isUsage(err) {
			t.Errorf("%q: %+v, %v", text, c, err)
		}
	}
}

func FuzzCondition(f *testing.F) {
	f.Add("cursor=1,2")
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := Condition(s); err == nil && c.Kind == "" {
			t.Errorf("%q has no kind", s)
		}
	})
}

// parsed returns a command with the given flags.
func parsed(t *testing.T, register func(*cobra.Command), args string) *cobra.Command {
	t.Helper()
	c := &cobra.Command{}
	register(c)
	if err := c.ParseFlags(strings.Fields(args)); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestStart(t *testing.T) {
	var f StartFlags
	c := parsed(t, f.Register, "-n web --cwd /usr --env A=1 --label team=x --cols 100 --memory 1G --pids 7 --pipe --draft --draft-size 1.5G")
	n, err := f.Request(c, []string{"make"})
	if err != nil || n.Name != "web" || n.Cwd != "/usr" || n.Labels["team"] != "x" || n.SetEnv[0] != "A=1" || n.Cols != 100 || !n.Pipe ||
		n.Limits.Memory != 1<<30 || n.Limits.PIDs != 7 || n.DraftSize != 3<<29 || n.Argv[0] != "make" {
		t.Errorf("%+v %v", n, err)
	}
	t.Setenv("PRESENT", "x")
	var named StartFlags
	if n, err := named.Request(parsed(t, named.Register, "--env PRESENT --env A=1 --env-pass B"), nil); err != nil || !slices.Equal(n.EnvPass, []string{"B", "PRESENT"}) || !slices.Equal(n.SetEnv, []string{"A=1"}) {
		t.Errorf("%+v %v", n, err)
	}
	var empty StartFlags
	if _, err := empty.Request(parsed(t, empty.Register, "--env="), nil); err == nil || !strings.Contains(err.Error(), "--env: no name") {
		t.Errorf("--env=: %v", err)
	}
	for _, args := range []string{"--cols 0", "--rows -1", "--env ABSENT", "--env =x", "--env=", "--label =x", "--memory x", "--pids -1", "--cpu -0.5", "--draft-size 1G", "--draft --draft-size 0", "--draft --draft-size x", "--draft --draft-size="} {
		var f StartFlags
		if _, err := f.Request(parsed(t, f.Register, args), nil); !isUsage(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

// TestCall checks that a limit is sent only if it is given, for any positive duration.
//
// FAULT: G10
func TestCall(t *testing.T) {
	conf := &config.Exec{Timeout: time.Minute, IdleTimeout: 5 * time.Minute, MaxOutput: 16 << 10}
	for _, c := range []struct {
		args          string
		wall, idle    int64 // -1: not sent
		output        int
		waits, waited time.Duration
	}{
		{"", -1, -1, 0, time.Minute, 5 * time.Minute},
		{"--background", -1, -1, 0, time.Minute, 5 * time.Minute},
		{"--timeout 2h", 7_200_000, -1, 0, 2 * time.Hour, 5 * time.Minute},
		{"--timeout 0", 0, -1, 0, 0, 5 * time.Minute},
		{"--idle-timeout 1us", -1, 1, 0, time.Minute, time.Microsecond},
		{"--format text", -1, -1, 16 << 10, time.Minute, 5 * time.Minute},
	} {
		var f CallFlags
		cmd := parsed(t, func(cmd *cobra.Command) { f.Register(cmd, "kill") }, c.args)
		r, err := f.Call(cmd, conf, false)
		sent := func(p *int64) int64 {
			if p == nil {
				return -1
			}
			return *p
		}
		if err != nil || sent(r.TimeoutMS) != c.wall || sent(r.IdleTimeoutMS) != c.idle || f.Timeout != c.waits || f.Idle != c.waited || r.MaxOutput != c.output {
			t.Errorf("%q: %d, %d, %v, %v, %d: %v", c.args, sent(r.TimeoutMS), sent(r.IdleTimeoutMS), f.Timeout, f.Idle, r.MaxOutput, err)
		}
	}
	for _, args := range []string{"--timeout -1s", "--yield -1s", "--parse", "--format x", "--on-timeout x", "--on-input x", "--max-output -1"} {
		var f CallFlags
		cmd := parsed(t, func(cmd *cobra.Command) { f.Register(cmd, "kill") }, args)
		if _, err := f.Call(cmd, conf, false); !isUsage(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestRules(t *testing.T) {
	in := Input{Stderr: io.Discard}
	var f RespondFlags
	cmd := parsed(t, f.Register, "--respond Continue=y --respond re:^>$=keys:<C-c>")
	r, err := f.Request(in)
	if err != nil || len(r.Rules) != 2 || r.Rules[1].Regexp != "^>$" || r.Rules[1].Reply[0].Kind != "keys" {
		t.Errorf("%+v %v (%v)", r, err, cmd.Flags())
	}
	if r, err := (&RespondFlags{}).Request(in); r != nil || err != nil {
		t.Errorf("no rules: %+v %v", r, err)
	}
	var rule RuleFlags
	parsed(t, rule.Register, "--on Sure? --text a --wait 2s --keys <Tab> --region 0:2,5:")
	rules, err := rule.Request(in)
	if err != nil || len(rules.Rules) != 1 || len(rules.Rules[0].Reply) != 3 || rules.Rules[0].Reply[1].WaitMS != 2000 || rules.Rules[0].On != "screen" ||
		*rules.Rules[0].Region != (api.RespondRegion{Bottom: 2, Left: 5}) {
		t.Errorf("%+v %v", rules, err)
	}
	for _, args := range []string{"", "--on x", "--on x --regexp y --text z", "--on x --text y --region 1", "--on x --secret env:NO_SUCH_VARIABLE"} {
		var rule RuleFlags
		parsed(t, rule.Register, args)
		if _, err := rule.Request(in); !isUsage(err) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

func TestInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, args := range [][]string{{path}, {"-"}} {
		if b, err := (Input{Stdin: f}).Read(args); string(b) != "text" || err != nil {
			t.Errorf("%q: %q %v", args, b, err)
		}
	}
	if err := os.Truncate(path, maxPaste+1); err != nil {
		t.Fatal(err)
	}
	if _, err := (Input{}).Read([]string{path}); err == nil {
		t.Error("too much input is accepted")
	}
}
