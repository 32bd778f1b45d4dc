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

// hookTime bounds how long an agent waits for its hook.
const hookTime = 2 * time.Second

// hookSession is where a hook finds the session that its agent runs in.
const hookSession = "LONGTERM_SESSION"

// agentHook is what agents' hooks call. It never fails them and prints nothing: what a hook prints, and
// how it ends, means something to agents.
func agentHook(a *app) *cobra.Command {
	var of string
	var strict bool
	c := &cobra.Command{
		Use: "hook [EVENT] [JSON]", Short: "Tell the session how the agent in it gets on; for agents' hooks", Args: cobra.MaximumNArgs(2),
		Long: `Tell the session that the agent runs in (LONGTERM_SESSION) what its hook was told: EVENT, by the agent's own
name or as prompt, permission, notification or stop, and the event's JSON, from standard input or as an argument.
Outside of a session nothing is done. Nothing is printed and the exit status is 0 whatever happens, so that no
agent is held up; --strict tells what went wrong.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.tellHook(cmd.Context(), of, args)
			if !strict {
				return nil
			}
			return err
		},
	}
	c.Flags().StringVar(&of, "of", "", "which agent: "+strings.Join(agentstate.Names(), ", ")+"; default: as the event says, or what runs")
	c.Flags().BoolVar(&strict, "strict", false, "fail where something is wrong")
	return c
}

func (a *app) tellHook(ctx context.Context, of string, args []string) error {
	session := os.Getenv(hookSession)
	if session == "" {
		return exit.Usagef("this is no session of longterm (LONGTERM_SESSION is not set)")
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
	// What was done stays where it was: only what says how the agent is goes on.
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
