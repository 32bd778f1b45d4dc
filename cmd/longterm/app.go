package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/config"
)

// app is what the verbs share.
type app struct {
	stdin          *os.File
	stdout, stderr io.Writer
	json, brief    bool
	args           []string         // as given
	config         *config.Settings // read on first use
	platform                        // what only some systems have
}

func newApp() *app { return &app{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr} }

// verb is a command and the words that call it.
type verb struct {
	words string
	make  func(*app) *cobra.Command
}

// addVerbs adds the verb that is called, or all of them for help and completion:
// making two dozen commands takes longer than most of them run.
func addVerbs(a *app, root *cobra.Command, called string) {
	for _, v := range verbs {
		if slices.Contains(strings.Fields(v.words), called) {
			root.AddCommand(v.make(a))
			return
		}
	}
	for _, v := range verbs {
		root.AddCommand(v.make(a))
	}
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
124 time ran out, 130 interrupted; run and exec exit with the command's own status,
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
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.CompletionOptions.HiddenDefaultCmd = false
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
			return usagef("%w; usage: %s", err, cmd.UseLine())
		}
		return nil
	}
}

// jsonFlag gives a verb --json.
func (a *app) jsonFlag(c *cobra.Command) *cobra.Command {
	f := c.Flags().VarPF(jsonMode{a}, "json", "", "print JSON; --json=brief: in few bytes, without what is null, usual or known to whoever asks")
	f.NoOptDefVal = "true"
	return c
}

// jsonMode is the value of --json: true, false, or brief.
type jsonMode struct{ a *app }

func (j jsonMode) Set(s string) error {
	switch s {
	case "true", "full", "1":
		j.a.json, j.a.brief = true, false
	case "brief":
		j.a.json, j.a.brief = true, true
	case "false", "0":
		j.a.json, j.a.brief = false, false
	default:
		return errors.New("give --json or --json=brief")
	}
	return nil
}

func (j jsonMode) Type() string { return "bool" } // for help: it needs no value

func (j jsonMode) String() string {
	switch {
	case j.a == nil || !j.a.json:
		return "false"
	case j.a.brief:
		return "brief"
	}
	return "true"
}

// print writes v as JSON with --json, else what text writes.
func (a *app) print(v any, text func(io.Writer)) error {
	if a.brief {
		return encodeCompact(a.stdout, brief(v))
	}
	if a.json {
		return encodeJSON(a.stdout, v)
	}
	if text == nil {
		return nil
	}
	var b strings.Builder
	text(&b)
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// encodeJSON writes JSON as all verbs do.
func encodeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// pairs reads NAME=VALUE arguments.
func pairs(args []string, what string) (map[string]string, error) {
	m := map[string]string{}
	for _, kv := range args {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			return nil, usagef("%s %q is not NAME=VALUE", what, kv)
		}
		m[k] = v
	}
	return m, nil
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, s)
}
