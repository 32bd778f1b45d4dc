package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
)

func configVerb(a *app, c *cobra.Command) {
	c.Long = "Print every setting in effect with its origin: default, line of the file, or variable. Subcommands change the\n" +
		"configuration file. `longterm help config` and --json describe the keys.\n\n" +
		"  longterm config\n" +
		"  longterm config set attach.size largest"
	c.RunE = func(*cobra.Command, []string) error { return a.showConfig() }
	c.AddCommand(configPath(a), configCheck(a), configEdit(a), configGet(a), configSet(a), configUnset(a))
}

// requireUser returns an error if an agent calls: agents must not change the rules that bind them. It recognises an
// agent by its label, and by the session in which the daemon, if it is running, finds this process.
func (a *app) requireUser(ctx context.Context, what string) error {
	if label := os.Getenv(identity.Env); label != "" {
		return api.Errorf(api.CodeDenied, "%s requires a user, not an agent (%s)", what, output.Printable(label)).
			WithHint("ask the user to do it, from a terminal without %s", identity.Env)
	}
	if by := a.identifySelf(ctx); by.IsRestricted {
		return by.ErrUserRequired(what)
	}
	return nil
}

// readConfig returns the configuration in effect for this process, including variables. If the file has mistakes, it
// returns the last valid one or the defaults, and an error that lists the mistakes.
func readConfig() (*config.File, error) {
	dirs, err := paths.Default()
	if err != nil {
		return config.Empty(""), err
	}
	f, _, wrong := config.ReadFile(dirs.ConfigFile())
	if wrong != nil {
		var src []byte
		if f, src, err = config.ReadFile(dirs.ConfigKept()); err != nil || src == nil {
			f = config.Empty(dirs.ConfigFile())
		}
	}
	return f, errors.Join(wrong, f.ApplyEnv(os.Getenv))
}

// settings returns the values in effect. It reports mistakes in the file once and continues, so that a mistake never
// blocks a verb.
func (a *app) settings() *config.Settings {
	if a.config == nil {
		f, err := readConfig()
		if _, refused := paths.Default(); err != nil && refused == nil { // else the verb reports it
			a.complain(err)
		}
		a.config = f.Settings
	}
	return a.config
}

// complain prints the mistakes of a configuration, one per line.
func (a *app) complain(err error) {
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(a.Stderr, "longterm: %s\n", line)
	}
}

// configReport is the output of `config --json`.
type configReport struct {
	File     string          `json:"file"`
	Problems []string        `json:"problems"`
	Values   []config.Value  `json:"values"`
	Keys     []configKeyJSON `json:"keys"`
}

// configKeyJSON describes a key.
type configKeyJSON struct {
	Key     string `json:"key"`
	Kind    string `json:"kind"`
	Allowed string `json:"allowed"`
	Taken   string `json:"taken"`
	Help    string `json:"help"`
}

func (a *app) showConfig() error {
	dirs, err := paths.Default()
	if err != nil {
		return err
	}
	f, wrong := readConfig()
	r := configReport{File: dirs.ConfigFile(), Problems: []string{}, Values: f.Values()}
	if wrong != nil {
		r.Problems = strings.Split(wrong.Error(), "\n")
	}
	for _, row := range config.KeySpecs() {
		r.Keys = append(r.Keys, configKeyJSON{row.Key, row.Kind.String(), row.AllowedText(), string(row.When), row.Help})
	}
	if err := a.Print(r, func(w io.Writer) { writeValues(w, r.Values) }); err != nil || wrong == nil {
		return err
	}
	a.complain(wrong)
	return exit.Silent(api.ExitFailure)
}

func writeValues(w io.Writer, values []config.Value) {
	key, value := 0, 0
	for i := range values {
		key, value = max(key, len(values[i].Key)), max(value, len(config.Quote(values[i].Value)))
	}
	for i := range values {
		v := &values[i]
		fmt.Fprintf(w, "%-*s  %-*s  %s\n", key, v.Key, min(value, 30), config.Quote(output.Printable(v.Value)), v.SourceText())
	}
}

func configPath(a *app) *cobra.Command {
	return a.Path(&cobra.Command{Use: "path", Short: "Print the path of the configuration file", Args: cobra.NoArgs}, func() (string, error) {
		dirs, err := paths.Default()
		return dirs.ConfigFile(), err
	})
}

func configCheck(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "check [FILE]", Short: "Check a configuration file", Args: cobra.MaximumNArgs(1),
		Long: "Check FILE, or the user's configuration file, and print a line FILE:LINE:COLUMN: MESSAGE for each mistake.\nThe exit status is 1 if there are mistakes.\n\n  longterm config check",
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			path := dirs.ConfigFile()
			if len(args) == 1 {
				path = args[0]
				if _, err := os.Stat(path); err != nil {
					return fmt.Errorf("check: %w", err)
				}
			}
			return a.checkConfig(path)
		},
	})
}

