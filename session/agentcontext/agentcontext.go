//go:build unix

// Package agentcontext gives an agent the commands that a user ran in shells since the agent's last request: each
// command with its output, once. The reader is a named consumer. A file per consumer records the number of the last
// command taken in each session.
//
//	Take: lock the consumer → the newest commands → those past its numbers, without exec jobs →
//	deliver → write the numbers
//
// Take writes the numbers only after a successful delivery; a failed one is repeated on the next request.
package agentcontext

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// Daemon holds the daemon calls that this package uses.
type Daemon interface {
	Commands(ctx context.Context, q client.CommandQuery) ([]api.Command, error)
	Jobs(ctx context.Context, q client.JobQuery) ([]api.Job, error)
	Session(ref string) *client.Session
}

// Asking is one asking.
type Asking struct {
	Consumer string
	Session  string // id, name or prefix; empty for all
	Peek     bool   // take nothing
}

// Command is a command that was run, and what it printed.
type Command struct {
	Session   string    `json:"session"`
	Name      string    `json:"name"`
	N         int       `json:"n"`
	Text      string    `json:"text"`
	Cwd       string    `json:"cwd"`
	ExitCode  *int      `json:"exit_code"`
	Started   time.Time `json:"started,omitzero"`
	Duration  int64     `json:"duration_ms"`
	Output    string    `json:"output"`
	Truncated bool      `json:"truncated,omitempty"`

	BinaryBytes uint64 `json:"binary_bytes,omitempty"` // omitted bytes
}

// Taken is one delivery, oldest command first.
type Taken struct {
	Consumer string    `json:"consumer"`
	Commands []Command `json:"commands"`
	LeftOut  int       `json:"left_out,omitempty"` // older commands beyond the limit; counted as taken
}

// Limits of one delivery.
const (
	OutputBytes = 2 << 10 // of each command
	most        = 20      // commands
	first       = 10      // commands of the first request
	maxCommands = 500     // newest commands that are read
)

// taken is a consumer's file.
type taken struct {
	Consumer string         `json:"consumer"`
	Last     map[string]int `json:"last"` // number of the last command, by session
}

// maxName bounds a consumer's name.
const maxName = 128

// Take delivers new commands to a consumer. dir holds the consumers' files.
func Take(ctx context.Context, d Daemon, dir string, a Asking, deliver func(Taken) error) error {
	if a.Consumer == "" || len(a.Consumer) > maxName {
		return api.Errorf(api.CodeInvalid, "a consumer's name has 1 to %d bytes", maxName)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(a.Consumer))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8])+".json")
	unlock, err := lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	was, known, err := read(path)
	if err != nil {
		return err
	}
	all, err := d.Commands(ctx, client.CommandQuery{Session: a.Session, Limit: maxCommands})
	if err != nil {
		return err
	}
	fresh, now := pick(all, was.Last)
	if fresh, err = withoutJobs(ctx, d, fresh); err != nil {
		return err
	}
	t := Taken{Consumer: a.Consumer, Commands: []Command{}}
	limit := most
	if !known {
		limit = first
	}
	if over := len(fresh) - limit; over > 0 {
		t.LeftOut, fresh = over, fresh[over:]
	}
	for i := range fresh {
		c, err := describe(ctx, d, &fresh[i])
		if err != nil {
			return err
		}
		t.Commands = append(t.Commands, c)
	}
	if err := deliver(t); err != nil || a.Peek {
		return err
	}
	b, err := json.Marshal(taken{Consumer: a.Consumer, Last: now})
	if err != nil {
		return err
	}
	return atomicfile.Write(path, atomicfile.Options{Sync: atomicfile.Content}, b, []byte("\n"))
}

// lock excludes other requests of the same consumer.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}

// read returns what a consumer has taken. A damaged file counts as missing: its commands are delivered again.
func read(path string) (t taken, known bool, err error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return taken{Last: map[string]int{}}, false, nil
	}
	if err != nil {
		return t, false, err
	}
	if json.Unmarshal(b, &t) != nil || t.Last == nil {
		return taken{Last: map[string]int{}}, false, nil
	}
	return t, true, nil
}

// pick returns the new commands, oldest first, and the numbers after this delivery. A running command is not taken
// until it has ended, and neither are those after it.
func pick(all []api.Command, last map[string]int) (fresh []api.Command, now map[string]int) {
	now = map[string]int{}
	for session, n := range last {
		now[session] = n
	}
	stop := map[string]int{}
	for i := range all {
		c := &all[i]
		if n, ok := stop[c.Session]; c.State == "running" && (!ok || c.N < n) {
			stop[c.Session] = c.N
		}
	}
	for i := range all {
		c := &all[i]
		if n, ok := stop[c.Session]; c.N <= last[c.Session] || ok && c.N >= n {
			continue
		}
		fresh = append(fresh, *c)
		now[c.Session] = max(now[c.Session], c.N)
	}
	slices.SortStableFunc(fresh, func(a, b api.Command) int { return a.Started.Compare(b.Started) })
	return fresh, now
}

// withoutJobs removes exec jobs and lines typed by agents and programs: the user did not type them.
func withoutJobs(ctx context.Context, d Daemon, commands []api.Command) ([]api.Command, error) {
	given := map[string]map[int]bool{}
	for i := range commands {
		session := commands[i].Session
		if given[session] != nil {
			continue
		}
		given[session] = map[int]bool{}
		jobs, err := d.Jobs(ctx, client.JobQuery{Session: session, Limit: maxCommands})
		var e *api.Error
		if errors.As(err, &e) && e.Code == api.CodeNotFound {
			continue // session was removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		for j := range jobs {
			given[session][jobs[j].Command] = true
		}
	}
	return slices.DeleteFunc(commands, func(c api.Command) bool { return !c.TypedByUser() || given[c.Session][c.N] }), nil
}

func describe(ctx context.Context, d Daemon, c *api.Command) (Command, error) {
	out := Command{
		Session: c.Session, Name: c.Name, N: c.N, Text: c.Text, Cwd: c.Cwd, ExitCode: c.ExitCode, Started: c.Started, Duration: c.Duration,
	}
	if c.Output.End <= c.Output.Start {
		return out, nil
	}
	t, err := d.Session(c.Session).Text(ctx, client.TextQuery{From: c.Output.Start, To: c.Output.End, MaxOutput: OutputBytes, Digest: true})
	var e *api.Error
	if errors.As(err, &e) && (e.Code == api.CodeNotFound || e.Code == api.CodeStorage) {
		return out, nil // its history was removed
	}
	out.Output, out.Truncated, out.BinaryBytes = t.Text, t.Truncated, t.BinaryBytes
	return out, err
}
