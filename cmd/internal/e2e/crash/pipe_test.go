//go:build unix

package crash

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/e2e"
	"github.com/longterm-dev/longterm/session/sessiontest/tier"
)

// writerEnv makes this test binary a program that writes to both streams: so many bytes in
// all, interleaved at random from a seed.
const writerEnv = "LONGTERM_TEST_WRITER"

func init() {
	if spec := os.Getenv(writerEnv); spec != "" && len(os.Args) > 1 && os.Args[1] == "write-streams" {
		var seed uint64
		var total int
		if _, err := fmt.Sscanf(spec, "%d,%d", &seed, &total); err != nil {
			os.Exit(9)
		}
		if err := writeStreams(seed, total, [2]io.Writer{os.Stdout, os.Stderr}); err != nil {
			os.Exit(8)
		}
		os.Exit(0)
	}
}

func writeStreams(seed uint64, total int, to [2]io.Writer) error {
	rng := rand.New(rand.NewPCG(seed, seed))
	for n, line := 0, 0; n < total; line++ {
		stream := rng.IntN(2)
		text := fmt.Appendf(nil, "%d %d %s\n", stream, line, strings.Repeat("x", rng.IntN(2000)))
		if _, err := to[stream].Write(text); err != nil {
			return err
		}
		n += len(text)
	}
	return nil
}

// counted counts the bytes written to w.
type counted struct {
	w    io.Writer
	came *atomic.Int64
}

func (c counted) Write(p []byte) (int, error) {
	c.came.Add(int64(len(p)))
	return c.w.Write(p)
}

// TestStreamsWhileTheDaemonIsKilled floods both streams while the daemon is killed repeatedly. The stdout and stderr of
// run, and the history of each stream, equal the child's output.
//
// FEATURES: R2, R4, R24, R90
func TestStreamsWhileTheDaemonIsKilled(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	const seed = 42
	total, most := 24<<20, 20
	if e2e.RaceEnabled { // CI runs it without the race detector as well
		total, most = 8<<20, 5
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "start")
	cmd := i.Command(t.Context(), "run", "--pipe", "--keep", "-n", "flood", "--timeout", "5m",
		"--env", fmt.Sprintf("%s=%d,%d", writerEnv, seed, total), "--", exe, "write-streams")
	got := [2]*bytes.Buffer{new(bytes.Buffer), new(bytes.Buffer)}
	var came atomic.Int64
	cmd.Stdout, cmd.Stderr = counted{got[0], &came}, counted{got[1], &came}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e2e.Eventually(t, "the session is listed", func() bool {
		_, _, code := i.Try("info", "flood")
		return code == 0
	})
	kills, seen := 0, int64(0)
	for over := false; !over; {
		e2e.PauseFor(time.Duration(rand.Int64N(int64(80 * time.Millisecond))))
		select {
		case err := <-ended:
			if over = true; err != nil {
				t.Fatalf("run: %v\n%s", err, e2e.Tail(got[1].Bytes(), 300))
			}
			continue
		default:
		}
		if kills == most || came.Load() == seen { // output continues before the next kill
			continue
		}
		seen = came.Load()
		if out, _, code := i.Try("daemon", "status", "--json"); code == 0 {
			pid := e2e.Decode[struct {
				PID int `json:"daemon_pid"`
			}](t, out).PID
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
			}
		}
	}
	if kills == 0 {
		t.Error("the daemon was never killed")
	}
	want := [2]*bytes.Buffer{new(bytes.Buffer), new(bytes.Buffer)}
	if err := writeStreams(seed, total, [2]io.Writer{want[0], want[1]}); err != nil {
		t.Fatal(err)
	}
	i.Run("daemon", "restart") // from now on reads use the journal
	for s, name := range []string{"stdout", "stderr"} {
		sum := sha256.Sum256(want[s].Bytes())
		if sha256.Sum256(got[s].Bytes()) != sum {
			t.Errorf("after %d kills %s differs from the written data: %d bytes, want %d", kills, name, got[s].Len(), want[s].Len())
		}
		if kept := i.Run("output", "flood", "--raw", "--stream", name); sha256.Sum256([]byte(kept)) != sum {
			t.Errorf("after %d kills the history's %s differs from the written data: %d bytes, want %d", kills, name, len(kept), want[s].Len())
		}
	}
	t.Logf("%d kills", kills)
}

