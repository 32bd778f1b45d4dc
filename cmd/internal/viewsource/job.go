//go:build unix

package viewsource

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/prompt"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// promptJob is a command that the user runs in the viewer's prompt line. Its goroutine reads output and updates the
// prompt. All fields except id are set before it starts.
type promptJob struct {
	v         *promptLine
	src       *source // the host that it runs on
	n         int     // number of the prompt entry
	id        string  // the daemon's job id
	line      string
	submitted chan struct{} // closed once id is set
	ended     bool          // the user ended it; owned by the viewer's goroutine
	began     time.Time
}

// run runs a line: in the session's shell if that is at its prompt, else in a new session in the same directory.
func (v *promptLine) run(n int, line string, s *model.Session) {
	src, shell := v.all.home(), ""
	if s != nil {
		src, shell = v.all.hostOf(s.ID)
	}
	j := &promptJob{v: v, src: src, n: n, id: uuid.NewString(), line: line, submitted: make(chan struct{}), began: time.Now()}
	v.jobs[n] = j
	dir, cols := v.directory(s), v.cols
	if s == nil || s.State != model.StateRunning || s.Phase != model.PhasePrompt && s.Phase != model.PhaseRunning {
		shell = "" // the daemon knows whether it is at its prompt; we may not have heard yet
	}
	d := v.desk
	d.RunAsync(func() {
		r, err := j.follow(d.Context(), shell, dir, cols)
		d.Later(func() { j.finish(&r, err) })
	})
}

// cancel ends the command by the kill ladder.
func (j *promptJob) cancel() {
	j.ended = true
	d, c := j.v.desk, j.src.c
	d.RunAsync(func() {
		select {
		case <-j.submitted:
		case <-d.Context().Done():
			return
		}
		if _, err := c.StopJob(d.Context(), j.id, api.JobStop{}); err != nil {
			d.Later(func() { d.ShowMessage("not ended: " + err.Error()) })
		}
	})
}

// finish reports the command's result, in the status bar if the prompt is not visible.
func (j *promptJob) finish(r *api.Result, err error) {
	v := j.v
	delete(v.jobs, j.n)
	res := prompt.Result{Exit: r.ExitCode, Signal: r.Signal, Error: r.Error, Duration: time.Duration(r.DurationMS) * time.Millisecond}
	switch {
	case err != nil:
		res = prompt.Result{Error: err.Error()}
	case j.ended:
		res.Exit, res.Signal, res.Error = nil, "ended", ""
	case r.ExitCode == nil && r.Signal == "" && r.Error == "":
		res.Signal = r.State
	}
	v.p.ShowResult(j.n, res)
	if v.open {
		return
	}
	sign := "✓"
	if res.Error != "" || res.Exit == nil || *res.Exit != 0 {
		sign = "✗"
	}
	v.desk.ShowMessage(fmt.Sprintf("%s %s  (%s shows it)", sign, j.line, v.desk.Chord("shell")))
}

// start submits the line to the daemon. If the shell turns out to be busy, the line runs in a new session.
func (j *promptJob) start(ctx context.Context, shell, dir string, cols int) (api.Result, error) {
	defer close(j.submitted)
	call := api.Call{Job: j.id, Background: true, MaxOutput: 256}
	c := j.src.c
	if shell != "" {
		r, err := c.Session(shell).Exec(ctx, api.Exec{Call: call, Line: j.line})
		var e *api.Error
		if !errors.As(err, &e) || !slices.Contains([]api.Code{api.CodeBusy, api.CodeNeedsInput, api.CodeNoShell}, e.Code) {
			return r, err
		}
	}
	return c.Run(ctx, api.Run{Call: call, NewSession: api.NewSession{
		Line: j.line, Cwd: dir, Env: os.Environ(), Cols: cols, Rows: 24, Labels: map[string]string{markLabel: j.src.mark},
	}})
}

// follow runs the line and passes its output on as it arrives.
func (j *promptJob) follow(ctx context.Context, shell, dir string, cols int) (api.Result, error) {
	c := j.src.c
	r, err := j.start(ctx, shell, dir, cols)
	if err != nil {
		return r, err
	}
	own := r.Session != shell
	done := make(chan struct{})
	var last api.Job
	go func() {
		defer close(done)
		last, err = c.AwaitJob(ctx, j.id, client.AwaitOptions{})
	}()
	j.read(ctx, c.Session(r.Session), own, done)
	<-done
	if err != nil || last.Result == nil {
		return r, err
	}
	if own {
		err = c.ForgetJob(ctx, j.id)
	}
	return *last.Result, err
}

// Write passes output to the prompt.
func (j *promptJob) Write(b []byte) (int, error) {
	text := string(b)
	j.v.desk.Later(func() { j.v.p.Output(j.n, text) })
	return len(b), nil
}

// readPause is the interval between reads. If more than maxBehind bytes are unread, all but the last keptBehind are
// skipped.
const (
	readPause  = 50 * time.Millisecond
	maxBehind  = 1 << 20
	keptBehind = 128 << 10
)

// read reads the command's output until it has ended and all is read.
func (j *promptJob) read(ctx context.Context, s *client.Session, own bool, done <-chan struct{}) {
	w := output.NewTextWriter(j)
	w.OnBinary = func(bytes uint64) { fmt.Fprintf(j, "[%d bytes omitted: not text]\n", bytes) }
	defer func() { _ = w.Flush() }() // Write never fails
	from, to, known := uint64(0), uint64(0), own
	for over := false; ctx.Err() == nil; {
		select {
		case <-done:
			over = true
		default:
		}
		if from, to, known = j.outputRange(ctx, from, known); known {
			next, err := j.readSome(ctx, s, w, from, to)
			if err != nil || over && next == from {
				return
			}
			from = next
		} else if over {
			return
		}
		if !over {
			select {
			case <-done:
			case <-ctx.Done():
			case <-time.After(readPause):
			}
		}
	}
}

// outputRange returns the range of output to read. Its end is where the command ended, or the end of the output so far.
func (j *promptJob) outputRange(ctx context.Context, from uint64, known bool) (uint64, uint64, bool) {
	job, err := j.src.c.Job(ctx, j.id, 256)
	if err != nil || job.Result == nil {
		return from, from, known
	}
	r := job.Result
	if !known && (r.Command > 0 || r.Range.End > 0) {
		from, known = r.Range.Start, true
	}
	return from, r.Range.End, known
}

// readSome reads available output, and skips what exceeds the limits.
func (j *promptJob) readSome(ctx context.Context, s *client.Session, w *output.TextWriter, from, end uint64) (uint64, error) {
	if end > from+maxBehind {
		from = end - keptBehind
	}
	err := output.ReadRange(ctx, s, from, end, w.Put)
	return max(from, end), err
}
