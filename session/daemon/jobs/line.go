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
	"github.com/longterm-dev/longterm/session/inputdetect"
	"github.com/longterm-dev/longterm/session/policy"
	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/vterm/input"
)

// A line for a program without command marks (a REPL, a shell on another machine) is typed where the program waits for
// input. It has ended when the program waits for input again. That is evidence and no status: the exit code is null.

// promptSettleTime is how long a program without command marks must print nothing at its prompt before it counts as
// ready: a remote machine answers with a delay.
const promptSettleTime = 150 * time.Millisecond

// typeUnintegrated types a job's line into the program that waits for input.
//
// Lines of several callers are typed one after the other: the program does not show which output belongs to which line.
func (j *Job) typeUnintegrated(ctx context.Context, wait bool) (err error) {
	j.mu.Lock()
	j.program.typed = true
	j.mu.Unlock()
	ctx, cancel := j.untilEnded(ctx) // a line that is taken back is not typed later
	defer cancel()
	if err := j.e.Unintegrated.AcquireTurn(ctx, wait); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			j.e.Unintegrated.ReleaseTurn()
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
	if !j.wasTypedBefore() { // else it now goes to the program that the line has started
		if err := j.checkNoQuestion(ctx); err != nil {
			return err
		}
		if err := j.checkReaders(ctx); err != nil {
			return err
		}
	}
	prompt := j.lastLine(ctx)
	repl, noStatus := j.e.Session.Status().Needs.Repl, j.e.HasNoStatus(prompt)
	inCommand, err := j.e.Session.NewestCommand(ctx)
	if err != nil {
		return err
	}
	j.mu.Lock()
	j.program.prompt, j.program.repl, j.program.noStatus, j.program.startedBy = prompt, repl, noStatus, inCommand
	j.mu.Unlock()
	began := time.Now()
	at, err := j.e.Session.Type(ctx, session.TypeRequest{ID: j.inputID(), Encode: func(dst []byte, v session.View) []byte {
		if v.UnreadReplies { // what the editor made of replies that no program read is no part of the line
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
	j.onCommand(&c, nil)
	return nil
}

// firstPromptTime is how long a program may take from its start to its first prompt.
const firstPromptTime = 15 * time.Second

// promptLimit returns how long a line waits for the program's prompt: longer while the program starts, until its first line.
func promptLimit(st *session.Status, now time.Time) time.Duration {
	if !st.LastTyped.IsZero() || st.Started.IsZero() {
		return registry.ReadyTimeout
	}
	return max(registry.ReadyTimeout, firstPromptTime-now.Sub(st.Started))
}

// inputID returns the id that makes daemons type the line into a program once.
func (j *Job) inputID() string { return "line " + j.id }

// checkReaders rejects a line if other programs would read it than those that it was judged for, and as code of the
// present ones it would need approval.
func (j *Job) checkReaders(ctx context.Context) error {
	if !mayBeForProgram(j.approval.request.Shell, api.Exec{Foreign: j.program.allowed}) {
		return nil
	}
	again := j.approval.request
	again.Readers = j.e.Readers()
	if slices.Equal(again.Readers, j.approval.request.Readers) || j.s.gate.Reevaluate(ctx, again).Verdict == policy.Allow {
		return nil
	}
	who := "the shell"
	if len(again.Readers) > 0 {
		who = again.Readers[0]
	}
	return api.Errorf(api.CodeStale, "%s reads the terminal, which did not when the line was judged", who).
		WithHint("look at the screen, and give the line again if it is meant for that")
}

// inputKindTimeout bounds how long needs waits for the kind of input that a program reads.
const inputKindTimeout = 500 * time.Millisecond

// checkNoQuestion rejects a line that would answer a question: a program that reads input may not read commands. A
// caller that wants to answer sets Foreign, or types.
func (j *Job) checkNoQuestion(ctx context.Context) error {
	if j.program.allowed {
		return nil
	}
	switch n := j.needs(ctx); n.Kind {
	case inputdetect.Password, inputdetect.Confirm, inputdetect.Menu:
		return session.ErrBusy
	}
	return ctx.Err()
}

// needs returns the input that the program waits for. It waits for up to inputKindTimeout until that is known.
func (j *Job) needs(ctx context.Context) session.InputNeed {
	if st := j.e.Session.Status(); st.Needs.Kind != inputdetect.None {
		return st.Needs
	}
	ctx, cancel := context.WithTimeout(ctx, inputKindTimeout)
	defer cancel()
	w, err := j.e.Session.Wait(ctx, session.WaitSpec{Conds: []session.Cond{{Kind: session.CondInput}, {Kind: session.CondPrompt}}})
	if err != nil || len(w.Fired) == 0 {
		return session.InputNeed{} // what it reads is not known to be a question
	}
	return w.Status.Needs
}

// hasQuestion reports whether a program that waits for input shows a question, instead of showing its own prompt at the end of the
// line.
func (j *Job) hasQuestion(ctx context.Context) bool {
	prompt := j.lastLine(ctx)
	blank := strings.TrimSpace(prompt) == ""
	if !blank && prompt == j.programState().prompt {
		return false
	}
	switch n := j.needs(ctx); n.Kind {
	case inputdetect.Password, inputdetect.Confirm, inputdetect.Menu:
		return true
	case inputdetect.Text:
		return j.programState().repl && !n.Repl && (blank || inputdetect.PromptText(n.Reason) != "")
	}
	return false
}

// asksForText reports whether the program waits for a line of text, or the shell is at its prompt.
func asksForText(st *session.Status) bool {
	return st.Needs.Kind != inputdetect.None && st.Needs.Kind != inputdetect.Screen || st.Shell.Phase == shell.PhasePrompt
}

// awaitPrompt waits until the program is silent and waits for input. A program that is blocked in a read of its
// terminal is enough: some programs have no prompt. A program that only polls its terminal (ssh) has to show a prompt.
func (j *Job) awaitPrompt(ctx context.Context) error {
	quiet := []session.Cond{{Kind: session.CondQuiet, Quiet: promptSettleTime}}
	asks := []session.Cond{{Kind: session.CondInput}, {Kind: session.CondPrompt}}
	for {
		w, err := j.e.Session.Wait(ctx, session.WaitSpec{Conds: quiet})
		if err := waitFailed(&w, err); err != nil {
			return err
		}
		rested := w.Cursor
		if blocked, err := j.e.Session.IsReadBlocked(ctx); err != nil || blocked {
			return err
		}
		short, cancel := context.WithTimeout(ctx, blockedPollInterval)
		w, err = j.e.Session.Wait(short, session.WaitSpec{Conds: asks})
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

// blockedPollInterval is the interval at which the kernel is queried about a program that prints nothing.
const blockedPollInterval = 300 * time.Millisecond

// waitFailed returns why a wait ended without a match, or nil if it matched.
func waitFailed(w *session.WaitResult, err error) error {
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

// submitUnintegrated submits the line to the program that the shell runs, such as ssh, which prints no command marks.
func (j *Job) submitUnintegrated(ctx context.Context) {
	if err := j.typeUnintegrated(ctx, true); err != nil {
		j.fail(err)
		return
	}
	j.followUnintegrated(ctx)
}

// lastLine returns the text on the cursor's line: the program's prompt.
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
	c := j.outcome.started
	j.mu.Unlock()
	defer j.e.Unintegrated.ReleaseTurn()
	ctx, cancel := j.untilEnded(ctx) // a line that was given up makes room for the next one
	defer cancel()
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
		c.CwdAfter = "" // the shell's directory, not that of the program that it runs
	}
	_, c.End = j.e.Session.OutputRange()
	if err != nil && st.Exit != nil && st.Exit.Signal == "" { // the line has ended the program
		c.Exit = new(st.Exit.Code)
	} else if x := j.endedCommand(ctx); x != nil {
		c.Exit, c.End = x.Exit, max(x.End, c.Start)
	}
	j.e.Unintegrated.NoteLine(j.line)
	j.onCommand(&c, nil)
}

// endedCommand returns the shell's command that started the program, if it has ended since the line was typed, or nil.
func (j *Job) endedCommand(ctx context.Context) *session.Command {
	was := j.programState().startedBy
	if !was.Running {
		return nil
	}
	c, err := j.e.Session.NewestCommand(ctx)
	if err != nil || c.Running || c.Number != was.Number {
		return nil
	}
	return &c
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

// guessOf returns a guess for clients, and nil for an empty one.
func guessOf(guess shell.Guess) *api.Guess {
	if guess.Cwd == "" && len(guess.Env) == 0 {
		return nil
	}
	g := &api.Guess{Cwd: guess.Cwd, Env: guess.Env, Confidence: "doubtful"}
	if guess.IsCertain {
		g.Confidence = "likely"
	}
	return g
}

// withoutTyped returns a program's output without the echo of typed lines. Blanks do not count: an editor that wraps its rows adds some.
// The terminal may echo all lines before the program's editor shows them, from the end of the last one on.
func withoutTyped(out string, typed []string) string {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), "") }
	for i := 0; i < len(typed) && out != ""; i++ {
		first, rest, _ := strings.Cut(out, "\n")
		first, next := squeeze(first), squeeze(typed[i])
		if !strings.HasSuffix(first, next) {
			if again := squeeze(typed[0]); i == 0 || !strings.HasPrefix(first, next) || !strings.HasSuffix(first, again) {
				break
			}
			i = 0
		}
		out = rest
	}
	return out
}

// withoutEcho returns a program's output without the echo of the line before it and the prompt after it.
func withoutEcho(out, line, prompt string) string {
	out = withoutTyped(out, strings.Split(line, "\n"))
	i := strings.LastIndexByte(out, '\n') + 1
	if last := out[i:]; prompt != "" && strings.TrimRight(last, " ") == strings.TrimRight(prompt, " ") {
		out = out[:i]
	}
	return out
}
