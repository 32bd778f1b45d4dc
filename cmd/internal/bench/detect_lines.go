//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/paths"
)

// linesReport is the result of `bench detect --agent`. The categories of its table are rules and histories; its false alarms are
// questions about lines that should be allowed.
type linesReport struct {
	detectReport
	Lines         int     `json:"lines"`
	VerdictRight  float64 `json:"verdict_right_percent"`
	RecordedRight float64 `json:"recorded_right_percent"`
}

// linesGroup is a sequence of lines run in one shell, under the same rules and with the same history.
type linesGroup struct {
	*detection
	sh         string
	part       int    // which of the parts of the lines a short run takes
	rules      string // "none", "hard" or "build"
	hasHistory bool   // the home directory has shell histories with entries
	short      bool
	agent      *client.Client
	ses        *client.Session // nil before the first line
	last       int             // number of the newest command in the session
}

// parts is the number of parts into which a short run divides the lines: one for each pair of rules and history.
const parts = 6

// linesRules are the rules under which lines are run.
var linesRules = []string{"none", "hard", "build"}

// runAgentLines runs the lines of text in a new instance and prints a report.
func runAgentLines(ctx context.Context, e *Program, text string, o *detectOptions) error {
	c, err := parseAgentLines(text)
	if err != nil {
		return err
	}
	return inInstance(e, func(d *detection) error {
		r, err := d.runLines(ctx, c, o)
		if err != nil {
			return err
		}
		return e.Print(r, func(w io.Writer) { writeLines(w, r) })
	})
}

// inInstance calls f with a detection in a new instance, which it ends afterwards.
func inInstance(e *Program, f func(*detection) error) error {
	b, err := newSessionBench(e, 1, 0)
	if err != nil {
		return err
	}
	defer b.close()
	d, err := newDetection(b)
	if err != nil {
		return err
	}
	defer d.close()
	return f(d)
}

// runLines runs the agent lines in each shell, under each set of rules, with empty and full histories.
func (d *detection) runLines(ctx context.Context, c *agentLines, o *detectOptions) (*linesReport, error) {
	dirs := filepath.Join(d.bench.dir, "lt")
	agent := client.New(client.Options{Dirs: paths.Dirs{Run: filepath.Join(dirs, "run"), State: filepath.Join(dirs, "state")}, Build: d.bench.program.Version, Agent: "bench"})
	defer agent.Close()
	for _, k := range []string{"verdict", "recorded"} {
		d.tally[k] = &ratio{}
	}
	if err := d.prepareLines(ctx, c); err != nil {
		return nil, err
	}
	lines := o.chooseLines(c.Lines)
	var groups []*linesGroup
	for _, sh := range agentLineShells {
		if !d.has(sh) || len(o.shells) > 0 && !slices.Contains(o.shells, sh) {
			continue
		}
		d.report.Shells = append(d.report.Shells, sh)
		for i, rules := range linesRules {
			for k, full := range []bool{false, true} {
				if g := (&linesGroup{detection: d, sh: sh, part: 2*i + k, rules: rules, hasHistory: full, short: o.short, agent: agent}); o.category == "" || g.category() == o.category {
					groups = append(groups, g)
				}
			}
		}
	}
	err := d.runGroups(ctx, groups, lines, max(1, o.parallel))
	r := &linesReport{detectReport: *d.report, Lines: len(lines), VerdictRight: d.tally["verdict"].percent(), RecordedRight: d.tally["recorded"].percent()}
	r.Runs, r.Situations = d.tally["all"].all, len(lines)
	r.Right, r.ExitRight, r.OutputRight, r.FalseAlarms = d.tally["all"].percent(), d.tally["exit"].percent(), d.tally["output"].percent(), 100-d.tally["alarm"].percent()
	slices.Sort(r.Failures)
	return r, err
}

// chooseLines returns the lines that can be run and whose names match.
func (o *detectOptions) chooseLines(list []agentLine) (chosen []agentLine) {
	for _, l := range list {
		if l.canRun() && strings.Contains(l.Name, o.only) {
			chosen = append(chosen, l)
		}
	}
	return chosen
}

