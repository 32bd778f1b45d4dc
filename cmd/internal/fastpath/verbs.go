package fastpath

import (
	"os"
	"strconv"
)

// verb is a verb that the fast path can run, in its plain forms.
type verb struct {
	name  string
	flags []flag
	lead  int // number of words after which no flags follow (parseArgs); 0: flags may be anywhere
	// request returns the verb's request, or false to leave the call to the verb.
	request func(*parsedArgs) (apiRequest, bool)
	// format returns the text that the verb prints for an answer, and its exit status. nil: nothing is printed.
	format func(g *parsedArgs, answer string) (text string, status int, ok bool)
	// start replaces request and format: it starts work that the verb continues.
	start func(*parsedArgs)
}

// apiRequest is a request to the daemon.
type apiRequest struct{ method, uri, body string }

// do runs the verb if its arguments have a plain form.
func (v *verb) do(args []string) (status int, done bool) {
	g, ok := parseArgs(args, v.flags, v.lead)
	if !ok {
		return 0, false
	}
	if v.start != nil {
		v.start(&g)
		return 0, false
	}
	a, ok := v.request(&g)
	if !ok {
		return 0, false
	}
	answer, ok := request(a.method, a.uri, a.body)
	if !ok {
		return 0, false
	}
	text := ""
	switch {
	case v.format != nil:
		text, status, ok = v.format(&g, answer)
	case g.has("json"):
		text, ok = indentJSON(answer)
	}
	return status, ok && (text == "" || write(text))
}

var jsonFlag = flag{long: "json"}

// verbs lists the verbs of the fast path.
var verbs = []verb{
	{name: "ls", flags: []flag{jsonFlag}, request: listRequest, format: formatText},
	{name: "screen", flags: []flag{jsonFlag}, request: screenRequest, format: formatScreen},
	{name: "new", flags: []flag{jsonFlag, {long: "name", short: "n", valued: true}}, request: newRequest, format: formatNew},
	{name: "send", flags: []flag{jsonFlag, {long: "enter", short: "e"}, {long: "force"}}, request: sendRequest},
	{name: "keys", flags: []flag{jsonFlag, {long: "force"}}, request: keysRequest},
	{name: "kill", flags: []flag{jsonFlag}, request: killRequest},
	{
		name:    "wait",
		flags:   []flag{jsonFlag, {long: "for", valued: true, repeats: true}, {long: "all"}, {long: "since", valued: true}, {long: "timeout", valued: true}},
		request: waitRequest, format: formatWait,
	},
	{name: "attach", start: showSession},
	{name: "exec", flags: []flag{jsonFlag, {long: "wait"}}, lead: 2, request: execRequest, format: formatExec},
}

// path returns a path below a session, or "" if its name has special characters.
func (g *parsedArgs) path(below string) string {
	if len(g.words) == 0 || !plainName(g.words[0]) {
		return ""
	}
	return "/v1/sessions/" + g.words[0] + below
}

func listRequest(g *parsedArgs) (apiRequest, bool) {
	if g.has("json") {
		return apiRequest{method: "GET", uri: "/v1/sessions"}, len(g.words) == 0
	}
	return apiRequest{method: "GET", uri: "/v1/sessions.txt"}, len(g.words) == 0 && !printsToTerminal()
}

// printsToTerminal reports whether standard output is a terminal, which gets texts for users.
func printsToTerminal() bool {
	st, err := os.Stdout.Stat()
	if err != nil || st.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(st, null)
}

// formatText formats a text answer, or JSON.
func formatText(g *parsedArgs, answer string) (string, int, bool) {
	if g.has("json") {
		text, ok := indentJSON(answer)
		return text, 0, ok
	}
	return answer, 0, true
}

func screenRequest(g *parsedArgs) (apiRequest, bool) {
	uri := g.path("/screen/text?fonts=system&max_output=-1&padding=8&scale=1&screen=active")
	if g.has("json") {
		uri = g.path("/screen?screen=active")
	}
	return apiRequest{method: "GET", uri: uri}, uri != "" && len(g.words) == 1
}

