package policy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
)

// runnerParts are parts of the words by which code in other languages runs programs, removes files or obfuscates. Code
// without any of them cannot trigger a hard denial. Separate searches are a hundred times faster than one expression
// with so many alternatives.
var runnerParts = [...]string{"system", "exec", "open", "subprocess", "spawn", "child_process", "`", "%x", "qx", "rmtree", "rmSync", "rmdir", "unlink",
	"rm_r", "\"rm\"", "'rm'", "remove", "elete", "Command", "passthru", "run-program", "call-process", ":cmd", ".cmd", "globals", "getattr", "fork", "eval",
	"__import__", "b64decode", "fromCharCode", "pack(", "shell", "run <", "run ", "run(", "unix(", "Process", "Kernel", "/sh ", "rm(", "rimraf",
	"Sys.command", "\".!", ".call(", "term ", "Shell", "EXEC", "Exec(", "File.", "fs.", "rite", "Open3", "capture", "kill", "code.interact", "rename", "|", "\"<", "'<"}

// callsByName reports whether code calls a function whose name is in a variable: $f(
func callsByName(text string) bool {
	for _, rest, is := strings.Cut(text, "$"); is; _, rest, is = strings.Cut(rest, "$") {
		end := 0
		for end < len(rest) && isWord(rest[end]) {
			end++
		}
		if end > 0 && strings.HasPrefix(rest[end:], "(") {
			return true
		}
	}
	return false
}

// containsRunner reports whether code contains one of runnerParts.
func containsRunner(text string) bool {
	return contains(text, runnerParts[:]) || callsByName(text)
}

// contains reports whether a text contains one of the words.
func contains(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
}

// literal matches quoted text in code: '…', "…", `…`, %x(…), qx{…}.
var literal = pattern.Lazy("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`|(?:%x|qx|qq|q)[({][^)}]*[)}]|qw[(/{][^)/}]*[)/}]|</[^>]*>")

// codeReader judges code of other languages by the commands that it names and the files that it changes.
type codeReader struct {
	shared
	writeTo func(file string) // judges a file that the code writes
	win     windowsState
}

