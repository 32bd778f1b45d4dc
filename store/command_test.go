package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"testing"
	"time"
)

// fullCommand is a command with every field set.
func fullCommand(session string, n int) Command {
	code, value := 2, "a=b\n"
	at := time.Unix(1_700_000_000, int64(n))
	return Command{
		Session: session, N: n, Text: "make -j 'ü'\n", Source: "exec", State: CommandDone, Quality: "rich",
		Cwd: "/srv/ü", CwdAfter: "/", Env: map[string]*string{"A": &value, "B": nil},
		Started: at, Ended: at.Add(time.Second), ExitCode: &code, Signal: "SIGINT",
		From: 1 << 61, To: 1<<61 + 5, AltScreen: true, Truncated: true, Binary: true,
	}
}

// TestFullCommandIsFull checks that every field of the command is set here, so that no new field is missing in the
// columns.
func TestFullCommandIsFull(t *testing.T) {
	v := reflect.ValueOf(fullCommand("x", 1))
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not set", v.Type().Field(i).Name)
		}
	}
	if v.NumField() != len(commandColumns) {
		t.Errorf("%d fields, %d columns", v.NumField(), len(commandColumns))
	}
}

// FEATURES: R48
func TestCommands(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	must(t, s.CreateSession(ctx, Session{ID: "1", Name: "one"}))
	must(t, s.CreateSession(ctx, Session{ID: "2", Name: "two"}))
	want := fullCommand("1", 1)
	begun := Command{Session: "1", Text: want.Text, Source: "exec", State: CommandRunning, Started: want.Started, From: want.From}
	for _, session := range []string{"1", "1", "2"} {
		begun.Session = session
		_, err := s.AddCommand(ctx, begun)
		must(t, err)
	}
	must(t, s.UpdateCommand(ctx, want))
	must(t, s.Close())

	s = openTest(t, path)
	got, err := s.Command(ctx, "1", 1)
	must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("command\n%+v\nwant\n%+v", got, want)
	}
	begun.Session, begun.N = "1", 2
	if got, err := s.Command(ctx, "1", 2); !reflect.DeepEqual(got, begun) || err != nil {
		t.Errorf("command\n%+v %v\nwant\n%+v", got, err, begun)
	}
	must(t, s.DeleteSession(ctx, "1"))
	left, err := s.Commands(ctx, CommandQuery{})
	must(t, err)
	if len(left) != 1 || left[0].Session != "2" || left[0].N != 1 {
		t.Errorf("left %+v", left)
	}
}

