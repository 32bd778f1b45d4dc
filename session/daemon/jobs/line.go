//go:build unix

package jobs

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/daemon/excerpt"
	"github.com/longterm-dev/longterm/session/daemon/registry"
	"github.com/longterm-dev/longterm/session/evidence"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm/input"
)

// A line for a program that tells nothing of its commands (a REPL, a shell on another
// machine) is typed where the program waits for input, and has ended when it waits again.
// That is evidence and no status: the exit code is null.

// restTime is how long such a program has to rest at its prompt: what another
// machine answers comes after a while.
const restTime = 150 * time.Millisecond

// typeUnintegrated types a job's line into whatever waits for input.
//
// Lines of several callers are typed one after the other: the program tells nothing by which
// to know whose output is whose.
func (j *Job) typeUnintegrated(ctx context.Context, wait bool) (err error) {
	j.unintegrated.Store(true)
	if err := j.e.Unintegrated.Take(ctx, wait); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			j.e.Unintegrated.Give()
		}
	}()
	st := j.e.Session.Status()
	if st.State != session.Running {
		return session.ErrEnded
	}
	if !asksForText(&st) && !wait {
		ctx, cancel := context.WithTimeout(ctx, promptLimit(&st, time.Now()))
		defer cancel()
		switch err := j.awaitPrompt(ctx); {
		case errors.Is(err, session.ErrEnded):
			return err
		case err != nil:
			return api.Errorf(api.CodeBusy, "the program does not wait for a line").
				WithHint("wait for it (--wait), or use `longterm send` and `longterm wait`")
		}
	} else if err := j.awaitPrompt(ctx); err != nil {
		return err
	}
	if !j.typedBefore { // else what it is typed into now is whatever it led to
		if err := j.noQuestion(ctx); err != nil {
			return err
		}
		if err := j.readersChanged(ctx); err != nil {
			return err
		}
	}
	j.prompt = j.lastLine(ctx)
	j.repl = j.e.Session.Status().Needs.Repl
	j.noStatus.Store(j.e.HasNoStatus(j.prompt))
	began := time.Now()
	at, err := j.e.Session.Type(ctx, session.Typing{ID: j.inputID(), Encode: func(dst []byte, v session.View) []byte {
		if v.Replied { // what the editor made of replies that no program read is no part of the line
			dst = append(dst, 'U'-'@')
		}
		if v.Modes.BracketedPaste {
			dst = input.AppendPaste(dst, []byte(j.line), &v.Modes)
		} else {
			dst = append(dst, strings.ReplaceAll(j.line, "\n", "\r")...)
		}
		return append(dst, '\r')
	}})
	if err != nil {
		return err
	}
	var c session.Command
	c.Text, c.TextSource, c.Start, c.Began, c.CwdBefore, c.Quality, c.Running = j.line, shell.TextTyped, at, began, st.Cwd, shell.None, true
	j.ranLine(&c, nil)
	return nil
}

// firstPromptTime is how long a program may take from its start to its first prompt.
const firstPromptTime = 15 * time.Second

// promptLimit returns how long a line waits for the program's prompt: longer while the program starts, until its first line.
func promptLimit(st *session.Status, now time.Time) time.Duration {
	if !st.LastTyped.IsZero() || st.Started.IsZero() {
		return registry.Patience
	}
	return max(registry.Patience, firstPromptTime-now.Sub(st.Started))
}

// inputID has the line typed into a program once, whichever daemon does it.
func (j *Job) inputID() string { return "line " + j.id }

// readersChanged refuses a line when other programs read it than those as whose code it was judged, and as theirs, or the
// shell's that is back, it would not have been allowed at once.
func (j *Job) readersChanged(ctx context.Context) error {
	if !forProgram(j.asking.Shell, api.Exec{Foreign: j.orUnintegrated}) {
		return nil
	}
	again := j.asking
	again.Readers = j.e.Readers()
	if slices.Equal(again.Readers, j.asking.Readers) || j.s.gate.JudgeAgain(ctx, again).Verdict == policy.Allow {
		return nil
	}
	who := "the shell"
	if len(again.Readers) > 0 {
		who = again.Readers[0]
	}
	return api.Errorf(api.CodeStale, "%s reads the terminal, which did not when the line was judged", who).
		WithHint("look at the screen, and give the line again if it is meant for that")
}

// kindTime is how long it is waited to learn what a program that reads its terminal asks for.
const kindTime = 500 * time.Millisecond

// noQuestion refuses a line that would answer a question: that a program reads is no sign that it reads
// commands. Who wants that says so (Foreign), or types it.
func (j *Job) noQuestion(ctx context.Context) error {
	if j.orUnintegrated {
		return nil
	}
	switch n := j.needs(ctx); n.Kind {
	case evidence.Password, evidence.Confirm, evidence.Menu:
		return session.ErrBusy
	}
	return ctx.Err()
}

// needs returns the input that the program waits for. It waits for up to kindTime until that is known.
func (j *Job) needs(ctx context.Context) session.Needs {
	if st := j.e.Session.Status(); st.Needs.Kind != evidence.None {
		return st.Needs
	}
	ctx, cancel := context.WithTimeout(ctx, kindTime)
	defer cancel()
	w, err := j.e.Session.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondInput}, {Kind: session.CondPrompt}}})
	if err != nil || len(w.Fired) == 0 {
		return session.Needs{} // what it reads is not known to be a question
	}
	return w.Status.Needs
}

