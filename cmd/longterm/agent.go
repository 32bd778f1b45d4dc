package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/integrate"
	"github.com/longterm-dev/longterm/session/integrations"
)

func agentVerb(a *app, c *cobra.Command) {
	c.AddCommand(agentHook(a), agentInstall(a), agentSkill(a))
}

func agentInstall(a *app) *cobra.Command {
	r := integrate.Run{Printer: &a.Printer}
	c := a.JSONFlag(&cobra.Command{
		Use: "install PROGRAM", Short: "Put longterm into the configuration of an agent's program", Args: cobra.ExactArgs(1),
		ValidArgs: integrations.Names(),
		Long: "Put longterm into the configuration of an agent's program, of this user: the MCP server, hooks that tell what\n" +
			"the agent is doing, and a skill file. The change is shown, and made when it is agreed to. What is there already\n" +
			"stays as it is, with its comments and order; what there was before is kept beside it (.longterm-backup).\n" +
			"Programs: " + strings.Join(integrations.Names(), ", ") + ".",
	})
	f := c.Flags()
	f.BoolVar(&r.Undo, "undo", false, "take it out again")
	f.BoolVarP(&r.Yes, "yes", "y", false, "do not ask")
	f.BoolVar(&r.DryRun, "dry-run", false, "show the change, and change nothing")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if r.Yes && r.DryRun {
			return exit.Usagef("--yes and --dry-run: give one of them")
		}
		if !r.DryRun {
			if err := a.personOnly(cmd.Context(), "changing the configuration of programs"); err != nil {
				return err
			}
		}
		r.Program, r.Stdin, r.JSON = args[0], a.stdin, a.JSON
		r.Terminal = term.IsTerminal(int(a.stdin.Fd()))
		return r.Do()
	}
	return c
}

func agentSkill(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "skill", Short: "Print how longterm is used, for a model that only has a shell", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := integrations.SkillText
			return a.Print(struct {
				Skill string `json:"skill"`
			}{text}, func(w io.Writer) { fmt.Fprint(w, text) })
		},
	})
}
