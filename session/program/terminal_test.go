package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// runInBubble runs a Main in a synctest bubble: all time is the bubble's.
func runInBubble(t *testing.T, main func(*Terminal) int, f func(t *testing.T, p *Program)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, err := Start(t.Context(), Cmd{Main: main})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}()
		f(t, p)
	})
}

// sleepUnlessClosed sleeps in a Main, until its terminal is closed.
func sleepUnlessClosed(tty *Terminal, d time.Duration) {
	select {
	case <-time.After(d):
	case <-tty.Closed():
	}
}

// FEATURES: R87
func TestWaitQuiet_InBubble(t *testing.T) {
	began := time.Now()
	runInBubble(t, func(tty *Terminal) int {
		for i := range 10 {
			_, _ = fmt.Fprintln(tty, "step", i)
			sleepUnlessClosed(tty, time.Minute)
		}
		<-tty.Closed()
		return 0
	}, func(t *testing.T, p *Program) {
		begin := time.Now()
		if err := p.WaitQuiet(t.Context(), 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(begin); d != 14*time.Minute {
			t.Errorf("got quiet after %v, want 14 minutes", d)
		}
	})
	if time.Since(began) > time.Minute {
		t.Error("the test took minutes of real time")
	}
}

// TestExpect_Settle_InBubble checks that an unfinished line matches at once if the program waits for input, and after
// the pause if it only prints nothing.
// FEATURES: R51, R87
func TestExpect_Settle_InBubble(t *testing.T) {
	runInBubble(t, func(tty *Terminal) int {
		in := bufio.NewReader(tty)
		_, _ = fmt.Fprint(tty, "First? ")
		_, _ = in.ReadString('\n')
		_, _ = fmt.Fprint(tty, "Second, but ")
		sleepUnlessClosed(tty, 10*time.Millisecond)
		_, _ = fmt.Fprint(tty, "not yet? ")
		sleepUnlessClosed(tty, time.Hour)
		return 4
	}, func(t *testing.T, p *Program) {
		begin := time.Now()
		at := func(pattern Pattern, want time.Duration) {
			t.Helper()
			if _, err := p.Expect(t.Context(), pattern); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(begin); d < want || d > want+time.Millisecond {
				t.Errorf("%v: got a match after %v, want %v", pattern, d, want)
			}
		}
		at(Regexp(`^First\? $`), 0)
		begin = time.Now()
		if err := p.Send("yes\r"); err != nil {
			t.Fatal(err)
		}
		at(Regexp(`^Second.*\? $`), 30*time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if _, err := p.Expect(ctx, Text("never")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if e, err := p.Wait(t.Context()); err != nil || e.Code != 4 || time.Since(begin) < time.Hour {
			t.Errorf("%+v after %v: %v", e, time.Since(begin), err)
		}
	})
}

// FEATURES: R53, R87
func TestTerminal_Modes(t *testing.T) {
	runInBubble(t, func(tty *Terminal) int {
		in := bufio.NewReader(tty)
		_, _ = fmt.Fprint(tty, "Name: ")
		name, _ := in.ReadString('\n')
		_, _ = fmt.Fprint(tty, "Password: ")
		tty.Hide()
		secret, _ := in.ReadString('\n')
		tty.Show()
		_, _ = fmt.Fprintf(tty, "\n%s has %d\n", strings.TrimSpace(name), len(secret)-1)
		tty.Raw()
		key := make([]byte, 8)
		n, _ := in.Read(key)
		cols, rows := tty.Size()
		_, _ = fmt.Fprintf(tty, "key %q at %d×%d\n", key[:n], cols, rows)
		if _, err := in.ReadByte(); err != io.EOF {
			_, _ = fmt.Fprint(tty, err)
		}
		return 0
	}, func(t *testing.T, p *Program) {
		steps := []func() error{
			func() error { _, err := p.Expect(t.Context(), Text("Name: ")); return err },
			func() error { return p.Send("boc\x7fb\r") },
			func() error { _, err := p.Expect(t.Context(), Text("Password: ")); return err },
			func() error { return p.Secret(t.Context(), []byte("hunter2")) },
			func() error { return p.Keys("<Enter>") },
			func() error { _, err := p.Expect(t.Context(), Text("bob has 7")); return err },
			func() error { return p.Resize(50, 10) },
			func() error { return p.Keys("<Up>") },
			func() error { _, err := p.Expect(t.Context(), Text(`key "\x1b[A" at 50×10`)); return err },
		}
		for i, step := range steps {
			if err := step(); err != nil {
				t.Fatalf("step %d: %v", i, err)
			}
		}
		s := p.Screen()
		if text := s.Text(); strings.Contains(text, "hunter2") || !strings.HasPrefix(text, "Name: bob\n") {
			t.Error(text)
		}
	})
}

// TestTerminal_FloodBlocks checks that a flood of a Main is delayed, not lost, and ends with the terminal.
// FEATURES: R87
func TestTerminal_FloodBlocks(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	p, err := Start(t.Context(), Cmd{History: 1 << 20, Main: func(tty *Terminal) int {
		for range 50_000 {
			if _, err := io.WriteString(tty, line); err != nil {
				return 1
			}
		}
		_, _ = io.WriteString(tty, "done\n")
		_, _ = tty.Read(make([]byte, 8))
		for {
			if _, err := io.WriteString(tty, line); err != nil {
				return 0
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Expect(testContext(t), Text("done")); err != nil {
		t.Error(err)
	}
	if err := p.Send("\r"); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// TestExpect_CommandKeysHaveNoEcho checks that keys that are a command have no echo: the same letters in the program's
// output match.
// FEATURES: R51, R87
func TestExpect_CommandKeysHaveNoEcho(t *testing.T) {
	runInBubble(t, func(tty *Terminal) int {
		tty.Raw()
		_, _ = fmt.Fprint(tty, "ready")
		key := make([]byte, 8)
		_, _ = tty.Read(key)
		_, _ = fmt.Fprint(tty, "\n[detached]\n")
		<-tty.Closed()
		return 0
	}, func(t *testing.T, p *Program) {
		if _, err := p.Expect(t.Context(), Text("ready")); err != nil {
			t.Fatal(err)
		}
		if err := p.Keys(`<C-\>d`); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Expect(t.Context(), Text("[detached]")); err != nil {
			t.Error(err)
		}
	})
	for keys, want := range map[string]bool{"ls": true, "ls\r": true, "\x15ls\r": true, "\x1b[A": false, "\x03": false, "": false} {
		if mayEcho([]byte(keys), false) != want || mayEcho([]byte(keys), true) {
			t.Errorf("%q", keys)
		}
	}
}