// FEATURES: R48
func TestCommandQuery(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	must(t, s.CreateSession(ctx, Session{ID: "a", Name: "a"}))
	must(t, s.CreateSession(ctx, Session{ID: "b", Name: "b"}))
	zero, one := 0, 1
	at := func(sec int64) time.Time { return time.Unix(sec, 0) }
	for _, c := range []Command{
		{Session: "a", Text: "make ALL", State: CommandDone, Started: at(10), ExitCode: &zero},
		{Session: "b", Text: "echo 100%", State: CommandDone, Started: at(20), ExitCode: &one},
		{Session: "a", Text: "sleep_9", State: CommandDone, Started: at(30), Signal: "SIGKILL"},
		{Session: "b", Text: `make c:\dir`, State: CommandRunning, Started: at(40)},
		{Session: "a", Text: "Make love", State: CommandLost, Started: at(40)},
	} {
		_, err := s.AddCommand(ctx, c)
		must(t, err)
	}
	for _, c := range []struct {
		q    CommandQuery
		want string
	}{
		{CommandQuery{}, "[a1 b1 a2 a3 b2]"},
		{CommandQuery{Newest: true}, "[b2 a3 a2 b1 a1]"},
		{CommandQuery{Limit: 2}, "[a1 b1]"},
		{CommandQuery{Limit: 2, Newest: true}, "[b2 a3]"},
		{CommandQuery{Session: "a"}, "[a1 a2 a3]"},
		{CommandQuery{Session: "c"}, "[]"},
		{CommandQuery{Since: at(20), Until: at(40)}, "[b1 a2]"},
		{CommandQuery{Since: at(40)}, "[a3 b2]"},
		{CommandQuery{Text: "MAKE"}, "[a1 a3 b2]"},
		{CommandQuery{Text: "make", Cwd: "/none"}, "[]"},
		{CommandQuery{Text: "%"}, "[b1]"},
		{CommandQuery{Text: "_"}, "[a2]"},
		{CommandQuery{Text: `\`}, "[b2]"},
		{CommandQuery{Text: "make", Session: "b"}, "[b2]"},
		{CommandQuery{Failed: true}, "[b1 a2]"},
		{CommandQuery{Running: true}, "[b2]"},
		{CommandQuery{Running: true, Session: "a"}, "[]"},
	} {
		all, err := s.Commands(ctx, c.q)
		must(t, err)
		got := make([]string, len(all))
		for i := range all {
			got[i] = fmt.Sprint(all[i].Session, all[i].N)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, want %s", c.q, got, c.want)
		}
	}
}

func TestCommandErrors(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	must(t, s.CreateSession(ctx, Session{ID: "1", Name: "a"}))
	n, err := s.AddCommand(ctx, Command{Session: "1", N: 7})
	if n != 7 || err != nil {
		t.Fatalf("added %d, %v", n, err)
	}
	_, taken := s.AddCommand(ctx, Command{Session: "1", N: 7})
	_, homeless := s.AddCommand(ctx, Command{Session: "2"})
	_, missing := s.Command(ctx, "1", 8)
	for name, c := range map[string]struct{ got, want error }{
		"number taken": {taken, ErrCommandExists},
		"no session":   {homeless, ErrNotFound},
		"read none":    {missing, ErrNoCommand},
		"update none":  {s.UpdateCommand(ctx, Command{Session: "1", N: 8}), ErrNoCommand},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", name, c.got, c.want)
		}
	}
	if n, err := s.AddCommand(ctx, Command{Session: "1"}); n != 8 || err != nil {
		t.Errorf("the next is %d, %v", n, err)
	}
}

// TestAddCommandsAtOnce adds commands concurrently. Each gets a separate number, without gaps.
func TestAddCommandsAtOnce(t *testing.T) {
	ctx := context.Background()
	s := openTest(t, filepath.Join(t.TempDir(), "longterm.db"))
	must(t, s.CreateSession(ctx, Session{ID: "1", Name: "a"}))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 25 {
				if _, err := s.AddCommand(ctx, Command{Session: "1"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := s.Commands(ctx, CommandQuery{Session: "1"})
	must(t, err)
	for i, c := range all {
		if c.N != i+1 {
			t.Fatalf("number %d is %d", i+1, c.N)
		}
	}
	if len(all) != 100 {
		t.Errorf("%d commands", len(all))
	}
}

// TestMigrateFromFirst checks that a database of the first version keeps its sessions and gets the new table.
func TestMigrateFromFirst(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "longterm.db")
	s := openTest(t, path)
	must(t, s.CreateSession(ctx, full("old")))
	_, err := s.db.Exec(`DROP TRIGGER session_done; DROP TABLE approvals; DROP TABLE askings; DROP TABLE grants;
		ALTER TABLE sessions DROP COLUMN policy; ALTER TABLE sessions DROP COLUMN agent;
		ALTER TABLE sessions DROP COLUMN call_id; ALTER TABLE sessions DROP COLUMN asked; ALTER TABLE sessions DROP COLUMN stopped;
		ALTER TABLE sessions DROP COLUMN program_from;
		DROP TABLE jobs; DROP TABLE commands; DROP TABLE completions; DROP TABLE subscriptions; DROP TABLE inbox; DROP TABLE inbox_seen; PRAGMA user_version = 1`)
	must(t, errors.Join(err, s.Close()))
	s = openTest(t, path)
	if _, err := s.Session(ctx, "old"); err != nil {
		t.Error(err)
	}
	if n, err := s.AddCommand(ctx, Command{Session: "old"}); n != 1 || err != nil {
		t.Errorf("%d %v", n, err)
	}
}

func BenchmarkAddCommand(b *testing.B) {
	ctx := context.Background()
	s := openTest(b, filepath.Join(b.TempDir(), "longterm.db"))
	must(b, s.CreateSession(ctx, Session{ID: "1", Name: "a"}))
	c := fullCommand("1", 0)
	for b.Loop() {
		_, err := s.AddCommand(ctx, c)
		must(b, err)
	}
}

func BenchmarkCommands(b *testing.B) {
	ctx := context.Background()
	s := openTest(b, filepath.Join(b.TempDir(), "longterm.db"))
	must(b, s.CreateSession(ctx, Session{ID: "1", Name: "a"}))
	for i := range 10_000 {
		_, err := s.AddCommand(ctx, fullCommand("1", i+1))
		must(b, err)
	}
	for name, q := range map[string]CommandQuery{
		"newest": {Limit: 20, Newest: true}, "text": {Text: "nowhere"}, "running": {Running: true},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				_, err := s.Commands(ctx, q)
				must(b, err)
			}
		})
	}
}
