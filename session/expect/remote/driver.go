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

// Driver implements expect.Driver with sessions of the daemon.
type Driver struct {
	client       *client.Client
	options      Options
	dialogue     *Dialogue
	reader       *reader
	session      *client.Session // current session
	cols         int             // width of the session
	startedIDs   []string        // ids of the started sessions
	usesExisting bool            // the session was not started by the driver (Join)
}

// Options configure how a driver starts programs.
type Options struct {
	// New has the defaults of each started session; a spawn overrides them.
	New api.NewSession
	// Secret returns the value of a reference to a secret.
	Secret func(ctx context.Context, ref string) ([]byte, error)
	// OnStarted is called with each started session.
	OnStarted func(api.Session)
}

// NewDriver returns a driver that starts programs in new sessions.
func NewDriver(c *client.Client, o Options) *Driver { return &Driver{client: c, options: o} }

// Join makes the driver use an existing session. The session's last line counts as unread.
func (d *Driver) Join(ctx context.Context, s *client.Session) error {
	info, err := s.Info(ctx)
	if err != nil {
		return err
	}
	const maxLine = 4 << 10 // searched for the start of the last line
	end := info.Output.End
	from := max(info.Output.Start, end-min(end, maxLine))
	o, err := s.Output(ctx, from, 0)
	if err != nil {
		return err
	}
	if i := bytes.LastIndexByte(o.Data, '\n'); i >= 0 {
		from = o.From + uint64(i) + 1
	}
	d.usesExisting = true
	d.useSession(ctx, s, from, info.Cols)
	return nil
}

// useSession makes a session the current one, and follows it from an offset on.
func (d *Driver) useSession(ctx context.Context, s *client.Session, from uint64, cols int) {
	if d.dialogue != nil {
		d.dialogue.Close()
	}
	d.session, d.cols = s, cols
	d.reader = &reader{expecter: respond.NewExpecter(0)}
	d.reader.expecter.SetWidth(cols)
	d.dialogue = Follow(context.WithoutCancel(ctx), s, from, d.reader)
}

// Close stops following the output. The sessions continue; Started returns their ids.
func (d *Driver) Close() {
	if d.dialogue != nil {
		d.dialogue.Close()
	}
}

// Started returns the ids of the started sessions.
func (d *Driver) Started() []string { return d.startedIDs }

// reader passes the events of a session to an Expecter.
type reader struct{ expecter *respond.Expecter }

// Output implements Listener.
func (r *reader) Output(off uint64, data []byte) { r.expecter.Output(time.Now(), off, data) }

// OnInput implements Listener.
func (r *reader) OnInput(in respond.Input, echo respond.EchoState) {
	r.expecter.SetEcho(echo)
	r.expecter.HandleInput(in)
}

// Spawn implements expect.Driver.
func (d *Driver) Spawn(ctx context.Context, p expect.Spawn) error {
	if d.usesExisting {
		return errors.New("the script is to talk to a session that lives; take its spawn away, or do not name a session")
	}
	n := d.options.New
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
	if len(d.startedIDs) > 0 {
		n.Name = "" // the first session has the name
	}
	info, err := d.client.NewSession(ctx, n)
	if err != nil {
		return err
	}
	d.startedIDs = append(d.startedIDs, info.ID)
	if d.options.OnStarted != nil {
		d.options.OnStarted(info)
	}
	d.useSession(ctx, d.client.Session(info.ID), 0, info.Cols)
	return nil
}

var errNoProgram = errors.New("no program: start with spawn, or name a session")

// Type implements expect.Driver.
func (d *Driver) Type(ctx context.Context, in expect.Input) error {
	if d.dialogue == nil {
		return errNoProgram
	}
	switch in.Kind {
	case expect.InputSecret:
		return d.typeSecret(ctx, in)
	case expect.InputPaste:
		return d.dialogue.Type(ctx, api.Input{Paste: &in.Value}, []byte(in.Value))
	case expect.InputText:
		return d.dialogue.Type(ctx, api.Input{Text: in.Value}, []byte(in.Value))
	}
	keys, err := input.ParseKeys(in.Value)
	if err != nil {
		return err
	}
	req := api.Input{}
	var data []byte
	for _, k := range keys {
		req.Keys = append(req.Keys, k.String())
		data = input.AppendKey(data, k, &vterm.Modes{}) // as in the echo
	}
	return d.dialogue.Type(ctx, req, data)
}

