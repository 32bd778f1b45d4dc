//go:build unix

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/listing"
)

// readArgs are the arguments of read.
type readArgs struct {
	callLimits
	Session string  `json:"session"`
	Command *int    `json:"command"`
	Since   *uint64 `json:"since"`
	To      uint64  `json:"to"`
	Why     bool    `json:"why"`
}

// read reads output.
func (s *Server) read(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[readArgs](raw)
	if err != nil {
		return nil, err
	}
	n := 0
	if args.Command != nil {
		n = *args.Command
	}
	if n > 0 {
		if _, err := s.client(ctx).Session(args.Session).Command(ctx, n); err != nil {
			return nil, err
		}
	}
	if args.Why {
		return s.explainFailure(ctx, &args, n)
	}
	if args.Since == nil && args.To == 0 {
		a, err := s.sessionAnswer(ctx, args.Session, nil, n, args.budget(), foldNone) // readers want all lines
		if err != nil {
			return nil, err
		}
		return replyAnswer(a, args.Session), nil
	}
	return s.readRange(ctx, &args, n)
}

// explainFailure compares command n of a session (0: its newest failed one) with the newest good run of it.
func (s *Server) explainFailure(ctx context.Context, args *readArgs, n int) (*sdk.CallToolResult, error) {
	w, err := s.client(ctx).Session(args.Session).Why(ctx, n, "", 0)
	if err != nil {
		return nil, err
	}
	a, err := s.sessionAnswer(ctx, args.Session, nil, w.Run.Command, noOutput, foldNone)
	if err != nil {
		return nil, err
	}
	a.Output, a.Message, a.Omitted = strings.Join(listing.WhyLines(&w), "\n"), "", nil
	return replyAnswer(a, args.Session), nil
}

// readRange reads a part of a session's output, or of that of its command n (0: no certain one). It reads nothing else, so
// that a part of a long output costs only its size.
func (s *Server) readRange(ctx context.Context, args *readArgs, n int) (*sdk.CallToolResult, error) {
	a, err := s.sessionAnswer(ctx, args.Session, nil, n, noOutput, foldNone)
	if err != nil {
		return nil, err
	}
	c := s.client(ctx).Session(args.Session)
	v, err := c.Info(ctx)
	if err != nil {
		return nil, err
	}
	from, to := uint64(0), args.To
	if args.Since != nil {
		from = *args.Since
	}
	switch end := v.Output.End; {
	case from > end:
		a.Cursor, a.Message = end, beyondEndText(from, end)
		return replyAnswer(a, args.Session), nil
	case to > 0 && to <= from:
		return failure(fmt.Errorf("to %d does not lie after since %d", to, from), "leave one of them out, or give them the other way round"), nil
	}
	if args.Command != nil { // the part that both have in common
		done, err := c.Command(ctx, n)
		if err != nil {
			return nil, err
		}
		from, to = max(from, done.Output.Start), min(cmp.Or(to, done.Output.End), done.Output.End)
		if from >= to {
			return failure(fmt.Errorf("command %d has no output in that range: its output is from %d to %d", done.N, done.Output.Start, done.Output.End),
				"leave since and to out, as in "+call("read", "session", args.Session, "command", done.N)), nil
		}
	}
	if to == 0 && from == v.Output.End { // no new output
		a.Cursor = from
		return replyAnswer(a, args.Session), nil
	}
	a.Message = ""
	if err := s.replaceOutput(ctx, a, client.TextQuery{From: from, To: to, MaxOutput: args.budget(), Digest: true}); err != nil {
		return nil, err
	}
	return replyAnswer(a, args.Session), nil
}

// screenArgs are the arguments of screen.
type screenArgs struct {
	Session    string `json:"session"`
	Since      uint64 `json:"since"`
	Scrollback int    `json:"scrollback"`
	Picture    bool   `json:"picture"`
}

// screenAnswer is the result of screen.
type screenAnswer struct {
	Text    string `json:"text,omitempty"`
	Version uint64 `json:"version"`
	Changed bool   `json:"changed"`
	Row     int    `json:"cursor_row"`
	Col     int    `json:"cursor_col"`
	Needs   string `json:"needs,omitempty"`
}

// screen shows a session's screen.
func (s *Server) screen(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[screenArgs](raw)
	if err != nil {
		return nil, err
	}
	c := s.client(ctx).Session(args.Session)
	if args.Picture {
		return s.screenPicture(ctx, c, args.Since)
	}
	q := client.ScreenQuery{Trim: true, NoColor: true}
	if args.Scrollback > 0 {
		q.Scrollback = "-" + strconv.Itoa(args.Scrollback) + ":"
	}
	screen, err := c.Screen(ctx, q)
	if err != nil {
		return nil, err
	}
	if args.Since > 0 && args.Since == screen.Version {
		return replyUnchanged(screen.Version), nil
	}
	out := screenAnswerOf(&screen)
	if v, err := c.Info(ctx); err == nil {
		s.screens.note(principal(ctx), v.ID, screen.Version)
	}
	words := fmt.Sprintf("[version %d · cursor %d,%d", out.Version, out.Row, out.Col)
	if n := screen.NeedsInput; n != nil {
		words += " · waits for input (" + n.Kind + ")"
	}
	return reply(out.Text+"\n"+words+"]", out), nil
}

