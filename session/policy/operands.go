package policy

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
)

// operandCode judges operands that are code by their form: vim's +cmd, make's NAME=value, sqlite's .shell.
func (w *walk) operandCode(x *invocation) {
	switch {
	case x.row.Lang == "powershell":
		for i, a := range x.argv[1:] {
			if l := strings.ToLower(a); i+2 < len(x.argv) && len(l) > 1 && strings.HasPrefix("-encodedcommand", l) && l != "-e-" {
				w.unknown(x.argv, "what it runs is encoded")
				if b, err := base64.StdEncoding.DecodeString(x.argv[i+2]); err == nil {
					w.windows(strings.ReplaceAll(string(b), "\x00", ""))
				}
			}
		}
	case x.name == "cmd" && len(x.args.Operands) > 0:
		w.only(func() { w.windowsCommand(x.argv) })
	case x.name == "ssh" || x.name == "scp" || x.name == "sftp":
		for _, o := range x.args.Options {
			if o.Name == "-o" && o.Has {
				w.sshOption(x, o.Value)
			}
		}
	case x.row.Lang == "perl":
		for _, o := range x.args.Options {
			if (o.Name == "-M" || o.Name == "-m") && strings.ContainsAny(o.Value, ";(") {
				w.code("perl", o.Value, x)
			}
		}
	case x.row.Lang == "node" && x.name != "deno":
		for _, a := range x.argv[1:] {
			if _, text, is := strings.Cut(a, "data:text/javascript,"); is {
				w.code("node", text, x)
			}
		}
	case x.row.Lang == "vim":
		for _, o := range x.args.Operands {
			if x.name == "ed" && strings.HasPrefix(o, "!") {
				w.bang("vim", o)
			}
			if text, ok := strings.CutPrefix(o, "+"); ok {
				w.bang("vim", text)
			}
		}
	case x.row.Lang == "make":
		for _, o := range x.args.Operands {
			if _, value, ok := strings.Cut(o, "="); ok && value != "" {
				w.only(func() { w.source(value) })
			}
		}
		w.shellOfMake(x)
		file, given := x.args.Get("-f", "--file", "--makefile")
		if given && (file == "-" || file == "/dev/stdin") && x.in.is {
			w.bang("make", x.in.text)
		}
		if text, ok := w.pipes[file]; ok && given {
			w.bang("make", text)
		}
		for _, name := range []string{file, "GNUmakefile", "makefile", "Makefile"} {
			if m, ok := w.madeAt(name); ok && name != "" && m.source == "" && (!given || name == file) {
				w.bang("make", m.text)
			}
		}
	case x.row.Lang == "sql":
		for _, o := range x.args.Operands {
			w.bang("sql", o)
		}
	case x.name == "git":
		w.gitConfig(x)
		w.gitExternal(x)
	case x.name == "less" || x.name == "more" || x.name == "zless" || x.name == "view":
		for _, o := range x.args.Operands {
			if text, ok := strings.CutPrefix(o, "+"); ok {
				w.bangLine(strings.TrimLeft(text, "+"))
			}
		}
	case x.name == "strace" || x.name == "ltrace":
		if v, ok := x.args.Get("-o"); ok && v != "" && (v[0] == '|' || v[0] == '!') {
			w.shellText(v[1:], x.name)
		}
	case x.name == "apt" || x.name == "apt-get" || x.name == "aptitude":
		for _, a := range x.argv[1:] {
			if _, piped := w.pipes[a]; piped {
				w.unknown(x.argv, "it runs what its settings say, which are made by the same line")
			}
			key, value, ok := strings.Cut(a, "=")
			if ok && strings.Contains(key, "-Invoke") || ok && strings.Contains(key, "Dir::Bin") {
				w.perhapsShell(value, x.name)
				w.unknown(x.argv, "it runs what the setting says")
			}
		}
	case x.name == "deno" && len(x.args.Operands) > 1 && x.args.Operands[0] == "run":
		for i, o := range x.args.Operands[1:] {
			if strings.HasPrefix(o, "npm:") || strings.HasPrefix(o, "jsr:") {
				w.run(append([]string{packaged(o)}, x.args.Operands[i+2:]...), stream{})
			}
		}
	case x.row.Lang == "python":
		if m, ok := x.args.Get("-m"); ok && (m == "timeit" || m == "cProfile" || m == "pdb") {
			for _, a := range x.argv[1:] {
				if !strings.HasPrefix(a, "-") && a != m {
					w.code("python", a, x)
				}
			}
		}
	default:
		w.ownForms(x)
	}
}

