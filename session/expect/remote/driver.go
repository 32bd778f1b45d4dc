//go:build unix

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/respond"
	"github.com/longterm-dev/longterm/vterm"
	"github.com/longterm-dev/longterm/vterm/input"
)

// Driver is a terminal in the daemon that a script talks to.
type Driver struct {
	c      *client.Client
	o      Options
	talk   *Talk
	x      *reader
	s      *client.Session
	cols   int
	begun  []string // ids of the sessions that were started
	living bool     // the session is not ours
}

// Options configure how a driver starts programs.
type Options struct {
	// New is what every session is started with; the script adds to it.
	New api.NewSession
	// Secret returns the value of a reference.
	Secret func(ctx context.Context, ref string) ([]byte, error)
	// Started receives each session that is started.
	Started func(api.Session)
}

// NewDriver makes a driver that starts programs in new sessions.
func NewDriver(c *client.Client, o Options) *Driver { return &Driver{c: c, o: o} }

// Join makes the driver use an existing session. Its last line counts as unread.
func (d *Driver) Join(ctx context.Context, s *client.Session) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	const reach = 4 << 10
	end := info.Output.End
	from := max(info.Output.Start, end-min(end, reach))
	o, err := s.Output(ctx, from, 0)
	if err != nil {
		return err
	}
	if i := bytes.LastIndexByte(o.Data, '\n'); i >= 0 {
		from = o.From + uint64(i) + 1
	}
	d.living = true
	d.begin(ctx, s, from, info.Cols)
	return nil
}

// begin makes a session the current one.
func (d *Driver) begin(ctx context.Context, s *client.Session, from uint64, cols int) {
	if d.talk != nil {
		d.talk.Close()
	}
	d.s, d.cols = s, cols
	d.x = &reader{x: respond.NewExpecter(0)}
	d.x.x.Size(cols)
	d.talk = Follow(context.WithoutCancel(ctx), s, from, d.x)
}

// Close stops following the output. The sessions continue; Started returns their ids.
func (d *Driver) Close() {
	if d.talk != nil {
		d.talk.Close()
	}
}

// Started returns the ids of the started sessions.
func (d *Driver) Started() []string { return d.begun }

// reader reads the output as a script does.
type reader struct{ x *respond.Expecter }

func (r *reader) Output(off uint64, data []byte) { r.x.Output(time.Now(), off, data) }

func (r *reader) OnInput(in respond.Input, echo respond.EchoState) {
	r.x.Echo(echo)
	r.x.HandleInput(in)
}

// Spawn implements expect.Driver.
func (d *Driver) Spawn(ctx context.Context, p expect.Spawn) error {
	if d.living {
		return errors.New("the script is to talk to a session that lives; take its spawn away, or do not name a session")
	}
	n := d.o.New
	n.Argv, n.Line = p.Argv, p.Line
	if p.Cwd != "" {
		if !filepath.IsAbs(p.Cwd) {
			p.Cwd = filepath.Join(n.Cwd, p.Cwd)
		}
		n.Cwd = p.Cwd
	}
	for name, v := range p.Env {
		n.SetEnv = append(n.SetEnv, name+"="+v)
	}
	if p.Cols > 0 {
		n.Cols = p.Cols
	}
	if p.Rows > 0 {
		n.Rows = p.Rows
	}
	if len(d.begun) > 0 {
		n.Name = "" // the first one has the name
	}
	info, err := d.c.NewSession(ctx, n)
	if err != nil {
		return err
	}
	d.begun = append(d.begun, info.ID)
	if d.o.Started != nil {
		d.o.Started(info)
	}
	d.begin(ctx, d.c.Session(info.ID), 0, info.Cols)
	return nil
}

var errNothing = errors.New("no program: start with spawn, or name a session")

// Type implements expect.Driver.
func (d *Driver) Type(ctx context.Context, in expect.Input) error {
	if d.talk == nil {
		return errNothing
	}
	switch in.Kind {
	case expect.InputSecret:
		return d.typeSecret(ctx, in)
	case expect.InputPaste:
		return d.talk.Type(ctx, api.Input{Paste: &in.Value}, []byte(in.Value))
	case expect.InputText:
		return d.talk.Type(ctx, api.Input{Text: in.Value}, []byte(in.Value))
	}
	keys, err := input.ParseKeys(in.Value)
	if err != nil {
		return err
	}
	req := api.Input{}
	var data []byte
	for _, k := range keys {
		req.Keys = append(req.Keys, k.String())
		data = input.AppendKey(data, k, &vterm.Modes{}) // as echo shows it
	}
	return d.talk.Type(ctx, req, data)
}