// hasQuestion reports whether a program that waits for input shows a question, instead of showing its own prompt at the end of the
// line.
func (j *Job) hasQuestion(ctx context.Context) bool {
	prompt := j.lastLine(ctx)
	blank := strings.TrimSpace(prompt) == ""
	if !blank && prompt == j.prompt {
		return false
	}
	switch n := j.needs(ctx); n.Kind {
	case evidence.Password, evidence.Confirm, evidence.Menu:
		return true
	case evidence.Text:
		return j.repl && !n.Repl && (blank || evidence.Words(n.Reason) != "")
	}
	return false
}

func asksForText(st *session.Status) bool {
	return st.Needs.Kind != evidence.None && st.Needs.Kind != evidence.Screen || st.Shell.Phase == shell.PhasePrompt
}

// awaitPrompt waits until the program rests and waits for input. The kernel's word that it is
// blocked in a read of its terminal is enough: there are programs without a prompt. What only
// watches its terminal (ssh) has to look as if it asked.
func (j *Job) awaitPrompt(ctx context.Context) error {
	quiet := []session.Cond{{Kind: session.CondQuiet, Quiet: restTime}}
	asks := []session.Cond{{Kind: session.CondInput}, {Kind: session.CondPrompt}}
	for {
		w, err := j.e.Session.Wait(ctx, session.WaitFor{Conds: quiet})
		if err := waitFailed(&w, err); err != nil {
			return err
		}
		rested := w.Cursor
		if blocked, err := j.e.Session.Blocked(ctx); err != nil || blocked {
			return err
		}
		short, cancel := context.WithTimeout(ctx, blockedEvery)
		w, err = j.e.Session.Wait(short, session.WaitFor{Conds: asks})
		cancel()
		if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if err := waitFailed(&w, err); err != nil {
			return err
		}
		if w.Cursor == rested { // it asked after its last word
			return nil
		}
	}
}

// blockedEvery is how often the kernel is asked about a program that is silent.
const blockedEvery = 300 * time.Millisecond

func waitFailed(w *session.Waited, err error) error {
	switch {
	case err != nil:
		return err
	case w.Status.State != session.Running:
		return session.ErrEnded
	case len(w.Fired) == 0:
		return session.ErrStopped
	}
	return nil
}

// goUnintegrated gives the line to what the shell turned out to run.
func (j *Job) goUnintegrated(ctx context.Context) {
	if err := j.typeUnintegrated(ctx, true); err != nil {
		j.fail(err)
		return
	}
	j.followUnintegrated(ctx)
}

// lastLine is what stands on the cursor's line: the program's prompt.
func (j *Job) lastLine(ctx context.Context) string {
	start, end := j.e.Session.OutputRange()
	t, err := excerpt.Plain(ctx, j.e.Session, max(start, end-min(end, 4096)), end, excerpt.Limits{Bytes: 8192})
	if err != nil {
		return ""
	}
	text := t.Text
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// followUnintegrated waits until the program waits for the next line.
func (j *Job) followUnintegrated(ctx context.Context) {
	j.mu.Lock()
	c := j.started
	j.mu.Unlock()
	defer j.e.Unintegrated.Give()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // a line that was given up makes room for the next one
		select {
		case <-j.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	err := j.awaitEnd(ctx)
	if ctx.Err() != nil {
		return
	}
	if err != nil && !errors.Is(err, session.ErrEnded) {
		j.fail(err)
		return
	}
	st := j.e.Session.Status()
	c.Running, c.Command.Ended, c.CwdAfter = false, time.Now(), st.Cwd
	if st.Shell.Phase != "" && st.Cwd == c.CwdBefore {
		c.CwdAfter = "" // the shell's own, which says nothing of the program that it runs
	}
	_, c.End = j.e.Session.OutputRange()
	j.e.Unintegrated.Ran(j.line)
	j.ranLine(&c, nil)
}

// awaitEnd waits until the program is at its own prompt again. After a question it continues to wait.
func (j *Job) awaitEnd(ctx context.Context) error {
	watch := j.e.Session.Watch()
	defer watch.Close()
	for {
		select {
		case <-watch.Output:
		default:
		}
		if err := j.awaitPrompt(ctx); err != nil || !j.hasQuestion(ctx) {
			return err
		}
		select {
		case <-watch.Output:
		case <-watch.Done:
			return session.ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// guessOf is a guess as clients see it; nil: there is none.
func guessOf(of shell.Guess) *api.Guess {
	if of.Cwd == "" && len(of.Env) == 0 {
		return nil
	}
	g := &api.Guess{Cwd: of.Cwd, Env: of.Env, Confidence: "doubtful"}
	if of.Sure {
		g.Confidence = "likely"
	}
	return g
}

// withoutEcho is what such a program printed, less the echo of the line before it and
// its prompt after it.
func withoutEcho(out, line, prompt string) string {
	for _, typed := range strings.Split(line, "\n") {
		first, rest, more := strings.Cut(out, "\n")
		if !strings.HasSuffix(strings.TrimRight(first, " "), strings.TrimRight(typed, " ")) {
			break
		}
		if out = rest; !more {
			return ""
		}
	}
	i := strings.LastIndexByte(out, '\n') + 1
	if last := out[i:]; prompt != "" && strings.TrimRight(last, " ") == strings.TrimRight(prompt, " ") {
		out = out[:i]
	}
	return out
}
