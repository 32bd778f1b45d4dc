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

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
)

func infoVerb(a *app, c *cobra.Command) {
	env := false
	c.RunE = func(cmd *cobra.Command, args []string) error {
		s, err := a.session(args[0])
		if err != nil {
			return err
		}
		if env {
			e, err := s.Env(cmd.Context())
			if err != nil {
				return err
			}
			return a.Print(e, func(w io.Writer) { writeEnv(w, &e) })
		}
		info, err := s.Info(cmd.Context())
		if err != nil {
			return err
		}
		return a.Print(info, func(w io.Writer) { writeInfo(w, &info) })
	}
	c.Flags().BoolVar(&env, "env", false, "its environment instead, as NAME=value; values of secrets are left out")
}

func writeEnv(w io.Writer, e *api.Environment) {
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintln(w, output.Printable(name+"="+e.Env[name]))
	}
}

func writeInfo(w io.Writer, s *api.Session) {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	row := func(name string, v any) { fmt.Fprintf(tw, "%s\t%s\n", name, output.Printable(fmt.Sprint(v))) }
	row("id", s.ID)
	row("name", s.Name)
	row("state", output.StateText(s))
	row("command", s.Command)
	row("cwd", s.Cwd)
	row("pid", output.PidText(s))
	if s.Shell != nil {
		row("shell", output.Doing(s)+" ("+s.Shell.Quality+" integration)")
	}
	if len(s.Approvals) > 0 {
		row("needs approval", strings.Join(s.Approvals, " ")+"; `longterm approvals show "+s.Approvals[0]+"`")
	}
	if a := s.AgentIs; a != nil {
		row("agent state", fmt.Sprintf("%s: %s (%s)", output.AgentText(a), a.Reason, cmp.Or(a.Source, "not known")))
		if a.Evidence != "" {
			row("seen by", a.Evidence)
		}
		if a.Resume != "" {
			row("resumed by", a.Resume)
		}
	}
	if s.Agent != "" {
		row("agent", s.Agent)
	}
	if s.Policy != "" {
		row("policy", s.Policy)
	}
	activityRows(s, row)
	row("size", fmt.Sprintf("%d×%d (%s, %s)", s.Cols, s.Rows, s.Mode, s.Engine))
	if s.Why != "" {
		row("mode", s.Mode+": "+s.Why)
	}
	if b := s.Sandbox; b != nil {
		row("sandbox", output.SandboxText(b))
		if b.Summary != "" {
			row("", b.Summary)
		}
		listed(row, "holds", b.Holds)
		listed(row, "does not hold", b.NotHeld)
	}
	if s.Cgroup != nil {
		row("cgroup", cgroupText(s.Cgroup))
	}
	row("created", s.Created.Local().Format(time.DateTime))
	row("time", output.Elapsed(s.Duration))
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
	if s.Executions != "" {
		row("executions", executionsText(s))
	}
	for i := range s.Refused {
		r := &s.Refused[i]
		row("refused", fmt.Sprintf("%s %s: %s", r.Time.Local().Format(time.TimeOnly), strings.Join(r.Argv, " "), r.Why))
	}
	if s.Quarantine != "" {
		row("quarantined", s.Quarantine)
	}
	if s.History != "" {
		row("history", "not being written: "+s.History)
	}
	_ = tw.Flush()
}

func executionsText(s *api.Session) string {
	if s.RefusedCount == 0 {
		return s.Executions
	}
	return fmt.Sprintf("%s, %d refused", s.Executions, s.RefusedCount)
}

// activityRows describes how the newest command of a session gets on.
func activityRows(s *api.Session, row func(string, any)) {
	if p := s.Progress; p != nil {
		text := output.ProgressText(p)
		if p.Total > 0 {
			text += fmt.Sprintf(" (%d of %d)", p.Current, p.Total)
		}
		row("progress", strings.TrimSpace(text+" "+p.Label))
	}
	a := s.Activity
	if a == nil {
		return
	}
	if a.ETAMS != nil {
		row("time left", output.Elapsed(*a.ETAMS))
	}
	if counts := output.CountsText(a.Errors, a.Warnings); len(counts) > 0 {
		text := strings.Join(counts, ", ")
		if a.Partial {
			text += " at least"
		}
		row("problems", text)
	}
	if a.FirstError != nil {
		row("first error", output.ProblemText(a.FirstError))
	}
}

// listed are values under one label, each in a row.
func listed(row func(string, any), label string, values []string) {
	for _, v := range values {
		row(label, v)
		label = ""
	}
}

func cgroupText(c *api.Cgroup) string {
	var parts []string
	add := func(format string, v ...any) { parts = append(parts, fmt.Sprintf(format, v...)) }
	var l api.Limits
	if c.Limits != nil {
		l = *c.Limits
	}
	if c.Memory != nil {
		add("%d KiB%s", *c.Memory/1024, ofLimit(l.Memory > 0, "%d KiB", l.Memory/1024))
	}
	if c.PIDs != nil {
		add("%s%s", output.HowMany(int(*c.PIDs), "process or thread", "processes and threads"), ofLimit(l.PIDs > 0, "%d", l.PIDs))
	}
	if c.CPUMS != nil {
		add("%d ms of CPU%s", *c.CPUMS, ofLimit(l.CPU > 0, "%g CPUs", l.CPU))
	}
	return strings.Join(append(parts, c.Path), ", ")
}

func ofLimit(set bool, format string, v any) string {
	if !set {
		return ""
	}
	return " (limit " + fmt.Sprintf(format, v) + ")"
}