// secretGrace is how long a terminal may take to turn its echo off after its prompt.
const secretGrace = 3 * time.Second

// typeSecret waits until the terminal does not echo: that makes no output.
func (d *Driver) typeSecret(ctx context.Context, in expect.Input) error {
	if d.o.Secret == nil {
		return fmt.Errorf("%s: secrets are not available here", in.Value)
	}
	value, err := d.o.Secret(ctx, in.Value)
	if err != nil {
		return err
	}
	late := time.Now().Add(secretGrace)
	for {
		err := d.talk.Type(ctx, api.Input{Data: value, Secret: true, Force: in.Force}, value)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeEcho {
			return err
		}
		if time.Now().After(late) {
			return fmt.Errorf("%s was not sent: %s; with force: true it is sent anyway", in.Value, e.Message)
		}
		select {
		case <-time.After(retryTime / 2):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Expect implements expect.Driver.
func (d *Driver) Expect(ctx context.Context, patterns []expect.Pattern) (expect.Match, error) {
	if d.talk == nil {
		return expect.Match{}, errNothing
	}
	w, err := newWanted(patterns)
	if err != nil {
		return expect.Match{}, err
	}
	for {
		var m expect.Match
		var done bool
		var pause <-chan time.Time
		change, talkErr := d.talk.WithLock(func(ended bool) {
			m, done, err = w.look(d.x.x, ended)
			if at, waits := d.x.x.Next(); waits {
				pause = time.After(time.Until(at))
			}
		})
		if done || err != nil {
			return m, errors.Join(err, talkErr)
		}
		select {
		case <-change:
		case <-pause:
		case <-ctx.Done():
			return expect.Match{}, ctx.Err()
		}
	}
}

// wanted is what an expectation looks for.
type wanted struct {
	patterns respond.Patterns
	index    []int // in the script's list
	exit     int   // index of the program's end there; -1: it is not wanted
}

func newWanted(patterns []expect.Pattern) (*wanted, error) {
	w := &wanted{exit: -1}
	var list []respond.Pattern
	for i, p := range patterns {
		if p.Exit {
			w.exit = i
			continue
		}
		list, w.index = append(list, respond.Pattern{Text: p.Text, Regexp: p.Regexp}), append(w.index, i)
	}
	var err error
	w.patterns, err = respond.Compile(list...)
	return w, err
}

func (w *wanted) look(x *respond.Expecter, ended bool) (m expect.Match, done bool, err error) {
	if f, ok := x.Find(time.Now(), w.patterns, ended); ok {
		return expect.Match{Pattern: w.index[f.Pattern], Text: f.Text, Groups: f.Groups, Names: f.Names}, true, nil
	}
	switch {
	case !ended:
		return m, false, nil
	case w.exit >= 0:
		return expect.Match{Pattern: w.exit}, true, nil
	}
	return m, false, expect.ErrExited
}

// Look implements expect.Driver.
func (d *Driver) Look(ctx context.Context) (expect.View, error) {
	if d.s == nil {
		return expect.View{}, errNothing
	}
	v, err := Exit(ctx, d.s)
	if err != nil {
		return v, err
	}
	screen, err := d.s.ScreenAs(ctx, client.ScreenQuery{}, "text")
	v.Screen = string(bytes.TrimRight(screen, "\n"))
	return v, err
}

// Exit returns the state of a session, without its screen.
func Exit(ctx context.Context, s *client.Session) (expect.View, error) {
	info, err := s.Info(ctx)
	v := expect.View{Cwd: info.Cwd, Exited: info.State != "running"}
	switch {
	case info.Signal != "":
		v.ExitCode = 128 + int(unix.SignalNum(info.Signal))
	case info.ExitCode != nil:
		v.ExitCode = *info.ExitCode
	case v.Exited:
		v.ExitCode = -1 // it was not seen
	}
	return v, err
}
