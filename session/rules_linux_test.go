package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/store/journal"
	"github.com/longterm-dev/longterm/vterm"
)

// ttyDevice is a device on a PTY. It records input, and echoes it if the terminal is set so.
type ttyDevice struct {
	*fakeDevice
	master, tty *os.File
	s           *Session
}

func (d *ttyDevice) Control(f func(int) error) error { return f(int(d.master.Fd())) }

// echo sets which side echoes input.
func (d *ttyDevice) echo(t *testing.T, state respond.EchoState) {
	t.Helper()
	tio, err := unix.IoctlGetTermios(int(d.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	tio.Lflag &^= unix.ECHO | unix.ICANON
	switch state {
	case respond.EchoOn:
		tio.Lflag |= unix.ECHO | unix.ICANON
	case respond.EchoOff:
		tio.Lflag |= unix.ICANON
	}
	if err := unix.IoctlSetTermios(int(d.master.Fd()), unix.TCSETS, tio); err != nil {
		t.Fatal(err)
	}
}

// print prints a text, and waits until all its effects are done.
func (d *ttyDevice) print(text string) {
	d.fakeDevice.print(d.s, text)
	waitSettled()
}

// waitSettled waits until output has settled.
func waitSettled() {
	time.Sleep(100 * time.Millisecond) // of the bubble's time
	synctest.Wait()
}

// fakeResolver is a ReplyResolver of test functions.
type fakeResolver struct {
	secret func() ([]byte, error)
	hook   func(Hook) ([]byte, error)
}

func (l fakeResolver) Secret(context.Context, string) ([]byte, error) { return l.secret() }

func (l fakeResolver) Hook(_ context.Context, h Hook) ([]byte, error) { return l.hook(h) }

// newTTYDevice returns a session over a directory and a ring that may exist.
func newTTYDevice(t *testing.T, dir string, r *ring.Ring, resolver ReplyResolver, with ...func(*Config)) *ttyDevice {
	t.Helper()
	j, _, err := journal.Open(filepath.Join(dir, "journal"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &ttyDevice{fakeDevice: &fakeDevice{ring: r, accept: -1, released: make(chan struct{})}, master: master, tty: tty}
	cfg := Config{
		ID: "test", Dir: dir, Device: d, Ring: r, Journal: j, Secrets: resolver,
		Options: vterm.Options{Cols: 80, Rows: 24}, Status: Status{State: Running, Cols: 80, Rows: 24},
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	for _, f := range with {
		f(&cfg)
	}
	d.s, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.s.Stop(); _ = master.Close(); _ = tty.Close() })
	d.s.Start()
	return d
}

// withTTYDevice runs f with a session in a synctest bubble.
func withTTYDevice(t *testing.T, resolver ReplyResolver, f func(t *testing.T, d *ttyDevice, dir string)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		f(t, newTTYDevice(t, dir, ring.Local(ring.DefaultSize), resolver), dir)
	})
}

// addRules adds rules and fails the test if they are rejected.
func (d *ttyDevice) addRules(t *testing.T, rules ...respond.Rule) []Rule {
	t.Helper()
	added, err := d.s.AddRules(t.Context(), rules)
	if err != nil {
		t.Fatal(err)
	}
	waitSettled()
	return added
}

// FEATURES: R50, R51
func TestRulesAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rules []respond.Rule
		says  []string
		want  string
	}{
		{"one prompt", []respond.Rule{{Text: "Name: ", Reply: enterLine("bob")}}, []string{"Name: "}, "bob\r"},
		{"the same prompt five times", []respond.Rule{{Text: "Go? ", Reply: enterLine("y")}},
			[]string{"Go? ", "y\r\nGo? ", "y\r\nGo? ", "y\r\nGo? ", "y\r\nGo? "}, "y\ry\ry\ry\ry\r"},
		{"drawn again", []respond.Rule{{Text: "Go? ", Reply: enterLine("y")}},
			[]string{"Go? ", "\r\x1b[KGo? ", "\x1b[2J\x1b[HGo? "}, "y\r"},
		{"max", []respond.Rule{{Text: "Go? ", Reply: enterLine("y"), Max: 2}}, []string{"Go? ", "\r\nGo? ", "\r\nGo? "}, "y\ry\r"},
		{"any order", []respond.Rule{{Text: "A", Reply: enterLine("a")}, {Text: "B", Reply: enterLine("b")}}, []string{"B\r\nA\r\n"}, "b\ra\r"},
		{"in order", []respond.Rule{{Text: "A", Reply: enterLine("a")}, {Text: "B", Reply: enterLine("b"), AfterPrevious: true}}, []string{"B\r\nA\r\nB\r\n"}, "a\rb\r"},
		{"captures and keys", []respond.Rule{{Regexp: `(\w+)@(?P<host>\w+)\?`, Reply: []respond.Reply{{Kind: respond.ReplyKeys, Value: "${host} $1<Up><C-c>"}}}},
			[]string{"bob@web?"}, "web bob\x1b[A\x03"},
		{"application cursor keys", []respond.Rule{{Text: "menu", Reply: []respond.Reply{{Kind: respond.ReplyKeys, Value: "<Up>"}}}}, []string{"\x1b[?1hmenu"}, "\x1bOA"},
		{"a pause", []respond.Rule{{Text: "x", Reply: []respond.Reply{{Kind: respond.ReplyWait, Wait: 50 * time.Millisecond}, {Kind: respond.ReplyText, Value: "1"}}}}, []string{"x"}, "1"},
		{"on the screen", []respond.Rule{{Text: "OK", On: respond.OnScreen, Region: &respond.Region{Top: 1, Bottom: 2}, Reply: enterLine("")[1:]}},
			[]string{"\x1b[H\x1b[2JOK\r\n", "\x1b[2;5HO", "K", "\x1b[5;5Hx"}, "\r"},
		{"at the cursor", []respond.Rule{{Regexp: "> $", On: respond.OnCursor, Reply: enterLine("x")}}, []string{"> \r\n", "menu\r\n", "> "}, "x\r"},
		{"a failure ends all", []respond.Rule{{Text: "denied", Reply: []respond.Reply{{Kind: respond.ReplyFail, Value: "no"}}}, {Text: "Name: ", Reply: enterLine("bob")}},
			[]string{"Name: ", "\r\ndenied\r\nName: "}, "bob\r"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
				d.addRules(t, tt.rules...)
				for _, text := range tt.says {
					d.print(text)
				}
				if got := d.typedText(); got != tt.want {
					t.Errorf("typed %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestNewRule_AnswersCurrentPrompt checks that a new rule answers the prompt on the screen; typed input is no prompt.
//
// FEATURES: R50, R51
func TestNewRule_AnswersCurrentPrompt(t *testing.T) {
	for _, tt := range []struct{ name, says, typed, echo, want string }{
		{"a prompt", "hello\r\nName: ", "", "", "bob\r"},
		{"answered in part", "Name: ", "b", "b", "b"},
		{"an old line", "Name: x\r\n", "", "", ""},
		{"what was typed", "$ ", "echo Name: ", "echo Name: ", "echo Name: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
				d.print(tt.says)
				if tt.typed != "" {
					if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte(tt.typed)}); err != nil {
						t.Fatal(err)
					}
					d.print(tt.echo)
				}
				d.addRules(t, respond.Rule{Text: "Name: ", Reply: enterLine("bob")})
				if got := d.typedText(); got != tt.want {
					t.Errorf("typed %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestRules_IndependentOfReadBoundaries checks that replies do not depend on how output is split into reads.
//
// FEATURES: R51
func TestRules_IndependentOfReadBoundaries(t *testing.T) {
	const dialogue = "Welcome\r\n\x1b[1mName: \x1b[m|bob\r\nPassword for bob: |\r\nContinue [y/N]? |y\r\nContinue [y/N]? |y\r\nbye\r\n"
	rules := []respond.Rule{
		{Text: "Name: ", Reply: enterLine("bob")}, {Regexp: `(?i)password for (\w+): $`, Reply: enterLine("$1's")},
		{Regexp: `\[y/N\]\? $`, On: respond.OnPrompt, Reply: enterLine("y")},
	}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 0))
		withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
			d.addRules(t, rules...)
			for part := range strings.SplitSeq(dialogue, "|") {
				if at := strings.LastIndex(part, "\n") + 1; seed%2 == 1 {
					part = part[:at] + "unrelated \x1b[32moutput\x1b[m: 1 2 3\r\n" + part[at:]
				}
				for part != "" {
					n := 1 + rnd.IntN(min(len(part), 8))
					d.fakeDevice.print(d.s, part[:n])
					synctest.Wait()
					part = part[n:]
				}
				waitSettled()
			}
			if got, want := d.typedText(), "bob\rbob's\ry\ry\r"; got != want {
				t.Errorf("seed %d: typed %q, want %q", seed, got, want)
			}
		})
	}
}

// TestRules_IgnoreTypedText checks that typed input does not match, however it is echoed.
//
// FEATURES: R51
func TestRules_IgnoreTypedText(t *testing.T) {
	for _, state := range []respond.EchoState{respond.EchoOn, respond.EchoApp} {
		withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
			d.echo(t, state)
			d.addRules(t, respond.Rule{Text: "Password: ", Reply: enterLine("x")}, respond.Rule{Text: "Password: ", On: respond.OnScreen, Reply: enterLine("y")})
			d.print("$ ")
			for _, c := range "echo Password: " {
				if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte(string(c))}); err != nil {
					t.Fatal(err)
				}
				d.print(string(c))
			}
			if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte("\r")}); err != nil {
				t.Fatal(err)
			}
			d.print("\r\n")
			if got := d.typedText(); got != "echo Password: \r" {
				t.Errorf("echo %s: typed %q", state, got)
			}
			d.print("Password: ") // printed by the program
			if got := d.typedText(); !strings.HasSuffix(got, "x\ry\r") && !strings.HasSuffix(got, "y\rx\r") {
				t.Errorf("echo %s: typed %q", state, got)
			}
		})
	}
}

