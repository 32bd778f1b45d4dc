//go:build unix

package viewsource

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
	"github.com/longterm-dev/longterm/session/paths"
)

// source provides the sessions of one daemon to the viewer.
type source struct {
	c                *client.Client
	host             string        // host of the daemon; empty means local
	prefix           string        // prefix of its sessions' names, if there are several hosts: the host
	reach            *reachability // whether the daemon can be reached
	dirs             paths.Dirs
	version          func() string
	options          *Options
	sizes            *sizeOption
	orders           chan model.Order // requests to arrange sessions; one goroutine receives
	useAllProcessors func()           // ends Tune's limit of processors; nil: not needed
	mark             string           // label of the sessions in which this viewer's prompt runs commands
}

// qualify returns the viewer's form of an id or name of that host.
func (v source) qualify(id string) string {
	if v.prefix == "" || id == "" {
		return id
	}
	return v.prefix + "/" + id
}

// markLabel is the label of a session that a viewer's prompt uses. Its value identifies the viewer.
const markLabel = "longterm.viewer"

// Sessions follows the daemon's events.
func (v source) Sessions(ctx context.Context) <-chan model.Update {
	out := make(chan model.Update, 1)
	f := &feed{v: v, out: out, self: os.Getenv("LONGTERM_SESSION"), bells: map[string]int{}, exits: map[string]*int{}}
	go func() {
		defer close(out)
		wait := minBackoff
		for ctx.Err() == nil {
			err := v.c.Events(ctx, func(e api.Event) error {
				if err := f.event(ctx, e); err != nil {
					return err
				}
				v.reach.markReachable()
				wait = minBackoff
				return nil
			})
			if err != nil {
				v.reach.markUnreachable()
				f.send(model.Update{Unavailable: disconnectReason(err)})
			}
			pause(ctx, wait)
			if v.host != "" {
				wait = min(2*wait, maxBackoff)
			}
		}
	}()
	return out
}

// disconnectReason describes why a daemon is unreachable.
func disconnectReason(err error) string {
	var e *api.Error
	if errors.As(err, &e) {
		return e.Message
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "connection lost"
	}
	return err.Error()
}

// feed converts events to lists of sessions. Its goroutine is the only sender.
type feed struct {
	v         source
	out       chan model.Update
	self      string        // session that the viewer runs in, which is not shown: the viewer would show itself
	all       []api.Session // all sessions
	bells     map[string]int
	exits     map[string]*int // exit status of the last long command of each shell
	approvals approvals       // pending approval requests
}

// send replaces an update that the viewer has not received yet: only the newest matters.
func (f *feed) send(u model.Update) {
	select {
	case <-f.out:
	default:
	}
	f.out <- u
}

// event applies an event.
func (f *feed) event(ctx context.Context, e api.Event) error {
	switch {
	case e.Kind == "config":
		f.v.options.reload()
		return nil
	case e.Arrange != nil:
		f.v.order(e.Arrange)
		return nil
	case e.Approval != nil:
		f.approvals.onEvent(e.Approval)
		if e.Session != nil {
			f.applyEvent(ctx, e)
		}
	case e.Kind == "listening" || e.Kind == "lost" || e.Session == nil:
		all, err := f.v.c.List(ctx)
		if err != nil {
			return err
		}
		waiting, err := f.v.pendingApprovals(ctx)
		if err != nil {
			return err
		}
		f.all = all
		f.approvals.load(waiting)
		f.lookUpExits(ctx)
	default:
		f.applyEvent(ctx, e)
	}
	var list []model.Session
	for i := range f.all {
		s := &f.all[i]
		waits := f.approvals.isPendingIn(s.ID)
		own := s.Labels[markLabel] == f.v.mark && (s.State != "running" || s.Needs == nil && !waits)
		if s.ID == f.self || own { // what a prompt runs is shown there, until it needs an answer
			continue
		}
		vs := viewSession(s)
		vs.Bells, vs.LastExit = f.bells[s.ID], f.exits[s.ID]
		if waits {
			vs.Needs = model.NeedsApproval
		}
		list = append(list, vs)
	}
	f.send(model.Update{Sessions: list, Approvals: f.approvals.pendingRequests(), Ended: slices.Clone(f.approvals.ended)})
	return nil
}

// maxExitLookups limits the sessions whose last command is read when the viewer starts; exitLookupsAtOnce limits the
// concurrent requests.
const maxExitLookups = 200

// exitLookupsAtOnce limits the concurrent requests: each takes a round trip.
const exitLookupsAtOnce = 16

// lookUpExits reads how the last commands of shells at their prompt ended, before the first event.
func (f *feed) lookUpExits(ctx context.Context) {
	left := maxExitLookups
	var asked sync.WaitGroup
	room, exits := make(chan struct{}, exitLookupsAtOnce), make([]*int, len(f.all))
	for i := range f.all {
		s := &f.all[i]
		if s.State != "running" || s.Shell == nil || s.Shell.Phase != "prompt" || f.exits[s.ID] != nil || left == 0 {
			continue
		}
		left--
		room <- struct{}{}
		asked.Go(func() {
			defer func() { <-room }()
			if c, err := f.v.c.Session(s.ID).Command(ctx, 0); err == nil { // else it has run none yet
				exits[i] = c.ExitCode
			}
		})
	}
	asked.Wait()
	for i, code := range exits {
		if code != nil {
			f.exits[f.all[i].ID] = code
		}
	}
}

