package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// Code of other languages is not parsed. It is searched for calls that run a program or evaluate text; what
// they are given is put together as far as it is written out: literals, joined literals, variables that were
// given a literal. The rest is unknown, as an unset variable is in the shell.

// commandCall matches calls whose argument is a command: shell text, or a list of words.
var commandCall = pattern.Lazy(`(?:\b(?:os\.system|os\.popen|system|systemlist|popen[234]?|unix|open[23]|Popen|check_output|check_call|getoutput|` +
	`getstatusoutput|execSync|spawnSync|execFile|execFileSync|passthru|shell_exec|proc_open|pcntl_exec|os\.execute|` +
	`io\.popen|os:cmd|System\.cmd|Sys\.command|System\.shell|shell-command(?:-to-string)?|call-process|start-process|pty\.spawn|` +
	`os\.spawn\w+|os\.exec\w+|os\.posix_spawnp?|subprocess\.(?:run|call|Popen)|child_process['"]?\)?\.(?:exec|spawn|fork)|` +
	`IO\.popen|Open3\.\w+|Kernel\.(?:system|exec|spawn)|Deno\.Command|Deno\.run|Bun\.spawn(?:Sync)?|` +
	`getRuntime\(\)\.exec|Process\.Start|ProcessBuilder|exec_shell|do shell script|doShellScript|exec|spawn|run|call)\b)`)

// evalCall matches calls whose argument is more code.
var evalCall = pattern.Lazy(`(?:^|[^.\w>:-])(?:eval|exec|Function|loadstring|load|assert|create_function|instance_eval|` +
	`class_eval|__import__|getattr|import_module|call_user_func(?:_array)?|public_send|__send__)\s*(?:\(|\s["'$(])|\beval\s+[\w<]|` +
	`\b(?:globals|locals|vars)\(\)\s*\[|__builtins__|(?:globalThis|process)\[|\$\w+\s*\(|process\.binding`)

// ambiguousCalls maps words that run programs only together with a library to that library's name.
var ambiguousCalls = map[string]string{"run": "from subprocess|run(`", "call": "from subprocess", "exec": "child_process|perl|ruby|php|tclsh|expect",
	"spawn": "child_process|expect|ruby", "popen": "", "Function": ""}

// literalJoin matches the join of two literals.
var literalJoin = pattern.Lazy(`"\s*(?:\+|\.|~|\.\.|<>|&)?\s*"|'\s*(?:\+|\.|~|\.\.|<>|&)?\s*'`)

// assignment matches variables that are set to a literal.
var assignment = pattern.Lazy(`([$@]?[A-Za-z_]\w*)\s*:?=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')`)

// appendAssignment matches variables to which a literal is appended.
var appendAssignment = pattern.Lazy(`([$@]?[A-Za-z_]\w*)\s*[+.]=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')`)

// maxCalls bounds the calls in code that are judged.
const maxCalls = 50

// maxCode bounds the code of another language that is searched, in bytes.
const maxCode = 128 << 10

