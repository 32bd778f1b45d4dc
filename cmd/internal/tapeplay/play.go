//go:build unix

// Package tapeplay runs tapes: it types into a shell on a terminal of this process, as a user would, and records what
// is visible.
//
//	tape ─▶ Play ─▶ program (shell, emulator) ─▶ film ─▶ recording (asciicast 3)
//
// The recording has the actual times, without hidden parts.
package tapeplay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/tape"
	"github.com/longterm-dev/longterm/vterm"
)

// Player plays a tape.
type Player struct {
	Tape       *tape.Tape
	File       string    // file name of the tape, for messages
	Progress   io.Writer // receives each step before it runs
	Cols, Rows int
	// Shoot writes a picture of a screen to a file.
	Shoot func(f *vterm.Frame, file string) error

	p       *program.Program
	film    *film
	copied  string // text in the tape's clipboard
	version uint64 // version of the screen at the last input
}

// Defaults for settings that a tape lacks.
const (
	defaultWait = 15 * time.Second
	prompt      = "> "
)

// defaultPattern matches the prompt; blanks at a line's end do not count
var defaultPattern = pattern.Lazy(`>$`)

// command starts a shell without its user's files, so that a tape plays alike everywhere.
func command(name string) (argv, env []string) {
	switch filepath.Base(name) {
	case "bash":
		return []string{name, "--noprofile", "--norc", "+o", "history"}, []string{"PS1=" + prompt, "BASH_SILENCE_DEPRECATION_WARNING=1"}
	case "zsh":
		return []string{name, "--no-rcs", "+o", "prompt_sp"}, []string{"PS1=" + prompt}
	case "fish":
		return []string{name, "--no-config", "--private", "-C", "function fish_greeting; end; function fish_prompt; echo -n '" + prompt + "'; end"}, nil
	}
	return []string{name}, []string{"PS1=" + prompt}
}

// Play plays the tape and writes the recording, also of a tape that failed: the error names the line.
func (y *Player) Play(ctx context.Context, to io.Writer) (err error) {
	t := y.Tape
	for _, name := range t.Requires {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("%s requires %s, which is not here: install it", y.File, name)
		}
	}
	argv, env := command(cmp.Or(t.Settings.Shell, "bash"))
	if _, err := exec.LookPath(argv[0]); err != nil {
		return fmt.Errorf("the tape's shell %s was not found; install it, or use `Set Shell sh`", argv[0])
	}
	y.p, err = program.Start(ctx, program.Cmd{Argv: argv, SetEnv: append(env, t.Env...), Cols: y.Cols, Rows: y.Rows, History: 64 << 20})
	if err != nil {
		return err
	}
	y.film = &film{s: y.p.Session(), cols: y.Cols, rows: y.Rows}
	if err = y.wait(ctx, &tape.Step{Kind: tape.Wait}); err != nil {
		err = fmt.Errorf("%s shows no prompt: %w", argv[0], err)
	} else {
		err = y.steps(ctx)
	}
	err = errors.Join(err, y.film.hide(context.WithoutCancel(ctx)), y.p.Close())
	if len(y.film.scenes) == 0 && err != nil {
		return err
	}
	return errors.Join(err, y.film.write(to))
}

