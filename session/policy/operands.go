package policy

import (
	"encoding/base64"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
	"github.com/longterm-dev/longterm/session/shellquote"
)

// remoteShells take ssh's options.
var remoteShells = words("ssh scp sftp")

// operandCode judges operands that are code by their form: vim's +cmd, make's NAME=value, sqlite's .shell.
func (ho *delegations) operandCode(x *invocation) {
	for _, a := range x.argv[1:] { // an address that ssh takes for options
		if _, command, is := strings.Cut(a, "-oProxyCommand="); is && !remoteShells.has(x.name) {
			ho.downgradeDenials(func() { ho.source(strings.ReplaceAll(strings.ReplaceAll(command, "%2F", "/"), "%20", " ")) })
		}
	}
	switch {
	case x.row.Lang == "powershell":
		for i, a := range x.argv[1:] {
			if l := strings.ToLower(a); i+2 < len(x.argv) && len(l) > 1 && (strings.HasPrefix("-encodedcommand", l) || l == "-ec") {
				ho.unknown(x.argv, "what it runs is encoded")
				if b, err := base64.StdEncoding.DecodeString(x.argv[i+2]); err == nil {
					ho.windows(strings.ReplaceAll(string(b), "\x00", ""))
				}
			}
		}
		ho.powershell(x)
	case x.name == "cmd" && len(x.args.Operands) > 0:
		ho.downgradeDenials(func() { ho.windowsCommand(x.argv) })
	case x.name == "ssh" || x.name == "scp" || x.name == "sftp":
		for _, o := range x.args.Options {
			if o.Name == "-o" && o.HasValue {
				ho.sshOption(x, o.Value)
			}
			if text, ok := ho.textAt(o.Value); ok && o.Name == "-F" {
				for line := range strings.Lines(text) {
					ho.sshOption(x, strings.TrimSpace(line))
				}
			}
		}
	case x.row.Lang == "perl":
		for _, o := range x.args.Options {
			if (o.Name == "-M" || o.Name == "-m") && strings.ContainsAny(o.Value, ";(") {
				ho.code("perl", o.Value, x)
			}
		}
	case x.row.Lang == "node" && x.name != "deno":
		ho.dataURLs(x)
	case x.row.Lang == "vim":
		for _, o := range x.args.Operands {
			if x.name == "ed" && strings.HasPrefix(o, "!") {
				ho.shellEscapes("vim", o)
			}
			if text, ok := strings.CutPrefix(o, "+"); ok {
				ho.shellEscapes("vim", text)
			}
		}
	case x.row.Lang == "lisp":
		for _, o := range x.args.Operands {
			if strings.HasPrefix(o, "(") {
				ho.code("lisp", o, x)
			}
		}
	case x.row.Lang == "make":
		for _, o := range x.args.Operands {
			if _, value, ok := strings.Cut(o, "="); ok && value != "" {
				ho.downgradeDenials(func() { ho.source(value) })
			}
		}
		ho.shellOfMake(x)
		file, given := x.args.Get("-f", "--file", "--makefile")
		if given && (file == "-" || file == "/dev/stdin") && x.in.set {
			ho.shellEscapes("make", x.in.text)
		}
		if text, ok := ho.pipes[file]; ok && given {
			ho.shellEscapes("make", text)
		}
		for _, name := range []string{file, "GNUmakefile", "makefile", "Makefile"} {
			if m, ok := ho.createdAt(name); ok && name != "" && m.source == "" && (!given || name == file) {
				ho.shellEscapes("make", m.text)
			}
		}
	case x.row.Lang == "sql":
		for _, o := range x.args.Options {
			if o.Name == "-v" || o.Name == "--set" || o.Name == "--variable" || o.Name == "--init-command" {
				ho.downgradeDenials(func() { ho.source(strings.Trim(o.Value[strings.IndexByte(o.Value, '=')+1:], "`\\! ")) })
			}
		}
		for _, o := range x.args.Operands {
			ho.shellEscapes("sql", o)
			ho.judgeCriticalInCode("sql", o, x)
		}
	case x.name == "git":
		ho.gitConfig(x)
		ho.gitExternal(x)
	case x.name == "less" || x.name == "more" || x.name == "zless" || x.name == "view":
		for _, o := range x.args.Operands {
			if text, ok := strings.CutPrefix(o, "+"); ok {
				text = strings.TrimLeft(text, "+")
				if len(text) > 2 && text[0] == '|' { // | and a mark: the text goes to the command
					ho.shellText(text[2:], x.name)
				}
				ho.shellEscapeLine(text)
			}
		}
	case x.name == "strace" || x.name == "ltrace":
		if v, ok := x.args.Get("-o"); ok && v != "" && (v[0] == '|' || v[0] == '!') {
			ho.shellText(v[1:], x.name)
		}
	case x.name == "apt" || x.name == "apt-get" || x.name == "aptitude":
		for _, a := range x.argv[1:] {
			if _, piped := ho.pipes[a]; piped {
				ho.unknown(x.argv, "it runs its settings, which the same line creates")
			}
			key, value, ok := strings.Cut(a, "=")
			if ok && strings.Contains(key, "-Invoke") || ok && strings.Contains(key, "Dir::Bin") {
				ho.judgePossibleShell(value, x.name)
				ho.unknown(x.argv, "it runs the setting")
			}
		}
	case x.name == "deno" && slices.ContainsFunc(x.argv, isStdin) && x.in.set:
		ho.code("node", x.in.text, x)
	case x.name == "deno" && len(x.args.Operands) > 1 && x.args.Operands[0] == "run":
		ho.dataURLs(x)
		for i, o := range x.args.Operands[1:] {
			if strings.HasPrefix(o, "npm:") || strings.HasPrefix(o, "jsr:") {
				ho.run(append([]string{programOfPackage(o)}, x.args.Operands[i+2:]...), stream{})
			}
		}
	case x.row.Lang == "php":
		for _, a := range x.argv[1:] { // artisan's and PHP's own
			for _, begin := range []string{"--execute=", "auto_prepend_file=data:", "auto_append_file=data:"} {
				if text, is := strings.CutPrefix(a, begin); is {
					ho.code("php", text, x)
				}
			}
		}
	case x.row.Lang == "python":
		if i := slices.Index(x.argv, "shell"); i > 0 && i+2 < len(x.argv) && (x.argv[i+1] == "-c" || x.argv[i+1] == "--command") { // manage.py's
			ho.code("python", x.argv[i+2], x)
		}
		if x.in.set && len(x.args.Operands) > 0 && (x.args.Has("-i") || ho.scope.get("PYTHONINSPECT").text != "") {
			ho.code("python", x.in.text, x)
		}
		if module, rest, is := pythonModule(x, strings.TrimRight(x.name, "0123456789.")); is && programs.Lookup(module) != nil {
			ho.run(append([]string{module}, rest...), x.in)
		}
		if m, ok := x.args.Get("-m"); ok && (m == "timeit" || m == "cProfile" || m == "pdb") {
			for _, a := range x.argv[1:] {
				if !strings.HasPrefix(a, "-") && a != m {
					ho.code("python", a, x)
				}
			}
		}
	default:
		ho.specialForms(x)
	}
}

