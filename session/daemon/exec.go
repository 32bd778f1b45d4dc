//go:build unix

package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/results"
	"github.com/longterm-dev/longterm/vterm"
)

// Bounds of a line's clocks (R16).
const (
	defaultWall = time.Minute
	maxWall     = 24 * time.Hour
	defaultIdle = 5 * time.Minute
	defaultCut  = 16 << 10 // bytes of output in an answer (R23)
)

func (d *Daemon) postExec(ctx context.Context, in *sessionBody[api.Exec]) (api.Result, error) {
	e, err := d.hub.resolve(in.Session)
	if err != nil {
		return api.Result{}, err
	}
	x, err := d.newExecution(e, &in.Body)
	if err != nil {
		return api.Result{}, err
	}
	if x.run, err = e.s.Exec(ctx, session.Line{Text: in.Body.Line, Wait: in.Body.Wait}); err != nil {
		return api.Result{}, err
	}
	how := x.await(ctx)
	return x.result(context.WithoutCancel(ctx), how)
}

// execution is a line under way and the clocks it has.
type execution struct {
	d          *Daemon
	e          *entry
	req        *api.Exec
	run        *session.Run
	wall, idle time.Duration
	began      time.Time
}

func (d *Daemon) newExecution(e *entry, req *api.Exec) (*execution, error) {
	x := &execution{d: d, e: e, req: req, wall: defaultWall, idle: defaultIdle, began: time.Now()}
	if req.TimeoutMS != 0 {
		x.wall = time.Duration(req.TimeoutMS) * time.Millisecond
	}
	if req.IdleTimeoutMS != nil {
		x.idle = time.Duration(*req.IdleTimeoutMS) * time.Millisecond
	}
	if x.wall <= 0 || x.wall > maxWall || x.idle < 0 {
		return nil, api.Errorf(api.CodeInvalid, "timeout %s, idle timeout %s", x.wall, x.idle).
			WithHint("a command gets up to %s; an idle timeout of 0 is none", maxWall)
	}
	return x, nil
}

// stuckTime is how long after a line was typed it should have begun.
const stuckTime = 2 * time.Second

// watchInput closes asks when the line, once begun, waits for input.
func (x *execution) watchInput(ctx context.Context, asks chan<- struct{}) {
	select {
	case <-x.run.Begun:
	case <-ctx.Done():
		return
	}
	w, err := x.e.s.Wait(ctx, session.WaitFor{Conds: []session.Cond{{Kind: session.CondInput}}})
	if err == nil && len(w.Fired) > 0 {
		close(asks)
	}
}

// outcome is why waiting for a line ended.
type outcome string

const (
	outcomeDone    outcome = "done"
	outcomeWall    outcome = "wall"
	outcomeIdle    outcome = "idle"
	outcomeYield   outcome = "yield"
	outcomeAborted outcome = "aborted"
)

// await waits for the line's end, a clock, the yield time or the caller.
func (x *execution) await(ctx context.Context) outcome {
	wall := time.NewTimer(x.wall)
	defer wall.Stop()
	asks := make(chan struct{})
	if x.req.OnInput == "return" {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go x.watchInput(ctx, asks)
	}
	stuck := time.NewTimer(stuckTime)
	defer stuck.Stop()
	var yield <-chan time.Time
	if x.req.YieldMS > 0 {
		yield = time.After(time.Duration(x.req.YieldMS) * time.Millisecond)
	}
	for {
		var idle <-chan time.Time
		if x.idle > 0 {
			last := x.e.s.Status().LastOutput
			if last.Before(x.began) {
				last = x.began
			}
			left := x.idle - time.Since(last)
			if left <= 0 {
				return outcomeIdle
			}
			idle = time.After(left)
		}
		select {
		case <-x.run.Done:
			return outcomeDone
		case <-wall.C:
			return outcomeWall
		case <-yield:
			return outcomeYield
		case <-asks:
			return outcomeYield
		case <-ctx.Done():
			return outcomeAborted
		case <-idle: // unless it printed meanwhile
		case <-stuck.C:
			if !isClosed(x.run.Begun) && time.Since(x.e.s.Status().LastOutput) > stuckTime/2 {
				_ = x.e.s.Stuck(ctx, x.run)
			}
		}
	}
}

// result ends what is to be ended and tells how it went.
func (x *execution) result(ctx context.Context, how outcome) (api.Result, error) {
	r := api.Result{TimedOut: "none", Mode: "pty", Session: x.e.rec.ID, PID: x.e.s.Status().PID}
	kill := false
	switch how {
	case outcomeWall, outcomeIdle:
		r.TimedOut = string(how)
		kill = x.req.OnTimeout == "kill"
	case outcomeAborted:
		r.Aborted = true
		kill = x.req.OnTimeout != "background"
	}
	if kill {
		x.d.hub.interrupt(ctx, x.e, x.run)
	}
	if !over(x.run) && how != outcomeYield {
		// What has not begun is taken back; what has goes on without its caller.
		if err := x.e.s.Drop(ctx, x.run); err != nil && !errors.Is(err, session.ErrStopped) {
			return r, err
		}
	}
	x.fill(ctx, &r)
	return r, x.err()
}

// err is what kept a line from being run at all.
func (x *execution) err() error {
	if !over(x.run) || x.run.Err == nil || errors.Is(x.run.Err, context.Canceled) {
		return nil
	}
	if errors.Is(x.run.Err, session.ErrEnded) && begun(x.run) {
		return nil // the line ended its shell: "exit 3", say
	}
	return x.run.Err
}

func over(r *session.Run) bool { return isClosed(r.Done) }

