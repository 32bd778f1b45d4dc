//go:build unix

package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// answer is the state of a command, a line or a session: the structured form of most results.
type answer struct {
	State    string `json:"state"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Needs    string `json:"needs,omitempty"`
	Approval string `json:"approval,omitempty"`
	Why      string `json:"why,omitempty"` // why it was denied, or needs approval
	Session  string `json:"session,omitempty"`
	Job      string `json:"job,omitempty"`
	Command  int    `json:"command,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	Output   string `json:"output"`
	Screen   string `json:"screen,omitempty"` // of an idle full-screen program, with its version and cursor
	Version  uint64 `json:"version,omitempty"`
	// ScreenSince is 0 if Screen has all rows. Else Screen has the rows that changed since that version, each after its number.
	ScreenSince uint64   `json:"screen_since,omitempty"`
	Row         int      `json:"cursor_row,omitempty"`
	Col         int      `json:"cursor_col,omitempty"`
	Cursor      uint64   `json:"cursor,omitempty"` // absent if nothing was printed, or nothing more will be
	Omitted     *omitted `json:"omitted,omitempty"`
	Summary     string   `json:"summary,omitempty"` // of the whole output, by the program of the configuration
	Message     string   `json:"message,omitempty"` // text that the other fields do not have
	Next        string   `json:"next,omitempty"`
	Changes     int      `json:"changes,omitempty"`      // in the session's draft
	ExitUnknown string   `json:"exit_unknown,omitempty"` // of a line that ended: the same as in api.Result

	duration   time.Duration // of the command
	id         string        // of the session
	fullScreen bool          // a full-screen program is shown
	atPrompt   bool          // a shell is at its prompt
	commandEnd uint64        // end of the output of the shell's described command; 0: the shell may have run something since
}

// omitted describes the output that exceeded the budget.
type omitted struct {
	Bytes int64  `json:"bytes"`
	Lines int    `json:"lines"`
	From  uint64 `json:"from"`
	To    uint64 `json:"to"`
}

// MarshalJSON adds the duration, which is only known when the answer is sent.
func (a *answer) MarshalJSON() ([]byte, error) {
	type plain answer
	return json.Marshal(struct {
		*plain
		Seconds float64 `json:"seconds,omitempty"`
	}{(*plain)(a), float64(a.duration.Milliseconds()) / 1000})
}

// isRunning reports whether the caller can wait for an end.
func (a *answer) isRunning() bool {
	return a.State == "running" || a.State == "needs_input" || a.State == "needs_approval"
}

// text returns the complete answer as short text: a client may show either form.
func (a *answer) text() string {
	var b strings.Builder
	b.WriteString(quoteOutput(a.Output))
	if a.Output != "" && !strings.HasSuffix(a.Output, "\n") {
		b.WriteByte('\n')
	}
	if a.Summary != "" {
		b.WriteString("[summary of the output]\n" + quoteOutput(a.Summary) + "\n")
	}
	switch {
	case a.ScreenSince > 0 && a.Screen == "":
		fmt.Fprintf(&b, "[screen · version %d · unchanged since %d · cursor %d,%d]\n", a.Version, a.ScreenSince, a.Row, a.Col)
	case a.ScreenSince > 0:
		fmt.Fprintf(&b, "[screen · version %d · rows changed since %d · cursor %d,%d]\n%s\n", a.Version, a.ScreenSince, a.Row, a.Col, quoteOutput(a.Screen))
	case a.Screen != "":
		fmt.Fprintf(&b, "[screen · version %d · cursor %d,%d]\n%s\n", a.Version, a.Row, a.Col, quoteOutput(a.Screen))
	}
	b.WriteByte('[')
	b.WriteString(a.stateText())
	if a.duration >= minReportedTime {
		fmt.Fprintf(&b, " after %s", shortTime(a.duration))
	}
	for _, f := range []struct{ name, value string }{{"session", a.Session}, {"job", a.Job}, {"approval", a.Approval}, {"cwd", a.Cwd}} {
		if f.value != "" {
			fmt.Fprintf(&b, " · %s %s", f.name, escapeControls(f.value))
		}
	}
	if a.Changes > 0 {
		fmt.Fprintf(&b, " · changes %d", a.Changes)
	}
	if a.Cursor > 0 {
		fmt.Fprintf(&b, " · cursor %d", a.Cursor)
	}
	b.WriteByte(']')
	if a.Message != "" {
		b.WriteString(" " + a.Message)
	}
	if a.Next != "" {
		b.WriteString("\nnext: " + a.Next)
	}
	return b.String()
}