// powershell judges the words behind -Command, or all words without that option: PowerShell joins them to one line.
func (ho *delegations) powershell(x *invocation) {
	for i, a := range x.argv[1:] {
		option, rest := strings.ToLower(a), x.argv[i+2:]
		switch {
		case option == "-commandwithargs" || option == "-cwa" || len(option) > 1 && strings.HasPrefix("-command", option):
			if len(rest) == 1 && rest[0] == "-" && x.in.set {
				rest = []string{x.in.text}
			}
			if len(rest) > 1 || len(rest) == 1 && !x.row.TakesCode(a) || x.in.set {
				ho.windows(strings.Join(rest, " "))
			}
			return
		case strings.HasPrefix("-file", option) && len(option) > 1:
			return
		}
	}
	if len(x.args.Operands) > 1 {
		ho.windows(strings.Join(x.args.Operands, " "))
	}
}

// dataURLs judges code within a URL.
func (ho *delegations) dataURLs(x *invocation) {
	for _, a := range x.argv[1:] {
		if _, text, is := strings.Cut(a, "data:text/javascript,"); is {
			ho.code("node", text, x)
		}
	}
}

// gitExternal judges remotes that are commands: ext::sh -c …
func (ho *delegations) gitExternal(x *invocation) {
	for _, o := range x.args.Operands {
		if text, ok := strings.CutPrefix(o, "ext::"); ok {
			argv := strings.Fields(strings.NewReplacer("% ", "\x00", "%%", "%").Replace(text))
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], "\x00", " ")
			}
			if len(argv) > 0 {
				ho.run(argv, stream{})
			}
		}
	}
}

