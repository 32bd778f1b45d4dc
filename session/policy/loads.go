package policy

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// delegations judges what programs run through options, variables and special forms.
type delegations struct{ *codeReader }

// runsNamed judges a program that an option names and that receives data or files: rg --pre, sort --compress-program,
// git's settings. It runs under another program's name, so only usual ones pass without approval: from the usual
// directories, not removing files, not treating input as code or commands.
func (ho *delegations) runsNamed(x *invocation, value string) {
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	x.hasJudgedChildren = true
	ho.run(append(words, someText), stream{text: hole, set: true})
	dir, base := path.Split(words[0])
	row := programs.Lookup(base)
	named := &invocation{name: base, argv: words, words: words}
	switch {
	case hasHole(words[0]): // run has asked
	case !systemProgramDirs[dir]:
		ho.unknown(x.argv, "it runs a program outside the usual directories: "+words[0])
	case named.isIn(removePrograms), destroyers.has(base):
		ho.unknown(x.argv, "it hands files to "+base)
	case row != nil && len(words) == 1 && (row.Run != programs.RunNothing && row.Run != programs.RunFirstCode || row.StdinRun):
		ho.unknown(x.argv, "it passes files or data to "+base+", which runs its input")
	}
}

// compilers take code and programs by options that the table's letters do not cover.
var compilers = fieldSet("gcc cc clang g++ c++ clang++ cpp gfortran gnat rustc ld ld.lld ld.gold ld.bfd tcc")

// compilerParts judges plugins, parts and wrappers that a compiler is given.
func (ho *delegations) compilerParts(x *invocation) {
	name := strings.TrimRight(strings.TrimRight(x.name, "0123456789."), "-")
	if !compilers.has(name) && !compilers.has(x.name) {
		return
	}
	for i, a := range x.argv[1:] {
		if file, is := strings.CutPrefix(a, "@"); is { // its options are in a file
			if text, made := ho.textAt(file); made && !strings.Contains(text, "@") {
				ho.run(slices.Concat(x.argv[:1], strings.Fields(text)), stream{})
			}
		}
		next := ""
		if i+2 < len(x.argv) {
			next = x.argv[i+2]
		}
		for _, part := range append([]string{a}, linkerOptions(a)...) {
			for _, begin := range []string{"-fplugin=", "-fpass-plugin=", "-fuse-ld=", "-plugin=", "--plugin=", "-specs=", "--specs=", "--load=", "-load="} {
				if value, ok := strings.CutPrefix(part, begin); ok {
					ho.plugin(x, value)
				}
			}
		}
		key, value, set := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(a, "-C"), "-Z"), "=")
		switch {
		case a == "-B", a == "-specs", a == "-plugin", a == "--plugin":
			ho.plugin(x, next)
		case a == "-load" || a == "-Xclang" && next == "-load" && i+4 < len(x.argv):
			if a == "-Xclang" {
				next = x.argv[i+4]
			}
			ho.plugin(x, next)
		case strings.HasPrefix(a, "-B") && name != "rustc":
			ho.plugin(x, a[2:])
		case a == "-wrapper":
			x.hasJudgedChildren = true
			ho.run(strings.Split(next, ","), stream{})
			ho.plugin(x, strings.Split(next, ",")[0])
		case name == "rustc" && set && (key == "linker" || key == "codegen-backend"):
			ho.plugin(x, value)
		}
	}
}

// plugin judges code that a compiler loads. Code of the project counts like the code that it compiles: only the hard
// denials apply.
func (cr *codeReader) plugin(x *invocation, value string) {
	if cr.engine.preset == Hard && cr.isWithin(value) && !destroyers.has(value) {
		return
	}
	cr.loadCode(x, value)
}

// isWithin reports whether a path is below the working directory, or a relative one that does not leave it.
func (fs *files) isWithin(p string) bool {
	full, ok := fs.clean(p)
	if !ok {
		return !strings.HasPrefix(full, "..") && !strings.HasPrefix(full, "/") && !hasHole(full)
	}
	return fs.cwd != "" && strings.HasPrefix(full, strings.TrimSuffix(fs.cwd, "/")+"/")
}