// ownLines are the starts of lines that this server adds to program output, in lower case.
var ownLines = []string{"[exited", "[signalled", "[killed", "[lost", "[denied", "[refused", "[running", "[needs_", "[screen", "[summary", "[version ", "[unchanged", "next:"}

// endedCountLine matches the line about a wait for several jobs and sessions.
var endedCountLine = pattern.Lazy(`^\[\d+ of \d+ ended`)

// setDraft sets the number of changes in a draft, if they were counted.
func (a *answer) setDraft(d *api.DraftSummary) {
	if d != nil && d.Changes != nil {
		a.Changes = *d.Changes
	}
}

// looksLikeOwnLine reports whether a line looks like one of this server's to a model. It ignores blanks and case.
func looksLikeOwnLine(line string) bool {
	line = strings.TrimLeft(line, " \t\r")
	if line == "" || line[0] != '[' && line[0]|0x20 != 'n' {
		return false
	}
	line = strings.ToLower(line[:min(len(line), 40)])
	return slices.ContainsFunc(ownLines, func(begin string) bool { return strings.HasPrefix(line, begin) }) || endedCountLine.MatchString(line)
}

// quoteOutput marks each line of program output that looks like one of this server's.
func quoteOutput(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if looksLikeOwnLine(line) {
			b.WriteString("| ")
		}
		b.WriteString(line)
	}
	return b.String()
}

