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
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/paths"
)

func configVerb(a *app, c *cobra.Command) {
	c.Long = "Without a subcommand it prints every value in effect and where it comes from: the default, a line of\n" +
		"the file, or a variable. The keys are described in docs/config.md and, with --json, here."
	c.RunE = func(*cobra.Command, []string) error { return a.showConfig() }
	c.AddCommand(configPath(a), configCheck(a), configEdit(a), configGet(a), configSet(a), configUnset(a))
}

// personOnly refuses an agent what changes which rules hold for it: by its label, and by the session that the daemon, if
// there is one, finds this process in.
func (a *app) personOnly(ctx context.Context, what string) error {
	if label := os.Getenv(actor.Env); label != "" {
		return api.Errorf(api.CodeDenied, "%s is for a person to do, not for an agent (%s)", what, output.Printable(label)).
			WithHint("a person does it, from a terminal without %s", actor.Env)
	}
	if by := a.seenAs(ctx); by.Held {
		return by.NoPerson(what)
	}
	return nil
}

// readConfig is the file in effect for this process, variables included. With mistakes in
// it, it is the last that was in order, or none, and the error says what is wrong.
func readConfig() (*config.File, error) {
	dirs, err := paths.Default()
	if err != nil {
		return config.Empty(""), err
	}
	f, _, wrong := config.Read(dirs.ConfigFile())
	if wrong != nil {
		var src []byte
		if f, src, err = config.Read(dirs.ConfigKept()); err != nil || src == nil {
			f = config.Empty(dirs.ConfigFile())
		}
	}
	return f, errors.Join(wrong, f.ApplyEnv(os.Getenv))
}

// settings are the values in effect. What is wrong with the file is said once and
// otherwise ignored: people want to work.
func (a *app) settings() *config.Settings {
	if a.config == nil {
		f, err := readConfig()
		if _, refused := paths.Default(); err != nil && refused == nil { // else the verb says so itself
			a.complain(err)
		}
		a.config = f.Settings
	}
	return a.config
}

// complain prints what is wrong with a configuration, a line each.
func (a *app) complain(err error) {
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(a.Stderr, "longterm: %s\n", line)
	}
}

// configReport is what `config --json` prints.
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
	for _, row := range config.Rows() {
		r.Keys = append(r.Keys, configKeyJSON{row.Key, row.Kind.String(), row.Allowed(), string(row.When), row.Help})
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
		fmt.Fprintf(w, "%-*s  %-*s  %s\n", key, v.Key, min(value, 30), config.Quote(output.Printable(v.Value)), v.Where())
	}
}

func configPath(a *app) *cobra.Command {
	return a.Path(&cobra.Command{Use: "path", Short: "Print where the configuration file is, or would be", Args: cobra.NoArgs}, func() (string, error) {
		dirs, err := paths.Default()
		return dirs.ConfigFile(), err
	})
}

func configCheck(a *app) *cobra.Command {
	return a.JSONFlag(&cobra.Command{
		Use: "check [FILE]", Short: "Say what is wrong with a configuration file", Args: cobra.MaximumNArgs(1),
		Long: "Say what is wrong with FILE, or with the user's own configuration: a line for each mistake, with\nFILE:LINE:COLUMN. The exit status is 1 when there is one.",
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

// checkConfig prints what is wrong with a file.
func (a *app) checkConfig(path string) error {
	_, src, err := config.Read(path)
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
			fmt.Fprintf(w, "%s does not exist: the defaults are in effect\n", path)
		case len(problems) == 0:
			fmt.Fprintf(w, "%s is in order\n", path)
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
		Use: "edit", Short: "Open the configuration file in $VISUAL or $EDITOR, and check it", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.personOnly(cmd.Context(), "changing the configuration"); err != nil {
				return err
			}
			dirs, err := paths.Default()
			if err != nil {
				return err
			}
			path := dirs.ConfigFile()
			if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
				if err := config.Write(path, []byte(config.Template())); err != nil {
					return err
				}
			}
			ed := editor(path)
			ed.Stdin, ed.Stdout, ed.Stderr = a.stdin, os.Stdout, os.Stderr
			if err := ed.Run(); err != nil {
				return fmt.Errorf("the editor failed: %w; set EDITOR to another", err)
			}
			return a.checkConfig(path)
		},
	}
}

// editor is the user's; it may be a command with arguments.
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
		Long: "Change a value in the configuration file; comments, order and blank lines stay. Nothing is written when\n" +
			"the value is wrong or the file is not in order. A list takes several VALUEs; \"\" empties it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeConfig(cmd.Context(), args[0], func(path string, src []byte) ([]byte, error) {
				return config.Set(path, src, args[0], args[1:])
			})
		},
	})
}

func configUnset(a *app) *cobra.Command {
	return a.Done(&cobra.Command{
		Use: "unset KEY", Short: "Take a value out of the configuration file: the default counts again", Args: cobra.ExactArgs(1), ValidArgsFunction: completeConfig,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.changeConfig(cmd.Context(), args[0], func(path string, src []byte) ([]byte, error) {
				return config.Unset(path, src, args[0])
			})
		},
	})
}

// changeConfig writes the file anew, once it is known to be in order.
func (a *app) changeConfig(ctx context.Context, key string, change func(path string, src []byte) ([]byte, error)) error {
	if err := a.personOnly(ctx, "changing the configuration"); err != nil {
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
		return exit.With(1, errors.New("the file is not in order, nothing was changed; fix it with `longterm config edit`"))
	case err != nil:
		return exit.Usage(err)
	}
	if bytes.Equal(src, edited) {
		return nil
	}
	written := time.Now()
	if err := config.Write(path, edited); err != nil {
		return api.Errorf(api.CodeStorage, "%v", err).WithHint("nothing was changed: %s is as it was; make room or make its directory writable, and do it again", path)
	}
	a.awaitConfig(ctx, path, written)
	f, _ := readConfig()
	if v, err := f.Value(key); err == nil && v.Source == "env" {
		fmt.Fprintf(a.Stderr, "longterm: the variable %s overrides it here\n", v.Env)
	}
	return nil
}

// completeConfig completes keys, and values where there are few.
func completeConfig(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, r := range config.Rows() {
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
