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

// helpTexts are what schemas leave out, by topic.
var helpTexts = map[string]string{
	"exec": `Without session a line runs in a process of its own (bash or your shell, -c), in cwd. With session it runs in that shell.
The exit code is the true one. Answers come by the yield time; then it runs on, and ` + "`next`" + ` is the call that goes on.
What a line leaves in the background ends with it where it has no session: start what is to stay.
Give id to be able to repeat a call whose answer you did not see: nothing is run twice.
A busy shell refuses: wait for it, stop it, or use another session. timeout kills the line and all it started.`,
	"states": `running: go on with wait. exited: see exit_code. signalled: by the signal told. killed: by a timeout or by request.
lost: its end was not seen (keeper killed, machine went down). denied, refused: not run, see message. needs_input{password,confirm,menu,text}: answer with input.
needs_approval: a person has to allow it (see approvals); wait goes on after that. Ids stay valid over restarts of server, daemon and machine.`,
	"output": `Output is plain text within max_tokens (4 bytes each). When there is more, the first failure, errors, warnings and the
end are kept, and of lines alike but for numbers the first and the last (while a line runs from 400 bytes on); [… N lines left out, from A to B] is read by read{"session":S,"since":A,"to":B}. cursor is an offset: pass it as since
to get only what is new. A line of the program's that reads as one of ours ([exited …], next: …) has | before it. read{"session":S,"command":n} is one command's output; search finds lines in everything ever printed.`,
	"input": `text is typed as it is, enter presses Enter after it; keys are pressed after text, so what begins with a key (Escape, then :wq) is two calls. keys: Enter Tab Escape Up Down Left Right Home End PageUp PageDown Backspace
Delete F1…F12 C-a…C-z M-x Space. Give version (of screen) to type only if the screen is still as you saw it. secret types a password that you were
given, only where the terminal does not show it; else your user must attach. For menus and full-screen programs look with screen first; where such
a program rests, answers have its screen: the first all of it, later ones the rows that changed, as ROW: text. Where nothing else is said the program has read the text and shows it.`,
	"wait": `for takes several jobs and sessions: the answer comes when the first has ended or asks (all: when all have). A session that is a
shell counts as ended when it is at its prompt. until waits for one thing instead: text=Listening, regexp=^ready, gone=Loading, quiet=2s, exit.
One wait of 45 s costs less than polling; nothing is lost between two waits.`,
	"resources": `longterm://session/{id} state, /output?from=&to= text (&transcript=true: of full-screen programs too), /screen, /command/{n} one command's output, /recording asciicast,
longterm://context what a person ran since you last read it, each command once. Subscribe to any of a session's to be told when it changes.
longterm://completions/NAME what ended or asks since NAME (yours to choose) last acknowledged, also while you were away: act, then read
longterm://completions/NAME?ack=CURSOR. It comes again until acknowledged, and never after. Subscribe to it to be told of each.`,
	"approvals": `needs_approval: the rules require your user's approval before this runs. Pass the commands of the message on to your user
(longterm approvals answer A1 once, or reject; session and always allow more, where approvals lists them), then wait continues by itself.
You cannot answer, and the same line in another form needs approval, too. denied: the user or the rules rejected it; do it another way.`,
	"sessions": `start opens a shell (no line) or a program (line) that stays until it ends; names are unique. Sessions and jobs survive this
server, the daemon and your own restart: list and jobs find them again. stop ends, interrupts or removes.`,
}

func topics() []string {
	var all []string
	for t := range helpTexts {
		all = append(all, t)
	}
	slices.Sort(all)
	return all
}

// help tells of a topic.
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
		return failure(fmt.Errorf("there is no topic %s", quoted(args.Topic)), "topics: "+strings.Join(topics(), ", ")), nil
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

func sortedJoin(all []string) string {
	slices.Sort(all)
	return strings.Join(all, ", ")
}
