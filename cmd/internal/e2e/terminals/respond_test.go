//go:build unix

package terminals

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// asker asks numbered questions and checks that each gets its own answer, once.
const asker = `for i in $(seq 60); do
	printf 'Go %s? ' "$i"; read x
	[ "$x" = "$i" ] || echo "WRONG $x for $i"
	sleep "0.0$((i % 5))"
done
echo all done; exec sleep 1000`

// TestRulesWhileTheDaemonIsKilled answers prompts by response rules while the daemon is killed repeatedly. No prompt is
// answered twice. The test answers those left open because the daemon was killed between recording and typing a reply.
//
// FEATURES: R50, R51
func TestRulesWhileTheDaemonIsKilled(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Run("new", "-n", "ask", "--", "bash", "-c", asker)
	i.Run("respond", "ask", "add", "--regexp", `Go (\d+)\? $`, "--line", "$1")
	question := regexp.MustCompile(`Go (\d+)\? ?$`)
	done := func() bool { return strings.Contains(i.Run("output", "ask"), "all done") }
	for range 8 {
		e2e.PauseFor(time.Duration(rand.Int64N(int64(150 * time.Millisecond))))
		if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		e2e.Eventually(t, "the daemon answers requests again", func() bool { _, _, code := i.Try("daemon", "status"); return code == 0 })
	}
	last, since := "", time.Now()
	e2e.Eventually(t, "all requests are answered", func() bool {
		out := strings.TrimSpace(i.Run("output", "ask"))
		if out != last {
			last, since = out, time.Now()
		}
		if m := question.FindStringSubmatch(out); m != nil && time.Since(since) > 2*time.Second {
			t.Logf("the test answers question %s", m[1])
			i.Run("send", "ask", "-e", m[1])
			since = time.Now()
		}
		return done()
	})
	if out := i.Run("output", "ask"); strings.Contains(out, "WRONG") {
		t.Errorf("a question got another answer:\n%s", out)
	}
	rules := e2e.Decode[[]api.RespondAttached](t, i.Run("respond", "ask", "ls", "--json"))
	if len(rules) != 1 || rules[0].Uses < 55 || rules[0].Uses > 60 {
		t.Errorf("rules %+v", rules)
	}
}

// TestSecretAfterARestart checks that a secret from the caller's environment is not kept over a restart, which is
// reported.
//
// FEATURES: R53
func TestSecretAfterARestart(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "PW=hunter2")
	i.Run("new", "-n", "ask", "--", "bash", "-c", `read -s -p "Password: " x; echo "got $x" | rev; exec sleep 1000`)
	i.Run("respond", "ask", "add", "--on", "Password: ", "--secret", "env:PW", "--max", "1")
	i.Run("wait", "ask", "--since", "0", "--for", "text=2retnuh tog")

	i.Run("new", "-n", "later", "--", "bash", "-c", `read x; read -s -p "Password: " x; exec sleep 1000`)
	i.Run("respond", "later", "add", "--on", "Password: ", "--secret", "env:PW")
	i.Run("daemon", "restart")
	i.Run("send", "later", "-e", "go")
	e2e.Eventually(t, "it is said that the value is not known", func() bool {
		return strings.Contains(i.Run("respond", "later", "log"), "env:PW not sent: its value was not kept over a restart of the daemon; add the rule again")
	})
}

var errSeen = errors.New("seen")

// TestFiringsAreEvents checks that replies of response rules are published as events.
//
// FEATURES: R50, R53
func TestFiringsAreEvents(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	i.Env = append(i.Env, "PW=hunter2")
	i.Run("new", "-n", "ask", "--", "bash", "-c", `read x; read -s -p "Password: " x; exec sleep 1000`)
	i.Run("respond", "ask", "add", "--on", "Password: ", "--secret", "env:PW", "-n", "pw")
	c := client.New(client.Options{Dirs: paths.Dirs{Run: i.Dir + "/run"}, Build: func() string { return i.Status().Build }})
	defer c.Close()
	var answer *api.RespondFiring
	err := c.Events(t.Context(), func(e api.Event) error {
		switch e.Kind {
		case "listening":
			i.Run("send", "ask", "-e", "go")
		case "respond":
			answer = e.Answer
			return errSeen
		}
		return nil
	})
	if err != errSeen || answer.Name != "pw" || answer.Match != "Password: " || answer.Reply[0].Value != "env:PW" {
		t.Errorf("%v %+v", err, answer)
	}
}

// TestExpectWhileTheDaemonIsKilled kills the daemon under a script, which continues.
//
// FEATURES: R55
func TestExpectWhileTheDaemonIsKilled(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "s.yaml")
	src := `
steps:
  - spawn: {command: 'for i in 1 2 3; do printf "Go $i? "; read x; echo "resting $x"; until [ -e go$i ]; do sleep 0.02; done; done; exit 7', cwd: ` + dir + `}
  - loop: 3
    as: i
    do:
      - expect: "Go ${i}? "
      - line: a${i}
      - expect: resting a${i}
  - wait: exit
  - assert: {exit: 7}
`
	if err := os.WriteFile(script, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := i.Command(t.Context(), "expect", script, "-n", "talk")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if t.Failed() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			t.Logf("the script:\n%s", &out)
		}
	}()
	for _, n := range []string{"1", "2", "3"} {
		e2e.Eventually(t, "resting a"+n, func() bool {
			o, _, code := i.Try("output", "talk")
			return code == 0 && strings.Contains(o, "resting a"+n)
		})
		if n != "2" { // the script may be in the middle of anything
			if err := syscall.Kill(i.Status().DaemonPID, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "go"+n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "passed") {
		t.Errorf("%v\n%s", err, &out)
	}
}

// TestExpectRecord records a user's dialogue as a script that repeats it, without the password.
//
// FEATURES: R53, R55
func TestExpectRecord(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "out.yaml")
	program := filepath.Join(dir, "ask.sh")
	src := `printf 'Name: '; read -r name
read -r -s -p "Password for $name: " pw; echo
read -r -p "[$(date +%T)] Sure? " sure
[ "$pw$sure" = hunter2yes ] && echo "welcome $name" || { echo denied; exit 1; }
exit 4`
	if err := os.WriteFile(program, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOuter(t, i, 90, 30, "expect", "--record", script, "--", "bash", program)
	o.shows("Name:")
	o.keys("bib", "BSpace", "BSpace", "ob", "Enter")
	o.shows("Password for bob:")
	o.keys("hunter2", "Enter")
	o.shows("Sure?")
	o.keys("yes", "Enter")
	o.shows("welcome bob", "recorded to", "STATUS=0")
	recorded, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"line: bob", "secret: env:SECRET_1", `\d{1,2}:\d{2}`, "exit: 4"} {
		if !strings.Contains(string(recorded), want) {
			t.Errorf("%q is not in the script:\n%s", want, recorded)
		}
	}
	if strings.Contains(string(recorded), "hunter2") {
		t.Errorf("the password is in the script:\n%s", recorded)
	}
	plain := i.Env
	i.Env = append(i.Env, "SECRET_1=hunter2")
	if out := i.Run("expect", script); !strings.Contains(out, "passed") {
		t.Errorf("played:\n%s", out)
	}
	i.Env = append(plain, "SECRET_1=wrong")
	if out, _, code := i.Try("expect", script); code != 1 || !strings.Contains(out, "denied") {
		t.Errorf("played with another password: %d\n%s", code, out)
	}
	if list := e2e.Decode[[]api.Session](t, i.Run("ls", "--json")); len(list) != 0 {
		t.Errorf("sessions are left: %+v", list)
	}
}
