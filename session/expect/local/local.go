// Package local drives programs of this process for scripts: no daemon, no keeper. A Driver has
// one program at a time; what a script spawns ends the one before.
package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/expect"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/sys"
)

// Driver is an expect.Driver whose programs run inside this process (program.Start).
type Driver struct {
	// Cmd holds defaults for Spawn: directory, environment, size, engine.
	Cmd program.Cmd
	// Secret returns the value of a reference. If nil, secrets are not supported.
	Secret func(ctx context.Context, ref string) ([]byte, error)

	p *program.Program
}

var _ expect.Driver = (*Driver)(nil)

var errNotStarted = errors.New("no program started: start with spawn")

// Program returns the program that was started last, or nil.
func (d *Driver) Program() *program.Program { return d.p }

// Close ends the program.
func (d *Driver) Close() error {
	if d.p == nil {
		return nil
	}
	return d.p.Close()
}

// Spawn implements Driver. The program before is ended.
func (d *Driver) Spawn(ctx context.Context, s expect.Spawn) error {
	if err := d.Close(); err != nil {
		return err
	}
	c := d.Cmd
	c.Argv, c.Line, c.Dir = s.Argv, s.Line, cmp.Or(s.Cwd, c.Dir)
	c.Cols, c.Rows = cmp.Or(s.Cols, c.Cols), cmp.Or(s.Rows, c.Rows)
	c.SetEnv = slices.Clone(c.SetEnv)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		c.SetEnv = append(c.SetEnv, name+"="+s.Env[name])
	}
	p, err := program.Start(context.WithoutCancel(ctx), c) // a step's deadline is not the program's
	if err == nil {
		d.p = p
	}
	return err
}

// Type implements Driver.
func (d *Driver) Type(ctx context.Context, in expect.Input) error {
	if d.p == nil {
		return errNotStarted
	}
	switch in.Kind {
	case expect.InputKeys:
		return d.p.Keys(in.Value)
	case expect.InputPaste:
		return d.p.Paste(in.Value)
	case expect.InputSecret:
		return d.typeSecret(ctx, in)
	}
	return d.p.Send(in.Value)
}

func (d *Driver) typeSecret(ctx context.Context, in expect.Input) error {
	if d.Secret == nil {
		return fmt.Errorf("the secret %s is not there", in.Value)
	}
	secret, err := d.Secret(ctx, in.Value)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", in.Value, err)
	}
	if in.Force {
		return d.p.Send(string(secret))
	}
	return d.p.Secret(ctx, secret)
}

// Expect implements Driver.
func (d *Driver) Expect(ctx context.Context, patterns []expect.Pattern) (expect.Match, error) {
	if d.p == nil {
		return expect.Match{}, errNotStarted
	}
	var list []program.Pattern
	for _, p := range patterns {
		list = append(list, program.Pattern(p))
	}
	m, err := d.p.Expect(ctx, list...)
	var unmet *program.ExpectError
	switch {
	case errors.Is(err, session.ErrEnded):
		err = expect.ErrExited
	case errors.As(err, &unmet): // a report shows the screen in its own place
		err = unmet.Err
	}
	return expect.Match(m), err
}

// Look implements Driver.
func (d *Driver) Look(context.Context) (expect.View, error) {
	if d.p == nil {
		return expect.View{}, errNotStarted
	}
	screen := d.p.Screen()
	st := d.p.Session().Status()
	v := expect.View{Screen: trimLast(screen.Text()), Cwd: cwd(&st), Exited: st.State != session.Running}
	if st.Exit != nil {
		v.ExitCode = st.Exit.Code
		if st.Exit.Number > 0 {
			v.ExitCode = 128 + st.Exit.Number
		}
	}
	return v, nil
}

// cwd returns the program's directory: as it reported it, or as the kernel knows it.
func cwd(st *session.Status) string {
	if st.Cwd != "" {
		return st.Cwd
	}
	dir, _ := sys.Cwd(st.PID) // "" when it has ended
	return dir
}

func trimLast(s string) string {
	if n := len(s); n > 0 && s[n-1] == '\n' {
		return s[:n-1]
	}
	return s
}