// checkConfig prints the mistakes in a file.
func (a *app) checkConfig(path string) error {
	_, src, err := config.ReadFile(path)
	problems := config.ProblemsOf(err)
	if problems == nil {
		problems = config.Problems{}
	}
	text := func(w io.Writer) {
		for _, p := range problems {
			fmt.Fprintln(w, p.Error())
		}
		switch {
		case len(problems) == 0 && src == nil && err == nil:
			fmt.Fprintf(w, "%s: not found; using the defaults\n", path)
		case len(problems) == 0:
			fmt.Fprintf(w, "%s: valid\n", path)
		}
	}
	if err := a.Print(problems, text); err != nil {
		return err
	}
	if len(problems) > 0 {
		return exit.Silent(api.ExitFailure)
	}
	return nil
}

func configEdit(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "edit", Short: "Edit the configuration file and check it", Args: cobra.NoArgs,
		Long: "Open the configuration file in $VISUAL or $EDITOR, and check it when the editor ends.\n\n  EDITOR=nano longterm config edit",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.requireUser(cmd.Context(), "changing the configuration"); err != nil {
				return err
			}
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			path := dirs.ConfigFile()
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				if err := config.WriteFile(path, []byte(config.Template())); err != nil {
					return err
				}
			}
			ed := editor(path)
			ed.Stdin, ed.Stdout, ed.Stderr = a.stdin, os.Stdout, os.Stderr
			if err := ed.Run(); err != nil {
				return fmt.Errorf("editor failed: %w; set EDITOR to another editor", err)
			}
			return a.checkConfig(path)
		},
	}
}

// editor returns the command that opens path in the user's editor; the variables may hold a command with arguments.
func editor(path string) *exec.Cmd {
	line := os.Getenv("VISUAL")
	if line == "" {
		line = os.Getenv("EDITOR")
	}
	if runtime.GOOS == "windows" {
		if line == "" {
			line = "notepad"
		}
		return exec.Command(line, path)
	}
	if line == "" {
		line = "vi"
	}
	return exec.Command("/bin/sh", "-c", line+` "$@"`, "sh", path)
}

func configGet(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "get KEY", Short: "Print a value in effect", Args: cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
		RunE: func(_ *cobra.Command, args []string) error {
			f, wrong := readConfig()
			v, err := f.Value(args[0])
			if err != nil {
				return exit.Usage(err)
			}
			if wrong != nil {
				a.complain(wrong)
			}
			return a.Print(v, func(w io.Writer) { fmt.Fprintln(w, v.Value) })
		},
	})
}

func configSet(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "set KEY VALUE…", Short: "Change a value in the configuration file", Args: cobra.MinimumNArgs(2), ValidArgsFunction: completeConfig,
		Long: "Change a value in the configuration file; comments, order and blank lines are kept. An invalid value, or a\n" +
			"file with mistakes, changes nothing. A list takes several VALUEs; \"\" empties it.\n\n" +
			"  longterm config set attach.size largest",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeConfig(cmd.Context(), args[0], func(path string, src []byte) ([]byte, error) {
				return config.Set(path, src, args[0], args[1:])
			})
		},
	})
}

func configUnset(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "unset KEY", Short: "Reset a setting to its default", Args: cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeConfig(cmd.Context(), args[0], func(path string, src []byte) ([]byte, error) {
				return config.Unset(path, src, args[0])
			})
		},
	})
}

// changeConfig writes the changed file if the result is valid.
func (a *app) changeConfig(ctx context.Context, key string, change func(path string, src []byte) ([]byte, error)) error {
	if err := a.requireUser(ctx, "changing the configuration"); err != nil {
		return err
	}
	dirs, err := paths.Default()
	if err != nil {
		return err
	}
	path := dirs.ConfigFile()
	src, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the configuration: %w", err)
	}
	edited, err := change(path, src)
	var wrong config.Problems
	switch {
	case errors.As(err, &wrong):
		a.complain(err)
		return exit.With(1, errors.New("configuration file not valid; not changed; fix it with `longterm config edit`"))
	case err != nil:
		return exit.Usage(err)
	}
	if bytes.Equal(src, edited) {
		return nil
	}
	written := time.Now()
	if err := config.WriteFile(path, edited); err != nil {
		return api.Errorf(api.CodeStorage, "%v", err).WithHint("%s was not changed; free disk space or make its directory writable, then retry", path)
	}
	a.awaitConfig(ctx, path, written)
	f, _ := readConfig()
	if v, err := f.Value(key); err == nil && v.Source == "env" {
		fmt.Fprintf(a.Stderr, "longterm: variable %s overrides this value here\n", v.Env)
	}
	return nil
}

// completeConfig completes keys, and values of settings with fixed choices.
func completeConfig(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, r := range config.KeySpecs() {
		switch {
		case len(args) == 0:
			words = append(words, r.Key+"\t"+r.Help)
		case len(args) == 1 && r.Key == args[0] && cmd.Name() == "set":
			words = append(words, r.Values...)
			if r.Kind == config.Bool {
				words = []string{"true", "false"}
			}
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}
