//go:build unix

package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/cmd/internal/topics"
	"github.com/longterm-dev/longterm/cmd/internal/worktree"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/listing"
)

func infoVerb(a *app, c *cobra.Command) {
	env := false
	c.Long = `Show a session's details: program, state, size, shell, sandbox, agent state, ports, resources, output and labels.

  longterm info work
  longterm info work --env`
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
		all := a.worktrees().Info(cmd.Context(), info)
		return a.Print(all, func(w io.Writer) { writeInfo(w, &all, a.TableLook()) })
	}
	c.Flags().BoolVar(&env, "env", false, "environment as NAME=value instead; secret values are omitted")
}

func writeEnv(w io.Writer, e *api.Environment) {
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		fmt.Fprintln(w, output.Printable(name+"="+e.Env[name]))
	}
}

func writeInfo(w io.Writer, all *worktree.SessionInfo, look listing.TableFormat) {
	s := &all.Session
	var rows [][2]string
	row := func(name string, v any) { rows = append(rows, [2]string{name, output.Printable(fmt.Sprint(v))}) }
	row("id", s.ID)
	row("name", s.Name)
	row("state", output.StateText(s))
	row("command", s.Command)
	row("cwd", s.Cwd)
	row("pid", output.PidText(s))
	if s.Shell != nil {
		row("shell", output.ActivityText(s)+" ("+s.Shell.Quality+" integration)")
	}
	if len(s.Approvals) > 0 {
		row("needs approval", strings.Join(s.Approvals, " ")+"; `longterm approvals show "+s.Approvals[0]+"`")
	}
	if a := s.AgentState; a != nil {
		row("agent state", fmt.Sprintf("%s: %s (%s)", output.AgentText(a), a.Reason, cmp.Or(a.Source, "source unknown")))
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
	portRows(s, row)
	row("size", fmt.Sprintf("%d×%d (%s, %s)", s.Cols, s.Rows, s.Mode, s.Engine))
	if s.ModeReason != "" {
		row("mode", s.Mode+": "+s.ModeReason)
	}
	if b := s.Sandbox; b != nil {
		row("sandbox", output.SandboxText(b))
		if b.Summary != "" {
			row("", b.Summary)
		}
		writeList(row, "holds", b.Holds)
		writeList(row, "does not hold", b.NotHeld)
	}
	if d := s.Draft; d != nil {
		row("draft", output.DraftText(d, s.Name))
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
	if all.Worktree != nil {
		row("worktree", worktree.Text(s.Labels[worktree.LabelDir], all.Worktree))
	}
	if len(labels) > 0 {
		row("labels", strings.Join(labels, " "))
	}
	if len(s.LeftoverPIDs) > 0 {
		row("left running", strings.Trim(fmt.Sprint(s.LeftoverPIDs), "[]"))
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
	writeDetails(w, rows, look)
}

// writeDetails writes names and values in two columns. Long values are wrapped below their first line on a terminal.
func writeDetails(w io.Writer, rows [][2]string, look listing.TableFormat) {
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0])+2)
	}
	for _, r := range rows {
		name := listing.StyleIf(look.Colour, listing.Faint).Apply(r[0]) + strings.Repeat(" ", wide-len(r[0]))
		if look.Width < wide+20 || r[1] == "" {
			fmt.Fprintf(w, "%s%s\n", name, r[1])
			continue
		}
		var b strings.Builder
		topics.Wrap(&b, look.Width-wide, "", "", r[1])
		for line := range strings.Lines(b.String()) {
			fmt.Fprint(w, name, line)
			name = strings.Repeat(" ", wide)
		}
	}
}

func executionsText(s *api.Session) string {
	if s.RefusedCount == 0 {
		return s.Executions
	}
	return fmt.Sprintf("%s, %d refused", s.Executions, s.RefusedCount)
}

// activityRows writes rows for the progress, time left and problems of a session's newest command.
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

// portRows writes rows for the sockets on which a session's processes accept connections.
func portRows(s *api.Session, row func(string, any)) {
	var ports []string
	for i := range s.Ports {
		ports = append(ports, listing.PortText(&s.Ports[i]))
	}
	if s.MorePorts > 0 {
		ports = append(ports, fmt.Sprintf("and %d more", s.MorePorts))
	}
	writeList(row, "ports", ports)
}

// writeList writes several values under one label, one per row.
func writeList(row func(string, any), label string, values []string) {
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
		add("%s%s", output.CountNoun(int(*c.PIDs), "process or thread", "processes and threads"), ofLimit(l.PIDs > 0, "%d", l.PIDs))
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
