//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/api"
)

func listCommand(a *app) *cobra.Command {
	var labels []string
	c := &cobra.Command{
		Use: "ls", Aliases: []string{"list"}, Short: "List sessions", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			b, err := a.connect()
			if err != nil {
				return err
			}
			list, err := b.client.List(cmd.Context(), labels...)
			if err != nil {
				return err
			}
			return a.print(list, func(w io.Writer) { writeTable(w, list) })
		},
	}
	c.Flags().StringArrayVar(&labels, "label", nil, "only sessions with this label, NAME or NAME=VALUE, repeatable")
	return a.jsonFlag(c)
}

func writeTable(w io.Writer, list []api.Session) {
	if len(list) == 0 {
		fmt.Fprintln(w, "no sessions; `longterm new` starts one")
		return
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tNAME\tSTATE\tTIME\tPID\tCWD\tDOING\tCOMMAND")
	for _, s := range list {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", s.ID[:min(8, len(s.ID))], s.Name, stateText(&s),
			elapsed(s.Duration), pidText(&s), printable(s.Cwd), doing(&s), printable(shorten(s.Command, 60)))
	}
	_ = tw.Flush()
}

// stateText says how a session stands: running, exited(1), exited(SIGKILL), lost.
func stateText(s *api.Session) string {
	switch {
	case s.ExitCode != nil:
		return fmt.Sprintf("%s(%d)", s.State, *s.ExitCode)
	case s.Signal != "":
		return fmt.Sprintf("%s(%s)", s.State, s.Signal)
	}
	return s.State
}

// doing says what a session's shell does: its prompt, or a command and for how long.
func doing(s *api.Session) string {
	switch sh := s.Shell; {
	case len(s.Left) > 0:
		return fmt.Sprintf("left %d running", len(s.Left))
	case s.State != "running":
		return "-"
	case s.Quarantine != "":
		return "quarantined"
	case s.Needs != nil && s.Needs.Kind != "screen" && s.Needs.Kind != "prompt":
		return "needs " + s.Needs.Kind
	case sh == nil || sh.Phase == "unknown":
		return cmp.Or(activityText(s), "-")
	case sh.Incomplete:
		return "asks for more"
	case sh.Phase == "prompt":
		return "prompt"
	default:
		text, _, _ := strings.Cut(sh.Command, "\n")
		return strings.TrimSpace(printable(shorten(text, 30)) + " " + elapsed(time.Since(sh.Since).Milliseconds()) + " " + activityText(s))
	}
}

func pidText(s *api.Session) string {
	if s.State != "running" {
		return "-"
	}
	return fmt.Sprint(s.PID)
}

// elapsed is a duration for people.
func elapsed(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd%02dh", int(d.Hours())/24, int(d.Hours())%24)
}

func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

func infoCommand(a *app) *cobra.Command {
	env := false
	c := a.jsonFlag(&cobra.Command{
		Use: "info S", Short: "Describe a session", Args: cobra.ExactArgs(1), ValidArgsFunction: a.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := a.session(args[0])
			if err != nil {
				return err
			}
			if env {
				e, err := s.Env(cmd.Context())
				if err != nil {
					return err
				}
				return a.print(e, func(w io.Writer) { writeEnv(w, &e) })
			}
			info, err := s.Info(cmd.Context())
			if err != nil {
				return err
			}
			return a.print(info, func(w io.Writer) { writeInfo(w, &info) })
		},
	})
	c.Flags().BoolVar(&env, "env", false, "its environment instead, as NAME=value; values of secrets are left out")
	return c
}

func writeEnv(w io.Writer, e *api.Environment) {
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintln(w, printable(name+"="+e.Env[name]))
	}
}

func writeInfo(w io.Writer, s *api.Session) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name string, v any) { fmt.Fprintf(tw, "%s\t%s\n", name, printable(fmt.Sprint(v))) }
	row("id", s.ID)
	row("name", s.Name)
	row("state", stateText(s))
	row("command", s.Command)
	row("cwd", s.Cwd)
	row("pid", pidText(s))
	if s.Shell != nil {
		row("shell", doing(s)+" ("+s.Shell.Quality+" integration)")
	}
	activityRows(s, row)
	row("size", fmt.Sprintf("%d×%d (%s, %s)", s.Cols, s.Rows, s.Mode, s.Engine))
	if s.Why != "" {
		row("mode", s.Mode+": "+s.Why)
	}
	if s.Cgroup != nil {
		row("cgroup", cgroupText(s.Cgroup))
	}
	row("created", s.Created.Local().Format(time.DateTime))
	row("time", elapsed(s.Duration))
	if s.Title != "" {
		row("title", s.Title)
	}
	row("output", fmt.Sprintf("bytes %d to %d", s.Output.Start, s.Output.End))
	row("keeper", s.Keeper)
	row("clients", s.Clients)
	if s.Usage != nil {
		row("cpu", fmt.Sprintf("%d ms user, %d ms system", s.Usage.UserMS, s.Usage.SystemMS))
		row("memory", fmt.Sprintf("%d KiB at most", s.Usage.MaxRSS/1024))
	}
	var labels []string
	for k, v := range s.Labels {
		labels = append(labels, k+"="+v)
	}
	if len(labels) > 0 {
		row("labels", strings.Join(labels, " "))
	}
	if len(s.Left) > 0 {
		row("left running", strings.Trim(fmt.Sprint(s.Left), "[]"))
	}
	if s.Quarantine != "" {
		row("quarantined", s.Quarantine)
	}
	if s.History != "" {
		row("history", "not being written: "+s.History)
	}
	_ = tw.Flush()
}