// linkerOptions returns the options that -Wl,… passes to the linker.
func linkerOptions(a string) []string {
	rest, ok := strings.CutPrefix(a, "-Wl,")
	if !ok {
		return nil
	}
	words := strings.Split(rest, ",")
	for i := 0; i+1 < len(words); i++ {
		if words[i] == "-plugin" || words[i] == "--plugin" {
			words[i] = "-plugin=" + words[i+1]
		}
	}
	return words
}

// gitSettings maps variables to the git settings they override.
var gitSettings = map[string]string{"GIT_EDITOR": "core.editor", "GIT_SEQUENCE_EDITOR": "sequence.editor", "GIT_PAGER": "core.pager",
	"GIT_SSH": "core.sshcommand", "GIT_SSH_COMMAND": "core.sshcommand", "GIT_EXTERNAL_DIFF": "diff.external",
	"GIT_ASKPASS": "core.askpass", "GIT_PROXY_COMMAND": "core.gitproxy", "EDITOR": "core.editor", "VISUAL": "core.editor", "PAGER": "core.pager"}

// libraryDirs are the system's directories of code that programs load.
var libraryDirs = []string{"/usr/lib", "/lib", "/usr/local/lib", "/usr/libexec", "/opt/homebrew", "/nix/store/", "/usr/share/",
	"/Library/", "/usr/local/Cellar/", "/run/current-system/"}

// loadCode requires approval for code that a program loads from a non-system directory.
func (cr *codeReader) loadCode(x *invocation, value string) {
	if destroyers.has(path.Base(value)) {
		cr.unknown(x.argv, "it hands files to "+path.Base(value))
		return
	}
	if value == "" || !strings.ContainsAny(value, "/.") && !hasHole(value) {
		return // a name that the program looks up
	}
	for place := range strings.SplitSeq(value, ":") {
		full, ok := cr.clean(place)
		system := false
		for _, dir := range libraryDirs {
			system = system || strings.HasPrefix(full, dir)
		}
		if place != "" && (!ok || !system || hasHole(full)) && place != "/dev/null" {
			cr.unknown(x.argv, "it loads code from "+place)
			return
		}
	}
}

// judgeOptionVariables judges variables that hold options or files of a program.
func (ho *delegations) judgeOptionVariables(x *invocation) {
	switch x.name {
	case "tar", "gtar":
		if v := ho.scope.get("TAR_OPTIONS"); v.set && v.text != "" {
			ho.mergeFindings(func() {
				ho.scope.put("TAR_OPTIONS", "")
				ho.source("tar " + v.text)
			})
		}
	case "go":
		if v := ho.scope.get("GOFLAGS"); v.set && goStarts(v.text) && len(x.argv) > 1 && programs.Lookup("go "+x.argv[1]) != nil {
			mark := ho.scope.mark()
			ho.scope.put("GOFLAGS", "")
			ho.source("go " + x.argv[1] + " " + v.text)
			ho.scope.undo(mark)
		}
	case "make", "gmake":
		v := ho.scope.get("MAKEFILES")
		for file := range strings.FieldsSeq(v.text) {
			if text, ok := ho.pipes[file]; ok {
				ho.shellEscapes("make", text)
			}
		}
		if v := ho.scope.get("SHELL"); v.set {
			ho.shellNamed(x, v.text)
		}
	case "npm", "pnpm", "yarn":
		if v := ho.scope.get("npm_config_script_shell"); v.set {
			ho.shellNamed(x, v.text)
		}
	case "vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff":
		for _, name := range []string{"VIMINIT", "EXINIT"} {
			if v := ho.scope.get(name); v.set && v.text != "" {
				ho.code("vim", v.text, x)
			}
		}
	case "lua", "luajit":
		if v := ho.scope.get("LUA_INIT"); v.set && v.text != "" {
			ho.code("other", v.text, x)
		}
	case "python", "python3", "ipython":
		if text, ok := ho.pipes[ho.scope.get("PYTHONSTARTUP").text]; ok {
			ho.code("python", text, x)
		}
	case "perl":
		if v := ho.scope.get("PERL5DB"); v.set && v.text != "" {
			ho.code("perl", v.text, x)
		}
	}
}

