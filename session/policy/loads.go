package policy

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// handovers judges what programs are given besides their operands to run: by options, by variables, in forms of their own.
type handovers struct{ *codeReader }

// runsNamed judges a program that an option names and that is given data or files: rg --pre, sort
// --compress-program, git's settings. It does its work behind the name of another, so that it is asked about
// unless it is a usual one: not a program at a place of its own, none that removes, none that takes what it
// is given for code or for a command.
func (ho *handovers) runsNamed(x *invocation, value string) {
	words := strings.Fields(value)
	if len(words) == 0 {
		return
	}
	x.children = true
	ho.run(append(words, someText), stream{text: hole, is: true})
	dir, base := path.Split(words[0])
	row := programs.Lookup(base)
	named := &invocation{name: base, argv: words, words: words}
	switch {
	case hasHole(words[0]): // run has asked
	case !systemPlaces[dir]:
		ho.unknown(x.argv, "it runs a program at a place of its own: "+words[0])
	case named.does(removing), destroyers.has(base):
		ho.unknown(x.argv, "it hands files to "+base)
	case row != nil && len(words) == 1 && (row.Run != programs.RunNothing && row.Run != programs.RunFirstCode || row.StdinRun):
		ho.unknown(x.argv, "it hands files or data to "+base+", which runs what it is given")
	}
}

// compilers take code and programs that they run by options which the table's letters do not tell.
var compilers = fieldSet("gcc cc clang g++ c++ clang++ cpp gfortran gnat rustc ld ld.lld ld.gold ld.bfd tcc")

// compilerParts judges plugins, parts and wrappers that a compiler is given.
func (ho *handovers) compilerParts(x *invocation) {
	name := strings.TrimRight(strings.TrimRight(x.name, "0123456789."), "-")
	if !compilers.has(name) && !compilers.has(x.name) {
		return
	}
	for i, a := range x.argv[1:] {
		if file, is := strings.CutPrefix(a, "@"); is { // its options stand in a file
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
			x.children = true
			ho.run(strings.Split(next, ","), stream{})
			ho.plugin(x, strings.Split(next, ",")[0])
		case name == "rustc" && set && (key == "linker" || key == "codegen-backend"):
			ho.plugin(x, value)
		}
	}
}

// plugin judges what a compiler loads: what is in the project is as good as the code that it compiles, where only the hard
// denials count.
func (cr *codeReader) plugin(x *invocation, value string) {
	if cr.engine.preset == Hard && cr.within(value) && !destroyers.has(value) {
		return
	}
	cr.loads(x, value)
}

// within reports whether a path is below the working directory, or a relative one that does not leave it.
func (fs *files) within(p string) bool {
	full, ok := fs.clean(p)
	if !ok {
		return !strings.HasPrefix(full, "..") && !strings.HasPrefix(full, "/") && !hasHole(full)
	}
	return fs.cwd != "" && strings.HasPrefix(full, strings.TrimSuffix(fs.cwd, "/")+"/")
}

// linkerOptions are those that -Wl,… hands on.
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

// gitSettings are settings of git by the variables that stand for them.
var gitSettings = map[string]string{"GIT_EDITOR": "core.editor", "GIT_SEQUENCE_EDITOR": "sequence.editor", "GIT_PAGER": "core.pager",
	"GIT_SSH": "core.sshcommand", "GIT_SSH_COMMAND": "core.sshcommand", "GIT_EXTERNAL_DIFF": "diff.external",
	"GIT_ASKPASS": "core.askpass", "GIT_PROXY_COMMAND": "core.gitproxy", "EDITOR": "core.editor", "VISUAL": "core.editor", "PAGER": "core.pager"}

// libraries are where the system keeps code that programs load.
var libraries = []string{"/usr/lib", "/lib", "/usr/local/lib", "/usr/libexec", "/opt/homebrew", "/nix/store/", "/usr/share/",
	"/Library/", "/usr/local/Cellar/", "/run/current-system/"}