// gitExternal judges remotes that are commands: ext::sh -c …
func (w *walk) gitExternal(x *invocation) {
	for _, o := range x.args.Operands {
		if text, ok := strings.CutPrefix(o, "ext::"); ok {
			argv := strings.Fields(strings.NewReplacer("% ", "\x00", "%%", "%").Replace(text))
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], "\x00", " ")
			}
			if len(argv) > 0 {
				w.run(argv, stream{})
			}
		}
	}
}

// ownForms judges programs that name commands in forms of their own.
func (w *walk) ownForms(x *invocation) {
	switch {
	case x.name == "start-stop-daemon":
		if v, ok := x.args.Get("-x", "--exec", "-a", "--startas"); ok {
			w.run(append([]string{v}, x.args.Operands...), stream{})
		}
	case x.name == "flatpak":
		if i := slices.IndexFunc(x.argv, func(a string) bool { return strings.HasPrefix(a, "--command=") }); i > 0 &&
			i+2 <= len(x.argv) {
			w.run(append([]string{x.argv[i][10:]}, x.argv[min(i+2, len(x.argv)):]...), stream{})
		}
	case x.name == "rpm":
		if v, ok := x.args.Get("-E", "--eval"); ok && strings.Contains(v, "%(") {
			w.shellText(strings.TrimSuffix(v[strings.Index(v, "%(")+2:], ")"), "rpm")
		}
	case x.name == "zip":
		for _, a := range x.argv[1:] {
			if text, ok := strings.CutPrefix(a, "-TT"); ok && text != "" {
				w.shellText(text, "zip")
			}
		}
	case x.name == "crontab" && x.in.is:
		for line := range strings.Lines(x.in.text) {
			if strings.HasPrefix(line, "@") || strings.HasPrefix(line, hole+"@") {
				_, text, _ := strings.Cut(line, " ")
				w.shellText(text, "crontab")
			} else if fields := strings.Fields(line); len(fields) > 5 && !strings.HasPrefix(line, "#") {
				w.shellText(strings.Join(fields[5:], " "), "crontab")
			}
		}
	}
}

// gitConfig judges settings of git that are commands: aliases with "!", pagers, editors, helpers.
func (w *walk) gitConfig(x *invocation) {
	judge := func(key, value string, once bool) {
		key = strings.ToLower(key)
		w.gitProgram(x, key, value, once)
		switch {
		case strings.HasPrefix(key, "alias."):
			given := ""
			if len(x.words) > 2 && strings.EqualFold(x.words[1], key[len("alias."):]) {
				for _, word := range x.words[2:] {
					given += " " + oneWord(word)
				}
			}
			if text, ok := strings.CutPrefix(strings.TrimSpace(value), "!"); ok {
				w.shellText(text+given, "the alias")
			} else if value != "" {
				w.only(func() { w.source("git " + value + given) })
			}
		case strings.HasPrefix(key, "core.") || strings.HasPrefix(key, "filter.") || strings.HasPrefix(key, "diff."):
			if strings.Contains(value, " ") {
				w.only(func() { w.source(strings.TrimPrefix(value, "!")) })
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
	if all := w.scope.get("GIT_CONFIG_PARAMETERS"); all.set { // 'key=value' 'key'='value'
		for setting := range strings.SplitSeq(strings.ReplaceAll(all.text, "'='", "="), "'") {
			if key, value, ok := strings.Cut(setting, "="); ok {
				judge(key, value, true)
			}
		}
	}
	for i := range 16 { // settings in the environment
		key := w.scope.get("GIT_CONFIG_KEY_" + strconv.Itoa(i))
		if !key.set {
			break
		}
		judge(key.text, w.scope.get("GIT_CONFIG_VALUE_"+strconv.Itoa(i)).text, true)
	}
	for i, a := range x.argv[1:] {
		rest := x.argv[i+2:]
		setting, ok := strings.CutPrefix(a, "--config-env=")
		if a == "--config-env" && len(rest) > 0 {
			setting, ok = rest[0], true
		}
		if ok {
			key, name, _ := strings.Cut(setting, "=")
			if gitRuns(strings.ToLower(key)) && !w.scope.get(name).set {
				w.unknown(x.argv, "git runs what "+name+" says")
			}
			judge(key, w.scope.get(name).text, true)
		}
		if where, ok := strings.CutPrefix(a, "--exec-path="); ok {
			w.loads(x, where) // the row of the subcommand has not seen it
		} else if a == "--exec-path" && len(rest) > 0 {
			w.loads(x, rest[0])
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