// specialForms judges programs that name commands in special forms.
func (ho *delegations) specialForms(x *invocation) {
	switch {
	case x.name == "start-stop-daemon":
		if v, ok := x.args.Get("-x", "--exec", "-a", "--startas"); ok {
			ho.run(append([]string{v}, x.args.Operands...), stream{})
		}
	case (x.name == "docker" || x.name == "podman") && len(x.words) > 2 && x.words[1] == "volume" && x.words[2] == "create":
		for _, a := range x.argv {
			if place, is := strings.CutPrefix(a, "device="); is && ho.removalDanger(place) == fatal {
				ho.unknown(x.argv, "users of the volume can change "+place)
			}
		}
	case x.name == "systemd-run":
		for _, o := range x.args.Options {
			if o.Name == "-p" || o.Name == "--property" {
				ho.systemdUnit(o.Value)
			}
		}
	case x.name == "systemctl" && len(x.words) > 1 && slices.Contains(x.argv, "edit") && x.in.set:
		ho.systemdUnit(x.in.text)
	case x.name == "systemctl" && len(x.words) > 1 && slices.Contains(x.argv, "set-environment"):
		for _, a := range x.argv[1:] {
			if name, value, set := strings.Cut(a, "="); set && loadsCode(name) {
				ho.loadCode(x, value)
			}
		}
	case (x.name == "lxc" || x.name == "incus") && slices.Contains(x.argv, "device"):
		for _, a := range x.argv {
			if place, is := strings.CutPrefix(a, "source="); is && ho.removalDanger(place) == fatal {
				ho.unknown(x.argv, "the container can change "+place)
			}
		}
	case x.name == "just":
		ho.justShell(x)
	case x.name == "mvn":
		ho.mavenExec(x)
	case x.name == "cargo":
		ho.cargoConfig(x)
	case x.name == "go" && len(x.argv) > 2 && x.argv[1] == "env":
		for _, a := range x.argv[2:] {
			if name, value, set := strings.Cut(a, "="); set {
				(&guesser{ho.shared}).judgeValue(name, value, true)
			}
		}
	case x.name == "gh" || x.name == "glab":
		ho.ghSettings(x)
	case configManagers.has(x.name):
		ho.resources(x)
	case x.name == "nim":
		for i, a := range x.argv[1:] {
			if text, is := strings.CutPrefix(a, "--eval"); is {
				if text = strings.TrimLeft(text, ":="); text == "" && i+2 < len(x.argv) {
					text = x.argv[i+2]
				}
				ho.judgeComputed("other", text, x)
			}
		}
	case x.name == "dosbox":
		for _, a := range x.argv[1:] {
			if verb, _, _ := strings.Cut(strings.ToLower(a), " "); verb == "deltree" || verb == "del" || verb == "format" || verb == "rd" {
				ho.unknown(x.argv, "it removes files at the path given as its disk")
			}
		}
	case (x.name == "exim" || x.name == "sendmail") && x.args.Has("-be") && x.in.set:
		ho.code("console", x.in.text, x)
	case typesetters.has(x.name) && x.args.Has("-U"):
		ho.code("console", x.in.text+"\n"+ho.knownOperandText(x), x)
	case x.name == "ip":
		ho.code("console", ho.knownOperandText(x), x)
	case x.name == "bc":
		for line := range strings.Lines(x.in.text + "\n" + ho.knownOperandText(x)) {
			if command, is := strings.CutPrefix(line, "!"); is && !strings.HasPrefix(command, "=") {
				if p := ho.engine.preset; p == Off || p == Hard {
					ho.mergeFindings(func() { ho.source(command) }) // GNU's takes it for a sum
				} else {
					ho.source(command)
				}
			}
		}
	case x.name == "logrotate":
		ho.logrotate(x)
	case x.name == "run-parts":
		ho.runParts(x)
	case x.name == "npm" || x.name == "pnpm" || x.name == "yarn":
		for i, a := range x.argv {
			if value, is := strings.CutPrefix(a, "--script-shell"); is {
				if value = strings.TrimPrefix(value, "="); value == "" && i+1 < len(x.argv) {
					value = x.argv[i+1]
				}
				ho.source(value)
				ho.shellNamed(x, value)
			} else if value, is := strings.CutPrefix(a, "script-shell="); is {
				ho.shellNamed(x, value)
			} else if a == "script-shell" && i+1 < len(x.argv) {
				ho.shellNamed(x, x.argv[i+1])
			}
		}
	case x.name == "openssl":
		for _, a := range x.argv[1:] {
			if place, is := strings.CutPrefix(a, "SO_PATH:"); is {
				ho.loadCode(x, place)
			}
		}
	case x.name == "flatpak":
		if i := slices.IndexFunc(x.argv, func(a string) bool { return strings.HasPrefix(a, "--command=") }); i > 0 &&
			i+2 <= len(x.argv) {
			ho.run(append([]string{x.argv[i][10:]}, x.argv[min(i+2, len(x.argv)):]...), stream{})
		}
	case x.name == "rpm":
		for _, a := range x.argv[1:] {
			if _, text, is := strings.Cut(a, "%("); is {
				ho.shellText(strings.TrimSuffix(text, ")"), "rpm")
			} else if _, text, is := strings.Cut(a, "%{lua:"); is {
				ho.code("other", text, x)
			}
		}
	case x.name == "zip":
		for _, a := range x.argv[1:] {
			if text, ok := strings.CutPrefix(a, "-TT"); ok && text != "" {
				ho.shellText(text, "zip")
			}
		}
	case x.name == "crontab" && x.in.set:
		for line := range strings.Lines(x.in.text) {
			if strings.HasPrefix(line, "@") || strings.HasPrefix(line, hole+"@") {
				_, text, _ := strings.Cut(line, " ")
				ho.shellText(text, "crontab")
			} else if fields := strings.Fields(line); len(fields) > 5 && !strings.HasPrefix(line, "#") {
				ho.shellText(strings.Join(fields[5:], " "), "crontab")
			}
		}
	}
}

