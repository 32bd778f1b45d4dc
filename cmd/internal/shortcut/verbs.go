package shortcut

import (
	"os"
	"strconv"
)

// verb is a verb in the forms that are done here.
type verb struct {
	name  string
	flags []flag
	lead  int // words behind which there are no flags (parseArgs); 0: there may be everywhere
	// ask is the request that the verb makes; not ok: it is the verb's to judge.
	ask func(*given) (asking, bool)
	// tell makes of the answer what the verb prints, and the exit status. nil: nothing is printed.
	tell func(g *given, answer string) (text string, status int, ok bool)
	// show, in place of both, begins what the verb goes on with.
	show func(*given)
}

// asking is a request.
type asking struct{ method, uri, body string }

// do does what a verb's arguments ask for, if it is plain.
func (v *verb) do(args []string) (status int, done bool) {
	g, ok := parseArgs(args, v.flags, v.lead)
	if !ok {
		return 0, false
	}
	if v.show != nil {
		v.show(&g)
		return 0, false
	}
	a, ok := v.ask(&g)
	if !ok {
		return 0, false
	}
	answer, ok := request(a.method, a.uri, a.body)
	if !ok {
		return 0, false
	}
	text := ""
	switch {
	case v.tell != nil:
		text, status, ok = v.tell(&g, answer)
	case g.has("json"):
		text, ok = indented(answer)
	}
	return status, ok && (text == "" || write(text))
}

var jsonFlag = flag{long: "json"}

var verbs = []verb{
	{name: "ls", flags: []flag{jsonFlag}, ask: askList, tell: tellText},
	{name: "screen", flags: []flag{jsonFlag}, ask: askScreen, tell: tellScreen},
	{name: "new", flags: []flag{jsonFlag, {long: "name", short: "n", valued: true}}, ask: askNew, tell: tellNew},
	{name: "send", flags: []flag{jsonFlag, {long: "enter", short: "e"}, {long: "force"}}, ask: askSend},
	{name: "keys", flags: []flag{jsonFlag, {long: "force"}}, ask: askKeys},
	{name: "kill", flags: []flag{jsonFlag}, ask: askKill},
	{
		name:  "wait",
		flags: []flag{jsonFlag, {long: "for", valued: true, repeats: true}, {long: "all"}, {long: "since", valued: true}, {long: "timeout", valued: true}},
		ask:   askWait, tell: tellWait,
	},
	{name: "attach", show: showSession},
	{name: "exec", flags: []flag{jsonFlag, {long: "wait"}}, lead: 2, ask: askExec, tell: tellExec},
}

// path is a session's; empty: its name is not plain.
func (g *given) path(below string) string {
	if len(g.words) == 0 || !plainName(g.words[0]) {
		return ""
	}
	return "/v1/sessions/" + g.words[0] + below
}

func askList(g *given) (asking, bool) {
	if g.has("json") {
		return asking{method: "GET", uri: "/v1/sessions"}, len(g.words) == 0
	}
	st, err := os.Stdout.Stat()
	terminal := err == nil && st.Mode()&os.ModeCharDevice != 0 // its width matters
	return asking{method: "GET", uri: "/v1/sessions.txt"}, len(g.words) == 0 && !terminal
}

// tellText prints an answer that is a text, or JSON.
func tellText(g *given, answer string) (string, int, bool) {
	if g.has("json") {
		text, ok := indented(answer)
		return text, 0, ok
	}
	return answer, 0, true
}

func askScreen(g *given) (asking, bool) {
	uri := g.path("/screen/text?fonts=system&max_output=-1&padding=8&scale=1&screen=active")
	if g.has("json") {
		uri = g.path("/screen?screen=active")
	}
	return asking{method: "GET", uri: uri}, uri != "" && len(g.words) == 1
}

func tellScreen(g *given, answer string) (string, int, bool) {
	if g.has("json") {
		if _, ok := indented(answer); !ok { // it has blanks to be taken out
			return "", 0, false
		}
	}
	return lined(answer), 0, true
}

// lined is a text that ends with a line's end.
func lined(text string) string {
	if text == "" || text[len(text)-1] != '\n' {
		text += "\n"
	}
	return text
}

// askNew is `new` with no flag but a name.
func askNew(g *given) (asking, bool) {
	if g.dashed != 0 || len(g.words) == 0 || g.has("name") && !plainName(g.value("name")) {
		return asking{}, false
	}
	body, ok := newSession(g.value("name"), g.words)
	return asking{"POST", "/v1/sessions", body}, ok
}

