package inputdetect

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a probe found of a program that sleeps, or waits for the terminal, holds for as long as nothing of it has run.
//
// FEATURES: R42
func TestStill(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	term := start(t, true, "sh", "-c", "read x < "+fifo+"; read y")
	group := term.cmd.Process.Pid
	term.until("asleep and still", func(r Result) bool { return r.State == Sleeping && term.isUnchanged(group) })
	if term.isUnchanged(group + 1) {
		t.Error("another group is in the foreground")
	}
	if err := os.WriteFile(fifo, []byte("go\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); term.isUnchanged(group); {
		if time.Now().After(end) {
			t.Fatal("it has run")
		}
	}
	term.until("reading and still", func(r Result) bool { return r.State == Reading && term.isUnchanged(group) })
	if _, err := term.master.WriteString("answer\n"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); term.isUnchanged(group); {
		if time.Now().After(end) {
			t.Fatal("it has its answer")
		}
	}
}

// Only as many processes are compared as are kept, and none of them whose threads or state tell nothing.
//
// FEATURES: R42
func TestStillNotes(t *testing.T) {
	own := os.Getpid()
	asleep := func() *process { pr := &process{pid: own}; pr.State, pr.Threads = 'S', 1; return pr }
	for name, c := range map[string]struct {
		change func(*process)
		times  int
		moves  bool
	}{
		"one":           {func(*process) {}, 1, false},
		"as many":       {func(*process) {}, maxStill, false},
		"one more":      {func(*process) {}, maxStill + 1, true},
		"threads":       {func(pr *process) { pr.Threads = 2 }, 1, true},
		"it runs":       {func(pr *process) { pr.State = 'R' }, 1, true},
		"it is stopped": {func(pr *process) { pr.State = 'T' }, 1, true},
		"it has ended":  {func(pr *process) { pr.pid = 1 << 30 }, 1, true},
	} {
		var s stillness
		for range c.times {
			pr := asleep()
			c.change(pr)
			s.note(pr, make([]byte, 128))
		}
		if s.moves != c.moves {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