// code judges code of another language by the commands that it names.
func (cr *codeReader) code(lang, text string, x *invocation) {
	if len(text) > maxCode {
		cr.unknown(x.argv, "what "+x.name+" runs is too long to be judged")
		return
	}
	if x.name == "mail" || x.name == "mailx" { // several commands on a line
		text = strings.ReplaceAll(text, ";", "\n")
	}
	text = cr.expandHome(lang, text)
	cr.judgeCriticalInCode(lang, text, x)
	cr.judgeComputed(lang, text, x)
	if x.name == "ipython" || x.name == "gnuplot" || strings.HasPrefix(x.name, "octave") {
		cr.shellEscapes("vim", text) // they have ! too
	}
	if lang == "vim" || lang == "sql" || lang == "make" {
		cr.shellEscapes(lang, text)
		if lang == "vim" && len(text) <= maxEscape {
			for _, m := range vimLater.FindAllStringSubmatch(text, maxCalls) { // what it runs when something happens, or a key is pressed
				cr.downgradeDenials(func() { cr.source(strings.NewReplacer("<CR>", "", "<cr>", "", "^M", "").Replace(m[1])) })
			}
		}
		if lang == "vim" && vimComputes(text) {
			cr.unknown(x.argv, "what "+x.name+" runs is put together when it runs")
		}
		return
	}
	if x.name == "perl" && strings.HasPrefix(text, "rm_") || x.name == "ruby" && isVariableName(text) { // the modules that are programs of files
		cr.downgradeDenials(func() {
			cr.run(append([]string{strings.TrimSuffix(strings.TrimSuffix(text, "_rf"), "_f"), "-rf"}, x.args.Operands...), stream{})
		})
	}
	if lang == "m4" {
		_, rest, is := strings.Cut(text, "syscmd(")
		for n := 0; is && n < maxCalls; n++ {
			if arg, ok := argument("(" + strings.NewReplacer("`", " ", "'", " ").Replace(rest[:min(len(rest), maxEscape)])); ok {
				cr.shellText(arg, "m4")
			}
			_, rest, is = strings.Cut(rest, "syscmd(")
		}
		return
	}
	if lang == "console" {
		cr.shellEscapes("vim", text)
		(&guesser{cr.shared}).findDestroyerInLines(text)
		if removesIn.MatchString(text) {
			for _, p := range literal.FindAllString(text, maxCalls) {
				cr.judgeRemovedPath(p[1 : len(p)-1])
			}
		}
		return
	}
	if lang == "sed" {
		cr.sed(text, x)
		return
	}
	if lang == "powershell" {
		cr.windows(text)
		return
	}
	if hasHole(text) && lang != "awk" {
		cr.unknown(x.argv, "what "+x.name+" runs is not known before it runs")
	}
	if lang == "other" || lang == "sql" {
		bare := strings.NewReplacer("{*}", "", "[glob ", " ", "]", " ", "exec ", "\n", "spawn ", "\n", "system ", "\n", "file delete -force", "\nrm -rf").Replace(text)
		cr.downgradeDenials(func() { cr.source(bare) })
	}
	if x.name == "raku" || x.name == "perl6" || x.name == "rakudo" {
		text = quotedWords.ReplaceAllString(text, "'$1'")
	}
	cr.ownInCode(text, x)
	cr.judgeRemoval(lang, text)
	text = literalJoin.ReplaceAllStringFunc(text, func(s string) string {
		if lang == "lisp" || lang == "node" && !strings.Contains(s, "+") || strings.Contains(s, "\n") {
			return s
		}
		return ""
	})
	if lang == "awk" && strings.Contains(text, ">") {
		for _, p := range devicePath.FindAllString(text, 20) {
			if cr.deviceDanger(p) == fatal {
				cr.unknown(x.argv, "it may write over a disk")
			}
		}
		bare, ok := bareAwk(text)
		for _, to := range strings.Split(text, ">")[1:] {
			if ok && !awkPrintsTo(bare) {
				break
			}
			if file, quoted := strings.CutPrefix(strings.TrimLeft(to, " "), `"`); quoted && cr.overwriteDanger(file[:max(0, strings.IndexByte(file, '"'))]) == perhaps {
				cr.unknown(x.argv, whyOverwrites)
			}
		}
	}
	if strings.Contains(text, "socket") && reverseShell.MatchString(text) {
		cr.unknown(x.argv, whyReached)
	}
	if !containsRunner(text) {
		return
	}
	if lang == "awk" {
		cr.awkPipes(text, x)
	}
	if argumentsIn.MatchString(text) {
		cr.judgeArguments(x)
	}
	if lang == "lisp" {
		cr.lisp(text)
	} else {
		cr.judgeCalls(lang, text, x)
	}
	if strings.Contains(text, "fork") && (strings.Contains(text, "while") || strings.Contains(text, "for") ||
		strings.Contains(text, "loop")) &&
		strings.Count(text, "fork") > 0 && cr.engine.preset != Off && lang != "awk" {
		cr.unknown(x.argv, "it may start itself endlessly")
	}
	if cr.engine.preset != Off && (killsAll.MatchString(text) || killsEach(text)) {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:kill", "it may end every process of the user")
		cr.record(c)
	}
	if strings.Contains(text, "code.interact") && x.in.set {
		cr.code(lang, strings.ReplaceAll(x.in.text, "code.interact", ""), x)
	}
	removes := removesIn.MatchString(text)
	parts := literal.FindAllString(text, 200)
	var all []string
	for _, p := range parts {
		in := strings.TrimLeft(p, "%qxw")
		in = in[1 : len(in)-1]
		in = strings.TrimRight(strings.TrimLeft(ansiC(in), "|!<>+ "), "| ")
		all = append(all, in)
		cr.downgradeDenials(func() { cr.source(in) })
		if removes {
			cr.judgeRemovedPath(in)
		}
		if strings.HasPrefix(in, "/dev/") && cr.deviceDanger(in) == fatal && contains(text, writerParts[:]) {
			cr.unknown(x.argv, "it may write over a disk")
		}
	}
	if len(all) > 1 && len(all) < 50 {
		cr.downgradeDenials(func() { cr.run(append([]string{}, all...), stream{}) })
	}
	if removes && computedText.MatchString(text) {
		cr.unknown(x.argv, "what it removes is put together when it runs")
	}
	for _, word := range []string{"b64decode", "fromCharCode", "chr(", "unhexlify", "__import__",
		"getattr(", "exec(", "eval("} {
		if strings.Contains(text, word) && (strings.Contains(text, "system") || strings.Contains(text,
			"exec") || strings.Contains(text, "eval") ||
			strings.Contains(text, "__import__") || strings.Contains(text, "popen")) && word != "exec(" &&
			word != "eval(" {
			cr.unknown(x.argv, "what it runs is not known before it runs")
			return
		}
	}
}