// prepareLines creates the template directory, which is copied for each line, and the homes with and without histories.
func (d *detection) prepareLines(ctx context.Context, c *agentLines) error {
	template := d.template()
	if err := c.writeFiles(template); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "-A"}, {"commit", "-q", "-m", "Begin"}} {
		git := exec.CommandContext(ctx, "git", args...)
		git.Dir, git.Env = template, d.linesEnv(false)
		if out, err := git.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, out)
		}
	}
	const entries = "rm -rf /important\necho old\n"
	for _, full := range []bool{false, true} {
		files := map[string]string{".zshrc": "HISTFILE=~/.zhistory HISTSIZE=1000 SAVEHIST=1000\n", ".local/share/fish/generated_completions/none.fish": ""}
		if full {
			files[".bash_history"] = strings.Repeat(entries, 200)
			files[".zhistory"] = files[".bash_history"]
			files[".local/share/fish/fish_history"] = "- cmd: rm -rf /important\n  when: 1700000000\n"
		}
		if err := (&agentLines{Files: files}).writeFiles(d.linesHome(full)); err != nil {
			return err
		}
	}
	return nil
}

// template returns the directory that is copied for each line.
func (d *detection) template() string { return filepath.Join(d.bench.dir, "template") }

// linesHome returns the home directory with or without histories.
func (d *detection) linesHome(full bool) string {
	return filepath.Join(d.bench.dir, map[bool]string{false: "home-empty", true: "home-full"}[full])
}

// linesEnv returns the environment of the lines' shells: the bench's, changed so that output is the same on each machine.
func (d *detection) linesEnv(full bool) []string { return linesEnv(d.bench.env, d.linesHome(full)) }

// linesEnv returns env with this home, and with settings that make output the same on each machine.
func linesEnv(env []string, home string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "GIT_") || strings.HasPrefix(kv, "LC_") || strings.HasPrefix(kv, "LONGTERM_")
	})
	return append(env, "HOME="+home, "LC_ALL=C.UTF-8", "GIT_PAGER=cat", "PAGER=cat", "NO_COLOR=1", "PYTHONDONTWRITEBYTECODE=1",
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann", "GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=color.ui", "GIT_CONFIG_VALUE_0=false")
}

// runGroups runs several groups at a time.
func (d *detection) runGroups(ctx context.Context, groups []*linesGroup, lines []agentLine, parallel int) error {
	slots := make(chan struct{}, parallel)
	errs := make([]error, len(groups))
	var running sync.WaitGroup
	for i, g := range groups {
		running.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			errs[i] = g.run(ctx, lines)
		})
	}
	running.Wait()
	return errors.Join(errs...)
}

// category returns the group's row in the table: rules and history.
func (g *linesGroup) category() string {
	return g.rules + map[bool]string{false: ", no history", true: ", history"}[g.hasHistory]
}

