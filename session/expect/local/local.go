// Package local runs the programs of a script in this process: no daemon, no keeper. A Driver has one program at a time;
// a spawn ends the program before it.
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
	// Secret returns the value of a reference to a secret. If nil, secrets are not supported.
	Secret func(ctx context.Context, ref string) ([]byte, error)

	program *program.Program
}

var _ expect.Driver = (*Driver)(nil)

var errNotStarted = errors.New("no program started: start with spawn")

// Program returns the last started program, or nil.
func (d *Driver) Program() *program.Program { return d.program }

// Close ends the program.
func (d *Driver) Close() error {
	if d.program == nil {
		return nil
	}
	return d.program.Close()
}

// Spawn implements expect.Driver. It ends the previous program.
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
	p, err := program.Start(context.WithoutCancel(ctx), c) // the program outlives the step
	if err == nil {
		d.program = p
	}
	return err
}

// Type implements expect.Driver.
func (d *Driver) Type(ctx context.Context, in expect.Input) error {
	if d.program == nil {
		return errNotStarted
	}
	switch in.Kind {
	case expect.InputKeys:
		return d.program.Keys(in.Value)
	case expect.InputPaste:
		return d.program.Paste(in.Value)
	case expect.InputSecret:
		return d.typeSecret(ctx, in)
	}
	return d.program.Send(in.Value)
}

// typeSecret types a secret once echo is off, or at once if forced.
func (d *Driver) typeSecret(ctx context.Context, in expect.Input) error {
	if d.Secret == nil {
		return fmt.Errorf("the secret %s is not there", in.Value)
	}
	secret, err := d.Secret(ctx, in.Value)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", in.Value, err)
	}
	if in.Force {
		return d.program.Send(string(secret))
	}
	return d.program.Secret(ctx, secret)
}

// Expect implements expect.Driver.
func (d *Driver) Expect(ctx context.Context, patterns []expect.Pattern) (expect.Match, error) {
	if d.program == nil {
		return expect.Match{}, errNotStarted
	}
	var list []program.Pattern
	for _, p := range patterns {
		list = append(list, program.Pattern(p))
	}
	m, err := d.program.Expect(ctx, list...)
	var unmet *program.ExpectError
	switch {
	case errors.Is(err, session.ErrEnded):
		err = expect.ErrExited
	case errors.As(err, &unmet): // the report has the screen in its own field
		err = unmet.Err
	}
	return expect.Match(m), err
}

// State implements expect.Driver.
func (d *Driver) State(context.Context) (expect.TerminalState, error) {
	if d.program == nil {
		return expect.TerminalState{}, errNotStarted
	}
	screen := d.program.Screen()
	st := d.program.Session().Status()
	v := expect.TerminalState{Screen: trimNewline(screen.Text()), Cwd: workingDir(&st), Exited: st.State != session.Running}
	if st.Exit != nil {
		v.ExitCode = st.Exit.Code
		if st.Exit.Number > 0 {
			v.ExitCode = 128 + st.Exit.Number
		}
	}
	return v, nil
}

// workingDir returns the program's working directory: as it reported, or else from the kernel.
func workingDir(st *session.Status) string {
	if st.Cwd != "" {
		return st.Cwd
	}
	dir, _ := sys.Cwd(st.PID) // "" after its end
	return dir
}

// trimNewline removes one newline at the end of s.
func trimNewline(s string) string {
	if n := len(s); n > 0 && s[n-1] == '\n' {
		return s[:n-1]
	}
	return s
}