func formatScreen(g *parsedArgs, answer string) (string, int, bool) {
	if g.has("json") {
		if _, ok := indentJSON(answer); !ok { // it has blanks to be taken out
			return "", 0, false
		}
	}
	return withNewline(answer), 0, true
}

// withNewline returns text with a newline at its end.
func withNewline(text string) string {
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	return text
}

// newRequest handles `new` with no flag but --name.
func newRequest(g *parsedArgs) (apiRequest, bool) {
	if g.dashed != 0 || len(g.words) == 0 || !g.has("json") && printsToTerminal() || g.has("name") && !plainName(g.value("name")) {
		return apiRequest{}, false
	}
	body, ok := newSession(g.value("name"), g.words)
	return apiRequest{"POST", "/v1/sessions", body}, ok
}

func formatNew(g *parsedArgs, answer string) (string, int, bool) {
	if g.has("json") {
		return formatText(g, answer)
	}
	id, ok := "", false
	whole := members(answer, func(name, value string) bool {
		if name == "id" {
			id, ok = unquote(value)
		}
		return true
	})
	return id + "\n", 0, ok && whole
}

func sendRequest(g *parsedArgs) (apiRequest, bool) {
	uri := g.path("/input")
	if len(g.words) != 2 || uri == "" || g.words[1] == "" {
		return apiRequest{}, false
	}
	var o object
	o.text("text", g.words[1])
	o.flag("enter", g.has("enter"))
	o.flag("force", g.has("force"))
	body, ok := o.end()
	return apiRequest{"POST", uri, body}, ok
}

func keysRequest(g *parsedArgs) (apiRequest, bool) {
	uri := g.path("/input")
	if len(g.words) < 2 || uri == "" {
		return apiRequest{}, false
	}
	var o object
	o.list("keys", g.words[1:])
	o.flag("force", g.has("force"))
	body, ok := o.end()
	return apiRequest{"POST", uri, body}, ok
}

func killRequest(g *parsedArgs) (apiRequest, bool) {
	uri := g.path("/kill")
	return apiRequest{"POST", uri, "{}"}, uri != "" && len(g.words) == 1
}

func waitRequest(g *parsedArgs) (apiRequest, bool) {
	uri := g.path("/wait")
	if len(g.words) != 1 || uri == "" || !g.has("for") {
		return apiRequest{}, false
	}
	var conds []string
	for _, text := range g.values["for"] {
		c, ok := condition(text)
		if !ok {
			return apiRequest{}, false
		}
		conds = append(conds, c)
	}
	timeout, ok := 0, true // the daemon chooses the default
	if g.has("timeout") {
		timeout, ok = millis(g.value("timeout"))
	}
	var o object
	o.objects("conditions", conds)
	o.flag("all", g.has("all"))
	if g.has("since") {
		n, err := strconv.ParseUint(g.value("since"), 10, 63)
		o.number("since", int(n))
		ok = ok && err == nil
	}
	if timeout > 0 {
		o.number("timeout_ms", timeout)
	}
	body, whole := o.end()
	return apiRequest{"POST", uri, body}, ok && whole
}

// condition encodes a condition (request.Condition), of the kinds whose values need no checks.
func condition(s string) (string, bool) {
	kind, value, valued := s, "", false
	for i := range len(s) {
		if s[i] == '=' || s[i] == ':' {
			kind, value, valued = s[:i], s[i+1:], true
			break
		}
	}
	var o object
	switch {
	case kind == "text" && value != "":
		o.text("kind", kind)
		o.text("text", value)
	case (kind == "regexp" || kind == "re") && value != "":
		o.text("kind", "regexp")
		o.text("pattern", value)
	case valued:
		return "", false
	case kind == "exit", kind == "prompt", kind == "command", kind == "bell", kind == "input", kind == "quiet":
		o.text("kind", kind)
	default:
		return "", false
	}
	return o.end()
}

// millis parses a whole number of ms, s or m as milliseconds; time.ParseDuration accepts more.
func millis(s string) (int, bool) {
	digits := 0
	for digits < len(s) && '0' <= s[digits] && s[digits] <= '9' {
		digits++
	}
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n == 0 || n > 100_000 {
		return 0, false
	}
	switch s[digits:] {
	case "ms":
		return n, true
	case "s":
		return n * 1000, true
	case "m":
		return n * 60_000, true
	}
	return 0, false
}