func tellNew(g *given, answer string) (string, int, bool) {
	if g.has("json") {
		return tellText(g, answer)
	}
	id, ok := "", false
	whole := members(answer, func(name, value string) bool {
		if name == "id" {
			id, ok = unquoted(value)
		}
		return true
	})
	return id + "\n", 0, ok && whole
}

func askSend(g *given) (asking, bool) {
	uri := g.path("/input")
	if len(g.words) != 2 || uri == "" || g.words[1] == "" {
		return asking{}, false
	}
	var o object
	o.text("text", g.words[1])
	o.flag("enter", g.has("enter"))
	o.flag("force", g.has("force"))
	body, ok := o.end()
	return asking{"POST", uri, body}, ok
}

func askKeys(g *given) (asking, bool) {
	uri := g.path("/input")
	if len(g.words) < 2 || uri == "" {
		return asking{}, false
	}
	var o object
	o.list("keys", g.words[1:])
	o.flag("force", g.has("force"))
	body, ok := o.end()
	return asking{"POST", uri, body}, ok
}

func askKill(g *given) (asking, bool) {
	uri := g.path("/kill")
	return asking{"POST", uri, "{}"}, uri != "" && len(g.words) == 1
}

func askWait(g *given) (asking, bool) {
	uri := g.path("/wait")
	if len(g.words) != 1 || uri == "" || !g.has("for") {
		return asking{}, false
	}
	var conds []string
	for _, text := range g.values["for"] {
		c, ok := condition(text)
		if !ok {
			return asking{}, false
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
	return asking{"POST", uri, body}, ok && whole
}

// condition is a condition as requests have it (request.Condition), of those that need no look at their values.
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

// millis are the milliseconds of a time that is a whole number of ms, s or m (time.ParseDuration knows more).
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

// tellWait tells of conditions that held. What did not is more than a line.
func tellWait(g *given, answer string) (text string, status int, ok bool) {
	fired := false
	ok = members(answer, func(name, value string) bool {
		switch name {
		case "outcome":
			fired = value == `"fired"`
		case "fired":
			return elements(value, func(value string) bool {
				line, ok := held(value)
				text += line
				return ok
			})
		}
		return true
	})
	if g.has("json") {
		text, ok = indented(answer)
	}
	return text, 0, ok && fired
}

// held is a line about a condition that held.
func held(fired string) (line string, ok bool) {
	kind, match := "", ""
	ok = members(fired, func(name, value string) bool {
		good := true
		switch name {
		case "condition":
			return members(value, func(name, value string) bool {
				if name == "kind" {
					kind, good = unquoted(value)
				}
				return good
			})
		case "match":
			match, good = unquoted(value)
			good = good && printable(match)
		}
		return good
	})
	if match != "" {
		kind += "=" + match
	}
	if match != "" && match[len(match)-1] == '=' { // which the verb takes off
		return "", false
	}
	return kind + "\n", ok && kind != ""
}

// printable says that a text moves no cursor.
func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || 0x7f <= r && r < 0xa0 {
			return false
		}
	}
	return true
}

// askExec is a line for a shell that is run for a program: who sits at a terminal has no timeouts.
func askExec(g *given) (asking, bool) {
	keepInterrupt()
	uri := g.path("/exec")
	if len(g.words) < 2 || uri == "" || g.dashed >= 0 && g.dashed != 1 || isDevice(os.Stdin) && isDevice(os.Stdout) || !settled() {
		return asking{}, false
	}
	line := g.words[1]
	for _, word := range g.words[2:] {
		line += " " + word
	}
	var err error
	if ID, err = randomID(); err != nil {
		return asking{}, false
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
	return asking{"POST", uri, body}, ok && line != ""
}

// isDevice says that a file may be a terminal.
func isDevice(f *os.File) bool {
	st, err := f.Stat()
	return err != nil || st.Mode()&os.ModeCharDevice != 0
}

// plainResult are the fields of a result (api.Result) that say nothing besides, with the value that they must have.
var plainResult = map[string]string{
	"state": `"exited"`, "timed_out": `"none"`, "aborted": "false", "exit_code": "", "output": "", "job": "", "duration_ms": "",
	"message": "", "pid": "", "pgid": "", "background_pids": "", "mode": "", "session": "", "command": "", "quality": "",
	"output_range": "", "cwd_before": "", "cwd_after": "", "env_changes": "", "executions": "", "sandbox": "",
}

// tellExec tells of a line that ended by itself, with all of its output.
func tellExec(g *given, answer string) (text string, status int, ok bool) {
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
			text, good = unquoted(value)
			seen++
		}
		return good
	})
	switch {
	case g.has("json"):
		var whole bool
		text, whole = indented(answer)
		ok = ok && whole
	case text != "":
		text = lined(text)
	}
	return text, status, ok && seen == 4
}