// applyEvent applies an event to the list of sessions.
func (f *feed) applyEvent(ctx context.Context, e api.Event) {
	id := e.Session.ID
	at := slices.IndexFunc(f.all, func(s api.Session) bool { return s.ID == id })
	switch {
	case e.Kind == "removed":
		if at >= 0 {
			f.all = slices.Delete(f.all, at, at+1)
		}
		return
	case at < 0:
		f.all = append(f.all, *e.Session)
	default:
		f.all[at] = *e.Session
	}
	switch sh := e.Session.Shell; {
	case e.Kind == "bell":
		f.bells[id]++
	case sh == nil || e.Kind != "shell" && e.Kind != "command":
	case sh.Phase == "running":
		delete(f.exits, id)
	case f.exits[id] == nil: // the command has ended; its record has the result
		if c, err := f.v.c.Session(id).Command(ctx, 0); err == nil {
			f.exits[id] = c.ExitCode
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// viewSession returns a session in the viewer's form.
func viewSession(s *api.Session) model.Session {
	vs := model.Session{
		ID: s.ID, Name: s.Name, State: s.State, Command: s.Command, Cwd: s.Cwd, Size: s.Size,
		ExitCode: s.ExitCode, Signal: s.Signal, Stopped: s.Stopped, FullScreen: s.Alt,
		Started: s.Started, Draft: listing.DraftMark(s), PlaybackOf: s.Labels[pastLabel],
		NoAlerts: s.Temporary || s.Labels[api.HookLabel] != "" || s.Labels[api.KeptRunLabel] != "",
	}
	if vs.Started.IsZero() { // an older daemon's
		vs.Started = s.Created
	}
	if s.Ended != nil {
		vs.Ended = *s.Ended
	}
	if s.Needs != nil {
		if vs.Needs = s.Needs.Kind; s.Needs.Prompt {
			vs.Needs = "prompt"
		}
	}
	if a := s.AgentState; a != nil && a.State != "unknown" { // it knows better than the kernel
		vs.Agent = output.AgentText(a)
		vs.Needs = map[string]string{"needs_input": "an answer", "needs_approval": "permission"}[a.State]
	}
	if s.Progress != nil {
		vs.Progress = &model.Progress{State: s.Progress.State, Percent: s.Progress.Percent}
	}
	if a := s.Activity; a != nil {
		vs.Errors, vs.Warnings = a.Errors, a.Warnings
		if a.Due != nil && a.Running {
			vs.Due = *a.Due
		}
		if a.FirstError != nil {
			vs.FirstError = output.ProblemText(a.FirstError)
		}
	}
	if sh := s.Shell; sh != nil {
		vs.Phase = map[string]model.Phase{"prompt": model.PhasePrompt, "running": model.PhaseRunning}[sh.Phase]
		vs.ShellCommand, vs.Since = sh.Command, sh.Since
	}
	return vs
}

// New starts a session and returns its id.
func (v source) New(ctx context.Context, beside, dir, line string) (string, error) {
	n, err := ShellHere()
	if err != nil {
		return "", err
	}
	n.Line = line
	if beside != "" {
		s, err := v.c.Session(beside).Info(ctx)
		switch {
		case err != nil:
		case v.host != "":
			n.GivenCwd = s.Cwd
		case isDirectory(s.Cwd):
			n.Cwd = s.Cwd
		}
	}
	if dir != "" {
		if err := v.setStartDir(&n, dir); err != nil {
			return "", err
		}
	}
	s, err := v.c.NewSession(ctx, n)
	return s.ID, err
}

// setStartDir sets the directory in which a session starts. dir is relative to the default directory, or to the home
// directory with ~.
func (v source) setStartDir(n *api.NewSession, dir string) error {
	if v.host != "" {
		if dir[0] == '~' {
			return fmt.Errorf("%s on %s is unknown here; use an absolute path", dir, v.host)
		}
		if n.GivenCwd = path.Join(n.GivenCwd, dir); path.IsAbs(dir) {
			n.GivenCwd = dir
		}
		return nil
	}
	if rest, home := strings.CutPrefix(dir, "~"); home && (rest == "" || rest[0] == '/') {
		h, err := os.UserHomeDir()
		if err != nil {
			return err
		}
		dir = h + rest
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(n.Cwd, dir)
	}
	if !isDirectory(dir) {
		return fmt.Errorf("%s: directory not found", dir)
	}
	n.Cwd = filepath.Clean(dir)
	return nil
}

func isDirectory(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

func (v source) Kill(ctx context.Context, id string) error {
	_, err := v.c.Session(id).Kill(ctx, api.Kill{})
	return err
}