// run runs the lines that are valid in the group's shell.
func (g *linesGroup) run(ctx context.Context, lines []agentLine) error {
	defer g.end(ctx)
	cell := detectCell{Category: g.category(), Shell: g.sh}
	for i := range lines {
		l := &lines[i]
		if g.short && i%parts != g.part || !slices.Contains(l.shells(), g.sh) || slices.ContainsFunc(l.Needs, func(p string) bool { return !g.has(p) }) {
			continue
		}
		if l.Alone {
			g.end(ctx)
		}
		wrong, asked, err := g.judgeLine(ctx, l)
		if err != nil {
			wrong = append(wrong, err.Error())
			g.end(ctx)
		}
		if l.Alone {
			g.end(ctx)
		}
		g.countCheck("all", len(wrong) == 0)
		g.countCheck("alarm", !asked)
		cell.Runs++
		if len(wrong) == 0 {
			cell.Right++
		}
		if asked {
			cell.Alarms++
		}
		g.mu.Lock()
		for _, w := range wrong {
			g.report.Failures = append(g.report.Failures, fmt.Sprintf("%s %s (%s): %s", g.sh, l.Name, g.category(), w))
		}
		g.mu.Unlock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.report.Table = append(g.report.Table, cell)
	return nil
}

// countCheck counts the result of one check of a kind.
func (d *detection) countCheck(kind string, right bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tally[kind].all++
	if right {
		d.tally[kind].right++
	}
}

// end ends the session, if one is started.
func (g *linesGroup) end(ctx context.Context) {
	if g.ses != nil {
		_ = g.ses.Remove(context.WithoutCancel(ctx), true)
		g.ses = nil
	}
}

// start starts the session and waits for its first prompt.
func (g *linesGroup) start(ctx context.Context) error {
	argv := map[string][]string{"bash": {"bash", "--norc"}}[g.sh]
	if argv == nil {
		argv = []string{g.sh}
	}
	as := g.agent
	if g.rules == "none" {
		as = g.client
	}
	name := strings.ReplaceAll(strings.ReplaceAll(g.sh+"-"+g.category(), ",", ""), " ", "-")
	n := api.NewSession{Name: name, Argv: argv, Cwd: g.template(), Env: g.linesEnv(g.hasHistory), EnvMode: "full"}
	if g.rules != "none" {
		n.Policy = g.rules
	}
	info, err := as.NewSession(ctx, n)
	if err != nil {
		return err
	}
	g.ses, g.last = as.Session(info.ID), 0
	w, err := g.ses.Wait(ctx, api.Wait{Conds: []api.Condition{{Kind: "prompt"}}, TimeoutMS: 20000})
	if err == nil && w.Outcome != "fired" {
		err = fmt.Errorf("no first prompt (%s)", w.Outcome)
	}
	return err
}

// judgeLine submits l in a new directory. It returns what was wrong, and with asked whether the rules stopped l although it
// should be allowed.
func (g *linesGroup) judgeLine(ctx context.Context, l *agentLine) (wrong []string, asked bool, err error) {
	if g.ses == nil {
		if err := g.start(ctx); err != nil {
			return nil, false, err
		}
	}
	parent, err := os.MkdirTemp(g.bench.dir, "line-")
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = os.RemoveAll(parent) }()
	dir := filepath.Join(parent, "project")
	if err := os.CopyFS(dir, os.DirFS(g.template())); err != nil {
		return nil, false, err
	}
	res, err := g.exec(ctx, "cd "+dir)
	if err != nil || res.ExitCode == nil || *res.ExitCode != 0 {
		return nil, false, fmt.Errorf("cd: %s %s (%w)", res.State, res.Message, err)
	}
	if wrong = g.compareRecord("cd "+dir, 0); len(wrong) > 0 {
		return wrong, false, nil
	}
	res, err = g.exec(ctx, l.Line)
	var refused *api.Error
	if errors.As(err, &refused) && refused.Code == api.CodeDenied {
		res.State, err = "denied", nil
	}
	if err != nil {
		return nil, false, err
	}
	got := map[string]string{"needs_approval": "ask", "denied": "deny"}[res.State]
	if got != "" {
		return g.judgeStopped(ctx, l, got, &res)
	}
	if want := l.verdict(g.rules); want != "allow" {
		wrong = append(wrong, "allowed, the right verdict is "+want)
	}
	g.countCheck("verdict", len(wrong) == 0)
	return append(wrong, g.judgeRun(l, &res)...), false, nil
}

// exec submits a line as an agent does.
func (g *linesGroup) exec(ctx context.Context, line string) (api.Result, error) {
	limit := int64(20000)
	x := api.Exec{Line: line, Call: api.Call{TimeoutMS: &limit, OnInput: "return", OnTimeout: "kill", MaxOutput: 1 << 20}}
	x.OnApproval = "return"
	return g.ses.Exec(ctx, x)
}

