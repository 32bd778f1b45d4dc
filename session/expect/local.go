package expect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/program"
	"github.com/longterm-dev/longterm/session/sys"
)

// Local is a Driver whose programs run inside this process (program.Start).
type Local struct {
	// Cmd is what a Spawn begins with: directory, environment, size, engine.
	Cmd program.Cmd
	// Secret fetches the value of a reference; nil: there are no secrets.
	Secret func(ctx context.Context, ref string) ([]byte, error)

	p *program.Program
}

var _ Driver = (*Local)(nil)

var errNotStarted = errors.New("nothing was started; a script begins with spawn")

// Program is the one that was started last; nil: none was.
func (l *Local) Program() *program.Program { return l.p }

// Close ends the program.
func (l *Local) Close() error {
	if l.p == nil {
		return nil
	}
	return l.p.Close()
}

// Spawn implements Driver. The program before is ended.
func (l *Local) Spawn(ctx context.Context, s Spawn) error {
	if err := l.Close(); err != nil {
		return err
	}
	c := l.Cmd
	c.Argv, c.Line, c.Dir = s.Argv, s.Line, cmp.Or(s.Cwd, c.Dir)
	c.Cols, c.Rows = cmp.Or(s.Cols, c.Cols), cmp.Or(s.Rows, c.Rows)
	c.SetEnv = slices.Clone(c.SetEnv)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		c.SetEnv = append(c.SetEnv, name+"="+s.Env[name])
	}
	p, err := program.Start(context.WithoutCancel(ctx), c) // a step's deadline is not the program's
	if err == nil {
		l.p = p
	}
	return err
}

// Type implements Driver.
func (l *Local) Type(ctx context.Context, in Input) error {
	if l.p == nil {
		return errNotStarted
	}
	switch in.Kind {
	case InputKeys:
		return l.p.Keys(in.Value)
	case InputPaste:
		return l.p.Paste(in.Value)
	case InputSecret:
		return l.typeSecret(ctx, in)
	}
	return l.p.Send(in.Value)
}

func (l *Local) typeSecret(ctx context.Context, in Input) error {
	if l.Secret == nil {
		return fmt.Errorf("the secret %s is not there", in.Value)
	}
	secret, err := l.Secret(ctx, in.Value)
	if err != nil {
		return fmt.Errorf("the secret %s: %w", in.Value, err)
	}
	if in.Force {
		return l.p.Send(string(secret))
	}
	return l.p.Secret(ctx, secret)
}

// Expect implements Driver.
func (l *Local) Expect(ctx context.Context, patterns []Pattern) (Match, error) {
	if l.p == nil {
		return Match{}, errNotStarted
	}
	var list []program.Pattern
	for _, p := range patterns {
		list = append(list, program.Pattern(p))
	}
	m, err := l.p.Expect(ctx, list...)
	var unmet *program.ExpectError
	switch {
	case errors.Is(err, session.ErrEnded):
		err = ErrExited
	case errors.As(err, &unmet): // a report shows the screen in its own place
		err = unmet.Err
	}
	return Match(m), err
}

// Look implements Driver.
func (l *Local) Look(context.Context) (View, error) {
	if l.p == nil {
		return View{}, errNotStarted
	}
	screen := l.p.Screen()
	st := l.p.Session().Status()
	v := View{Screen: trimLast(screen.Text()), Cwd: cwd(&st), Exited: st.State != session.Running}
	if st.Exit != nil {
		v.ExitCode = st.Exit.Code
		if st.Exit.Number > 0 {
			v.ExitCode = 128 + st.Exit.Number
		}
	}
	return v, nil
}

// cwd is where the program is: as it said itself, or as the kernel says where that can be
// asked.
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
