package inputdetect

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestProber_UnchangedSinceProbe checks that the result for a program that sleeps or waits for the terminal holds until
// one of its processes has run.
// FEATURES: R42
func TestProber_UnchangedSinceProbe(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	term := startTerminal(t, true, "sh", "-c", "read x < "+fifo+"; read y")
	group := term.cmd.Process.Pid
	term.waitFor("asleep and still", func(r Result) bool { return r.State == Sleeping && term.isUnchanged(group) })
	if term.isUnchanged(group + 1) {
		t.Error("another foreground group: got unchanged")
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); term.isUnchanged(group); {
		if time.Now().After(end) {
			t.Fatal("the program has run: got unchanged")
		}
	}
	term.waitFor("reading and still", func(r Result) bool { return r.State == Reading && term.isUnchanged(group) })
	if _, err := term.master.WriteString("answer\n"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); term.isUnchanged(group); {
		if time.Now().After(end) {
			t.Fatal("the program has read input: got unchanged")
		}
	}
}

// TestIdleProcesses_Add checks that at most maxIdleProcesses are compared, and only those with one thread that sleeps.
// FEATURES: R42
func TestIdleProcesses_Add(t *testing.T) {
	own := os.Getpid()
	asleep := func() *process { pr := &process{pid: own}; pr.State, pr.Threads = 'S', 1; return pr }
	for name, c := range map[string]struct {
		change func(*process)
		times  int
		moves  bool
	}{
		"one":           {func(*process) {}, 1, false},
		"as many":       {func(*process) {}, maxIdleProcesses, false},
		"one more":      {func(*process) {}, maxIdleProcesses + 1, true},
		"threads":       {func(pr *process) { pr.Threads = 2 }, 1, true},
		"it runs":       {func(pr *process) { pr.State = 'R' }, 1, true},
		"it is stopped": {func(pr *process) { pr.State = 'T' }, 1, true},
		"it has ended":  {func(pr *process) { pr.pid = 1 << 30 }, 1, true},
	} {
		var s idleProcesses
		for range c.times {
			pr := asleep()
			c.change(pr)
			s.add(pr, make([]byte, 128))
		}
		if s.incomparable != c.moves {
			t.Errorf("%s: got %+v", name, s)
		}
	}
}