// TestRules_TypeSecretsWithoutEcho checks that secrets are typed only while there is no echo, and are not stored.
//
// FEATURES: R53
func TestRules_TypeSecretsWithoutEcho(t *testing.T) {
	secret := []respond.Reply{{Kind: respond.ReplySecret, Value: "env:PW"}, {Kind: respond.ReplyKeys, Value: "<Enter>"}}
	for _, tt := range []struct {
		name   string
		state  respond.EchoState
		force  bool
		lookup error
		want   string
		why    string
	}{
		{"echo off", respond.EchoOff, false, nil, "hunter2\r", ""},
		{"a forged prompt", respond.EchoOn, false, nil, "", "the terminal echoes"},
		{"a line editor", respond.EchoApp, false, nil, "", "the program reads keys and may show them"},
		{"forced", respond.EchoOn, true, nil, "hunter2\r", ""},
		{"not to be had", respond.EchoOff, false, errors.New("gone"), "", "gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			resolver := fakeResolver{secret: func() ([]byte, error) { return []byte("hunter2"), tt.lookup }}
			withTTYDevice(t, resolver, func(t *testing.T, d *ttyDevice, dir string) {
				d.echo(t, tt.state)
				d.addRules(t, respond.Rule{Text: "Password: ", Reply: secret, Force: tt.force})
				d.print("Password: ")
				time.Sleep(5 * time.Second)
				synctest.Wait()
				if got := d.typedText(); got != tt.want {
					t.Errorf("typed %q, want %q", got, tt.want)
				}
				list, err := d.s.RuleMatches()
				if err != nil || len(list) == 0 || !strings.Contains(list[len(list)-1].Error, tt.why) {
					t.Errorf("firings %+v %v, want %q", list, err, tt.why)
				}
				mustNotContain(t, dir, "hunter2")
			})
		})
	}
}