// echoOffGrace is how long a terminal may take to disable echo after its prompt.
const echoOffGrace = 3 * time.Second

// typeSecret types a secret once the terminal does not echo. It polls, because disabling echo causes no output.
func (d *Driver) typeSecret(ctx context.Context, in expect.Input) error {
	if d.options.Secret == nil {
		return fmt.Errorf("%s: secrets are not available here", in.Value)
	}
	value, err := d.options.Secret(ctx, in.Value)
	if err != nil {
		return err
	}
	deadline := time.Now().Add(echoOffGrace)
	for {
		err := d.dialogue.Type(ctx, api.Input{Data: value, Secret: true, Force: in.Force}, value)
		var e *api.Error
		if !errors.As(err, &e) || e.Code != api.CodeEcho {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%s was not sent: %s; with force: true it is sent anyway", in.Value, e.Message)
		}
		select {
		case <-time.After(retryInterval / 2):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Expect implements expect.Driver.
func (d *Driver) Expect(ctx context.Context, patterns []expect.Pattern) (expect.Match, error) {
	if d.dialogue == nil {
		return expect.Match{}, errNoProgram
	}
	w, err := newExpectation(patterns)
	if err != nil {
		return expect.Match{}, err
	}
	for {
		var m expect.Match
		var done bool
		var pause <-chan time.Time
		change, talkErr := d.dialogue.WithLock(func(ended bool) {
			m, done, err = w.find(d.reader.expecter, ended)
			if at, waits := d.reader.expecter.Next(); waits {
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

// expectation has the compiled patterns of an Expect.
type expectation struct {
	patterns    respond.Patterns
	scriptIndex []int // index in the caller's patterns, by index in patterns
	exitIndex   int   // index of the pattern for the program's end; -1: none
}

// newExpectation compiles patterns.
func newExpectation(patterns []expect.Pattern) (*expectation, error) {
	w := &expectation{exitIndex: -1}
	var list []respond.Pattern
	for i, p := range patterns {
		if p.Exit {
			w.exitIndex = i
			continue
		}
		list, w.scriptIndex = append(list, respond.Pattern{Text: p.Text, Regexp: p.Regexp}), append(w.scriptIndex, i)
	}
	var err error
	w.patterns, err = respond.Compile(list...)
	return w, err
}

// find searches the next match. done is false if there is none yet.
func (w *expectation) find(x *respond.Expecter, ended bool) (m expect.Match, done bool, err error) {
	if f, ok := x.Find(time.Now(), w.patterns, ended); ok {
		return expect.Match{Pattern: w.scriptIndex[f.Pattern], Text: f.Text, Groups: f.Groups, NamedGroups: f.NamedGroups}, true, nil
	}
	switch {
	case !ended:
		return m, false, nil
	case w.exitIndex >= 0:
		return expect.Match{Pattern: w.exitIndex}, true, nil
	}
	return m, false, expect.ErrExited
}

// State implements expect.Driver.
func (d *Driver) State(ctx context.Context) (expect.TerminalState, error) {
	if d.session == nil {
		return expect.TerminalState{}, errNoProgram
	}
	v, err := ExitState(ctx, d.session)
	if err != nil {
		return v, err
	}
	screen, err := d.session.ScreenAs(ctx, client.ScreenQuery{}, "text")
	v.Screen = string(bytes.TrimRight(screen, "\n"))
	return v, err
}

// ExitState returns the state of a session, without its screen.
func ExitState(ctx context.Context, s *client.Session) (expect.TerminalState, error) {
	info, err := s.Info(ctx)
	v := expect.TerminalState{Cwd: info.Cwd, Exited: info.State != "running"}
	switch {
	case info.Signal != "":
		v.ExitCode = 128 + int(unix.SignalNum(info.Signal))
	case info.ExitCode != nil:
		v.ExitCode = *info.ExitCode
	case v.Exited:
		v.ExitCode = -1 // unknown
	}
	return v, err
}
