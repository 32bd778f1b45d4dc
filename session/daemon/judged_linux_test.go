package daemon

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/audit"
	"github.com/longterm-dev/longterm/session/daemon/authorize"
	"github.com/longterm-dev/longterm/session/daemon/executions"
	"github.com/longterm-dev/longterm/session/keeper/wire"
	"github.com/longterm-dev/longterm/session/policy/rulebook"
	"github.com/longterm-dev/longterm/store"
)

// subjects are sessions of an agent's.
type subjects struct{}

func (subjects) Subject(string) executions.Subject {
	return executions.Subject{Name: "n", Agent: "bot", Policy: "hard", Home: "/root"}
}
func (subjects) RecordRefusal(string, api.Refused) {}
func (subjects) RecordUnprivileged(string, string) {}

type noBus struct{}

func (noBus) PublishApproval(string, *api.Approval) {}

// BenchmarkExecutionJudged measures an allowed execution in the daemon, from the notice to the answer: file, rules, verdict and
// record.
func BenchmarkExecutionJudged(b *testing.B) {
	dir := b.TempDir()
	st, err := store.Open(filepath.Join(dir, "longterm.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer st.Close()
	log, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "audit")})
	if err != nil {
		b.Fatal(err)
	}
	defer log.Close()
	book := rulebook.Open(rulebook.Options{File: filepath.Join(dir, "policy.toml")})
	gate, err := authorize.Open(b.Context(), authorize.Config{Rules: book, Author: book, Store: st, Audit: auditTrail{log}, Bus: noBus{}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	set := executions.New(gate, subjects{}, slog.New(slog.DiscardHandler))
	defer set.Close()
	waits := exec.Command("/bin/sh", "-c", "read x")
	waits.Dir = "/tmp"
	in, err := waits.StdinPipe()
	if err == nil {
		err = waits.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = in.Close(); _ = waits.Wait() }()
	for _, c := range []struct {
		name string
		argv []string
	}{{"plain", []string{"/bin/true"}}, {"cc", []string{"/usr/bin/gcc", "-c", "-O2", "-Wall", "-I/tmp/include", "-o", "x.o", "x.c"}}, {"sh", []string{"/bin/sh", "-c", "test -f x && echo there"}}} {
		b.Run(c.name, func(b *testing.B) {
			m := &wire.Execution{ID: "s", PID: int64(waits.Process.Pid), Parent: int64(os.Getpid()), LeaderPID: int64(os.Getpid()), Path: c.argv[0], Argv: c.argv, Cwd: "/tmp"}
			b.ReportAllocs()
			for b.Loop() {
				m.Number++
				got := syscall.Errno(1)
				set.Begin(m, func(errno syscall.Errno) error { got = errno; return nil })(func() {})
				if got != 0 {
					b.Fatal(got)
				}
			}
		})
	}
}