// judgeRemovedPath judges text that is one or several paths, in code that removes files.
func (cr *codeReader) judgeRemovedPath(in string) {
	if !strings.HasPrefix(in, "/") && !strings.HasPrefix(in, "~") {
		return
	}
	arg := strings.ReplaceAll(strings.ReplaceAll(in, "*", globStar), "~", cr.home)
	cr.downgradeDenials(func() { cr.run(append([]string{"rm", "-rf", arg}, strings.Fields(arg)...), stream{}) })
}

// writerParts are parts of the words by which code opens or writes files; killsAll finds a signal to all processes.
var (
	writerParts = [...]string{"open", "rite", "truncate"}
	killsAll    = pattern.Lazy(`\bkill\b[\s(]*['"]?\w+['"]?\s*(?:,|=>)\s*-1\b|\bkill\s*\(\s*-1\b`)
)

// killsEach reports whether code ends all processes in a loop, without checking which they are.
func killsEach(text string) bool {
	if !strings.Contains(text, "kill") && !strings.Contains(text, "terminate") {
		return false
	}
	return strings.Contains(text, "process_iter") && !strings.Contains(text, " if ") && !strings.Contains(text, "name") && !strings.Contains(text, "cmdline") ||
		contains(text, []string{`"/proc"`, "'/proc'", procDir + "/[", procDir + "/*", "ps -e", "ps -A", "ps ax", "ps aux"}) && !contains(text, []string{"cmdline", "comm", "args", "status", "name", "grep "})
}

// reverseShell matches ways to connect a shell to a network connection.
var reverseShell = pattern.Lazy(`dup2|pty\.spawn|["'](/usr)?/bin/(ba|z|da)?sh\b|STDIN\W*,\W*">&`)

// quotedWords are words that Raku quotes: <rm -rf />.
var quotedWords = pattern.Lazy(`[<«]([^<>«»'"]*)[>»]`)

// computedText matches ways to build text that is not literal.
var computedText = pattern.Lazy(`\bchr\(|fromCharCode|\[::-1\]|\.reverse|unhexlify|b64decode|fromhex|pack\(|\bbytes\(`)

// shellOfMake requires approval for a different shell of make, with its flags.
func (ho *delegations) shellOfMake(x *invocation) {
	shell, flags := "", ""
	for _, a := range x.argv[1:] {
		if value, ok := strings.CutPrefix(a, "SHELL="); ok {
			shell = value
		} else if value, ok := strings.CutPrefix(a, ".SHELLFLAGS="); ok {
			flags = value
		}
	}
	if shell != "" && flags != "" {
		ho.downgradeDenials(func() { ho.source(shell + " " + flags) })
	}
	ho.shellNamed(x, shell)
}

// cmakeRuns matches a command that a cmake script runs, or a path that it removes.
var cmakeRuns = pattern.Lazy(`(?i)\bCOMMAND\s+([^)\n]+)|\bfile\s*\(\s*REMOVE(?:_RECURSE)?\s+([^)\n]+)`)

// cmakeScript judges a script that cmake -P runs, where the line has its text.
func (h *hardRules) cmakeScript(x *invocation) {
	i := slices.Index(x.argv, "-P")
	if i < 1 || i+1 >= len(x.argv) {
		return
	}
	file := x.argv[i+1]
	text, _ := h.textAt(file)
	if x.in.set && file != "-" && isStdin(file) {
		text += "\n" + x.in.text
	}
	for _, m := range cmakeRuns.FindAllStringSubmatch(text, maxCalls) {
		if m[1] != "" {
			h.source(m[1])
		} else {
			h.source("rm -rf " + m[2])
		}
	}
}