// cargoRuns are the last words of cargo's settings that name programs.
var cargoRuns = words("rustc rustc-wrapper rustc-workspace-wrapper rustdoc linker runner")

// cargoConfig judges settings of cargo that name a program, or give a command another name.
func (ho *delegations) cargoConfig(x *invocation) {
	if i := slices.Index(x.argv, "--"); i > 0 && slices.Contains(x.argv[:i], "rustc") { // what it passes on
		ho.run(append([]string{"rustc"}, x.argv[i+1:]...), stream{})
	}
	for i, a := range x.argv[1:] {
		key, value, set := strings.Cut(strings.TrimPrefix(a, "--config="), "=")
		if !set || x.argv[i] != "--config" && !strings.HasPrefix(a, "--config=") {
			continue
		}
		key = strings.TrimSpace(key)
		words := strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune("[]\"', \t", r) })
		switch {
		case len(words) == 0:
		case strings.HasPrefix(key, "alias."):
			ho.mergeFindings(func() { ho.run(append([]string{"cargo"}, words...), stream{}) })
		case cargoRuns.has(key[strings.LastIndexByte(key, '.')+1:]):
			ho.mergeFindings(func() { ho.run(words, stream{}) })
			ho.plugin(x, words[0])
		}
	}
}

// ghSettings judges other names of commands and settings of gh and glab.
func (ho *delegations) ghSettings(x *invocation) {
	ops := x.args.Operands
	switch {
	case len(ops) > 3 && ops[0] == "alias" && ops[1] == "set", len(ops) > 3 && ops[0] == "config" && ops[1] == "set" && ops[2] != "git_protocol":
		ho.judgePossibleShell(strings.TrimPrefix(ops[len(ops)-1], "!"), x.name)
	}
}

// configManagers are programs that enforce a described state: a file, a package, a service.
var configManagers = words("puppet salt salt-call salt-ssh ansible chef-apply")

// resources requires approval for resources to remove, and for replaced files.
func (ho *delegations) resources(x *invocation) {
	text := strings.Join(x.argv[1:], " ")
	if contains(text, []string{"absent", "remove", "purge", "rmdir", "delete"}) {
		for _, p := range building.Paths(separatePaths(text)) {
			if ho.removalDanger(p) == fatal {
				c := Command{Argv: x.argv}
				ho.ask(&c, "hard:remove", whyRemove)
				ho.record(c)
			}
		}
	}
	if file := ho.namedCriticalFile(text); file != "" && ho.engine.preset != Off {
		c := Command{Argv: x.argv}
		ho.ask(&c, "hard:overwrite", "it may change "+file+", which the machine needs")
		ho.record(c)
	}
}