// mustNotContain fails if any file below a directory contains a text.
func mustNotContain(t *testing.T, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), text) {
			t.Errorf("%s contains %q", filepath.Base(path), text)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTypedSecrets_NotStored checks that a typed password is nowhere in the stored state of rules.
//
// FEATURES: R53
func TestTypedSecrets_NotStored(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, dir string) {
		d.addRules(t, respond.Rule{Text: "Code: ", Reply: enterLine("open-sesame")})
		d.print("Password: ")
		for _, state := range []respond.EchoState{respond.EchoOff, respond.EchoApp} {
			d.echo(t, state)
			if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte("hunter2\r")}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte("hunter2"), Secret: true}); !errors.Is(err, ErrMayEcho) {
			t.Errorf("secret in raw mode: %v", err)
		}
		d.echo(t, respond.EchoOff)
		if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte("hunter2"), Secret: true}); err != nil {
			t.Error(err)
		}
		d.print("\r\nCode: ")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		mustNotContain(t, dir, "hunter2")
		list, err := d.s.RuleMatches()
		if err != nil || len(list) != 1 || list[0].Reply[0].Value != "[hidden]" {
			t.Errorf("unechoed input is recorded: %+v %v", list, err)
		}
	})
}

// TestHooks checks that a hook gets the captures, its output is typed, and the owner does not wait for it.
// FEATURES: R54
func TestHooks(t *testing.T) {
	begun, proceed := make(chan Hook, 1), make(chan struct{})
	resolver := fakeResolver{hook: func(h Hook) ([]byte, error) {
		begun <- h
		<-proceed
		return []byte("from the hook\n"), nil
	}}
	synctest.Test(t, func(t *testing.T) {
		begun, proceed = make(chan Hook, 1), make(chan struct{})
		d := newTTYDevice(t, t.TempDir(), ring.Local(ring.DefaultSize), resolver)
		d.addRules(t, respond.Rule{Regexp: `code for (?P<who>\w+): $`, Reply: []respond.Reply{{Kind: respond.ReplyHook, Value: "otp $1"}, {Kind: respond.ReplyText, Value: "after"}}})
		d.print("code for bob: ")
		h := <-begun
		if h.Command != "otp $1" || h.Captures["who"] != "bob" || h.Captures["1"] != "bob" || h.Rule != "1" {
			t.Errorf("hook %+v", h)
		}
		d.print("more\r\n") // the loop continues
		if st := d.s.Status(); st.Offset != 20 || d.typedText() != "" {
			t.Errorf("offset %d, typed %q", st.Offset, d.typedText())
		}
		close(proceed)
		synctest.Wait()
		if got := d.typedText(); got != "from the hook\rafter" {
			t.Errorf("typed %q", got)
		}
	})
}