// shellEscapes judges the shell escapes of editors, database clients and makefiles: !cmd, \! cmd, .shell cmd.
func (cr *codeReader) shellEscapes(lang, text string) {
	if lang == "make" {
		if strings.Contains(text, "\n") {
			for line := range strings.Lines(text) {
				cr.shellEscapes(lang, strings.TrimRight(line, "\n"))
				if recipe, ok := strings.CutPrefix(line, "\t"); ok {
					cr.downgradeDenials(func() {
						cr.source(strings.NewReplacer("$(HOME)", "$HOME", "$$", "$").Replace(strings.TrimLeft(recipe, "@-+ ")))
					})
				}
			}
			return
		}
		if _, rest, ok := strings.Cut(text, "$(shell "); ok {
			cr.shellText(strings.TrimSuffix(rest, ")"), "make")
		}
		if _, recipe, ok := strings.Cut(text, ":"); ok {
			cr.downgradeDenials(func() { cr.source(strings.TrimLeft(recipe, "=;\t ")) })
		}
		return
	}
	lines := 0
	for line := range strings.Lines(text) {
		if lines++; lines > 1000 {
			cr.unknown([]string{clip(text)}, "it is too long to be judged")
			return
		}
		line = strings.TrimRight(line, "\r\n")
		cr.shellEscapeLine(line)
		if lang == "sql" {
			cr.sqlLine(strings.TrimSpace(line))
		}
		if before, escape, is := strings.Cut(line, `\!`); is && lang == "sql" && strings.TrimSpace(before) != "" && strings.Count(before, "'")%2 == 0 {
			cr.shellText(escape, "the escape to a shell")
		}
	}
}