// judgeCalls judges the commands that code visibly runs, and requires approval for evaluated text.
func (cr *codeReader) judgeCalls(lang, text string, x *invocation) {
	known := map[string]string{}
	for _, m := range assignment.FindAllStringSubmatch(text, 200) {
		value := m[2] + m[3]
		if isTransformed(text, m[0]) {
			value = someText
		}
		if _, twice := known[m[1]]; twice {
			value = someText
		}
		known[m[1]] = value
	}
	for _, m := range appendAssignment.FindAllStringSubmatch(text, 200) {
		if before, is := known[m[1]]; is {
			known[m[1]] = before + m[2] + m[3]
		}
	}
	found := commandCall.FindAllStringIndex(text, maxCalls)
	if lang == "sh" || lang == "sql" || lang == "vim" {
		found = nil
	}
	for _, at := range found {
		word := text[at[0]:at[1]]
		if before := text[:at[0]]; word == "exec" || word == "spawn" || word == "run" || word == "call" {
			if !isCommandCall(word, lang, text) || strings.HasSuffix(before, ".") && lang != "ruby" && word != "exec" ||
				strings.HasSuffix(before, "/.") || strings.HasSuffix(before, "'") || strings.HasSuffix(before, `"`) {
				continue
			}
		}
		arg, ok := argument(text[at[1]:])
		if !ok {
			continue
		}
		cr.judgeCommandArg(lang, arg, known)
	}
	if lang == "awk" || lang == "sql" || lang == "vim" || lang == "make" {
		return
	}
	for _, at := range evalCall.FindAllStringIndex(text, maxCalls) {
		word := text[at[0]:at[1]]
		arg, ok := argument(strings.TrimRight(text[at[0]:], " ")[strings.IndexAny(text[at[0]:at[1]]+"(", "([ "):])
		plain := ok && foldArgument(lang, arg, known) != "" && !hasHole(foldArgument(lang, arg, known))
		switch {
		case strings.Contains(word, "getattr") || strings.Contains(word, "import") || strings.Contains(word, "send"):
			plain = ok && !strings.ContainsAny(arg, "+%") && strings.ContainsAny(arg, `"':`)
		case strings.Contains(word, "$") && lang != "php":
			continue
		case lang == "node" && strings.Contains(word, "exec"), lang == "node" && strings.Contains(word, "load"),
			lang == "node" && strings.Contains(word, "assert"), lang == "python" && strings.Contains(word, "load"),
			lang == "python" && strings.Contains(word, "assert"), lang == "perl" && strings.Contains(word, "exec"),
			lang == "ruby" && (strings.Contains(word, "exec") || strings.Contains(word, "load")):
			continue
		}
		if !plain {
			cr.unknown(x.argv, "it runs code that is put together when it runs")
			return
		}
	}
}

// isTransformed reports whether the literal of an assignment is changed by a method before it is stored: x = "mr".reverse.
func isTransformed(text, assignment string) bool {
	_, rest, _ := strings.Cut(text, assignment)
	return len(rest) > 1 && rest[0] == '.' && isLetter(rune(rest[1]))
}

// isCommandCall reports whether an ambiguous word means running a program in this code.
func isCommandCall(word, lang, text string) bool {
	for mark := range strings.SplitSeq(ambiguousCalls[word], "|") {
		if mark == lang || strings.Contains(text, mark) {
			return true
		}
	}
	return false
}

// argument returns the arguments after a call's name: the content of its brackets, or the rest of the statement.
func argument(s string) (string, bool) {
	s = strings.TrimLeft(s, " \t")
	if s == "" {
		return "", false
	}
	open := s[0] == '('
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth == 0 && open && c == ')' {
				return s[1:i], true
			}
			if depth < 0 {
				return s[:i], true
			}
		case !open && depth == 0 && (c == ';' || c == '\n'):
			return s[:i], true
		}
	}
	if open {
		return s[1:], true
	}
	return s, !strings.HasPrefix(s, "=") && !strings.HasPrefix(s, ".") && !strings.HasPrefix(s, ",")
}

// harmlessArgs matches arguments that do not change what runs.
var harmlessArgs = pattern.Lazy(`,\s*(?:\w+\s*=\s*(?:True|False|None|[\w.]+)|\{[^{}\[\]]*\}|\w+)\s*(?:$|,)`)