// judgeStopped compares the verdict about a line that was not run, and rejects its approval request.
func (g *linesGroup) judgeStopped(ctx context.Context, l *agentLine, got string, res *api.Result) (wrong []string, asked bool, err error) {
	want := l.verdict(g.rules)
	asked = want == "allow"
	if g.countCheck("verdict", !asked); asked && g.rules == "hard" || g.rules == "none" {
		why := ""
		if res.Policy != nil {
			why = res.Policy.Why
		}
		wrong = append(wrong, got+" ("+why+"), the right verdict is allow")
	}
	if res.Approval == "" {
		return append(wrong, g.compareRecord("", 0)...), asked, nil
	}
	a, err := g.client.AnswerApproval(ctx, res.Approval, api.ApprovalAnswer{Answer: "reject"})
	if err != nil || a.Kind == "line" {
		return append(wrong, g.compareRecord("", 0)...), asked, err
	}
	g.end(ctx) // the line runs: the approval was for a program that it started
	return wrong, asked, nil
}

// judgeRun compares status, output and record of a line that was run.
func (g *linesGroup) judgeRun(l *agentLine, res *api.Result) (wrong []string) {
	right := res.ExitCode != nil && *res.ExitCode == l.Status
	if g.countCheck("exit", right); !right {
		got := "null"
		if res.ExitCode != nil {
			got = fmt.Sprint(*res.ExitCode)
		}
		wrong = append(wrong, fmt.Sprintf("status %s, should be %d (%s, %s)", got, l.Status, res.State, res.Message))
	}
	got, want := plainOutput(res.Output), plainOutput(l.Output)
	if g.countCheck("output", got == want); got != want {
		wrong = append(wrong, fmt.Sprintf("output %q, should be %q", output.Shorten(got, 300), output.Shorten(want, 300)))
	}
	if res.State == "ended" {
		g.end(context.Background())
		return wrong
	}
	return append(wrong, g.compareRecord(l.Line, l.Status)...)
}

// compareRecord compares the session's newest command with the submitted line. With an empty line, no command may have been
// recorded.
func (g *linesGroup) compareRecord(line string, status int) (wrong []string) {
	c, err := g.ses.Command(context.Background(), 0)
	switch {
	case err != nil:
		wrong = append(wrong, "recorded command: "+err.Error())
	case line == "" && c.N != g.last:
		wrong = append(wrong, fmt.Sprintf("recorded %q, which did not run", c.Text))
	case line != "" && (c.N != g.last+1 || c.Text != line || c.State != "done" || c.ExitCode == nil || *c.ExitCode != status):
		wrong = append(wrong, fmt.Sprintf("recorded as %d %q (%s, %v) after %d", c.N, output.Shorten(c.Text, 200), c.State, c.ExitCode, g.last))
	}
	if g.countCheck("recorded", len(wrong) == 0); err == nil {
		g.last = c.N
	}
	return wrong
}

// writeLines writes the report as text.
func writeLines(w io.Writer, r *linesReport) {
	fmt.Fprintf(w, "%d runs of %d lines in %s\n", r.Runs, r.Lines, strings.Join(r.Shells, ", "))
	for _, row := range []struct {
		what    string
		percent float64
	}{{"all right", r.Right}, {"verdict right", r.VerdictRight}, {"status right", r.ExitRight}, {"output right", r.OutputRight}, {"recorded right", r.RecordedRight}, {"false askings", r.FalseAlarms}} {
		fmt.Fprintf(w, "%-18s %6.2f %%\n", row.what, row.percent)
	}
	r.sortLines()
	r.writeTable(w)
	for _, f := range r.Failures {
		fmt.Fprintln(w, output.Printable(f))
	}
}

// sortLines puts the table into the order of rules and shells.
func (r *linesReport) sortLines() {
	order := func(c detectCell) int {
		rules, _, _ := strings.Cut(c.Category, ",")
		n := 2 * slices.Index(linesRules, rules)
		if strings.HasSuffix(c.Category, ", history") {
			n++
		}
		return n*len(agentLineShells) + slices.Index(agentLineShells, c.Shell)
	}
	slices.SortFunc(r.Table, func(a, b detectCell) int { return order(a) - order(b) })
}