func begun(r *session.Run) bool { return isClosed(r.Begun) && r.Started.Number > 0 }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// fill puts what is known of the line into the result.
func (x *execution) fill(ctx context.Context, r *api.Result) {
	st := x.e.s.Status()
	r.DurationMS = time.Since(x.began).Milliseconds()
	r.CwdAfter = st.Cwd
	r.State = "running"
	if !isClosed(x.run.Begun) {
		r.State = "waiting"
		return
	}
	c, ended := x.run.Started, over(x.run) && x.run.Err == nil // else it goes on without us
	if ended {
		c, r.State = x.run.Command, "exited"
	}
	if c.Number == 0 && c.Text == "" {
		r.State = "lost"
		return
	}
	r.Command, r.Quality = int(c.Number), string(c.Quality)
	r.Range = api.Range{Start: c.Start, End: c.End}
	if ended {
		r.ExitCode, r.Signal = c.Exit, signalOf(c.Exit)
		r.CwdAfter = c.CwdAfter
		r.DurationMS = c.Command.Ended.Sub(c.Began).Milliseconds()
		r.Env = commandRecord("", &c).Env
	}
	switch {
	case st.State != session.Running:
		r.State = "ended"
	case r.State == "running" && st.Needs.Kind != "":
		r.State, r.Needs = "needs_input", string(st.Needs.Kind)
	}
	end := c.End
	if end == 0 {
		_, end = x.e.s.OutputRange()
	}
	max := x.req.MaxOutput
	if max == 0 {
		max = defaultCut
	}
	var err error
	if r.Output, r.Truncated, err = plainOutput(ctx, x.e.s, c.Start, end, max); err != nil {
		r.Error = err.Error()
	}
	r.Background = x.d.hub.background(x.e, x.began)
	if x.req.Parse && ended {
		parsed, _, err := readResult(ctx, x.e.s, c.Text, c.Exit, c.Start, end)
		if err != nil {
			r.Error = err.Error()
			return
		}
		r.Parsed = &parsed
	}
}

// signalOf is the signal that a shell's status tells of: 128 and its number.
func signalOf(exit *int) string {
	if exit == nil || *exit <= 128 || *exit > 128+64 {
		return ""
	}
	return unix.SignalName(syscall.Signal(*exit - 128))
}

// maxReadBytes bounds the raw output that is read for one answer; of more, the beginning
// and the end.
const maxReadBytes = 8 << 20

// plainOutput is a range of output as text of at most max bytes, head and tail.
func plainOutput(ctx context.Context, s *session.Session, from, to uint64, max int) (text string, cut bool, err error) {
	var p vterm.Plain
	var b strings.Builder
	take := func(data []byte) {
		_, _ = p.Write(data) // never fails
		p.Lines(func(l vterm.PlainLine) {
			b.Write(l.Text)
			if !l.More {
				b.WriteByte('\n')
			}
		})
	}
	buf := make([]byte, 256<<10)
	for at := from; at < to; {
		if at-from > maxReadBytes/2 && to-at > maxReadBytes/2 { // the middle will not be shown
			cut = true
			fmt.Fprintf(&b, "\n[… %d bytes …]\n", to-maxReadBytes/2-at)
			at = to - maxReadBytes/2
			p = vterm.Plain{}
		}
		if ctx.Err() != nil {
			return b.String(), cut, ctx.Err()
		}
		c, err := s.Output(at, buf[:min(uint64(len(buf)), to-at)])
		if err != nil {
			return b.String(), cut, err
		}
		if c.Gap > 0 {
			fmt.Fprintf(&b, "\n[%d bytes of output are lost]\n", c.Gap)
		}
		if c.Next == at {
			break
		}
		take(c.Data)
		at = c.Next
	}
	rest, _, _ := p.Rest(nil)
	b.Write(rest)
	text, info := results.Cut(b.String(), max, results.DefaultHeadShare)
	return text, cut || info.Cut, nil
}

// interrupt ends a line by the kill ladder: Ctrl-C to what is in the foreground, then TERM
// and KILL to every process that began with the line, wherever it moved itself. The shell
// survives, and what ran before the line does.
func (h *hub) interrupt(ctx context.Context, e *entry, r *session.Run) {
	since := time.Now()
	if begun(r) {
		since = r.Started.Began
	}
	if pg := e.dev.foreground(); pg > 0 {
		_ = syscall.Kill(-pg, syscall.SIGINT) // gone already is fine
	}
	for _, sig := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		if sig != 0 {
			signalAll(h.began(e, since), sig)
		}
		if waitClosed(ctx, r.Done, defaultGrace) {
			break
		}
	}
	signalAll(h.began(e, since), syscall.SIGKILL) // what it left behind goes too
}

func waitClosed(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(d):
	case <-ctx.Done():
	}
	return isClosed(c)
}

// background are the processes that a line left running, among the shell's descendants.
func (h *hub) background(e *entry, since time.Time) []int {
	var pids []int
	for _, pid := range children(e.s.Status().PID, nil) {
		if started, ok := startOf(pid); ok && started.After(since.Add(-clockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// children are a process's descendants, by the kernel's own lists.
func children(pid int, list []int) []int {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return list
	}
	for _, f := range strings.Fields(string(b)) {
		if child, err := strconv.Atoi(f); err == nil {
			list = children(child, append(list, child))
		}
	}
	return list
}

// began are a session's processes, the shell not among them, that started after a time.
func (h *hub) began(e *entry, since time.Time) []int {
	shellPID := e.s.Status().PID
	var pids []int
	for _, pid := range descendantsOf(shellPID, e.rec.ID) {
		if started, ok := startOf(pid); ok && pid != shellPID && started.After(since.Add(-clockTick)) {
			pids = append(pids, pid)
		}
	}
	return pids
}
