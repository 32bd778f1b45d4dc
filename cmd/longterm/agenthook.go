//go:build unix

package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/session/agentstate"
	"github.com/longterm-dev/longterm/session/api"
)

// hookTime limits how long an agent waits for its hook.
const hookTime = 2 * time.Second

// hookSession is the variable that names the session in which the agent and its hook run.
const hookSession = "LONGTERM_SESSION"

// agentHook returns the verb that agents' hooks call. It prints nothing and always exits with status 0 (without
// --strict), because agents interpret a hook's output and exit status.
func agentHook(a *app) *cobra.Command {
	var of string
	var strict bool
	c := &cobra.Command{
		Use: "hook [EVENT] [JSON]", Short: "Report agent state to the session", Args: cobra.MaximumNArgs(2),
		Long: `Report an event of an agent's hook to the session that the agent runs in (LONGTERM_SESSION). EVENT is the
agent's own name of the event, or prompt, permission, notification or stop. The event's JSON is an argument or
standard input. ` + "`longterm agent install`" + ` sets these hooks up; a call by hand looks like this:

  longterm agent hook stop --of claude < /dev/null

Outside a session the command does nothing. It prints nothing and exits with status 0 even on failure, so that
the agent is never blocked; --strict reports failures.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.reportHook(cmd.Context(), of, args)
			if !strict {
				return nil
			}
			return err
		},
	}
	c.Flags().StringVar(&of, "of", "", "agent `NAME`: "+strings.Join(agentstate.Names(), ", ")+" (default: taken from the event or the running program)")
	c.Flags().BoolVar(&strict, "strict", false, "exit status 1 or 2 and a message on failure")
	return c
}

// reportHook sends the hook's event to the daemon. It returns an error outside of a session.
func (a *app) reportHook(ctx context.Context, of string, args []string) error {
	session := os.Getenv(hookSession)
	if session == "" {
		return exit.Usagef("not in a longterm session (LONGTERM_SESSION is not set)")
	}
	var e api.AgentEvent
	e.Agent = of
	var data []byte
	for _, arg := range args {
		if strings.HasPrefix(strings.TrimSpace(arg), "{") {
			data = []byte(arg)
			continue
		}
		e.Event = arg
	}
	if data == nil {
		var err error
		if data, err = io.ReadAll(io.LimitReader(a.stdin, agentstate.MaxHook+1)); err != nil {
			return err
		}
	}
	hook, err := agentstate.ReadHook(of, e.Event, data)
	if err != nil {
		return exit.Usage(err)
	}
	// Only the agent's state leaves this process: Brief drops commands, file contents and answers.
	if e.Data, err = json.Marshal(hook.Brief()); err != nil {
		return err
	}
	e.Agent = hook.Agent
	b, err := a.connect()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hookTime)
	defer cancel()
	_, err = b.quiet.Session(session).AgentEvent(ctx, e)
	return err
}
