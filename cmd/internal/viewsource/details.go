//go:build unix

package viewsource

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/longterm-dev/longterm/cmd/internal/output"
	"github.com/longterm-dev/longterm/render/view/model"
	"github.com/longterm-dev/longterm/render/view/statusbar"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

// Limits of a session's details.
const (
	shownCommands = 20
	shownFirings  = 20
	shownJobs     = 20
)

// record holds everything the daemon knows about a session. Parts that could not be read are empty.
type record struct {
	session   api.Session
	commands  []api.Command
	rules     []api.RespondAttached
	firings   []api.RespondFiring
	jobs      []api.Job
	approvals []api.Approval
	clients   []api.Attached
}

// Details returns a session's details: state, directory, environment, rules, commands, jobs, limits, clients,
// approvals.
func (v source) Details(ctx context.Context, id string) ([]model.Detail, error) {
	s := v.c.Session(id)
	var r record
	var err error
	if r.session, err = s.Info(ctx); err != nil {
		return nil, err
	}
	var errs [6]error
	r.commands, errs[0] = v.c.Commands(ctx, client.CommandQuery{Session: id, Limit: maxCommands})
	r.rules, errs[1] = s.Rules(ctx)
	r.firings, errs[2] = s.RuleMatches(ctx)
	r.jobs, errs[3] = v.c.Jobs(ctx, client.JobQuery{Session: id, Limit: shownJobs})
	r.approvals, errs[4] = v.pendingApprovals(ctx)
	r.clients, errs[5] = s.Clients(ctx)
	r.approvals = slices.DeleteFunc(slices.Clone(r.approvals), func(a api.Approval) bool { return a.Session != id })
	list := r.details(time.Now())
	for _, err := range errs { // an ended session has no rules, an older daemon no jobs
		var e *api.Error
		if err != nil && !(errors.As(err, &e) && (e.Code == api.CodeEnded || e.Code == api.CodeNotFound)) {
			list = append(list, model.Detail{Group: "not known", Text: err.Error(), Tone: model.ToneWarn})
		}
	}
	return list, ctx.Err()
}

func (r *record) details(now time.Time) []model.Detail {
	d := detailsBuilder{now: now}
	d.session(&r.session)
	d.waiting(&r.session)
	d.approvals(r.approvals)
	d.environment(r.commands)
	d.rules(r.rules)
	d.firings(r.firings)
	d.commands(r.commands)
	d.jobs(r.jobs)
	d.limits(&r.session)
	d.clients(&r.session, r.clients)
	d.addProperties(&r.session)
	return d.list
}

// detailsBuilder builds the rows of the viewer's panel of a session's details.
type detailsBuilder struct {
	now  time.Time
	list []model.Detail
}

func (d *detailsBuilder) add(group, text, note string, tone model.Tone, lead model.DetailAction) {
	if text != "" {
		d.list = append(d.list, model.Detail{Group: group, Text: oneLine(text), Note: note, Tone: tone, Action: lead})
	}
}

// addCopyable adds a line that Enter copies.
func (d *detailsBuilder) addCopyable(group, text, note string) {
	d.add(group, text, note, model.TonePlain, model.DetailAction{Copy: text})
}

func (d *detailsBuilder) ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return statusbar.Duration(max(0, d.now.Sub(t))) + " ago"
}

func (d *detailsBuilder) session(s *api.Session) {
	vs := viewSession(s)
	tone := model.ToneGood
	if vs.HasFailed() {
		tone = model.ToneBad
	}
	d.add("state", strings.TrimSpace(statusbar.StateText(&vs, statusbar.Wide)), statusbar.Elapsed(&vs, d.now), tone, model.DetailAction{Copy: s.ID})
	d.addCopyable("program", s.Command, pidNote(s.PID))
	d.addCopyable("directory", s.Cwd, "")
	if sh := s.Shell; sh != nil && sh.Command != "" {
		d.addCopyable("runs", sh.Command, d.ago(sh.Since))
	}
	if a := s.Activity; a != nil {
		if a.FirstError != nil {
			d.add("first error", output.ProblemText(a.FirstError), counts(a), model.ToneBad, model.DetailAction{Errors: a.FirstError.File != "", Copy: output.ProblemText(a.FirstError)})
		}
	}
	if s.Quarantine != "" {
		d.add("quarantined", s.Quarantine, "", model.ToneBad, model.DetailAction{Copy: s.Quarantine})
	}
	if s.History != "" {
		d.add("history", "not being written: "+s.History, "", model.ToneBad, model.DetailAction{Copy: s.History})
	}
}