// loads asks about code that a program is told to load from a place that is not the system's.
func (cr *codeReader) loads(x *invocation, value string) {
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
		for _, dir := range libraries {
			system = system || strings.HasPrefix(full, dir)
		}
		if place != "" && (!ok || !system || hasHole(full)) && place != "/dev/null" {
			cr.unknown(x.argv, "it loads code from "+place)
			return
		}
	}
}

// optionsOf judges variables that hold options or files of a program.
func (ho *handovers) optionsOf(x *invocation) {
	switch x.name {
	case "tar", "gtar":
		if v := ho.scope.get("TAR_OPTIONS"); v.set && v.text != "" {
			ho.mayAsk(func() {
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
				ho.bang("make", text)
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

// goStarts reports options of go that name a program which it starts.
func goStarts(options string) bool {
	return strings.Contains(options, "exec") || strings.Contains(options, "-vettool")
}

// shellNamed asks about what a program is given for a shell and is known to be none: it is started with text of others.
func (ho *handovers) shellNamed(x *invocation, value string) {
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

// terminals asks about what tmux runs or types that does not stand on the line: in the terminals of a server that runs
// perhaps since long, nothing is judged.
func (h *hardRules) terminals(c *Command, x *invocation) {
	keys := false
	for i, a := range x.argv[1:] {
		switch {
		case a == "-C" || a == "-CC" || tmuxCommand(a, "source-file", "so") || tmuxCommand(a, "load-buffer", "loa") || tmuxCommand(a, "paste-buffer", "pa"):
			h.ask(c, "unknown", "tmux runs or types what does not stand on the line")
			return
		case a == "send" || tmuxCommand(a, "send-keys", "send-k"):
			keys = true
		case keys && i > 0 && (a == "-H" || strings.EqualFold(a, "space")):
			h.ask(c, "unknown", "what it types is told key by key")
			return
		}
	}
}

// tmuxCommand reports whether a word is a command's name for tmux: any beginning that no other command has, or its alias,
// which is the beginning with the first letter of what follows the dash.
func tmuxCommand(word, name, least string) bool {
	first, second, _ := strings.Cut(name, "-")
	return strings.HasPrefix(word, least) && strings.HasPrefix(name, word) || word == first+second[:1]
}

// loading reports variables that put code into programs, or in front of their own.
func loading(name string) bool {
	_, is := programs.VariableFor(name, programs.AsCode)
	return is
}

// shows are variables that name a program behind another's back: for its output, its questions, its way out.
var shows = words("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND LESSOPEN GIT_SSH " +
	"GIT_SSH_COMMAND BROWSER RSYNC_RSH")

// loadedBy asks about variables by which code is loaded into a program of the system; a program of one's own
// may be given whatever is wanted.
func (ho *handovers) loadedBy(x *invocation, name, value string) {
	if name == "LONGTERM_AGENT" && x.name == "longterm" {
		c := Command{Argv: x.argv}
		ho.ask(&c, "hard:longterm", "it changes whom longterm takes its caller for")
		ho.record(c)
	}
	if key := gitSettings[name]; key != "" && x.name == "git" && value != "" {
		ho.gitProgram(x, key, value, strings.Contains(value, "/") && ho.engine.preset != Hard)
	}
	if shows.has(name) {
		place, _, _ := strings.Cut(value, " ")
		if place == x.argv[0] { // the value itself is judged
			return
		}
		if dir, _ := path.Split(place); strings.HasPrefix(place, hole) || strings.HasPrefix(dir, "/") && !systemPlaces[dir] && !ho.installed(dir) &&
			!strings.HasPrefix(dir, ho.home+"/") && (ho.cwd == "" || !strings.HasPrefix(dir, ho.cwd+"/")) {
			ho.unknown(x.argv, x.name+" may run "+place+", which "+name+" names")
		}
	}
	if !loading(name) {
		return
	}
	if dir, _ := path.Split(x.argv[0]); systemPlaces[dir] {
		for one := range strings.FieldsSeq(strings.ReplaceAll(value, ":", " ")) {
			if strings.Contains(one, "/") || hasHole(one) {
				ho.loads(x, one)
			}
		}
	}
}

// lasting are the variables that loadedBy knows, and that a line may have set before.
var lasting = sync.OnceValue(func() (names []string) {
	names = strings.Fields(programs.VariableNames(programs.AsCode) + " " + string(shows))
	for name := range gitSettings {
		if !shows.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
})

// ofTheShell are commands that start no program.
var ofTheShell = fieldSet(": . [ alias bg break cd continue declare dirs echo eval exit export false fg getopts hash jobs let local mapfile popd " +
	"printf pushd pwd read readonly return set setopt shift shopt source test times trap true type typeset ulimit umask unalias unset unsetopt wait")

// loadedByLine judges variables that the line has set on its way. Whether they are exported is not asked: one that was
// before is exported still.
func (ho *handovers) loadedByLine(x *invocation) {
	if len(ho.scope.vars) == 0 || ofTheShell.has(x.name) {
		return
	}
	for _, name := range lasting() {
		if v := ho.scope.get(name); v.set && !slices.Contains(ho.env, name) {
			ho.loadedBy(x, name, v.text)
		}
	}
}

// sshOption judges a setting of ssh that is a command or a library.
func (ho *handovers) sshOption(x *invocation, setting string) {
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
		x.children = true
		ho.shellText(value, x.name)
	case "userknownhostsfile", "globalknownhostsfile", "controlpath":
		c := Command{Argv: x.argv}
		if ho.overwritten(value) != harmless {
			ho.ask(&c, "hard:overwrite", whyAdds)
			ho.record(c)
		}
	case "pkcs11provider", "securitykeyprovider", "xauthlocation":
		ho.loads(x, value)
	}
}

// gitProgram judges a setting of git whose value is a program, a command or a place of hooks; once says that
// it is for one command only, behind which a program may hide.
func (ho *handovers) gitProgram(x *invocation, key, value string, once bool) {
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
		ho.only(func() { ho.source(command) })
	}
	if dir, base := path.Split(words[0]); !systemPlaces[dir] && (once || foreign) || destroyers.has(base) || strings.HasPrefix(words[0], hole) {
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

// loadedText is the text of a file that the line makes and an option names as code; empty: there is none, or nobody knows it.
func (fs *files) loadedText(file string) string {
	if len(fs.made)+len(fs.pipes) == 0 || file == "" {
		return ""
	}
	for _, end := range [...]string{"", ".js", ".rb", ".py"} { // which may be left out
		if text, is := fs.textAt(file + end); is && text != hole {
			return text
		}
	}
	return ""
}

// projectFiles are the files of a project by which a program is told what to run, or that it compiles and runs: names, and "*.x".
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

// ofTheProject judges files of the project that the line itself has written, for a program that runs what they say. Each is
// looked at once: a line may call the program often.
func (ho *handovers) ofTheProject(x *invocation) {
	if len(ho.made) == 0 || ho.engine.preset == Off {
		return
	}
	list := projectFiles(strings.TrimRight(x.name, "0123456789."))
	if list == "" {
		return
	}
	for _, full := range slices.Sorted(maps.Keys(ho.made)) {
		m := ho.made[full]
		if m.source != "" || m.text == hole || m.judged || !list.has(path.Base(full)) && !list.has("*"+path.Ext(full)) {
			continue
		}
		m.judged = true
		ho.made[full] = m
		lines := &guesser{ho.shared}
		for line := range strings.Lines(m.text) {
			lines.within(line)
		}
		if lang := languageOf(full); lang != "" {
			ho.only(func() { ho.code(lang, m.text, x) })
		}
	}
}

// languageOf is the language of a file by its name; empty: none of which more is known than its words.
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