// typesetters run commands in the text if -U marks it as trusted.
var typesetters = words("groff groffer troff gtroff nroff pic gpic ditroff")

// knownOperandText returns the known contents of a program's operands that the line itself writes or pipes, concatenated.
func (ho *delegations) knownOperandText(x *invocation) string {
	var all strings.Builder
	for _, o := range x.args.Operands {
		all.WriteString(ho.pipes[o])
	}
	return all.String()
}

// justShell judges another shell for just, with the words before each recipe line.
func (ho *delegations) justShell(x *invocation) {
	var argv []string
	for i, a := range x.argv {
		name, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(x.argv) {
			value = x.argv[i+1]
		}
		switch name {
		case "--shell":
			argv = append([]string{value}, argv...)
		case "--shell-arg":
			argv = append(argv, value)
		}
	}
	if len(argv) == 0 {
		return
	}
	row := programs.Lookup(path.Base(argv[0]))
	if row != nil && row.Lang == "sh" && !slices.ContainsFunc(argv[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }) {
		return // as in the recipe
	}
	ho.shellNamed(x, argv[0])
	ho.mergeFindings(func() { ho.run(append(argv, someText), stream{}) })
}

// mavenExec judges the program that Maven's exec plugin starts.
func (ho *delegations) mavenExec(x *invocation) {
	program, args := "", ""
	for _, a := range x.argv[1:] {
		if value, is := strings.CutPrefix(a, "-Dexec.executable="); is {
			program = value
		} else if value, is := strings.CutPrefix(a, "-Dexec.args="); is {
			args = value
		}
	}
	if program != "" {
		given, err := SplitWords(args) // quotes count for Maven; what is for a shell does not
		if err != nil {
			given = strings.Fields(args)
		}
		ho.mergeFindings(func() { ho.run(append([]string{program}, given...), stream{}) })
	}
}

// gitConfig judges settings of git that are commands: aliases with "!", pagers, editors, helpers.
func (ho *delegations) gitConfig(x *invocation) {
	judge := func(key, value string, once bool) {
		key = strings.ToLower(key)
		ho.gitProgram(x, key, value, once)
		switch {
		case strings.HasPrefix(key, "alias."):
			given := ""
			if len(x.words) > 2 && strings.EqualFold(x.words[1], key[len("alias."):]) {
				for _, word := range x.words[2:] {
					given += " " + shellquote.Word(word)
				}
			}
			if text, ok := strings.CutPrefix(strings.TrimSpace(value), "!"); ok {
				ho.shellText(text+given, "the alias")
			} else if value != "" {
				ho.downgradeDenials(func() { ho.source("git " + value + given) })
			}
		case key == "core.worktree":
			if ho.engine.preset != Off && ho.removalDanger(value) != harmless {
				c := Command{Argv: x.argv}
				ho.ask(&c, "hard:remove", "git then removes and overwrites what is in "+displayMarks.Replace(value))
				ho.record(c)
			}
		case strings.HasPrefix(key, "core.") || strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "diff."):
			if strings.Contains(value, " ") {
				ho.downgradeDenials(func() { ho.source(strings.TrimPrefix(value, "!")) })
			}
		}
	}
	if len(x.words) > 1 && x.words[1] == "clone" {
		for _, o := range x.args.Options {
			if key, value, ok := strings.Cut(o.Value, "="); ok && (o.Name == "-c" || o.Name == "--config") {
				judge(key, value, true)
			}
		}
	}
	if all := ho.scope.get("GIT_CONFIG_PARAMETERS"); all.set { // 'key=value' 'key'='value'
		for setting := range strings.SplitSeq(strings.ReplaceAll(all.text, "'='", "="), "'") {
			if key, value, ok := strings.Cut(setting, "="); ok {
				judge(key, value, true)
			}
		}
	}
	for i := range 16 { // settings in the environment
		key := ho.scope.get("GIT_CONFIG_KEY_" + strconv.Itoa(i))
		if !key.set {
			break
		}
		judge(key.text, ho.scope.get("GIT_CONFIG_VALUE_"+strconv.Itoa(i)).text, true)
	}
	for i, a := range x.argv[1:] {
		rest := x.argv[i+2:]
		setting, ok := strings.CutPrefix(a, "--config-env=")
		if a == "--config-env" && len(rest) > 0 {
			setting, ok = rest[0], true
		}
		if ok {
			key, name, _ := strings.Cut(setting, "=")
			if gitRuns(strings.ToLower(key)) && !ho.scope.get(name).set {
				ho.unknown(x.argv, "git runs what "+name+" says")
			}
			judge(key, ho.scope.get(name).text, true)
		}
		if where, ok := strings.CutPrefix(a, "--exec-path="); ok {
			ho.loadCode(x, where) // the row of the subcommand has not seen it
		} else if a == "--exec-path" && len(rest) > 0 {
			ho.loadCode(x, rest[0])
		}
		text, joined := strings.CutPrefix(a, "-c")
		switch {
		case a == "-c" && len(rest) > 0:
			text, joined = rest[0], true
		case !strings.HasPrefix(a, "-") && len(x.words) > 1 && a == x.words[1]:
			if a == "config" && len(x.args.Operands) > 1 {
				ops := x.args.Operands
				if ops[0] == "config" {
					ops = ops[1:]
				}
				if len(ops) > 1 {
					judge(ops[len(ops)-2], ops[len(ops)-1], false)
				}
			}
			return
		}
		if key, value, ok := strings.Cut(text, "="); ok && joined {
			judge(key, value, true)
		}
	}
}