func (y *Player) steps(ctx context.Context) error {
	hidden := false
	for i := range y.Tape.Steps {
		s := &y.Tape.Steps[i]
		var err error
		switch s.Kind {
		case tape.Hide:
			hidden, err = true, y.film.hide(ctx)
		case tape.Show:
			hidden, err = false, y.film.show(ctx)
		default:
			if !hidden {
				err = y.film.show(ctx)
			}
			if err == nil {
				fmt.Fprintf(y.Progress, "%s:%d: %s %s\n", y.File, s.Line, s.Kind, strings.TrimSpace(describeStep(s)))
				err = y.step(ctx, s)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %s: %w", y.File, s.Line, s.Kind, err)
		}
	}
	return nil
}

// describeStep describes a step in one line.
func describeStep(s *tape.Step) string {
	switch s.Kind {
	case tape.Sleep:
		return s.Delay.String()
	case tape.Wait:
		if s.Pattern != nil {
			return "/" + s.Pattern.String() + "/"
		}
	case tape.Key:
		if s.Count > 1 {
			return fmt.Sprintf("%s %d", s.Text, s.Count)
		}
	}
	return s.Text
}

func (y *Player) step(ctx context.Context, s *tape.Step) error {
	switch s.Kind {
	case tape.Type:
		for _, r := range s.Text {
			if err := y.typeThenPause(ctx, s.Delay, func() error { return y.p.Send(string(r)) }); err != nil {
				return err
			}
		}
		return nil
	case tape.Key:
		for range s.Count {
			if err := y.typeThenPause(ctx, s.Delay, func() error { return y.p.Keys("<" + s.Text + ">") }); err != nil {
				return err
			}
		}
		return nil
	case tape.Copy:
		y.copied = s.Text
		return nil
	case tape.Paste:
		if y.copied == "" {
			return errors.New("nothing copied yet; use Copy with a text first")
		}
		return y.typeThenPause(ctx, 0, func() error { return y.p.Paste(y.copied) })
	case tape.Sleep:
		return pause(ctx, s.Delay)
	case tape.Wait:
		return y.wait(ctx, s)
	case tape.Screenshot:
		var f vterm.Frame
		if err := y.p.Session().Frame(ctx, &f, vterm.Query{}); err != nil {
			return err
		}
		return y.Shoot(&f, s.Text)
	}
	return fmt.Errorf("a step of kind %q", s.Kind)
}

// typeThenPause types something, then pauses as long as a user would.
func (y *Player) typeThenPause(ctx context.Context, rest time.Duration, f func() error) error {
	y.version = y.p.Session().Status().Version
	if err := f(); err != nil {
		return err
	}
	return pause(ctx, rest)
}

func pause(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait waits for a matching screen that is newer than the last input: the prompt before a command does not count as the
// prompt after it.
func (y *Player) wait(ctx context.Context, s *tape.Step) error {
	limit := cmp.Or(s.Delay, y.Tape.Settings.WaitTimeout, defaultWait)
	var re matcher = defaultPattern
	if p := cmp.Or(s.Pattern, y.Tape.Settings.WaitPattern); p != nil {
		re = p
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	w := y.p.Session().Watch()
	defer w.Close()
	shown := ""
	for {
		running := y.p.Session().Status().State == session.Running // asked first: what it printed last counts
		var f vterm.Frame
		if err := y.p.Session().Frame(ctx, &f, vterm.Query{}); err == nil {
			if shown = text(&f, s.Screen); f.Version > y.version && re.MatchString(shown) {
				return nil
			}
		}
		if !running {
			return fmt.Errorf("the shell has ended, and /%s/ was not shown", re)
		}
		select {
		case <-w.Frames:
		case <-w.Output: // the end is handled here
		case <-w.Done:
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errTimeout) {
				return ctx.Err()
			}
			return fmt.Errorf("/%s/ was not shown within %v; this was: %q", re, limit, shown)
		}
	}
}

var errTimeout = errors.New("timeout")

// matcher is a pattern.
type matcher interface {
	MatchString(s string) bool
	String() string
}

// text returns the text of the screen, or of the cursor's line, without blanks at line ends.
func text(f *vterm.Frame, whole bool) string {
	var b []byte
	for i := range f.Lines {
		l := &f.Lines[i]
		if !whole && l.Row != f.Cursor.Row {
			continue
		}
		for _, c := range l.Cells {
			b = f.AppendText(b, c)
		}
		b = bytes.TrimRight(b, " ")
		if whole {
			b = append(b, '\n')
		}
	}
	return string(b)
}
