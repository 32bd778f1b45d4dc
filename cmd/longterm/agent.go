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
		Use: "install PROGRAM", Short: "Set up an agent's program to use longterm", Args: cobra.ExactArgs(1),
		ValidArgs: integrations.Names(),
		Long: "Add longterm to this user's configuration of an agent's program: the MCP server, hooks that report the agent's\n" +
			"state, and a skill file. The command shows the change and asks before it writes. Other entries, comments and\n" +
			"their order are kept; a backup of each file is written beside it (.longterm-backup).\n\n" +
			"  longterm agent install " + integrations.Names()[0] + "\n\n" +
			"Programs: " + strings.Join(integrations.Names(), ", ") + ".",
	})
	f := c.Flags()
	f.BoolVar(&r.Undo, "undo", false, "remove longterm from the configuration")
	f.BoolVarP(&r.Yes, "yes", "y", false, "no confirmation")
	f.BoolVar(&r.DryRun, "dry-run", false, "only show the change")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if r.Yes && r.DryRun {
			return exit.Usagef("--yes and --dry-run exclude each other")
		}
		if !r.DryRun {
			if err := a.requireUser(cmd.Context(), "changing the configuration of programs"); err != nil {
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
		Use: "skill", Short: "Print instructions for models that only have a shell", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := integrations.SkillText
			return a.Print(struct {
				Skill string `json:"skill"`
			}{text}, func(w io.Writer) { fmt.Fprint(w, text) })
		},
	})
}