// TestRule_RemovedDuringHook checks that a rule which is removed while its hook runs types nothing.
// FEATURES: R50, R54
func TestRule_RemovedDuringHook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		d := newTTYDevice(t, t.TempDir(), ring.Local(ring.DefaultSize), fakeResolver{hook: func(Hook) ([]byte, error) { <-proceed; return []byte("x"), nil }})
		d.addRules(t, respond.Rule{Text: "a", Reply: []respond.Reply{{Kind: respond.ReplyHook, Value: "h"}}}, respond.Rule{Text: "b", Reply: enterLine("b")})
		d.print("a\r\n")
		if _, err := d.s.RemoveRules(t.Context(), "1"); err != nil {
			t.Fatal(err)
		}
		close(proceed)
		d.print("b\r\n")
		if got := d.typedText(); got != "b\r" {
			t.Errorf("typed %q", got)
		}
	})
}

// FEATURES: R50
func TestRules_ListAndRemove(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, dir string) {
		ctx := t.Context()
		d.addRules(t, respond.Rule{Name: "one", Text: "A", Reply: enterLine("a")})
		d.addRules(t, respond.Rule{Text: "B", Reply: enterLine("b")}, respond.Rule{Text: "C", Reply: enterLine("c")})
		d.print("A\r\nC\r\n")
		if _, err := d.s.AddRules(ctx, []respond.Rule{{Name: "one", Text: "x", Reply: enterLine("x")}}); !errors.Is(err, ErrRuleExists) {
			t.Errorf("duplicate name: %v", err)
		}
		if _, err := d.s.AddRules(ctx, []respond.Rule{{Regexp: "(", Reply: enterLine("x")}}); err == nil {
			t.Error("an invalid regexp was accepted")
		}
		if _, err := d.s.RemoveRules(ctx, "one", "nine"); !errors.Is(err, ErrNoRule) {
			t.Errorf("removal of an unknown rule: %v", err)
		}
		if got := rulesText(t, d.s); got != "1 one 1, 2  0, 3  1" {
			t.Errorf("rules %s", got)
		}
		if _, err := d.s.RemoveRules(ctx, "one", "2"); err != nil {
			t.Fatal(err)
		}
		d.print("A\r\nB\r\nC\r\n")
		if got := rulesText(t, d.s) + " " + d.typedText(); got != "3  2 a\rc\rc\r" {
			t.Errorf("rules and typed: %q", got)
		}
		if _, err := d.s.RemoveRules(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(dir, rulesFile)); rulesText(t, d.s) != "" || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rules %s, file: %v", rulesText(t, d.s), err)
		}
	})
}