// foldArgument folds an argument to text with marks: literals as they are, the rest unknown.
func foldArgument(lang, arg string, known map[string]string) string {
	var b strings.Builder
	for i := 0; i < len(arg) && b.Len() < 64<<10; {
		c := arg[i]
		switch {
		case c == '"' || c == '\'' || c == '`':
			end := i + 1
			for end < len(arg) && arg[end] != c {
				if arg[end] == '\\' {
					end++
				}
				end++
			}
			body := arg[min(i+1, len(arg)):min(end, len(arg))]
			formatted := i > 0 && (arg[i-1] == 'f' || arg[i-1] == 'F') && lang == "python"
			i = end + 1
			text := interpolate(lang, body, c, formatted, known)
			if lang == "python" && len(arg) <= maxFormatted {
				var used int
				text, used = fillFormat(text, arg[min(i, len(arg)):], known)
				i += used
			}
			b.WriteString(text)
		case c == ' ' || c == '\t' || c == '+' || c == '\n':
			i++
		case c == '.' && (lang == "perl" || lang == "php" || lang == "other" || lang == "awk"):
			i++
		case isWord(c) || c == '$' || c == '@':
			end := i + 1
			for end < len(arg) && (isWord(arg[end]) || arg[end] == '.') {
				end++
			}
			name := arg[i:end]
			next := byte(0)
			if end < len(arg) {
				next = arg[end]
			}
			switch value, ok := known[name]; {
			case (next == '"' || next == '\'') && len(name) <= 2:
			case ok && next != '(' && next != '[':
				b.WriteString(value)
			default:
				b.WriteString(someText)
			}
			i = end
		default:
			if b.Len() == 0 || !strings.HasSuffix(b.String(), someText) {
				b.WriteString(someText)
			}
			i++
		}
	}
	return b.String()
}

// maxFormatted bounds the Python expressions whose formats are filled in, since they may nest.
const maxFormatted = 4096

// placeholders matches the placeholders of a Python format string.
var placeholders = pattern.Lazy(`%[sdr]|\{[0-9]*\}`)

// fillFormat returns a Python literal with the values of % or .format filled in, and the length of that part of rest.
func fillFormat(format, rest string, known map[string]string) (string, int) {
	after := strings.TrimLeft(rest, " ")
	var values []string
	used := len(rest)
	if operand, is := strings.CutPrefix(after, "%"); is {
		values = splitArguments(operand)
	} else if call, is := strings.CutPrefix(after, ".format("); is {
		inner, ok := argument("(" + call)
		if !ok {
			return format, 0
		}
		values = splitArguments(inner)
		used = len(rest) - len(call) + min(len(call), len(inner)+1)
	} else {
		return format, 0
	}
	return placeholders.ReplaceAllStringFunc(format, func(string) string {
		if len(values) == 0 {
			return someText
		}
		value := foldArgument("python", values[0], known)
		values = values[1:]
		return value
	}), used
}

// isWord reports whether a byte belongs to an identifier.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Variables in a literal: $x and @x, #{…}, {…}, ${…}.
var (
	insertedDollar = pattern.Lazy(`[$@]\{?[A-Za-z_]\w*\}?`)
	insertedHash   = pattern.Lazy(`#\{[^}]*\}`)
	insertedBrace  = pattern.Lazy(`\{[^{}]*\}`)
	insertedJS     = pattern.Lazy(`\$\{[^}]*\}`)
)

// interpolate replaces variables in a literal by their known values.
func interpolate(lang, body string, quote byte, formatted bool, known map[string]string) string {
	var r *pattern.Pattern
	switch {
	case formatted:
		r = &insertedBrace
	case lang == "node" && quote == '`':
		r = &insertedJS
	case quote == '\'':
	case lang == "ruby":
		r = &insertedHash
	case lang == "perl" || lang == "php":
		r = &insertedDollar
	}
	body = ansiC(body)
	if r == nil {
		return body
	}
	return r.ReplaceAllStringFunc(body, func(v string) string {
		name := strings.Trim(v, "{}#")
		if strings.HasPrefix(v, "${") && lang != "node" {
			name = "$" + strings.Trim(v, "${}")
		} else if lang == "node" {
			name = strings.Trim(v, "${}")
		}
		if value, ok := known[name]; ok {
			return value
		}
		return someText
	})
}