// formatWait formats the conditions that held. Other outcomes go to the verb.
func formatWait(g *parsedArgs, answer string) (text string, status int, ok bool) {
	fired := false
	ok = members(answer, func(name, value string) bool {
		switch name {
		case "outcome":
			fired = value == `"fired"`
		case "fired":
			return elements(value, func(value string) bool {
				line, ok := conditionLine(value)
				text += line
				return ok
			})
		}
		return true
	})
	if g.has("json") {
		text, ok = indentJSON(answer)
	}
	return text, 0, ok && fired
}

// conditionLine returns the line for a condition that held.
func conditionLine(fired string) (line string, ok bool) {
	kind, match := "", ""
	ok = members(fired, func(name, value string) bool {
		good := true
		switch name {
		case "condition":
			return members(value, func(name, value string) bool {
				if name == "kind" {
					kind, good = unquote(value)
				}
				return good
			})
		case "match":
			match, good = unquote(value)
			good = good && printable(match)
		}
		return good
	})
	if match != "" {
		kind += "=" + match
	}
	if kind == "exit" { // the verb prints its status
		return "", false
	}
	if match != "" && match[len(match)-1] == '=' { // which the verb takes off
		return "", false
	}
	return kind + "\n", ok && kind != ""
}

// printable reports whether a text has no control characters.
func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || 0x7f <= r && r < 0xa0 {
			return false
		}
	}
	return true
}

// execRequest handles a line for a shell on behalf of a program: a user at a terminal has no timeouts.
func execRequest(g *parsedArgs) (apiRequest, bool) {
	deferInterrupt()
	uri := g.path("/exec?abandon=stop") // the daemon ends the line if this caller dies while an approval is pending
	if len(g.words) < 2 || uri == "" || g.dashed >= 0 && g.dashed != 1 || isDevice(os.Stdin) && isDevice(os.Stdout) || !hasNoConfig() {
		return apiRequest{}, false
	}
	line := g.words[1]
	for _, word := range g.words[2:] {
		line += " " + word
	}
	var err error
	if ID, err = randomID(); err != nil {
		return apiRequest{}, false
	}
	var o object
	o.text("job", ID)
	o.text("on_input", "wait")
	if !g.has("json") {
		o.number("max_output", 4096)
	}
	o.text("line", line)
	o.flag("wait", g.has("wait"))
	o.text("on_approval", "return")
	body, ok := o.end()
	return apiRequest{"POST", uri, body}, ok && line != ""
}

// isDevice reports whether a file may be a terminal.
func isDevice(f *os.File) bool {
	st, err := f.Stat()
	return err != nil || st.Mode()&os.ModeCharDevice != 0
}

// plainResult holds the fields of a plain result (api.Result), with the values that they must have.
var plainResult = map[string]string{
	"state": `"exited"`, "timed_out": `"none"`, "aborted": "false", "exit_code": "", "output": "", "job": "", "duration_ms": "",
	"message": "", "pid": "", "pgid": "", "background_pids": "", "mode": "", "session": "", "command": "", "quality": "",
	"output_range": "", "cwd_before": "", "cwd_after": "", "env_changes": "", "executions": "", "sandbox": "",
}

// formatExec formats the result of a line that ended by itself, with all its output.
func formatExec(g *parsedArgs, answer string) (text string, status int, ok bool) {
	seen := 0
	ok = members(answer, func(name, value string) bool {
		want, plain := plainResult[name]
		if !plain || want != "" && want != value {
			return false
		}
		good := true
		switch name {
		case "state", "timed_out":
			seen++
		case "exit_code":
			n, err := strconv.ParseUint(value, 10, 8)
			status, good = int(n), err == nil
			seen++
		case "output":
			text, good = unquote(value)
			seen++
		}
		return good
	})
	switch {
	case g.has("json"):
		var whole bool
		text, whole = indentJSON(answer)
		ok = ok && whole
	case text != "":
		text = withNewline(text)
	}
	return text, status, ok && seen == 4
}