// rulesText lists a session's rules by name.
func rulesText(t *testing.T, s *Session) string {
	t.Helper()
	rules, err := s.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, r := range rules {
		parts = append(parts, fmt.Sprintf("%s %s %d", r.ID, r.Name, r.MatchCount))
	}
	return strings.Join(parts, ", ")
}

// TestRules_SurviveOwner checks that the next owner continues with the rules at whatever moment the last one was killed:
// answered prompts are not answered again, others are.
//
// FEATURES: R50, R51
func TestRules_SurviveOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		d := newTTYDevice(t, dir, r, nil)
		d.addRules(t, respond.Rule{Text: "Go? ", Reply: enterLine("y"), Max: 10}, respond.Rule{Text: "slow", Reply: []respond.Reply{
			{Kind: respond.ReplyText, Value: "1"}, {Kind: respond.ReplyWait, Wait: time.Hour}, {Kind: respond.ReplyText, Value: "2"}}})
		typed := ""
		again := func(what string, between func()) {
			t.Helper()
			d.s.Stop()
			typed += d.typedText()
			if between != nil {
				between()
			}
			d = newTTYDevice(t, dir, r, nil)
			waitSettled()
			if got := typed + d.typedText(); !strings.HasSuffix(got, what) || strings.Count(got, "y") != strings.Count(what, "y") {
				t.Fatalf("typed %q, want %q", got, what)
			}
		}
		d.print("Go? ")
		again("y\r", nil) // answered, and still on the screen
		d.print("\rGo? ")
		again("y\r", nil) // drawn again
		d.print("y\r\nGo? ")
		again("y\ry\r", nil)
		again("y\ry\ry\r", func() { // printed while there was no owner
			for p := []byte("y\r\nGo? "); len(p) > 0; {
				n := copy(r.Room(), p)
				r.Publish(n)
				p = p[n:]
			}
		})
		d.print("y\r\nslow\r\n")
		again("y\ry\ry\r1", nil)
		time.Sleep(time.Hour)
		waitSettled()
		if got := typed + d.typedText(); got != "y\ry\ry\r12" {
			t.Errorf("the end of a reply is lost: %q", got)
		}
		if got := rulesText(t, d.s); got != "1  3, 2  1" {
			t.Errorf("rules %s", got)
		}
	})
}

// TestRules_KeptForNextProgram checks that a program started after another one ended gets the same rules.
//
// FEATURES: R50
func TestRules_KeptForNextProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		d := newTTYDevice(t, dir, r, nil)
		d.addRules(t, respond.Rule{Text: "Go? ", Reply: enterLine("y")})
		d.print("Go? ")
		d.s.Exited(Exit{}, r.Head())
		waitSettled()
		if st := d.s.Status(); st.State != Exited {
			t.Fatalf("state %s", st.State)
		}
		d.s.Stop()
		d = newTTYDevice(t, dir, r, nil)
		d.print("\r\nGo? ")
		if got := d.typedText(); got != "y\r" || rulesText(t, d.s) != "1  1" {
			t.Errorf("typed %q, rules %s", got, rulesText(t, d.s))
		}
	})
}