func pidNote(pid int) string {
	if pid == 0 {
		return ""
	}
	return fmt.Sprint("pid ", pid)
}

func counts(a *api.Activity) string {
	out := statusbar.Count(a.Errors, "error")
	if a.Warnings > 0 {
		out += "  " + statusbar.Count(a.Warnings, "warning")
	}
	return out
}

// waiting adds the reasons to believe that the session needs input.
func (d *detailsBuilder) waiting(s *api.Session) {
	if n := s.Needs; n != nil {
		tone := model.ToneWants
		if !n.NeedsAnswer() {
			tone = model.TonePlain
		}
		note := fmt.Sprintf("%d%% sure", n.Confidence)
		if since := d.ago(n.Since); since != "" {
			note += ", " + since
		}
		d.add("waits for", n.Kind+": "+n.Reason, note, tone, model.DetailAction{Answer: tone == model.ToneWants, Copy: n.Reason})
	}
	if a := s.AgentState; a != nil {
		tone := model.TonePlain
		if strings.HasPrefix(a.State, "needs_") {
			tone = model.ToneWants
		}
		d.add("agent", output.AgentText(a)+": "+a.Reason, a.Source, tone, model.DetailAction{Answer: tone == model.ToneWants, Copy: a.Reason})
		d.addCopyable("resumed by", a.Resume, "")
	}
}

func (d *detailsBuilder) approvals(list []api.Approval) {
	for i := range list {
		a := viewApproval(&list[i])
		d.add("approval", a.ID+"  "+a.What, "asked by "+a.Requester+" "+d.ago(a.Asked), model.ToneWants, model.DetailAction{Approvals: true})
	}
}