// screenAnswerOf converts a screen for an answer.
func screenAnswerOf(screen *client.Screen) screenAnswer {
	var lines []string
	for _, l := range slices.Concat(screen.Scrollback, screen.Lines) {
		lines = append(lines, strings.TrimRight(l.Text, " "))
	}
	out := screenAnswer{
		Text: strings.TrimRight(strings.Join(lines, "\n"), "\n "), Version: screen.Version, Changed: true,
		Row: screen.Cursor.Y, Col: screen.Cursor.X,
	}
	if n := screen.NeedsInput; n != nil {
		out.Needs = n.Kind
	}
	return out
}

// screenPicture returns the screen as an image.
func (s *Server) screenPicture(ctx context.Context, c *client.Session, since uint64) (*sdk.CallToolResult, error) {
	v, err := c.Info(ctx)
	if err != nil {
		return nil, err
	}
	if since > 0 && since == v.Version {
		return replyUnchanged(v.Version), nil
	}
	png, err := c.ScreenAs(ctx, client.ScreenQuery{}, "png")
	if err != nil {
		return nil, err
	}
	r := reply(fmt.Sprintf("[version %d]", v.Version), screenAnswer{Version: v.Version, Changed: true})
	r.Content = append(r.Content, &sdk.ImageContent{Data: png, MIMEType: "image/png"})
	return r, nil
}

// replyUnchanged returns the reply for a screen without changes.
func replyUnchanged(version uint64) *sdk.CallToolResult {
	return reply(fmt.Sprintf("[unchanged · version %d]", version), screenAnswer{Version: version})
}

// maxRows bounds lists, maxEnded the ended sessions in them.
const maxRows, maxEnded = 100, 10

// sessionList is the result of list.
type sessionList struct {
	Sessions []sessionRow `json:"sessions"`
}

// sessionRow is a session in a list.
type sessionRow struct {
	Name     string            `json:"name"`
	ID       string            `json:"id"`
	State    string            `json:"state"`
	Cwd      string            `json:"cwd,omitempty"`
	Runs     string            `json:"runs,omitempty"`
	ExitCode *int              `json:"exit_code,omitempty"`
	Needs    string            `json:"needs,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// list lists sessions, running ones first.
func (s *Server) list(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[struct {
		Label   string
		Running bool
	}](raw)
	if err != nil {
		return nil, err
	}
	var labels []string
	if args.Label != "" {
		labels = []string{args.Label}
	}
	all, err := s.client(ctx).List(ctx, labels...)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b api.Session) int {
		if r := firstOrder(a.State == "running") - firstOrder(b.State == "running"); r != 0 {
			return r
		}
		return b.Created.Compare(a.Created)
	})
	out := sessionList{Sessions: []sessionRow{}}
	var text strings.Builder
	left, once, ended := 0, 0, 0
	for i := range all {
		v := &all[i]
		if args.Running && v.State != "running" {
			continue
		}
		// The session of a single line, which jobs lists.
		if args.Label == "" && v.State != "running" && v.Labels[oneLineLabel] != "" {
			once++
			continue
		}
		if len(out.Sessions) == maxRows {
			left++
			continue
		}
		if v.State != "running" && args.Label == "" {
			if ended++; ended > maxEnded {
				continue
			}
		}
		r := rowOf(v)
		out.Sessions = append(out.Sessions, r)
		fmt.Fprintf(&text, "%s  %s", escapeControls(r.Name), r.State)
		if r.ExitCode != nil {
			fmt.Fprintf(&text, " %d", *r.ExitCode)
		}
		if r.Needs != "" {
			fmt.Fprintf(&text, "{%s}", r.Needs)
		}
		fmt.Fprintf(&text, "  %s  %s\n", escapeControls(r.Cwd), oneLine(r.Runs, 80))
	}
	if once > 0 {
		fmt.Fprintf(&text, "[%d of single lines that ended: %s]\n", once, call("jobs"))
	}
	if ended > maxEnded {
		fmt.Fprintf(&text, "[%d more ended, older ones; a label lists them: %s]\n", ended-maxEnded, call("list", "label", "NAME"))
	}
	switch {
	case len(out.Sessions) == 0 && once == 0:
		text.WriteString("no sessions; open one with " + call("start", "name", "…"))
	case left > 0:
		fmt.Fprintf(&text, "[%d more]", left)
	}
	return reply(strings.TrimRight(text.String(), "\n"), out), nil
}

// firstOrder returns a sort key that puts true first.
func firstOrder(first bool) int {
	if first {
		return 0
	}
	return 1
}

// rowOf returns a session's row.
func rowOf(v *api.Session) sessionRow {
	r := sessionRow{Name: v.Name, ID: api.ShortID(v.ID), State: v.State, Cwd: v.Cwd, Runs: v.Command, ExitCode: v.ExitCode, Labels: v.Labels}
	if v.Needs != nil && answerableKinds[v.Needs.Kind] {
		r.State, r.Needs = "needs_input", v.Needs.Kind
	}
	if v.Shell != nil && v.Shell.Phase == "running" && v.Shell.Command != "" {
		r.Runs = v.Shell.Command
	}
	if v.Shell != nil && v.Shell.Phase == "prompt" {
		r.State = "at its prompt"
	}
	if len(v.Approvals) > 0 {
		r.State = "needs_approval " + strings.Join(v.Approvals, ",")
	}
	return r
}

// oneLine returns a text on one line of at most n characters.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// jobRow is a job in a list.
type jobRow struct {
	ID       string `json:"id"`
	Session  string `json:"session"`
	Line     string `json:"line"`
	State    string `json:"state"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Seconds  int64  `json:"seconds"`
	Message  string `json:"message,omitempty"`
}