// TestRules_IgnoreOldOutput_AfterRestart checks that of the output before a restart only the unfinished line is matched,
// and not if input is in it.
//
// FEATURES: R51
func TestRules_IgnoreOldOutput_AfterRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		d := newTTYDevice(t, dir, r, nil)
		d.addRules(t, respond.Rule{Text: "never", Reply: enterLine("x")}, respond.Rule{Text: "rest", CoolDown: time.Minute, Reply: enterLine("z")})
		d.echo(t, respond.EchoApp)
		d.print("rest\r\n")
		killed := d.killOwner(t, dir)
		d.print("rest\r\n$ ")
		if _, err := d.s.Type(t.Context(), TypeRequest{Bytes: []byte("echo never")}); err != nil {
			t.Fatal(err)
		}
		d.print("echo never")
		killed()
		time.Sleep(time.Hour) // after its cooldown
		d = newTTYDevice(t, dir, r, nil)
		waitSettled()
		if got := d.typedText(); got != "" {
			t.Errorf("typed %q", got)
		}
		d.print("\r\nnever\r\n")
		if got := d.typedText(); got != "x\r" {
			t.Errorf("typed %q", got)
		}
	})
}

// killOwner makes an owner end as if killed: its later writes are lost, except to the journal.
func (d *ttyDevice) killOwner(t *testing.T, dir string) (kill func()) {
	t.Helper()
	path := filepath.Join(dir, rulesFile)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		d.s.Stop()
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		for _, f := range left {
			if filepath.Base(f) != "journal" {
				err = errors.Join(err, os.Remove(f))
			}
		}
		if err = errors.Join(err, os.WriteFile(path, b, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestInputID_TypedOnce_AnyOwner types input with an id once, by whichever owner.
// FEATURES: R55
func TestInputID_TypedOnce_AnyOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, r := t.TempDir(), ring.Local(ring.DefaultSize)
		d := newTTYDevice(t, dir, r, nil)
		d.print("Name: ")
		for range 2 {
			if typed, err := d.s.TypeIn(t.Context(), TypeRequest{Bytes: []byte("bob"), ID: "7"}); err != nil || typed.Cursor != 6 || typed.Echo != respond.EchoOn {
				t.Errorf("%+v %v", typed, err)
			}
		}
		d.print("bob")
		if _, err := d.s.TypeIn(t.Context(), TypeRequest{Bytes: []byte("by"), ID: "8"}); err != nil || d.typedText() != "bobby" {
			t.Errorf("typed %q, %v", d.typedText(), err)
		}
		d.s.Stop()
		if err := os.Remove(filepath.Join(dir, "checkpoint")); err != nil { // as after a kill
			t.Fatal(err)
		}
		d = newTTYDevice(t, dir, r, nil)
		if typed, err := d.s.TypeIn(t.Context(), TypeRequest{Bytes: []byte("bob"), ID: "7"}); err != nil || typed.Cursor != 6 || d.typedText() != "" {
			t.Errorf("repeated: %+v %v %q", typed, err, d.typedText())
		}
	})
}

// TestReply_TypedInOneWrite checks that a reply of several parts is one write: a daemon that is killed during it leaves
// all of it or nothing, never the Enter without its line.
//
// FEATURES: R51, R54
func TestReply_TypedInOneWrite(t *testing.T) {
	withTTYDevice(t, nil, func(t *testing.T, d *ttyDevice, _ string) {
		d.addRules(t, respond.Rule{Text: "Name: ", Reply: enterLine("bob")})
		d.print("Name: ")
		if d.typedText() != "bob\r" || d.writes != 1 {
			t.Errorf("%q in %d writes", d.typedText(), d.writes)
		}
	})
}