// sqlLine judges commands of database clients on a line: sqlite's .load and functions, and backquotes in psql's
// commands.
func (cr *codeReader) sqlLine(line string) {
	x := &invocation{name: "the client", argv: []string{clip(line)}}
	if rest, is := strings.CutPrefix(line, ".load "); is {
		cr.loadCode(x, strings.Trim(strings.Fields(rest + " x")[0], `"'`))
	}
	if _, rest, is := strings.Cut(line, "writefile("); is {
		if file := literal.FindString(rest); len(file) > 1 && cr.overwriteDanger(file[1:len(file)-1]) != harmless {
			cr.unknown(x.argv, whyOverwrites)
		}
	}
	if strings.Contains(line, "load_extension(") || strings.Contains(line, "edit(") {
		for _, p := range literal.FindAllString(line, 50) {
			if in := p[1 : len(p)-1]; strings.Contains(line, "load_extension(") {
				cr.loadCode(x, in)
			} else {
				cr.downgradeDenials(func() { cr.source(in) })
			}
		}
	}
	if rest, is := strings.CutPrefix(line, "pager "); is {
		command, _, _ := strings.Cut(rest, ";")
		cr.shellText(command, "the escape to a shell")
	}
	if rest, is := strings.CutPrefix(line, `\setenv `); is {
		_, value, _ := strings.Cut(rest, " ")
		cr.judgePossibleShell(strings.Trim(value, `"'`), "the variable")
	}
	if parts := strings.Split(line, "`"); strings.HasPrefix(line, `\`) && len(parts) < maxCalls {
		for i := 1; i < len(parts); i += 2 {
			cr.shellText(parts[i], "the escape to a shell")
		}
	}
}

// vimExecutes matches the start of text that vim runs as a command; vimByName calls a function by name, runs a
// non-literal, or changes the shell; vimLater matches commands that vim runs later; vimText matches a string.
var (
	vimExecutes = pattern.Lazy(`(?m)(?:^|[|:\s"'])(?:exe(?:c(?:u(?:t(?:e)?)?)?)?\s+|(?:win_)?execute\(|feedkeys\()(.*)$`)
	vimByName   = pattern.Lazy(`(?m)\b(?:function|funcref)\(|\bcall\s+call\(|\b(?:system(?:list)?|job_?start|term_?start|termopen)\(\s*[^"'\s)]|` +
		`^\s*:?\s*(?:sil\w*!?\s+)*(?:se\w*\s+(?:.*\s)?(?:sh|shell|shcf|shellcmdflag)=|let\s+&(?:[gl]:)?(?:sh|shell|shcf|shellcmdflag)\b)`)
	vimLater = pattern.Lazy(`(?m)^\s*:?\s*(?:sil\w*!?\s+)*(?:au\w*!?|com\w*!?|\w*map!?|\w*abb\w*|norm\w*!?)\s[^!]*?[\s:]!(.*)$`)
	vimText  = pattern.Lazy(`"(?:[^"\\]|\\.)*"|'[^']*'`)
)

// vimComputes reports whether a vim command runs text that is not literal: a variable, perhaps of another command of
// the line.
func vimComputes(text string) bool {
	if vimByName.MatchString(text) {
		return true
	}
	for _, m := range vimExecutes.FindAllStringSubmatch(text, maxCalls) {
		if rest := vimText.ReplaceAllString(m[1], ""); strings.ContainsFunc(rest, isLetter) {
			return true
		}
	}
	return false
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '@' }

// maxEscape bounds the length of a command in m4 code that is searched, in bytes.
const maxEscape = 4096

// shellEscape matches the start of a line that editors, database clients and debuggers pass to a shell.
var shellEscape = pattern.Lazy(`^\s*[:~]?\s*(?:(?:sil(?:ent)?!?|exe?c?u?t?e?|bo(?:tright)?|tab|(?:buf|arg|win|tab|c|l|cf|lf)do|norm(?:al)?!?|noa(?:utocmd)?|` +
	`keep(?:alt|jumps|marks|patterns)|eval|let\s+@\w\s*=|(?:g|v|global|vglobal)!?/(?:[^/\\]|\\.)*/|with\s.*?--)\s*[:"']*\s*)*["']?(?:[0-9.,$%'<>;+-]*\s*` +
	`(?:(?:[rwe]|read|write|edit|file|rew?)!?\s*)?!+|\\!|\.(?:sh|she|shel|shell|sys|syst|syste|system)\s|system\s|sys\s|` +
	`she(?:l|ll)?\s|platform\s+shell\s|ter(?:m|minal)?!?\s|make\s+SHELL=|pipe\s+.*\||\|[^|]*\||tar(?:g|ge|get)?\s+(?:extended-)?remote\s*\||` +
	`set\s+exec-wrapper\s|(se(?:t(?:l(?:ocal)?|g(?:lobal)?)?)?\s+(?:makeprg|mp|grepprg|gp|equalprg|ep|formatprg|fp|keywordprg|kp)=)|` +
	`\.(?:on?c?e?|ou?t?p?u?t?|rea?d?|imp?o?r?t?)\s+["']?\||\\(?:o|g|gx|w|out)\s*["']?\|)\s*(.*)$`)

// aliasOfShell reports whether a line defines an alias of a debugger's shell command.
func aliasOfShell(text string) bool {
	rest, is := strings.CutPrefix(strings.TrimSpace(text), "alias ")
	_, what, set := strings.Cut(rest, "=")
	what = strings.TrimSpace(what)
	return is && set && (strings.HasPrefix(what, "she") || strings.HasPrefix(what, "!") || strings.HasPrefix(what, "pipe") || strings.HasPrefix(what, "|"))
}

// embedded matches code of another language within an editor or a debugger.
var embedded = pattern.Lazy(`^\s*:?\s*(?:py(?:thon)?[3x]?|lua|ruby|perl|tcl|script|source python)\s+(.*)$`)

// shellEscapeLine judges one line for shellEscapes.
func (cr *codeReader) shellEscapeLine(text string) {
	if rest, is := strings.CutPrefix(text, "~|"); is { // of mail: the letter is piped
		cr.shellText(rest, "the escape to a shell")
		return
	}
	if m := shellEscape.FindStringSubmatch(text); m != nil {
		command := strings.TrimRight(m[2], `"'`)
		if m[1] != "" {
			command = strings.ReplaceAll(command, `\ `, " ")
		}
		cr.shellText(strings.TrimSuffix(command, `\<cr>`), "the escape to a shell")
		return
	}
	if aliasOfShell(text) {
		cr.unknown([]string{clip(text)}, "it gives the way to a shell another name")
	}
	if m := embedded.FindStringSubmatch(text); m != nil {
		cr.code("other", m[1], &invocation{name: "the editor", argv: []string{clip(text)}})
		return
	}
	if !strings.Contains(text, "(") && !strings.Contains(strings.ToUpper(text), "PROGRAM") && !strings.Contains(text, "libcall") {
		return
	}
	if strings.Contains(text, "system") || strings.Contains(text, "delete(") || strings.Contains(text, "libcall") ||
		strings.Contains(text, "os.execute") || strings.Contains(text, "eval(") || strings.Contains(text, "job_start") ||
		copiesProgram(text) {
		for _, p := range literal.FindAllString(text, 50) {
			in := p[1 : len(p)-1]
			cr.downgradeDenials(func() { cr.source(in) })
			if strings.Contains(text, "delete(") {
				cr.downgradeDenials(func() { cr.run([]string{"rm", "-rf", in}, stream{}) })
			}
		}
	}
}

// copiesProgram reports PostgreSQL's COPY to or from a program.
func copiesProgram(text string) bool {
	_, rest, is := strings.Cut(strings.ToLower(text), "copy")
	return is && strings.Contains(rest, "program")
}

// argumentsIn matches the words by which code reads its arguments.
var argumentsIn = pattern.Lazy(`ARGV|argv|\bshift\b|\$[*@]|process\.argv|\bargs\b`)

// judgeArguments judges arguments of code that runs something, as the command that they may be.
func (cr *codeReader) judgeArguments(x *invocation) {
	ops := x.args.Operands
	if len(ops) == 0 || len(ops) > 50 {
		return
	}
	for _, o := range ops {
		if strings.ContainsAny(o, " \t\n;") {
			cr.downgradeDenials(func() { cr.source(o) })
		}
	}
	cr.downgradeDenials(func() { cr.run(append([]string{}, ops...), stream{}) })
}

// devicePath is a path of a device within code.
var devicePath = pattern.Lazy(`/dev/[\w./-]+`)

// codeReads reports whether sed or awk code only prints.
func codeReads(lang, text string) bool {
	if hasHole(text) || len(text) > 4096 {
		return false // longer code is looked through again for each of its words
	}
	if lang == "awk" {
		return awkReads(text)
	}
	return sedReads(text)
}

// removesIn matches the words by which code removes files.
var removesIn = pattern.Lazy(`rmtree|del_dir|unlink|rmSync|rm_r|elete|emoveSync|\brm\(|remove|rmdir|rimraf|emptyDir|deltree`)

// removerParts are parts of these words; each word contains one.
var removerParts = [...]string{"rm", "unlink", "elete", "emove", "del_dir", "rimraf", "emptyDir", "deltree"}

// removingCall matches calls that remove a whole tree.
var removingCall = pattern.Lazy(`(?:\b(?:rmtree|remove_tree|rmSync|rmdirSync|rm_rf|rm_r|remove_entry(?:_secure)?|remove_dir|rm|rmdir|removeSync|` +
	`emptyDirSync|emptyDir|removedirs|Deno\.remove(?:Sync)?|deltree|del|del_dir_r|unlink|delete-directory)|rimraf(?:["']\))?(?:\.sync)?)[ \t]*(\(|["'])`)

// homeIn matches expressions for the user's home directory.
var homeIn = pattern.Lazy(`(?:require\(\s*["'](?:node:)?os["']\s*\)|\bos)\.homedir\(\)|process\.env(?:\.HOME\b|\[\s*["']HOME["']\s*\])|` +
	`os\.path\.expanduser\(\s*["']~["']\s*\)|(?:pathlib\.)?Path\.home\(\)|os\.environ(?:\.get\(\s*["']HOME["']\s*\)|\[\s*["']HOME["']\s*\])|` +
	`(?:os\.)?getenv\(\s*["']HOME["']\s*\)|\bDir\.home\b|ENV(?:\[\s*["']HOME["']\s*\]|\.fetch\(\s*["']HOME["']\s*\))|\$ENV\{["']?HOME["']?\}|` +
	`Deno\.env\.get\(\s*["']HOME["']\s*\)|Sys\.getenv\(\s*["']HOME["']\s*\)|\(getenv\s+"HOME"\)|vim\.env\.HOME\b|System\.user_home!?\(?\)?|(?:fs::)?path_home\(\)|System\.getProperty\(\s*["']user\.home["']\s*\)|\bgetHomeDirectory\b|\bexpand(?:user)?\(\s*["'](?:~|\$HOME)/?["']\s*\)|File\.expand_path\(\s*["']~["']\s*\)|\$_(?:SERVER|ENV)\[\s*["']HOME["']\s*\]|\bhomedir\(\)`)

// expandHome replaces expressions for the home directory, and tildes, in code by its path.
func (cr *codeReader) expandHome(lang, text string) string {
	if !strings.Contains(text, "~") && !strings.Contains(text, "HOME") && !strings.Contains(text, "home") {
		return text
	}
	home := strings.ReplaceAll(strconv.Quote(cr.home), "$", "")
	text = homeIn.ReplaceAllString(strings.ReplaceAll(text, "${process.env.HOME}", cr.home), home)
	for _, before := range [...]string{"(", " ", ",", "["} { // "~" by itself also joins, in some languages
		text = strings.ReplaceAll(strings.ReplaceAll(text, before+`"~"`, before+home), before+`'~'`, before+home)
	}
	if lang == "vim" {
		text = strings.ReplaceAll(text, "$HOME", home)
	}
	return text
}

// judgeRemoval judges the trees that code removes, if they are literals or the user's home.
func (cr *codeReader) judgeRemoval(lang, text string) {
	if !contains(text, removerParts[:]) || !removesIn.MatchString(text) {
		return
	}
	known := map[string]string{}
	for _, m := range assignment.FindAllStringSubmatch(text, 200) {
		known[m[1]] = m[2] + m[3]
	}
	for _, at := range removingCall.FindAllStringSubmatchIndex(text, maxCalls) {
		arg, ok := argument(text[at[2]:])
		if !ok {
			continue
		}
		items := splitArguments(arg)
		if len(items) == 0 {
			continue
		}
		if tree := foldArgument(lang, items[0], known); tree != "" && !hasHole(tree) {
			tree = strings.ReplaceAll(tree, "*", globStar)
			cr.downgradeDenials(func() { cr.run([]string{"rm", "-rf", tree}, stream{}) })
		}
	}
}

// lispRuns matches Lisp functions that run a program: its words are separate strings, possibly in a list with keywords.
var lispRuns = pattern.Lazy(`\((?:[\w.:*+/-]*[/:])?(?:run-program|launch-program|system\*?|process\*?|shell|sh|call-process|start-process|` +
	`shell-command(?:-to-string)?|term|ansi-term|make-process|exec|open-process|run-shell-command|os/execute|os/shell|popen|open-pipe\*?)[ \t\n]`)

// lisp judges the programs that Lisp code runs.
func (cr *codeReader) lisp(text string) {
	for _, at := range lispRuns.FindAllStringIndex(text, maxCalls) {
		form := text[at[0]:]
		if end := closingBracket(form); end > 0 {
			form = form[:end+1]
		}
		if lispComputed.MatchString(form) {
			cr.unknown([]string{clip(form)}, whyComputed)
		}
		var argv []string
		for _, p := range literal.FindAllString(form, 200) {
			if p[0] == '"' {
				argv = append(argv, ansiC(p[1:len(p)-1]))
			}
		}
		switch len(argv) {
		case 0:
		case 1:
			cr.judgeRunText(argv[0])
		default:
			cr.mergeFindings(func() { cr.run(argv, stream{text: hole, set: true}) })
		}
	}
}
