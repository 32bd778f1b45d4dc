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

// pipeLabel is the label of sessions that run a pipe, with the id of the session whose output they are given.
const pipeLabel = tmuxcompat.PipeLabel

// pipeFlags are what `pipe` is told.
type pipeFlags struct {
	all, toggle, stop bool
	asking            request.AskFlags
}

// piped is a pipe that was begun or ended.
type piped struct {
	Session string `json:"session" doc:"whose output it is"`
	Pipe    string `json:"pipe" doc:"id of the session that runs the command"`
	Name    string `json:"pipe_name"`
	State   string `json:"state" enum:"running,ended"`
	Exit    *int   `json:"exit_code,omitempty" doc:"the command's status, of one that was ended; absent where a signal ended it"`
	Signal  string `json:"signal,omitempty" doc:"what ended a command that did not end with its input"`
}

// text says what became of the pipe.
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
	c.Long = `Give what a session prints from now on, byte for byte, to a command's standard input, until the session or the
command ends. The command runs in a session of its own, S-pipe, which is judged by the rules and outlives this
terminal; it sees everything, also what is printed while a daemon is replaced. One session may have several. When a pipe
is ended the command reads the end of its input, and gets a while to end by itself (exec.grace, and again after SIGTERM).

  longterm pipe build 'cat >>build.log'
  longterm pipe build --stop          end the session's pipes
  longterm pipe build -o 'cat >>log'  begin one if there is none, else end it (tmux's pipe-pane -o)`
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, args []string) error {
		switch {
		case p.stop && len(args) > 0:
			return exit.Usagef("--stop ends the pipes that there are; leave the command away")
		case !p.stop && len(args) == 0:
			return exit.Usagef("give the command as one argument, as in 'cat >>log', or --stop")
		case !p.stop && strings.TrimSpace(args[0]) == "":
			return exit.Usagef("the command is empty: give one that reads the output, as in 'cat >>log', or --stop")
		case a.host != "" && !p.stop: // it runs this program, in this directory
			return exit.Usagef("a pipe runs on the host of its session: longterm -H %s run --cwd DIRECTORY -- longterm pipe S COMMAND; from here --stop ends it", a.host)
		}
		done, err := a.pipe(cmd.Context(), s, args, &p)
		if err != nil {
			return exit.Judged(err)
		}
		return a.Print(done, func(w io.Writer) {
			for i := range done {
				fmt.Fprintf(w, "%s %s\n", done[i].Name, done[i].text())
			}
		})
	})
	f := c.Flags()
	f.BoolVar(&p.all, "all", false, "begin with the oldest output that is kept, not with what comes now")
	f.BoolVarP(&p.toggle, "toggle", "o", false, "end the session's pipes if there are any, instead of beginning one")
	f.BoolVar(&p.stop, "stop", false, "end the session's pipes")
	p.asking.Register(c, &a.agent)
}

// pipe begins or ends pipes of a session.
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
		return nil, api.Errorf(api.CodeEnded, "session %s has ended and prints nothing more", info.Name).WithHint("--all gives the command what it printed")
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

// mostPipes bounds the pipes of one session.
const mostPipes = 50

// pipeStart starts our own output verb with the command behind it, on pipes. The command stands in the
// line as it was given, so that rules see it. An interrupt, with which a pipe is ended, is for the verb alone: the command
// reads the end of its input then, and ends in its own way and with its own status.
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
		Labels: map[string]string{pipeLabel: info.ID}, Asking: p.asking.Asking(),
	}, nil
}