// jobList is the result of jobs.
type jobList struct {
	Jobs []jobRow `json:"jobs"`
}

// jobs lists jobs.
func (s *Server) jobs(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[struct {
		ID, Session string
		Running     bool
		Limit       int
	}](raw)
	if err != nil {
		return nil, err
	}
	var all []api.Job
	if args.ID != "" {
		j, err := s.client(ctx).Job(ctx, args.ID, 1)
		if err != nil {
			return nil, err
		}
		all = []api.Job{j}
	} else {
		if args.Limit == 0 {
			args.Limit = 30
		}
		if all, err = s.client(ctx).Jobs(ctx, client.JobQuery{Session: args.Session, Running: args.Running, Limit: args.Limit}); err != nil {
			return nil, err
		}
	}
	out := jobList{Jobs: []jobRow{}}
	var text strings.Builder
	for i := range all {
		r := rowOfJob(&all[i])
		out.Jobs = append(out.Jobs, r)
		text.WriteString(r.text(time.Duration(all[i].DurationMS) * time.Millisecond))
	}
	if len(all) == 0 {
		text.WriteString("no jobs")
	}
	return reply(strings.TrimRight(text.String(), "\n"), out), nil
}

// text returns the job on one line, with its duration.
func (r *jobRow) text(took time.Duration) string {
	state := r.State
	if r.ExitCode != nil {
		state += fmt.Sprint(" ", *r.ExitCode)
	}
	return fmt.Sprintf("%s  %s  %s  %s  %s\n", r.ID, state, shortTime(took), r.Session, oneLine(r.Line, 80))
}

// rowOfJob returns a job's row.
func rowOfJob(j *api.Job) jobRow {
	r := jobRow{ID: j.ID, Session: j.Name, Line: oneLine(j.Line, 200), State: j.State, Seconds: j.DurationMS / 1000}
	if r.Session == "" {
		r.Session = api.ShortID(j.Session)
	}
	if j.Result != nil {
		a := answerOf(j.Result, "")
		a.clearOmitted() // the list has no output
		r.State, r.ExitCode, r.Message = a.State, a.ExitCode, a.Message
	} else if r.State == "waiting" {
		r.State = "running"
	}
	return r
}

// hitRow is a line found by search.
type hitRow struct {
	Session string    `json:"session"`
	From    uint64    `json:"from"`
	Command int       `json:"command,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
}

// searchResult is the result of search.
type searchResult struct {
	Hits []hitRow `json:"hits"`
	Next string   `json:"next,omitempty"`
	Note string   `json:"note,omitempty"`
}

// maxSearchText bounds a searched text or pattern, in bytes. The daemon has its own bounds.
const maxSearchText = 4096

// search searches the output of all sessions.
func (s *Server) search(ctx context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[struct {
		Text, Regexp, Session string
		Limit                 int
	}](raw)
	if err != nil {
		return nil, err
	}
	if (args.Text == "") == (args.Regexp == "") {
		return failure(fmt.Errorf("give text or regexp, one of them"), "as in "+call("search", "text", "panic:")), nil
	}
	for name, text := range map[string]string{"text": args.Text, "regexp": args.Regexp} {
		if len(text) > maxSearchText {
			return failure(fmt.Errorf("%s has %d bytes, more than %d", name, len(text), maxSearchText), "give a shorter one"), nil
		}
	}
	if args.Limit == 0 {
		args.Limit = 20
	}
	f, err := s.client(ctx).Search(ctx, client.SearchQuery{Text: args.Text, Regexp: args.Regexp, Session: args.Session, Limit: args.Limit})
	if err != nil {
		return nil, err
	}
	out := searchResult{Hits: []hitRow{}, Note: f.Note}
	var text strings.Builder
	for _, h := range f.Hits {
		out.Hits = append(out.Hits, hitRow{h.Name, h.From, h.Command, h.Time.Truncate(time.Second), oneLine(h.Text, 300)})
		fmt.Fprintf(&text, "%s  %d  %s\n", h.Name, h.From, oneLine(h.Text, 300))
	}
	switch {
	case len(f.Hits) == 0:
		text.WriteString("nothing found")
	default:
		h := f.Hits[0]
		out.Next = call("read", "session", h.Name, "since", h.From)
		text.WriteString("around the first: " + out.Next)
	}
	if f.Note != "" {
		text.WriteString("\n" + f.Note)
	}
	return reply(text.String(), out), nil
}