// judgeCommandArg judges the argument of a call that runs a command.
func (cr *codeReader) judgeCommandArg(lang, arg string, known map[string]string) {
	if lang != "perl" { // it has none, and its shift is a bare word
		arg = harmlessArgs.ReplaceAllString(arg, ",")
		arg = harmlessArgs.ReplaceAllString(arg, ",")
	}
	items := splitArguments(arg)
	if len(items) == 0 {
		return
	}
	quiet := cr.quiet
	cr.quiet = true
	defer func() { cr.quiet = quiet }()
	var argv []string
	for _, item := range items {
		p := foldArgument(lang, item, known)
		if p == "" && strings.TrimSpace(item) == "" {
			continue
		}
		argv = append(argv, p)
	}
	switch {
	case len(argv) == 0:
	case len(argv) == 1 && hasHole(argv[0]) && (lang != "awk" || strings.Contains(arg, "$") || strings.HasPrefix(argv[0], someText)):
		cr.mergeFindings(func() { cr.unknown([]string{displayMarks.Replace(argv[0])}, whyComputed) })
		cr.judgeRunText(strings.ReplaceAll(argv[0], someText, hole))
	case len(argv) == 1 && lang == "awk":
		cr.judgeRunText(strings.ReplaceAll(argv[0], someText, hole))
	case len(argv) == 1:
		cr.judgeRunText(argv[0])
	default:
		cr.mergeFindings(func() { cr.run(argv, stream{text: hole, set: true}) })
	}
}

// judgeRunText judges text that code runs as a shell command.
func (cr *codeReader) judgeRunText(text string) { cr.mergeFindings(func() { cr.source(text) }) }

// mergeFindings runs f and merges its denials and approval requirements into one.
func (w *analyzer) mergeFindings(f func()) {
	commands, worst, risky := w.commands, w.worst, w.highestRisk
	w.commands, w.worst = nil, nil
	quiet, outside := w.quiet, w.direct
	w.quiet, w.direct = false, false
	w.analyzeSubshell(func() stream { f(); return stream{} })
	found := w.worst
	w.commands, w.worst, w.quiet, w.direct = commands, worst, quiet, outside
	w.highestRisk = larger(risky, w.highestRisk)
	if found != nil && found.Verdict != Allow && (found.Verdict == Deny || found.Rule == "unknown" ||
		strings.HasPrefix(found.Rule, "hard:")) {
		c := *found
		c.Verdict = Ask
		w.record(c)
	}
}

// splitArguments splits an argument list, or the list that is its first argument, at commas.
func splitArguments(arg string) []string {
	arg = strings.TrimSpace(arg)
	for strings.HasPrefix(arg, "[") || strings.HasPrefix(arg, "(") {
		end := closingBracket(arg)
		if end < 0 {
			return []string{arg}
		}
		if rest := strings.TrimSpace(arg[end+1:]); rest != "" && rest[0] != ',' {
			return []string{arg} // ["a", "b"].join(" ")
		}
		arg = strings.TrimSpace(arg[1:end])
	}
	var out []string
	depth, quote, from := 0, byte(0), 0
	for i := 0; i < len(arg); i++ {
		switch c := arg[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '{':
			depth++
		case c == '[':
			if strings.TrimSpace(arg[from:i]) == "" || strings.HasSuffix(strings.TrimSpace(arg[from:i]), "args:") {
				if end := closingBracket(arg[i:]); end > 0 && (i+end+1 == len(arg) || strings.IndexByte(" ,})", arg[i+end+1]) >= 0) {
					out = append(out, splitArguments(arg[i:i+end+1])...) // a list of words after the program
					i += end
					from = i + 1
					continue
				}
			}
			depth++
		case c == ')' || c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			if s := strings.TrimSpace(arg[from:i]); s != "" {
				out = append(out, s)
			}
			from = i + 1
		}
	}
	if s := strings.TrimSpace(arg[min(from, len(arg)):]); s != "" && strings.Trim(s, "}]) ") != "" {
		out = append(out, s)
	}
	return out
}