// goStarts reports whether options of go name a program that go starts.
func goStarts(options string) bool {
	return strings.Contains(options, "exec") || strings.Contains(options, "-vettool")
}

// shellNamed requires approval for a known non-shell in place of a shell: it gets foreign text.
func (ho *delegations) shellNamed(x *invocation, value string) {
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	base := path.Base(words[0])
	if base == "env" && len(words) > 1 {
		base = path.Base(words[len(words)-1])
	}
	row := programs.Lookup(base)
	if hasHole(words[0]) || destroyers.has(base) && (row == nil || row.Lang != "sh") || row != nil && row.Lang == "" && row.Run == programs.RunNothing {
		ho.unknown(x.argv, x.name+" takes "+base+" for its shell")
	}
}

// judgeTerminals requires approval for what tmux runs or types that is not on the line: terminals of a tmux server, possibly
// an old one, are not checked.
func (h *hardRules) judgeTerminals(c *Command, x *invocation) {
	keys := false
	for i, a := range x.argv[1:] {
		switch {
		case a == "-C" || a == "-CC" || isTmuxCommand(a, "source-file", "so") || isTmuxCommand(a, "load-buffer", "loa") || isTmuxCommand(a, "paste-buffer", "pa"):
			h.ask(c, "unknown", "tmux runs or types text that is not on the line")
			return
		case a == "send" || isTmuxCommand(a, "send-keys", "send-k"):
			keys = true
		case keys && i > 0 && (a == "-H" || strings.EqualFold(a, "space")):
			h.ask(c, "unknown", "it types single keys")
			return
		}
	}
}

// isTmuxCommand reports whether a word is a tmux command: any unique prefix, or its alias, which is the prefix plus the
// letter after the dash.
func isTmuxCommand(word, name, least string) bool {
	first, second, _ := strings.Cut(name, "-")
	return strings.HasPrefix(word, least) && strings.HasPrefix(name, word) || word == first+second[:1]
}

// loadsCode reports whether a variable loads code into programs, or puts a wrapper in front of them.
func loadsCode(name string) bool {
	_, is := programs.VariableFor(name, programs.AsCode)
	return is
}

// programVariables name a program that another program runs: a pager, an editor, a password prompt, a browser.
var programVariables = words("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND LESSOPEN GIT_SSH " +
	"GIT_SSH_COMMAND BROWSER RSYNC_RSH")

// judgeLoadVariable requires approval for variables that load code into a system program; the user's own programs may load
// anything.
func (ho *delegations) judgeLoadVariable(x *invocation, name, value string) {
	if name == "LONGTERM_AGENT" && x.name == "longterm" {
		c := Command{Argv: x.argv}
		ho.ask(&c, "hard:longterm", "it changes the caller's identity for longterm")
		ho.record(c)
	}
	if key := gitSettings[name]; key != "" && x.name == "git" && value != "" {
		ho.gitProgram(x, key, value, strings.Contains(value, "/") && ho.engine.preset != Hard)
	}
	if programVariables.has(name) {
		place, _, _ := strings.Cut(value, " ")
		if place == x.argv[0] { // the value itself is judged
			return
		}
		if dir, _ := path.Split(place); strings.HasPrefix(place, hole) || strings.HasPrefix(dir, "/") && !systemProgramDirs[dir] && !ho.isVersionDir(dir) &&
			!strings.HasPrefix(dir, ho.home+"/") && (ho.cwd == "" || !strings.HasPrefix(dir, ho.cwd+"/")) {
			ho.unknown(x.argv, x.name+" may run "+place+", which "+name+" names")
		}
	}
	if !loadsCode(name) {
		return
	}
	if dir, _ := path.Split(x.argv[0]); systemProgramDirs[dir] {
		for one := range strings.FieldsSeq(strings.ReplaceAll(value, ":", " ")) {
			if strings.Contains(one, "/") || hasHole(one) {
				ho.loadCode(x, one)
			}
		}
	}
}

