//go:build unix

package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/vterm/plaintext"
)

// refusal is the structured form of a rejected call.
type refusal struct {
	State    string   `json:"state"`
	Code     api.Code `json:"code,omitempty"`
	Approval string   `json:"approval,omitempty"`
	Why      string   `json:"why,omitempty"`
	Message  string   `json:"message"`
	Next     string   `json:"next,omitempty"`
}

// completeRefusal gives a rejection the form of its tool's results: clients check it against the schema.
func completeRefusal(t *tool, res *sdk.CallToolResult) {
	r, ok := res.StructuredContent.(*refusal)
	if !ok {
		return
	}
	var schema struct {
		Required   []string
		Properties map[string]struct{ Type string }
	}
	_ = json.Unmarshal([]byte(cmp.Or(t.outputSchema, "{}")), &schema) // ours
	form := map[string]any{}
	b, _ := json.Marshal(r) // of plain values
	_ = json.Unmarshal([]byte(plaintext.Visible(string(b))), &form)
	for _, name := range schema.Required {
		if _, has := form[name]; !has {
			form[name] = map[string]any{"array": []any{}, "integer": 0, "boolean": false, "string": ""}[schema.Properties[name].Type]
		}
	}
	res.StructuredContent = form
}

// maxMessageText bounds an error text, in bytes, and maxWord one word of it: messages quote their subject.
const maxMessageText, maxWord = 1500, 120

// shorten truncates long words and texts in a message.
func shorten(text string) string {
	if len(text) <= maxWord {
		return text
	}
	text = longWord.ReplaceAllStringFunc(text, func(w string) string { return strings.ToValidUTF8(w[:maxWord-30], "") + "…" })
	if len(text) > maxMessageText {
		text = strings.ToValidUTF8(text[:maxMessageText], "") + "…"
	}
	return text
}

// longWord is a word beyond maxWord.
var longWord = pattern.Lazy(`\S{120}\S*`)

// flagsToArguments replaces command-line flags in hints by tool arguments.
var flagsToArguments = strings.NewReplacer("--cwd", "cwd", "--name", "name", "--env", "env", "--label", "labels", "--cols", "cols", "--rows", "rows")

// noTarget is the message for a name that is neither a session's nor a job's.
const (
	noTargetPrefix = "session or job "
	noTarget       = noTargetPrefix + "%s not found"
)

// failure returns an error for a model: the problem and what to call instead.
func failure(err error, instead string) *sdk.CallToolResult {
	text := err.Error()
	r := refusal{State: "refused"}
	var e *api.Error
	if errors.As(err, &e) {
		text = e.Message
		r.Code, r.Approval, r.Why = e.Code, e.Approval, whyOf(e.Policy)
		if e.Code == api.CodeDenied || e.Code == api.CodeRejected {
			r.State, text = "denied", "not allowed, and not run: "+text
		}
		switch {
		case instead != "":
		case r.State == "denied":
			instead = cmp.Or(e.Hint, "use another way, or ask the user")
		case e.Code == api.CodeNotFound && strings.HasPrefix(e.Message, noTargetPrefix):
			instead = "call " + call("list") + " or " + call("jobs") + " for those there are"
		case e.Code == api.CodeNotFound && strings.Contains(e.Message, "no command"):
			instead = "leave command out for the newest, or find it with " + call("search", "text", "…")
		case e.Code == api.CodeNotFound && strings.Contains(e.Message, "the nearest is"):
			instead = "give the whole name if that is meant, or call " + call("list")
		case e.Code == api.CodeNotFound && strings.Contains(e.Message, "job"):
			instead = "call " + call("jobs") + " for the jobs there are"
		case e.Code == api.CodeAmbiguous && strings.Contains(e.Hint, jobPrefix):
			instead = e.Hint
		case e.Code == api.CodeNotFound, e.Code == api.CodeAmbiguous:
			instead = "call " + call("list") + " for the sessions there are"
		case strings.Contains(e.Hint, "`longterm jobs show "):
			_, id, _ := strings.Cut(e.Hint, "`longterm jobs show ")
			id, _, _ = strings.Cut(id, "`")
			instead = "give each call a unique id, or none; " + call("jobs", "id", id) + " shows the other one"
		case strings.Contains(e.Message, "name is empty"):
			instead = "call " + call("list") + " for the sessions there are"
		case e.Code == api.CodeInvalid && strings.HasPrefix(e.Message, "bad query"):
			instead = "write regexp as RE2 has it, or give text for words as they stand, as in " + call("search", "text", "f(x")
		case e.Code == api.CodeEnded:
			instead = "its output can be read (" + call("read", "session", "…") + "); open another with " + call("start")
		case e.Code == api.CodeBusy && strings.Contains(e.Message, "is typing a line"):
			instead = "wait until the user has ended it; look with " + call("screen", "session", "…")
		case e.Code == api.CodeBusy, e.Code == api.CodeNeedsInput:
			instead = "call wait for its end, input to answer it, or stop with how=interrupt; another session is free at once"
		case e.Code == api.CodeNoShell:
			instead = "type into it: " + call("input", "session", "…", "text", "…", "enter", true)
		case e.Code == api.CodeEcho:
			instead = "look with " + call("screen", "session", "…") + " for the question, or omit secret if the text may be shown"
		case strings.Contains(e.Message, "beyond the end"):
			instead = "omit since, or use the cursor of an answer; " + call("read", "session", "…") + " returns the end of the output"
		case e.Code == api.CodeStale:
			instead = "call screen, then input with its version"
		default:
			instead = e.Hint
			if instead == "" {
				instead = e.Code.Hint()
			}
			instead = flagsToArguments.Replace(instead)
		}
	}
	text = shorten(text)
	if strings.Contains(instead, "/openapi.json") { // not available to the model
		instead = call("help") + " explains the arguments"
	}
	r.Message, r.Next = text, instead
	if instead != "" {
		text += "; " + instead
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: plaintext.Visible(text)}}, StructuredContent: &r}
}
