package session

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/internal/lineexec"
	"github.com/longterm-dev/longterm/session/ring"
	"github.com/longterm-dev/longterm/session/shell"
)

// Marks of a shell whose nonce is n.
const (
	promptMark = "\x1b]133;A;lt=n;n=1;exit=0\a$ \x1b]133;B;lt=n\a"
	beginMark  = "\x1b]133;C;lt=n\a"
)

// inShell runs f with a session whose shell is at its prompt.
func inShell(t *testing.T, f func(t *testing.T, d *asking)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		d := newAsking(t, dir, ring.Local(ring.DefaultSize), nil, func(c *Config) {
			c.Shell = &shell.Launch{Kind: shell.Bash, Quality: shell.Full, Nonce: "n", StateDir: dir, Cwd: "/"}
		})
		d.says(promptMark)
		f(t, d)
	})
}

// A line that somebody just ended at the prompt goes first: what is typed before the shell
// has begun with it would go to what it starts.
//
// FEATURES: R49
func TestWhatWasJustTypedGoesFirst(t *testing.T) {
	const typed = "ssh host\r"
	begin := func(t *testing.T, d *asking) *Run {
		t.Helper()
		if _, err := d.s.Type(t.Context(), Typing{Bytes: []byte(typed)}); err != nil {
			t.Fatal(err)
		}
		r, err := d.s.Exec(t.Context(), Line{Text: "echo x"})
		if err != nil {
			t.Fatal(err)
		}
		settled()
		if d.got() != typed {
			t.Fatalf("typed %q before the shell has begun", d.got())
		}
		return r
	}
	t.Run("it begins", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *asking) {
			r := begin(t, d)
			d.says(beginMark)
			select {
			case <-r.Done:
			default:
				t.Fatal("the line waits")
			}
			if !errors.Is(r.Err, ErrBusy) || d.got() != typed {
				t.Errorf("%v, typed %q", r.Err, d.got())
			}
		})
	})
	t.Run("it does not", func(t *testing.T) {
		inShell(t, func(t *testing.T, d *asking) {
			begin(t, d)
			time.Sleep(lineexec.EnterTime)
			synctest.Wait()
			if want := typed + "\x15echo x\r"; d.got() != want {
				t.Errorf("typed %q, want %q", d.got(), want)
			}
		})
	})
}

// A program that reads while nothing stands before the cursor may have asked already: its
// question is on its way. It is looked at again.
//
// FEATURES: R42
func TestQuestionOnItsWay(t *testing.T) {
	now := time.Now()
	a := attention{blank: true}
	if a.tells(now) {
		t.Error("at the first look")
	}
	a.Next(now, false, false)
	if !a.tells(now) {
		t.Error("not at the second one")
	}
	a.wait = readWait{tid: 1, since: now}
	if a.tells(now) {
		t.Error("of a wait that has just begun")
	}
	if !a.tells(now.Add(blankLasts)) {
		t.Error("not when it lasts")
	}
	if a.own = true; a.tells(now.Add(blankLasts)) || !a.tells(now.Add(blankShellLasts)) {
		t.Error("of the shell, whose marks may be on their way, as soon as of a program")
	}
	if a.behind = true; a.tells(now.Add(blankLasts)) {
		t.Error("behind a relay as soon as of a program")
	}
	a = attention{}
	if !a.tells(now) {
		t.Error("not when the question is there")
	}
	if a.pending = true; a.tells(now) {
		t.Error("with output on its way")
	}
}

// What was typed ends the wait that was there: the same one is no question.
//
// FAULT: E7
// FEATURES: R42
func TestAnswerThatWasNotReadYet(t *testing.T) {
	now := time.Now()
	r := evidence.Result{TID: 3, Waits: 5}
	w := spentWait{tid: 3, waits: 5, until: now.Add(spentFor)}
	if !w.same(&evidence.Result{TID: 1, Waits: 9, Behind: []evidence.Behind{{Probe: r}}}, now) || !w.same(&r, now) {
		t.Error("the program has not run since")
	}
	if w.same(&r, now.Add(spentFor)) {
		t.Error("it was no end of a line")
	}
	if r.Waits++; w.same(&r, now) {
		t.Error("it waits anew")
	}
}