// loadVariables are the variables that judgeLoadVariable knows, and that a line may have set before.
var loadVariables = sync.OnceValue(func() (names []string) {
	names = strings.Fields(programs.VariableNames(programs.AsCode) + " " + string(programVariables))
	for name := range gitSettings {
		if !programVariables.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
})

// noProgram are commands that start no program.
var noProgram = fieldSet(": . [ alias bg break cd continue declare dirs echo eval exit export false fg getopts hash jobs let local mapfile popd " +
	"printf pushd pwd read readonly return set setopt shift shopt source test times trap true type typeset ulimit umask unalias unset unsetopt wait")

// judgeLineLoadVariables judges variables that the line set before, whether exported or not: one that was exported before still
// is.
func (ho *delegations) judgeLineLoadVariables(x *invocation) {
	if len(ho.scope.vars) == 0 || noProgram.has(x.name) {
		return
	}
	for _, name := range loadVariables() {
		if v := ho.scope.get(name); v.set && !slices.Contains(ho.env, name) {
			ho.judgeLoadVariable(x, name, v.text)
		}
	}
}

// sshOption judges a setting of ssh that is a command or a library.
func (ho *delegations) sshOption(x *invocation, setting string) {
	key, value, ok := strings.Cut(setting, "=")
	if !ok {
		key, value, _ = strings.Cut(strings.TrimSpace(setting), " ")
	}
	value = strings.TrimSpace(value)
	if whole := strings.Trim(value, `"`); len(value) == len(whole)+2 && !strings.Contains(whole, `"`) {
		value = whole // it is quoted as one; else the quotes are the shell's
	}
	if value == "" || strings.EqualFold(value, "none") {
		return
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "proxycommand", "localcommand", "knownhostscommand", "remotecommand", "match":
		x.hasJudgedChildren = true
		ho.shellText(value, x.name)
	case "userknownhostsfile", "globalknownhostsfile", "controlpath":
		c := Command{Argv: x.argv}
		if ho.overwriteDanger(value) != harmless {
			ho.ask(&c, "hard:overwrite", whyAdds)
			ho.record(c)
		}
	case "pkcs11provider", "securitykeyprovider", "xauthlocation":
		ho.loadCode(x, value)
	}
}

// gitProgram judges a git setting that is a program, a command or a hook directory; once states that it is for one
// command only, which may hide a program.
func (ho *delegations) gitProgram(x *invocation, key, value string, once bool) {
	full, ok := ho.clean(value)
	foreign := !ok && strings.HasPrefix(value, "..") || strings.HasPrefix(full, "/") && !strings.HasPrefix(full, ho.home+"/") &&
		(ho.cwd == "" || !strings.HasPrefix(full, ho.cwd+"/"))
	switch {
	case key == "core.hookspath":
		if value != "/dev/null" && foreign {
			ho.unknown(x.argv, "git runs the hooks in "+value)
		}
		return
	case key == "include.path" || strings.HasPrefix(key, "includeif."):
		if foreign && !strings.HasPrefix(value, "~/") {
			ho.unknown(x.argv, "git takes settings from "+value)
		}
		return
	case !gitRuns(key) || value == "true" || value == "false":
		return
	}
	command := strings.TrimPrefix(value, "!")
	words := strings.Fields(command)
	if len(words) == 0 {
		return
	}
	if len(words) > 1 || value != command {
		ho.downgradeDenials(func() { ho.source(command) })
	}
	if dir, base := path.Split(words[0]); !systemProgramDirs[dir] && (once || foreign) || destroyers.has(base) || strings.HasPrefix(words[0], hole) {
		ho.unknown(x.argv, "git runs "+words[0])
	}
}

// gitRuns reports whether git runs the value of a setting.
func gitRuns(key string) bool {
	switch key {
	case "core.fsmonitor", "core.sshcommand", "core.editor", "core.pager", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
		"sendemail.smtpserver", "instaweb.httpd", "imap.tunnel", "gc.recentobjectshook", "sequence.editor", "diff.external", "uploadpack.packobjectshook", "interactive.difffilter", "credential.helper":
		return true
	}
	if strings.HasPrefix(key, "pager.") {
		return true
	}
	if strings.HasSuffix(key, ".path") {
		group, _, _ := strings.Cut(key, ".")
		return slices.Contains([]string{"browser", "man", "difftool", "mergetool", "guitool", "lfs"}, group)
	}
	for _, end := range []string{".update", ".helper", ".cmd", ".program", ".command", ".editor", ".clean", ".smudge", ".process", ".textconv",
		".driver", ".uploadpack", ".receivepack", "cmd", ".vcs"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// loadedText returns the text of a created file that an option names as code, or "".
func (fs *files) loadedText(file string) string {
	if len(fs.created)+len(fs.pipes) == 0 || file == "" {
		return ""
	}
	for _, end := range [...]string{"", ".js", ".rb", ".py"} { // optional suffixes
		if text, is := fs.textAt(file + end); is && text != hole {
			return text
		}
	}
	return ""
}

// projectFiles returns the project files that configure what a program runs, or that it compiles and runs: names, and
// "*.x".
func projectFiles(program string) words {
	switch program {
	case "npm", "pnpm", "yarn", "bun", "npx", "bunx", "node", "nodejs", "deno", "jest", "vitest", "tsx", "ts-node", "eslint", "vite", "webpack":
		return "package.json *.js *.mjs *.cjs *.ts .npmrc"
	case "just":
		return "justfile .justfile Justfile *.just"
	case "task":
		return "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml"
	case "rake", "bundle", "ruby", "rspec", "rails":
		return "Rakefile rakefile Gemfile *.rake *.rb"
	case "direnv":
		return ".envrc"
	case "gradle", "gradlew", "mvn", "mvnw", "ant", "sbt":
		return "*.gradle *.kts pom.xml build.xml build.sbt"
	case "cargo":
		return "*.rs Cargo.toml config.toml"
	case "go":
		return "*.go"
	case "python", "python3", "pypy", "pytest", "tox", "nox", "pip", "pip3", "uv", "poetry", "invoke", "inv", "fab":
		return "*.py *.pth tox.ini pyproject.toml setup.cfg pytest.ini"
	case "gcc", "cc", "clang", "g++", "c++", "clang++", "tcc":
		return "*.c *.cc *.cpp *.cxx *.h *.hpp"
	case "cmake", "ctest", "meson", "ninja", "scons", "bazel", "waf":
		return "CMakeLists.txt *.cmake meson.build build.ninja SConstruct wscript BUILD *.bzl"
	case "ansible-playbook", "terraform", "tofu", "vagrant", "pre-commit", "lefthook", "mage", "mix", "composer", "php", "perl", "lua":
		return "*.yml *.yaml *.tf Vagrantfile magefile.go mix.exs composer.json *.php *.pl *.pm *.lua"
	case "docker-compose", "systemctl", "supervisord", "foreman", "pm2", "tilt", "skaffold":
		return "Procfile Tiltfile *.config.js supervisord.conf"
	}
	return ""
}

// projectFiles judges project files that the line itself has written, for a program that follows them. Each is judged
// once, since a line may call the program often.
func (ho *delegations) projectFiles(x *invocation) {
	if len(ho.created) == 0 || ho.engine.preset == Off {
		return
	}
	list := projectFiles(strings.TrimRight(x.name, "0123456789."))
	if list == "" {
		return
	}
	for _, full := range slices.Sorted(maps.Keys(ho.created)) {
		m := ho.created[full]
		if m.source != "" || m.text == hole || m.judged || !list.has(path.Base(full)) && !list.has("*"+path.Ext(full)) {
			continue
		}
		m.judged = true
		ho.created[full] = m
		lines := &guesser{ho.shared}
		for line := range strings.Lines(m.text) {
			lines.findDestroyer(line)
		}
		if lang := languageOf(full); lang != "" {
			ho.downgradeDenials(func() { ho.code(lang, m.text, x) })
		}
	}
}

// languageOf returns the language of a file by its name, or "" if only its words are known.
func languageOf(file string) string {
	switch path.Ext(file) {
	case ".js", ".mjs", ".cjs", ".ts":
		return "node"
	case ".py", ".pth":
		return "python"
	case ".rb", ".rake":
		return "ruby"
	case ".php":
		return "php"
	case ".pl", ".pm":
		return "perl"
	}
	if base := path.Base(file); base == "Rakefile" || base == "rakefile" || base == "Gemfile" {
		return "ruby"
	}
	return ""
}