// closingBracket returns the index of the bracket that closes the first one, or -1.
func closingBracket(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case c == ')' || c == ']' || c == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// Commands that code composes at run time are unknown. The patterns below are for languages in which a literal needs no quotes.

const whyComputed = "what it runs is put together when it runs"

var (
	// tclCall matches a call that runs a program, with its words; tclComputed matches computed code or a computed command name.
	tclCall     = pattern.Lazy(`(?m)(?:^|[\s;{\["])(?:exec|spawn|system)\s+(?:-[\w-]+\s+)*([^;\n]+)`)
	tclComputed = pattern.Lazy(`(?m)\b(?:eval|uplevel|subst)\s[^;\n]*[$\[]|\|\s*[$\[]|(?:^|;)\s*[\[$]|\bsend\s+(?:-\w+\s+|--\s+)*["{]?[$\[]`)

	// runCall matches calls of nim and raku that run text, literalArgument a literal argument of one. dcMacros matches commands of
	// dc that run computed text or input, dcEscape one that runs literal text.
	runCall         = pattern.Lazy(`\b(?:exec|execCmd|execCmdEx|execShellCmd|execProcess|startProcess|staticExec|gorge|gorgeEx|rmDir|rmFile|removeDir|removeFile|shell|run|EVAL)\b`)
	literalArgument = pattern.Lazy(`^\s*\(?\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\)?\s*(?:$|[;\n)])`)
	dcMacros        = pattern.Lazy(`\?|(?:^|[^lsLS:;])a.*x`)
	dcEscape        = pattern.Lazy(`!([^<>=\]\n][^\]\n]*)`)

	// lispComputed matches a computed argument in the call of a program, rubyShell a command in backquotes with a computed part.
	lispComputed = pattern.Lazy(`[^']\((?:[\w.:*+/-]*:)?(?:string-append|concat|concatenate|format|string|apply|str|list->string|symbol->string|getenv|string-join|join|mapconcat|reverse|nreverse|coerce)\b`)
	rubyShell    = pattern.Lazy("`[^`]*#\\{[^`]*`|%x[({\\[][^)}\\]]*#\\{")
)

// codeRunners are programs that run their arguments as code or as a command.
const codeRunners = words("sh bash zsh dash ksh env sudo doas su xargs eval python python3 perl ruby rm dd find chmod")

// runsComputed reports whether code runs a command that is not literal.
func runsComputed(name, lang, text string) bool {
	switch {
	case name == "tclsh" || name == "wish" || name == "expect" || name == "jimsh":
		if tclComputed.MatchString(text) {
			return true
		}
		for _, m := range tclCall.FindAllStringSubmatch(text, maxCalls) {
			program, rest, _ := strings.Cut(strings.TrimSpace(m[1]), " ")
			if strings.ContainsAny(program, "$[{") || codeRunners.has(path.Base(program)) && strings.ContainsAny(rest, "$[") {
				return true
			}
		}
	case name == "nim" || name == "raku" || name == "perl6" || name == "rakudo":
		for _, at := range runCall.FindAllStringIndex(text, maxCalls) {
			if !literalArgument.MatchString(text[at[1]:]) {
				return true
			}
		}
	case name == "dc":
		return dcMacros.MatchString(text)
	case lang == "ruby":
		return rubyShell.MatchString(text)
	}
	return false
}

// judgeComputed records code that runs a computed command as unknown, and judges the literal escapes of dc and calls of nim.
func (cr *codeReader) judgeComputed(lang, text string, x *invocation) {
	switch x.name {
	case "dc":
		for _, m := range dcEscape.FindAllStringSubmatch(text, maxCalls) {
			cr.judgeRunText(m[1])
		}
	case "nim":
		for _, at := range runCall.FindAllStringIndex(text, maxCalls) {
			if m := literalArgument.FindStringSubmatch(text[at[1]:]); m != nil {
				cr.judgeRunText(m[1] + m[2])
			}
		}
	}
	if len(text) <= maxCode && runsComputed(x.name, lang, text) {
		cr.unknown(x.argv, whyComputed)
	}
}
