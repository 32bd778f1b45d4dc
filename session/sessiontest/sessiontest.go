// Package sessiontest tests command-line programs in a terminal, as users run them.
//
//	p := sessiontest.Start(t, "passwd")
//	p.Expect("New password: ")
//	p.Secret("hunter2")
//	p.Keys("<Enter>")
//	p.ExpectExit(0)
//
// A Program (this file) wraps a program.Program for a test: a failure ends the test and shows the screen, the unread
// output and the awaited condition; nothing outlives the test. golden.go compares screens with files, build.go builds
// the program to be tested.
//
// # Time
//
// A wait ends after Timeout, or shortly before the test binary's own deadline, so that a failure names the awaited
// condition. Waits for idle output or elapsed time are tested without waiting in a testing/synctest bubble, with a
// program.Cmd.Main instead of a process: there all timers are the bubble's.
package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
)

// DefaultTimeout is how long a wait may take.
const DefaultTimeout = 30 * time.Second

// beforeDeadline is kept before the test binary's deadline for saying what went wrong.
const beforeDeadline = 2 * time.Second

// Program is a program under test. Its methods end the test (t.FailNow) when something goes
// wrong, and so must be called from the test's goroutine.
type Program struct {
	// Timeout is how long each wait may take. Default: DefaultTimeout.
	Timeout time.Duration

	t testing.TB
	p *program.Program
}

// Start starts a program of PATH, or a path, in a terminal of 80×24.
func Start(t testing.TB, name string, args ...string) *Program {
	t.Helper()
	return StartCmd(t, program.Cmd{Argv: append([]string{name}, args...)})
}

// Shell starts an interactive shell whose commands are followed, for Exec.
func Shell(t testing.TB, name string, args ...string) *Program {
	t.Helper()
	return StartCmd(t, program.Cmd{Argv: append([]string{name}, args...), Shell: true})
}

// StartCmd starts a program described by a program.Cmd. The program and its children end with the test.
func StartCmd(t testing.TB, c program.Cmd) *Program {
	t.Helper()
	p, err := program.Start(context.WithoutCancel(t.Context()), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("ending the program: %v", err)
		}
	})
	return &Program{Timeout: DefaultTimeout, t: t, p: p}
}

// Program returns the underlying program, for features without a method here.
func (p *Program) Program() *program.Program { return p.p }

// wait returns the context of a wait.
func (p *Program) wait() (context.Context, context.CancelFunc) {
	end := time.Now().Add(p.Timeout)
	if t, ok := p.t.(interface{ Deadline() (time.Time, bool) }); ok {
		if d, ok := t.Deadline(); ok && d.Add(-beforeDeadline).Before(end) {
			end = d.Add(-beforeDeadline)
		}
	}
	return context.WithDeadline(p.t.Context(), end)
}

// check ends the test on an error; what describes the failed action.
func (p *Program) check(err error, what string) {
	p.t.Helper()
	var expect *program.ExpectError
	switch {
	case err == nil:
		return
	case errors.As(err, &expect):
		p.t.Fatal(expect)
	case errors.Is(err, context.DeadlineExceeded):
		err = errors.New("time ran out")
	}
	p.t.Fatalf("%s: %v\nscreen:\n%s", what, err, indent(p.Screen()))
}

func indent(s string) string {
	if s = strings.TrimRight(s, "\n"); s == "" {
		return "  (nothing)"
	}
	return "  | " + strings.ReplaceAll(s, "\n", "\n  | ")
}

// Send types text literally.
func (p *Program) Send(text string) {
	p.t.Helper()
	p.check(p.p.Send(text), fmt.Sprintf("typing %q", text))
}

// Line types text and Enter.
func (p *Program) Line(text string) {
	p.t.Helper()
	p.check(p.p.Send(text+"\r"), fmt.Sprintf("typing %q", text))
}

// Keys types keys by name: "<Enter>", "<C-c>", "<Up>", "abc<Tab>".
func (p *Program) Keys(names string) {
	p.t.Helper()
	p.check(p.p.Keys(names), "typing "+names)
}

// Paste types text as a terminal pastes it.
func (p *Program) Paste(text string) {
	p.t.Helper()
	p.check(p.p.Paste(text), fmt.Sprintf("pasting %q", text))
}

// Secret types a secret, which the terminal must not show. Enter is not part of it.
func (p *Program) Secret(secret string) {
	p.t.Helper()
	ctx, cancel := p.wait()
	defer cancel()
	p.check(p.p.Secret(ctx, []byte(secret)), "typing a secret")
}

// Expect waits for the first of some texts in the output that was not read yet.
func (p *Program) Expect(texts ...string) program.Match {
	p.t.Helper()
	var patterns []program.Pattern
	for _, s := range texts {
		patterns = append(patterns, program.Text(s))
	}
	return p.ExpectAny(patterns...)
}

// ExpectRegexp waits for a match of a regular expression, within one line.
func (p *Program) ExpectRegexp(expr string) program.Match {
	p.t.Helper()
	return p.ExpectAny(program.Regexp(expr))
}

// ExpectAny waits for the first of some patterns; Match.Pattern is its index.
func (p *Program) ExpectAny(patterns ...program.Pattern) program.Match {
	p.t.Helper()
	ctx, cancel := p.wait()
	defer cancel()
	m, err := p.p.Expect(ctx, patterns...)
	p.check(err, "expecting")
	return m
}

// ExpectExit waits for the program's end with an exit status; 128+N is signal N.
func (p *Program) ExpectExit(code int) {
	p.t.Helper()
	ctx, cancel := p.wait()
	defer cancel()
	e, err := p.p.Wait(ctx)
	p.check(err, "waiting for the program's end")
	got := e.Code
	if e.Number > 0 {
		got = 128 + e.Number
	}
	if got != code {
		p.t.Fatalf("exit status %d (%s), not %d\nscreen:\n%s", got, describe(e), code, indent(p.Screen()))
	}
}

func describe(e session.Exit) string {
	if e.Number > 0 {
		return "ended by " + e.Signal
	}
	return "ended by itself"
}

// Screen returns the current text of the screen. Later drawing is missing: wait for it first, or use Golden, which
// waits.
func (p *Program) Screen() string {
	s := p.p.Screen()
	return s.Text()
}

// WaitFor waits until any of the conditions holds.
func (p *Program) WaitFor(conds ...session.Cond) session.WaitResult {
	p.t.Helper()
	ctx, cancel := p.wait()
	defer cancel()
	w, err := p.p.WaitFor(ctx, conds...)
	p.check(err, fmt.Sprintf("waiting for %v", kinds(conds)))
	return w
}

func kinds(conds []session.Cond) (all []session.CondKind) {
	for _, c := range conds {
		all = append(all, c.Kind)
	}
	return all
}

// WaitQuiet waits until nothing new was printed for d.
func (p *Program) WaitQuiet(d time.Duration) {
	p.t.Helper()
	p.WaitFor(session.Cond{Kind: session.CondQuiet, Quiet: d})
}

// Exec runs a line in a shell that was started by Shell, and waits for its end.
func (p *Program) Exec(line string) program.CommandResult {
	p.t.Helper()
	ctx, cancel := p.wait()
	defer cancel()
	r, err := p.p.Exec(ctx, line)
	p.check(err, "running a line")
	return r
}
