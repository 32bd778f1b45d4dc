package main

import (
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/exit"
	"github.com/longterm-dev/longterm/cmd/longterm/internal/output"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/paths"
	"github.com/longterm-dev/longterm/session/spelling"
)

// app is what the verbs share.
type app struct {
	output.Printer
	stdin    *os.File
	starts   bool             // the verb called may start the daemon
	config   *config.Settings // read on first use
	platform                  // what only some systems have
}

func newApp() *app {
	return &app{stdin: os.Stdin, Printer: output.Printer{Stdout: os.Stdout, Stderr: os.Stderr}}
}

func rootCommand(a *app, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "longterm",
		Short: "Terminals that outlive everything, for people and programs",
		Long: `longterm keeps terminals alive and makes them usable by programs.

Without a verb it opens the viewer, starting a shell if there is no session.
A session S is named by its id, its name, or a unique prefix of either.

Exit status: 0 success, 1 failure, 2 wrong usage, 3 no such session,
4 conflict (ambiguous, name taken, already ended), 5 daemon unreachable,
124 timeout, 130 interrupted; run and exec exit with the command's own status,
128+N when signal N ended it, or with 112 to 122 when it was refused (docs/errors.md
says for what), 125 when longterm itself failed, 126 when the program cannot be run,
127 when there is none. With --json errors are JSON too, on standard error.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return noVerb(a, cmd) },
	}
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return exit.Usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
	root.PersistentPreRun = func(*cobra.Command, []string) { a.starts = true } // of no verb; each verb has its own
	called := ""
	if len(args) > 0 {
		called = args[0]
	}
	addVerbs(a, root, called)
	wrapArgs(root)
	return root
}

// wrapArgs makes wrong arguments usage errors that name the way out.
func wrapArgs(c *cobra.Command) {
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
	check := c.Args
	if !c.HasParent() {
		return // its arguments are a verb
	}
	if check == nil && c.HasSubCommands() { // a group of verbs does nothing by itself
		c.Args = cobra.ArbitraryArgs
		c.RunE = func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return cmd.Help()
		}
	}
	if check == nil {
		return
	}
	c.Args = func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		if err != nil && cmd.HasSubCommands() && len(args) > 0 {
			return unknownVerb(cmd, args[0])
		}
		if err != nil {
			return exit.Usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// unknownVerb is a word that is no verb, with the one that was probably meant.
func unknownVerb(cmd *cobra.Command, word string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(append(names, c.Name()), c.Aliases...)
		}
	}
	slices.Sort(names)
	if near := spelling.Nearest(word, names); near != "" {
		return exit.Usagef("unknown verb %q; `%s %s` is the nearest; see `%s --help`", word, cmd.CommandPath(), near, cmd.CommandPath())
	}
	return exit.Usagef("unknown verb %q; see `%s --help`", word, cmd.CommandPath())
}

// keeperArgv is the command line of a keeper; with daemon it keeps one running.
func keeperArgv(dirs paths.Dirs, key string, daemon bool) []string {
	argv := []string{
		"longterm", "keeper", "--socket", dirs.KeeperSocket(key), "--lock", dirs.KeeperLock(key), "--key", key,
	}
	if daemon {
		argv = append(argv, "--daemon")
	}
	return argv
}