// TestPipeIsAFilter passes the caller's standard input to a command on pipes, as fast as the command reads it.
//
// FEATURES: R4
func TestPipeIsAFilter(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	i := e2e.New(t)
	data := make([]byte, 9<<20)
	for n := range data {
		data[n] = byte(rand.Uint32())
	}
	cmd := i.Command(t.Context(), "run", "--pipe", "--timeout", "5m", "--", "cat")
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &errOut
	if err := cmd.Run(); err != nil || errOut.Len() > 0 {
		t.Fatalf("%v: %s", err, &errOut)
	}
	if !bytes.Equal(out.Bytes(), data) {
		t.Errorf("%d bytes of output, %d of input", out.Len(), len(data))
	}

	cmd = i.Command(t.Context(), "run", "--pipe", "--", "head", "-c", "3")
	out.Reset()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(data), &out, &errOut
	if err := cmd.Run(); err != nil || errOut.Len() > 0 || !bytes.Equal(out.Bytes(), data[:3]) {
		t.Errorf("a command that reads less: %v, %q: %s", err, &out, &errOut)
	}
}

// stubborn ignores signals, leaves the terminal session, double-forks and keeps its output open. Each process has the
// marker in its arguments.
const stubborn = `trap "" INT TERM HUP
sh -c 'trap "" INT TERM HUP; sleep 600; :' MARK &
setsid sh -c 'trap "" INT TERM HUP; sleep 600; :' MARK &
(setsid sh -c 'sleep 600; :' MARK &)
setsid sh -c '(trap "" TERM HUP; sh -c "sleep 600; :" MARK &) ; sleep 600; :' MARK &
echo ready
while :; do sh -c 'sleep 600; :' MARK; done`

// forgetful does the same and clears its environment too.
const forgetful = `(env -i setsid sh -c 'trap "" TERM HUP; sleep 600; :' MARK <&- >&- 2>&- &)
` + stubborn

// withMark returns the processes whose arguments contain a text.
func withMark(mark string) []int {
	var pids []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		if b, err := os.ReadFile(path); err == nil && strings.Contains(string(b), mark) {
			if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); pid != os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// TestTimeout_EndsAllProcesses runs into a timeout. All processes of the command end whatever they do, and run returns.
// Without cgroups only processes that also dropped their environment survive.
//
// FEATURES: R14, R15
func TestTimeout_EndsAllProcesses(t *testing.T) {
	tier.Full(t)
	t.Parallel()
	for _, c := range []struct {
		name, script string
		cgroups      bool
		flags        []string
	}{
		{"terminal", stubborn, true, nil},
		{"pipes", stubborn, true, []string{"--pipe"}},
		{"terminal without cgroups", stubborn, false, nil},
		{"pipes without cgroups", stubborn, false, []string{"--pipe"}},
		{"terminal, forgetful", forgetful, true, nil},
		{"pipes, forgetful", forgetful, true, []string{"--pipe"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			i := e2e.New(t)
			if !c.cgroups {
				i.Env = append(i.Env, "LONGTERM_CGROUP=off")
			}
			mark := fmt.Sprint("mark", time.Now().UnixNano())
			t.Cleanup(func() {
				for _, pid := range withMark(mark) {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			})
			script := c.script
			if strings.Contains(script, "env -i") {
				i.Run("new", "-n", "probe", "--", "sleep", "60")
				if has := i.Info("probe").Cgroup != nil; !has {
					t.Log("no cgroups here: who forgets its environment is not looked for")
					script = stubborn
				}
			}
			script = strings.ReplaceAll(script, "MARK", mark)
			args := append(append([]string{"run", "--timeout", "1s"}, c.flags...), "--", "sh", "-c", script)
			begin := time.Now()
			out, errOut, code := i.Try(args...)
			if code != 124 || !strings.Contains(out, "ready") || !strings.Contains(errOut, "timeout after 1s") {
				t.Errorf("exit status %d, %q, %q", code, out, errOut)
			}
			t.Logf("returned %v after the limit", time.Since(begin)-time.Second)
			e2e.Eventually(t, "no process with the mark runs", func() bool { return len(withMark(mark)) == 0 })
		})
	}
}
