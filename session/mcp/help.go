//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// helpTexts add to the schemas, by topic.
var helpTexts = map[string]string{
	"exec": `Without session, a line runs in a new process (bash or your shell, -c) in cwd. With session, it runs in that shell.
The exit code is exact. exec answers by the yield time; a line that still runs continues, and ` + "`next`" + ` is the call to follow it.
Without session, background processes end with the line: use start for processes that must stay.
Give id to repeat a call safely if you missed its answer: nothing runs twice.
A busy shell refuses: wait for it, stop it, or use another session. timeout kills the line and its processes.`,
	"states": `running: continue with wait. exited: see exit_code. signalled: ended by that signal. killed: by a timeout or on request.
lost: exit status unknown (keeper killed, machine down). denied, refused: not run, see message. needs_input{password,confirm,menu,text}: answer with input.
needs_approval: your user must approve it (see approvals); then wait continues. Ids survive restarts of server, daemon and machine.`,
	"output": `Output is plain text within max_tokens (4 bytes each). If it is longer, the first failure, errors, warnings and the
end are kept; of lines that differ only in numbers, the first and the last (of a running line above 400 bytes). For [… N lines left out, from A to B] call read{"session":S,"since":A,"to":B}. cursor is an offset: pass it as since
to get only new output. Program lines that look like ours ([exited …], next: …) start with |. read{"session":S,"command":n} returns one command's output; with "why":true it
compares a failed command with its newest good run: first new line, new errors and failing tests, commits, files and variables since. search finds lines in all output.`,
	"input": `text is typed unchanged; enter presses Enter after it. keys are pressed after text, so Escape followed by :wq takes two calls. keys: Enter Tab Escape Up Down Left Right Home End PageUp PageDown Backspace
Delete F1…F12 C-a…C-z M-x Space. Give version (of screen) to type only if the screen is unchanged. secret types a password that you were
given, only while the terminal does not echo; else your user must attach. For menus and full-screen programs call screen first. If such
a program is idle, answers contain its screen: first all of it, later the changed rows, as ROW: text. Without a message to the contrary, the program has read the text and shows it.`,
	"wait": `for takes several jobs and sessions: wait answers when the first has ended or needs input (all: when all have). A
shell counts as ended at its prompt. until waits for one condition instead: text=Listening, regexp=^ready, gone=Loading, quiet=2s, port=3000, exit,
anomaly (a line that only earlier failures of the command printed).
One wait of 45 s costs less than polling. No output is lost between waits.`,
	"resources": `longterm://session/{id} state, /output?from=&to= text (&transcript=true: of full-screen programs too), /screen, /command/{n} one command's output, /recording asciicast,
/changes?command= and /diff?path= of a session with a draft: its file changes, which its user commits or discards (answers have their number as changes),
longterm://context commands your user ran since you last read it, each once. Subscribe to a session's resources to be notified of changes.
longterm://completions/NAME what ended or needs input since NAME (your choice) last acknowledged, also while disconnected: act, then read
longterm://completions/NAME?ack=CURSOR. It repeats until acknowledged. Subscribe to it to be notified of each.`,
	"approvals": `needs_approval: the rules require your user's approval before this runs. Pass the commands of the message on to your user
(longterm approvals answer A1 once, or reject; session and always allow more, if approvals lists them), then wait continues by itself.
You cannot answer; the same line in another form also needs approval. denied: rejected by the user or the rules; use another way.`,
	"sessions": `start opens a shell (no line) or a program (line) that runs until it ends; names are unique. Sessions and jobs survive this
server, the daemon and your own restart: list and jobs find them. stop ends, interrupts or removes.`,
}

// topics returns the topics of help, sorted.
func topics() []string {
	var all []string
	for t := range helpTexts {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}

// help returns the text of a topic.
func (s *Server) help(_ context.Context, raw json.RawMessage) (*sdk.CallToolResult, error) {
	args, err := decode[struct{ Topic string }](raw)
	if err != nil {
		return nil, err
	}
	text, ok := helpTexts[args.Topic]
	switch {
	case ok:
	case args.Topic == "":
		text = "topics: " + strings.Join(topics(), ", ")
	default:
		return failure(fmt.Errorf("topic %s not found", quoteName(args.Topic)), "topics: "+strings.Join(topics(), ", ")), nil
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// sortedJoin joins strings in order.
func sortedJoin(all []string) string {
	slices.Sort(all)
	return strings.Join(all, ", ")
}