// environment adds the last change of each variable since the shell's start.
func (d *detailsBuilder) environment(commands []api.Command) {
	type change struct {
		value *string
		by    *api.Command
	}
	changed := map[string]change{}
	for i := range commands {
		for name, value := range commands[i].Env {
			changed[name] = change{value, &commands[i]}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		c := changed[name]
		text := "unset " + name
		if c.value != nil {
			text = name + "=" + *c.value
		}
		d.addCopyable("environment", text, "by "+output.Shorten(oneLine(c.by.Text), 40))
	}
}

func (d *detailsBuilder) rules(list []api.RespondAttached) {
	for i := range list {
		r := &list[i]
		text := fmt.Sprintf("%q: %s", r.Text, replies(r.Reply))
		if r.Regexp != "" {
			text = fmt.Sprintf("/%s/: %s", r.Regexp, replies(r.Reply))
		}
		if r.Name != "" {
			text = r.Name + "  " + text
		}
		note, tone := "used "+statusbar.Count(r.Uses, "time"), model.TonePlain
		if r.Max > 0 {
			note = fmt.Sprintf("used %d of %d times", r.Uses, r.Max)
		}
		if r.Failed != "" {
			note, tone = "failed: "+r.Failed, model.ToneBad
		}
		d.add("rule", text, note, tone, model.DetailAction{Rule: r.ID})
	}
}

// replies describes the replies of a rule.
func replies(list []api.RespondReply) string {
	var out []string
	for _, r := range list {
		switch r.Kind {
		case "text":
			out = append(out, fmt.Sprintf("types %q", r.Value))
		case "wait":
			out = append(out, fmt.Sprintf("waits %d ms", r.WaitMS))
		case "secret":
			out = append(out, "types the secret "+r.Value)
		case "keys":
			out = append(out, "presses "+r.Value)
		case "hook":
			out = append(out, "runs "+r.Value)
		default:
			out = append(out, r.Kind+" "+r.Value)
		}
	}
	return strings.Join(out, ", ")
}

// firings adds the matches of response rules, newest first.
func (d *detailsBuilder) firings(list []api.RespondFiring) {
	for i := len(list) - 1; i >= max(0, len(list)-shownFirings); i-- {
		f := &list[i]
		tone := model.ToneGood
		text := fmt.Sprintf("%s  %q: %s", cmp.Or(f.Name, f.Rule), f.Match, replies(f.Reply))
		if f.Error != "" {
			text, tone = fmt.Sprintf("%s  %q: %s", cmp.Or(f.Name, f.Rule), f.Match, f.Error), model.ToneBad
		}
		d.add("answered", text, d.ago(f.Time), tone, model.DetailAction{Copy: text})
	}
}

// commands adds the commands of the shell, newest first.
func (d *detailsBuilder) commands(list []api.Command) {
	for i := len(list) - 1; i >= max(0, len(list)-shownCommands); i-- {
		c := &list[i]
		tone, note := model.TonePlain, statusbar.Duration(time.Duration(c.Duration)*time.Millisecond)
		switch {
		case c.State == "running":
			tone, note = model.ToneBusy, "running "+d.ago(c.Started)
		case c.Signal != "":
			tone, note = model.ToneBad, c.Signal+"  "+note
		case c.ExitCode == nil:
			note = "exit status unknown  " + note
		case *c.ExitCode != 0:
			tone, note = model.ToneBad, fmt.Sprintf("exit %d  %s", *c.ExitCode, note)
		default:
			tone, note = model.ToneGood, "exit 0  "+note
		}
		if c.By != "" {
			note = "by " + c.By + "  " + note
		}
		d.add("commands", c.Text, note, tone, model.DetailAction{Command: c.N})
	}
}

// jobs adds the unfinished jobs, then the newest others.
func (d *detailsBuilder) jobs(list []api.Job) {
	for i := len(list) - 1; i >= 0; i-- {
		j := &list[i]
		if j.State != "done" {
			d.add("job", j.Line, strings.ReplaceAll(j.State, "_", " ")+" "+d.ago(j.Started), model.ToneBusy, model.DetailAction{Job: j.ID})
		}
	}
}

func (d *detailsBuilder) limits(s *api.Session) {
	if c := s.Cgroup; c != nil {
		var used []string
		if c.Memory != nil {
			used = append(used, "memory "+mebibytes(*c.Memory)+ofLimit(c.Limits != nil && c.Limits.Memory > 0, func() string { return mebibytes(c.Limits.Memory) }))
		}
		if c.PIDs != nil {
			used = append(used, fmt.Sprint("processes ", *c.PIDs)+ofLimit(c.Limits != nil && c.Limits.PIDs > 0, func() string { return fmt.Sprint(c.Limits.PIDs) }))
		}
		if c.CPUMS != nil {
			used = append(used, "CPU "+statusbar.Duration(time.Duration(*c.CPUMS)*time.Millisecond)+ofLimit(c.Limits != nil && c.Limits.CPU > 0, func() string { return fmt.Sprint(c.Limits.CPU, " cores") }))
		}
		d.addCopyable("limits", strings.Join(used, ", "), c.Path)
	}
	if b := s.Sandbox; b != nil {
		d.addCopyable("sandbox", output.SandboxText(b), b.Summary)
	}
	d.addCopyable("policy", s.Policy, "")
	d.addCopyable("executions", s.Executions, "")
	for i := range s.Refused {
		d.add("refused", strings.Join(s.Refused[i].Argv, " "), s.Refused[i].Why, model.ToneBad, model.DetailAction{Copy: s.Refused[i].Why})
	}
}

// clients adds the clients of the session, each of which can be made view-only.
func (d *detailsBuilder) clients(s *api.Session, list []api.Attached) {
	if len(list) == 0 {
		d.add("clients", statusbar.Count(s.Clients, "client")+" attached or watching", "", model.TonePlain, model.DetailAction{Size: true})
	}
	for i := range list {
		c := &list[i]
		note := "no input yet"
		if c.Typed != nil {
			note = "typed " + d.ago(*c.Typed)
		}
		if c.May == "look" {
			note = "view-only"
		}
		lead := model.DetailAction{Client: c.N, Types: c.May == "look"}
		if c.OwnChoice { // that is its own choice, or its token's
			lead = model.DetailAction{Copy: output.OwnerText(c)}
		}
		d.add("clients", c.Kind+" "+output.OwnerText(c), note, model.TonePlain, lead)
	}
}

func (d *detailsBuilder) addProperties(s *api.Session) {
	d.add("size", fmt.Sprintf("%d×%d", s.Cols, s.Rows), "of the "+s.Size, model.TonePlain, model.DetailAction{Size: true})
	for _, name := range slices.Sorted(maps.Keys(s.Labels)) {
		if name != markLabel {
			d.addCopyable("label", name+"="+s.Labels[name], "")
		}
	}
	d.addCopyable("output", fmt.Sprintf("bytes %d to %d", s.Output.Start, s.Output.End), "")
	d.addCopyable("id", s.ID, "")
}

// ofLimit returns the text of a limit that belongs to a usage, or "" without a limit.
func ofLimit(limited bool, limit func() string) string {
	if !limited {
		return ""
	}
	return " of " + limit()
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func oneLine(text string) string {
	first, rest, more := strings.Cut(strings.TrimSpace(text), "\n")
	if more && strings.TrimSpace(rest) != "" {
		first += " …"
	}
	return first
}

// glanceRows is the number of last rows in which Summary searches for a non-empty line.
const glanceRows = 200

// Summary returns a session's last line. For a shell at its prompt it returns the last command and the last line of its
// output.
func (v source) Summary(ctx context.Context, id string) (model.Summary, error) {
	s := v.c.Session(id)
	if c, err := s.Command(ctx, 0); err == nil && c.State == "done" {
		from := max(c.Output.Start, c.Output.End-min(c.Output.End, glanceBytes))
		if out, err := s.Text(ctx, client.TextQuery{From: from, To: c.Output.End}); err == nil {
			return model.Summary{Last: commandGlance(c.Text, out.Text), At: time.Now()}, nil
		}
	}
	screen, err := s.Screen(ctx, client.ScreenQuery{})
	lines := make([]string, len(screen.Lines))
	for i := range screen.Lines {
		lines[i] = screen.Lines[i].Text
	}
	return model.Summary{Last: lastText(lines), At: time.Now()}, err
}

// glanceBytes is the number of bytes at the end of a command's output that Summary reads.
const glanceBytes = 4 << 10

// commandGlance returns an ended command and the last line that it printed.
func commandGlance(command, output string) string {
	text := oneLine(command)
	if last := lastText(strings.Split(output, "\n")); last != "" {
		text += ": " + last
	}
	return text
}

// lastText returns the last non-empty line.
func lastText(lines []string) string {
	for i := len(lines) - 1; i >= max(0, len(lines)-glanceRows); i-- {
		if text := strings.TrimSpace(lines[i]); text != "" {
			return text
		}
	}
	return ""
}

// DropRule detaches a response rule from a session.
func (v source) DropRule(ctx context.Context, id, rule string) error {
	_, err := v.c.Session(id).RemoveRules(ctx, rule)
	return err
}

// LetType makes a client of the session read-write, or view-only.
func (v source) LetType(ctx context.Context, id string, n int, types bool) error {
	may := "look"
	if types {
		may = "type"
	}
	return v.c.Session(id).ChangeClient(ctx, n, api.AttachedEdit{May: may})
}

// StopJob kills a job.
func (v source) StopJob(ctx context.Context, job string) error {
	_, err := v.c.StopJob(ctx, job, api.JobStop{})
	return err
}

// Reply types a line into a session that may not be on the screen. A secret is neither shown nor recorded.
func (v source) Reply(ctx context.Context, id, text string, secret bool) error {
	_, err := v.c.Session(id).Type(ctx, api.Input{Text: text, Enter: true, Secret: secret, ID: uuid.NewString()})
	return err
}
