//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/tmuxcompat"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// pipeLabel is the label of sessions that run a pipe. Its value is the id of the session that is read.
const pipeLabel = tmuxcompat.PipeLabel

// pipeFlags holds the flags of `pipe`.
type pipeFlags struct {
	all, toggle, stop bool
	asking            request.ApprovalFlags
}

// piped is a started or ended pipe.
type piped struct {
	Session string `json:"session" doc:"id of the session whose output is read"`
	Pipe    string `json:"pipe" doc:"id of the session that runs the command"`
	Name    string `json:"pipe_name"`
	State   string `json:"state" enum:"running,ended"`
	Exit    *int   `json:"exit_code,omitempty" doc:"exit status of an ended pipe's command; absent if a signal ended it"`
	Signal  string `json:"signal,omitempty" doc:"signal that ended the command"`
}

// text returns the pipe's state as text.
func (d *piped) text() string {
	switch {
	case d.Signal != "":
		return d.State + ", by " + d.Signal
	case d.Exit != nil && *d.Exit != 0:
		return fmt.Sprintf("%s, exit %d", d.State, *d.Exit)
	}
	return d.State
}

func pipeVerb(a *app, c *cobra.Command) {
	var p pipeFlags
	c.Long = `Pass a session's new output, unchanged, to a command's standard input, until the session or the command ends.

  longterm pipe build 'cat >>build.log'
  longterm pipe build --stop          # end the session's pipes
  longterm pipe build -o 'cat >>log'  # start a pipe, or end existing ones (tmux's pipe-pane -o)

The command runs in a new session, S-pipe, which the policy checks and which survives this terminal. It receives
all output, also while the daemon is replaced. A session may have several pipes. When a pipe ends, the command
gets the end of its input and has the grace time to exit (exec.grace, and again after SIGTERM).`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		switch {
		case p.stop && len(args) > 0:
			return exit.Usagef("--stop excludes COMMAND")
		case !p.stop && len(args) == 0:
			return exit.Usagef("COMMAND missing; put it into one argument, as in 'cat >>log', or use --stop")
		case !p.stop && strings.TrimSpace(args[0]) == "":
			return exit.Usagef("COMMAND empty; use a command that reads the output, as in 'cat >>log', or --stop")
		case a.host != "" && !p.stop: // the pipe runs this program, in this directory
			return exit.Usagef("a pipe runs on its session's host; use `longterm -H %s run --cwd DIRECTORY -- longterm pipe S COMMAND` (--stop works from here)", a.host)
		}
		done, err := a.pipe(cmd.Context(), s, args, &p)
		if err != nil {
			return exit.FromPolicy(err)
		}
		return a.Print(done, func(w io.Writer) {
			for i := range done {
				fmt.Fprintf(w, "%s %s\n", done[i].Name, done[i].text())
			}
		})
	})
	f := c.Flags()
	f.BoolVar(&p.all, "all", false, "start at the oldest stored output instead of new output")
	f.BoolVarP(&p.toggle, "toggle", "o", false, "end the session's pipes if it has any, else start one")
	f.BoolVar(&p.stop, "stop", false, "end the session's pipes")
	p.asking.Register(c, &a.agent)
}

// pipe starts or ends pipes of a session.
func (a *app) pipe(ctx context.Context, s *client.Session, args []string, p *pipeFlags) ([]piped, error) {
	info, err := s.Info(ctx)
	if err != nil {
		return nil, err
	}
	b, err := a.connect()
	if err != nil {
		return nil, err
	}
	done := []piped{}
	if p.stop || p.toggle {
		list, err := b.client.List(ctx, pipeLabel+"="+info.ID)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if list[i].State != "running" {
				continue
			}
			end, err := b.client.Session(list[i].ID).Kill(ctx, api.Kill{})
			if err != nil {
				return done, err
			}
			done = append(done, piped{info.ID, list[i].ID, list[i].Name, "ended", end.ExitCode, end.Signal})
		}
		if p.stop || len(done) > 0 {
			return done, nil
		}
	}
	if info.State != "running" && !p.all {
		return nil, api.Errorf(api.CodeEnded, "session %s has ended: no new output", info.Name).WithHint("use --all for its stored output")
	}
	n, err := pipeStart(&info, args[0], p)
	if err != nil {
		return nil, err
	}
	base := info.Name[:min(len(info.Name), 110)] + "-pipe"
	for i := 1; ; i++ {
		if n.Name = base; i > 1 {
			n.Name += "-" + strconv.Itoa(i)
		}
		run, err := b.client.NewSession(ctx, n)
		var refused *api.Error
		if errors.As(err, &refused) && refused.Code == api.CodeNameTaken && i < mostPipes {
			continue
		}
		if err != nil {
			return nil, err
		}
		return []piped{{Session: info.ID, Pipe: run.ID, Name: run.Name, State: "running"}}, nil
	}
}

// mostPipes limits the pipes of one session.
const mostPipes = 50

// pipeStart returns the session that runs our own output verb and pipes it into command. The line contains command
// unchanged, so that policy rules see it. The interrupt that ends a pipe reaches the verb alone: the command then reads
// the end of its input and exits by itself, with its own status.
func pipeStart(info *api.Session, command string, p *pipeFlags) (api.NewSession, error) {
	self, err := os.Executable()
	if err != nil {
		return api.NewSession{}, err
	}
	cwd, err := filepath.Abs("")
	if err != nil {
		return api.NewSession{}, err
	}
	from := info.Output.End
	if p.all {
		from = info.Output.Start
	}
	line := fmt.Sprintf("trap '' INT; (trap - INT; exec %s output %s --raw --follow --from %d) | {\n%s\n}", shellquote.Line([]string{self}), info.ID, from, command)
	return api.NewSession{
		Argv: []string{"sh", "-c", line}, Cwd: cwd, Env: os.Environ(), Pipe: true, Temporary: true,
		Labels: map[string]string{pipeLabel: info.ID}, ApprovalOptions: p.asking.Options(),
	}, nil
}