// escapeControls spells out control characters in a name or directory, which could break the line.
func escapeControls(text string) string {
	if strings.IndexFunc(text, unicode.IsControl) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// stateText returns the answer's state in words.
func (a *answer) stateText() string {
	switch {
	case a.State == "exited" && a.ExitCode != nil:
		return fmt.Sprintf("exited %d", *a.ExitCode)
	case a.State == "exited" && a.ExitUnknown == api.ExitNone:
		return "exited, no status"
	case a.State == "exited" && a.ExitUnknown == api.ExitNotReported:
		return "exited, status unknown: may have failed"
	case a.Needs != "":
		return a.State + "{" + a.Needs + "}"
	case a.Signal != "":
		return a.State + " " + a.Signal
	}
	return a.State
}

// minReportedTime is the shortest duration worth reporting.
const minReportedTime = 100 * time.Millisecond

// shortTime formats a duration for users: 0.4s, 12s, 3m20s.
func shortTime(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// agentStates maps the daemon's job states to those that agents see.
var agentStates = map[string]string{"waiting": "running", "ended": "exited", "": "running"}

// answerableKinds are the kinds of input that need an answer. An idle full-screen program and the prompt of another shell
// need none.
var answerableKinds = map[string]bool{"password": true, "confirm": true, "menu": true, "text": true}

// answerOf returns a job's result as an answer.
func answerOf(r *api.Result, session string) *answer {
	a := &answer{
		State: r.State, ExitCode: r.ExitCode, Signal: r.Signal, Session: session, Job: r.Job, Command: r.Command,
		Output: r.Output, Cursor: r.Range.End, duration: time.Duration(r.DurationMS) * time.Millisecond,
	}
	if s, ok := agentStates[a.State]; ok {
		a.State = s
	}
	if r.State == "ended" && a.Signal != "" {
		a.State = "signalled"
	}
	a.ExitUnknown = r.ExitUnknown
	if addsInformation(r) && a.ExitUnknown == "" { // otherwise the state contains it
		a.Message = r.Message
	}
	if r.State == "" {
		a.Message = "about to start"
	}
	if r.Needs != "" {
		a.setNeeds(r.Needs)
	}
	for i := range r.Refused[:min(maxRefusals, len(r.Refused))] {
		a.Message = joinText(a.Message, refusedText(&r.Refused[i]))
	}
	if r.Cleared != "" {
		a.Message = joinText(a.Message, "what was typed before and not ended was cleared: "+r.Cleared)
	}
	if r.CwdAfter != "" && r.CwdAfter != r.CwdBefore {
		a.Cwd = r.CwdAfter
	}
	a.setDraft(r.Draft)
	a.setOmitted(r.Omitted)
	a.Summary, a.Message = r.Summary, joinText(joinText(a.Message, r.SummaryError), r.EnvNote())
	if r.BinaryBytes > 0 {
		a.Message = joinText(a.Message, fmt.Sprintf("%d bytes of binary data omitted", r.BinaryBytes))
	}
	a.Approval, a.Why = r.Approval, whyOf(r.Policy)
	if r.Hint != "" && (a.State == "denied" || a.State == "refused") {
		a.Message = joinText(a.Message, r.Hint)
	}
	switch {
	case a.State == "needs_approval":
		a.Message = approvalMessage(a.Approval, r.Policy)
		a.Next = call("wait", "for", []string{a.Job})
	case a.State == "needs_input", a.Needs == "screen": // the screen of an idle full-screen program describes it
		a.Next = answerCall(a)
		if a.Needs == "password" {
			a.Message = joinText(a.Message, attachHint(a.Session))
		}
	case a.isRunning() && a.Next == "":
		a.Next = call("wait", append([]any{"for", []string{a.Job}}, sinceOf(a.Cursor)...)...)
	case r.Error != "" && !strings.Contains(strings.ToLower(r.Message), strings.ToLower(r.Error)):
		a.Message = joinText(a.Message, r.Error)
	}
	return a
}

// maxRefusals bounds the refused executions in an answer.
const maxRefusals = 5

// refusedText describes a refused execution. The program itself saw only a permission error.
func refusedText(r *api.Refused) string {
	what := strings.Join(r.Argv, " ")
	if what == "" {
		what = r.Path
	}
	return joinText("not run: "+oneLine(what, 200)+": "+r.Why, r.Instead)
}

// addsInformation reports whether a result's message adds to its state, exit code and signal.
func addsInformation(r *api.Result) bool {
	switch r.State {
	case "needs_input", "signalled":
		return false
	case "exited":
		return r.ExitCode == nil
	case "running":
		return r.TimedOut != "" && r.TimedOut != "none"
	}
	return true
}

// whyOf returns why the rules deny something or require approval.
func whyOf(j *api.Judgement) string {
	if j == nil {
		return ""
	}
	why := j.Why
	if j.Rule != "" {
		why = joinText(why, fmt.Sprintf("rule %q", j.Rule))
	}
	if j.Words != "" {
		why = joinText(why, "for "+oneLine(j.Words, 200))
	}
	return why
}

// approvalMessage returns the text for an agent's user about an approval: why it is needed, and the commands that answer it.
func approvalMessage(approval string, j *api.Judgement) string {
	text := "approval required (" + approval + ")"
	if j != nil && len(j.Effects) > 0 {
		text += ": it " + strings.Join(j.Effects, "; ")
	}
	if why := whyOf(j); why != "" {
		text += ": " + why
	}
	answer := "`longterm approvals answer " + approval + " "
	text += "; pass on to your user: " + answer + "once` allows it, " + answer + "reject` rejects it"
	if j != nil && j.Instead != "" {
		text += "; instead: " + j.Instead
	}
	return text
}

// attachHint returns the text for an agent's user about a password. Neither a form nor the model gets to see the password.
func attachHint(session string) string {
	return "pass on to your user to type it there: `longterm attach " + session + "`; never request it here"
}

// answerCall returns the call that answers a prompt.
func answerCall(a *answer) string {
	switch a.Needs {
	case "menu", "screen":
		return call("screen", "session", a.Session)
	case "password":
		return call("wait", "for", []string{cmp.Or(a.Job, a.Session)})
	}
	return call("input", "session", a.Session, "text", "…", "enter", true)
}

// setNeeds sets the kind of input that the program waits for.
func (a *answer) setNeeds(kind string) {
	a.Needs, a.State = kind, "needs_input"
	if !answerableKinds[kind] {
		a.State = "running"
		a.Message = joinText(a.Message, cmp.Or(map[string]string{"screen": screenIdleNote}[kind], "waiting for input ("+kind+"), without a question"))
	}
}

// screenIdleNote describes an idle full-screen program whose screen is not in the answer.
const screenIdleNote = "full-screen program idle"

// addScreen adds the screen of an idle full-screen program, which the agent would request next. It drops output that
// the screen repeats.
func (a *answer) addScreen(s *screenAnswer) {
	if a.Omitted == nil && isShownOn(a.Output, s.Text) {
		a.Output = ""
	}
	a.Screen, a.Version, a.Row, a.Col, a.Next = s.Text, s.Version, s.Row, s.Col, ""
	a.Message = strings.TrimSuffix(strings.TrimSuffix(a.Message, screenIdleNote), "; ")
}

// isShownOn reports whether each line of the output is on the screen.
func isShownOn(output, screen string) bool {
	on := map[string]bool{"": true}
	for line := range strings.Lines(screen) {
		on[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(output) {
		if !on[strings.TrimSpace(line)] {
			return false
		}
	}
	return true
}

// omitKnown removes what the caller knows: names from the call itself, and the ID of an ended job.
func (a *answer) omitKnown(known ...string) {
	if slices.Contains(known, a.Session) {
		a.Session = ""
	}
	if !a.isRunning() || slices.Contains(known, a.Job) {
		a.Job = ""
	}
}

// dropOutput removes the output and the next call. The caller's request was about something else: it needs the state
// only.
func (a *answer) dropOutput(since *uint64) {
	a.clearOmitted()
	if a.Output, a.Cursor, a.Next = "", 0, ""; since != nil {
		a.Cursor = *since
	}
}

// sinceOf returns the argument since, unless it is the start.
func sinceOf(cursor uint64) []any {
	if cursor == 0 {
		return nil
	}
	return []any{"since", cursor}
}

// setOmitted adds the omitted part and the call that reads most of it. Notes in the output give the amount.
func (a *answer) setOmitted(o *api.Omitted) {
	if o == nil || o.Bytes == 0 {
		return
	}
	a.Omitted = &omitted{Bytes: o.Bytes, Lines: o.Lines, From: o.Start, To: o.End}
	a.Message = joinText(a.Message, a.readOmitted())
}

// clearOmitted removes the omitted part, before other output is added.
func (a *answer) clearOmitted() {
	if a.Omitted == nil {
		return
	}
	a.Message = strings.TrimSuffix(strings.TrimSuffix(a.Message, a.readOmitted()), "; ")
	a.Omitted = nil
}

// readOmitted returns the call that reads the omitted output.
func (a *answer) readOmitted() string {
	return "omitted: " + call("read", "session", a.Session, "since", a.Omitted.From, "to", a.Omitted.To)
}

// joinText joins two texts. Either may be empty.
func joinText(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// call formats a tool call as a model writes it: name{"argument":value}.
func call(tool string, args ...any) string {
	var b strings.Builder
	b.WriteString(tool + "{")
	for i := 0; i+1 < len(args); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		v, _ := json.Marshal(args[i+1]) // texts and numbers
		fmt.Fprintf(&b, "%q:%s", args[i], v)
	}
	return b.String() + "}"
}

// reply returns a result in both forms. It makes invisible characters visible in both, so that users see everything
// that the model reads.
func reply(text string, structured any) *sdk.CallToolResult {
	text = plaintext.Visible(text)
	if b, err := json.Marshal(structured); err == nil {
		if shown := plaintext.Visible(string(b)); shown != string(b) {
			structured = json.RawMessage(shown)
		}
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: structured}
}

// replyAnswer returns an answer to a caller that knows the given names.
func replyAnswer(a *answer, known ...string) *sdk.CallToolResult {
	a.omitKnown(known...)
	return reply(a.text(), a)
}