// isUnitFile reports whether a file defines what systemd starts.
func isUnitFile(full, home string) bool {
	for _, dir := range []string{"/etc/systemd/", "/run/systemd/", "/usr/lib/systemd/", "/lib/systemd/", home + "/.config/systemd/", home + "/.config/autostart/"} {
		if strings.HasPrefix(full, dir) {
			return true
		}
	}
	return false
}

// systemdUnit judges the commands of a systemd unit.
func (cr *codeReader) systemdUnit(text string) {
	for line := range strings.Lines(text) {
		if key, command, ok := strings.Cut(line, "="); ok && strings.HasPrefix(strings.TrimSpace(key), "Exec") {
			cr.mergeFindings(func() { cr.source(strings.TrimLeft(command, " -@:+!|")) })
		}
	}
}

// logrotate judges the scripts in logrotate's settings; those outside the system directory need approval.
func (ho *delegations) logrotate(x *invocation) {
	if x.args.Has("-d", "--debug") {
		return
	}
	for _, file := range x.args.Operands {
		text, known := ho.textAt(file)
		if full, ok := ho.clean(file); !known && (!ok || !strings.HasPrefix(full, "/etc/")) {
			ho.unknown(x.argv, "it runs the scripts in "+file)
		}
		script, inside := "", false
		for line := range strings.Lines(text) {
			switch strings.TrimSpace(line) {
			case "prerotate", "postrotate", "firstaction", "lastaction", "preremove":
				inside = true
			case "endscript":
				inside = false
			default:
				if inside {
					script += line
				}
			}
		}
		ho.shellText(script, x.name)
	}
}

// runParts requires approval for running all programs of a non-system directory.
func (ho *delegations) runParts(x *invocation) {
	if x.args.Has("--test", "--list") {
		return
	}
	for _, dir := range x.args.Operands {
		if full, ok := ho.clean(dir); !ok || !strings.HasPrefix(full, "/etc/") && !strings.HasPrefix(full, "/usr/") || systemProgramDirs[full+"/"] {
			ho.unknown(x.argv, "it runs every program in "+dir)
		}
	}
}

// alternative follows the replacement of a program: update-alternatives --install LINK NAME PATH 10.
func (h *hardRules) alternative(c *Command, x *invocation) {
	for i, a := range x.argv {
		link, target := "", ""
		switch {
		case (a == "--install" || a == "--slave") && i+3 < len(x.argv):
			link, target = x.argv[i+1], x.argv[i+3]
		case a == "--set" && i+2 < len(x.argv):
			link, target = "/usr/bin/"+path.Base(x.argv[i+1]), x.argv[i+2]
		default:
			continue
		}
		h.addCopies([]string{target}, link, false)
		full, ok := h.clean(target)
		dir, base := path.Split(full)
		usual := systemProgramDirs[dir] || h.isVersionDir(dir) || strings.HasPrefix(dir, "/opt/") || strings.HasPrefix(dir, "/usr/")
		if !ok || !usual || hasHole(target) || destroyers.has(base) && base != path.Base(link) {
			h.ask(c, "unknown", "it replaces "+link+" by "+target)
		}
	}
}
