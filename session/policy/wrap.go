package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// transparent wrappers add nothing to what they run: reading stays reading.
var transparent = words("env nice ionice time timeout command stdbuf builtin sh bash dash zsh ksh busybox xargs eval noglob nocorrect " +
	"taskset")

// appletShells are the shells of files that are many programs. Other programs of the same file they run without executing them.
var appletShells = words("sh ash hush bash")

// runArgv judges the command that a wrapper runs.
func (w *walk) runArgv(operands []string, x *invocation) stream {
	out := stream{text: hole, is: true}
	if x.row.Assigns {
		for _, o := range x.args.Options {
			if o.Value == "LONGTERM_AGENT" {
				w.unknown(x.argv, "it changes whom longterm takes its caller for")
			}
		}
		env, cwd := w.env, w.cwd
		defer func() { w.env, w.cwd = env, cwd }()
		if dir, ok := x.args.Get("-C", "--chdir", "-D"); ok && (x.name == "env" || x.name == "sudo") {
			w.changeDir([]string{dir})
		}
		for len(operands) > 0 {
			name, value, ok := strings.Cut(operands[0], "=")
			if !ok || name == "" {
				break
			}
			w.forCommand(name)
			if w.engine.preset == Build || loading.has(name) || shows.has(name) || gitSettings[name] != "" || name == "LONGTERM_AGENT" {
				mark := w.scope.mark()
				w.scope.put(name, value)
				defer func() { w.scope.undo(min(mark, w.scope.mark())) }()
			}
			if codeVariable(name) && !(w.engine.preset == Build && w.harmlessVariable(name, value)) {
				w.perhapsShell(value, "the variable "+name)
			}
			if name == "BASH_ENV" {
				w.unknown(x.argv, whyBashEnv)
			}
			operands = operands[1:]
		}
	}
	switch x.name {
	case "command", "type":
		if x.args.Has("-v", "-V") {
			return out
		}
	case "setarch":
		if len(operands) > 0 && programs.Lookup(operands[0]) == nil {
			operands = operands[1:] // an architecture may stand before the command
		}
	case "chrt", "taskset":
		if x.args.Has("-p") {
			return out
		}
	case "capsh":
		for i, a := range x.argv {
			if a == "--" && i+1 < len(x.argv) {
				x.children = true
				return w.run(append([]string{"bash"}, x.argv[i+1:]...), x.in)
			}
		}
	case "flock":
		if len(operands) > 1 && operands[0] == "-c" {
			x.children = true
			return w.shellText(operands[1], x.name)
		}
	case "runuser":
		if len(operands) > 1 && !x.args.Has("-u", "--user") {
			operands = operands[1:]
		}
	case "busybox", "toybox":
		if w.executed && len(operands) > 1 && w.engine.preset != Off && appletShells.has(operands[0]) && !strings.HasPrefix(operands[1], "-") {
			c := Command{Argv: x.argv}
			w.ask(&c, "hard:applets", x.name+"'s shell runs "+x.name+"'s programs within its own process, where executions are not seen")
			c.Instead = "run the script by the system's shell"
			w.record(c)
		}
	case "xargs":
		return w.xargs(operands, x)
	case "zargs":
		if i := slices.Index(operands, "--"); i > 0 {
			operands = slices.Concat(operands[i+1:], operands[:i])
		}
	case "docker", "podman", "nerdctl":
		w.container(x)
		if v, ok := x.args.Get("--entrypoint"); ok && v != "" {
			operands = append([]string{v}, operands...)
		}
	case "npx", "bunx", "uvx", "pipx", "nix", "npm", "pnpm", "yarn", "bun", "uv":
		if len(operands) > 1 && operands[1] == "--" && x.name == "nix" {
			operands = append(operands[:1:1], operands[2:]...)
		}
		if len(operands) > 0 {
			operands = append([]string{packaged(operands[0])}, operands[1:]...)
		}
	case "screen":
		if x.args.Has("-X") {
			if do, _ := x.args.Get("-X"); slices.Contains([]string{"source", "readbuf", "paste", "bufferfile"}, do) {
				w.unknown(x.argv, "screen runs or types what does not stand on the line")
			}
			return w.perhapsTyped(operands)
		}
	}
	if len(operands) == 0 {
		if (x.name == "sudo" || x.name == "su") && x.in.is && x.args.Has("-s", "-i", "--shell", "--login") {
			x.children = true
			return w.shellText(x.in.text, x.name)
		}
		return out
	}
	x.children = true
	outside := w.direct
	w.direct = false
	defer func() { w.direct = outside }()
	if strings.Contains(operands[0], " ") && x.name != "docker" {
		return w.shellText(strings.Join(operands, " "), x.name)
	}
	if name := operands[0]; (w.funcs[name] != nil || w.aliases[name] != nil) && x.name != "noglob" && x.name != "nocorrect" {
		// What a wrapper runs is a program, not the function or alias of that name.
		body, words := w.funcs[name], w.aliases[name]
		delete(w.funcs, name)
		delete(w.aliases, name)
		defer func() {
			if body != nil {
				w.funcs[name] = body
			}
			if words != nil {
				w.aliases[name] = words
			}
		}()
	}
	return w.run(operands, x.in)
}

// packaged returns the program that a package is named after: nixpkgs#curl, npm:cowsay@1, @scope/tool.
func packaged(name string) string {
	if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") {
		return name
	}
	if i := strings.LastIndexByte(name, '#'); i >= 0 && i+1 < len(name) {
		return name[strings.LastIndexAny(name, "#.")+1:]
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "npm:"), "jsr:")
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return name
}

// perhapsTyped judges text that is typed into another terminal.
func (w *walk) perhapsTyped(operands []string) stream {
	text := strings.NewReplacer("^M", "\n", `\n`, "\n", `\r`, "\n", `\015`, "\n", "^J", "\n").Replace(strings.Join(operands, " "))
	return w.shellText(text, "screen")
}

// container asks about containers that see the whole machine.
func (w *walk) container(x *invocation) {
	if len(x.args.Operands) > 0 && w.engine.denies {
		image, _, _ := strings.Cut(path.Base(x.args.Operands[0]), "@")
		image, _, _ = strings.Cut(image, ":")
		if !destroyers.has(image) && w.engine.interesting(image) {
			w.unknown(x.argv, "the image may run "+image+", which a rule is about")
		}
	}
	for _, o := range x.args.Options {
		src, _, _ := strings.Cut(o.Value, ":")
		if o.Name == "--mount" {
			for field := range strings.SplitSeq(o.Value, ",") {
				if v, ok := strings.CutPrefix(field, "source="); ok {
					src = v
				} else if v, ok := strings.CutPrefix(field, "src="); ok {
					src = v
				}
			}
		}
		if (o.Name == "-v" || o.Name == "--volume" || o.Name == "--mount") && strings.HasPrefix(src, "/") &&
			w.tree(src) == fatal {
			c := Command{Argv: x.argv}
			w.ask(&c, "hard:container", "the container can change "+src)
			w.record(c)
		}
	}
}

// xargs judges a command with the words that standard input adds to it.
func (w *walk) xargs(operands []string, x *invocation) stream {
	if len(operands) == 0 {
		operands = []string{"echo"}
	}
	x.children = true
	if most, _ := x.args.Get("-P", "--max-procs"); x.in.endless && most == "0" && w.engine.preset != Off {
		c := Command{Argv: x.argv}
		w.ask(&c, "hard:forkbomb", "it starts processes without end, and all at once")
		w.record(c)
	}
	outside := w.direct
	w.direct = false
	defer func() { w.direct = outside }()
	words := []string{hole}
	if file, _ := x.args.Get("-a", "--arg-file"); w.pipes[file] != "" && w.pipes[file] != hole {
		words = strings.Fields(w.pipes[file])
		words = words[:min(len(words), 64)]
	}
	if x.in.is && !x.args.Has("-a", "--arg-file") && x.in.text != hole {
		words = strings.Fields(strings.ReplaceAll(x.in.text, "\x00", "\n"))
		if x.args.Has("-I", "--replace", "-i", "-d", "--delimiter") {
			words = strings.Split(strings.TrimRight(strings.ReplaceAll(x.in.text, "\x00", "\n"), "\n"), "\n")
		}
		if len(words) > 64 {
			words = append(words[:64:64], hole)
		}
	}
	if x.in.is && x.args.Has("-0", "--null") && !x.args.Has("-a", "--arg-file") && strings.Contains(x.in.text, "\x00") {
		words = strings.Split(strings.TrimRight(x.in.text, "\x00"), "\x00")
		if len(words) > 64 {
			words = append(words[:64:64], hole)
		}
	}
	mark, ok := x.args.Get("-I", "--replace")
	if !ok {
		if o := x.args.Has("-i"); o {
			mark, ok = "{}", true
		}
	}
	if ok && mark == "" {
		mark = "{}"
	}
	if !ok && len(words) == 1 && words[0] == hole && len(operands) < 1000 {
		if w.emptyInput {
			return w.run(operands, stream{text: hole, is: true})
		}
		w.emptyInput = true
		w.mayAsk(func() { w.run(operands, stream{text: hole, is: true}) })
		w.emptyInput = false
	}
	if !ok {
		for few := range slices.Chunk(words, w.atOnce(x, len(words))) {
			w.run(append(operands[:len(operands):len(operands)], few...), stream{text: hole, is: true})
		}
		return stream{text: hole, is: true}
	}
	lines := words
	if len(lines) > 8 {
		lines = append(lines[:8:8], hole)
	}
	for _, l := range lines {
		argv := make([]string, len(operands))
		for i, o := range operands {
			argv[i] = strings.ReplaceAll(o, mark, l)
		}
		w.run(argv, stream{text: hole, is: true})
	}
	return stream{text: hole, is: true}
}

// atOnce is how many of n words xargs gives to one command: where that is less, each round may be another command.
func (w *walk) atOnce(x *invocation, n int) int {
	few, has := x.args.Get("-n", "--max-args")
	if _, lines := x.args.Get("-L", "-l", "--max-lines"); lines {
		few, has = "1", true
	}
	if k, err := strconv.Atoi(few); has && err == nil && k > 0 && n > 0 && n/k <= 16 {
		return k
	}
	return max(n, 1)
}

// runEach judges the command after find -exec, with the places that find may put into it.
func (w *walk) runEach(argv []string, x *invocation) {
	if x.name == "flatpak" || x.name == "snap" || x.name == "nix" {
		w.run(argv, stream{})
		return
	}
	if len(argv) > 0 && removing[path.Base(argv[0])] && (len(argv) > 1 || strings.HasPrefix(x.name, "fd")) {
		c := Command{Argv: append([]string{x.name + " -exec"}, argv...)}
		if w.trees(&c, w.found(x)); c.Verdict != Allow && w.engine.preset != Off {
			w.record(c) // each file of a tree is as much as the tree
		}
	}
	for _, place := range w.found(x) {
		full := make([]string, len(argv))
		has := false
		for i, a := range argv {
			full[i] = strings.ReplaceAll(a, "{}", place)
			has = has || full[i] != a
		}
		if !has && strings.HasPrefix(x.name, "fd") {
			full = append(full, place)
		}
		w.run(full, stream{text: hole, is: true})
	}
}

// found returns what find finds: its starting points, and something below them.
func (w *walk) found(x *invocation) []string {
	if x.places == nil {
		x.places = w.finds(x)
	}
	return x.places
}

func (w *walk) finds(x *invocation) []string {
	starts := x.args.Operands
	if strings.HasPrefix(x.name, "fd") {
		if len(starts) < 2 || strings.Trim(starts[0], ".*^$") != "" {
			return []string{"./" + notEmpty}
		}
		return starts[1:]
	}
	if x.args.Has("-files0-from") {
		return []string{hole}
	}
	var places []string
	for _, s := range starts {
		if s == "(" || s == ")" || s == "!" || s == "," {
			continue
		}
		places = append(places, s)
	}
	if len(places) == 0 {
		places = []string{"."}
	}
	filtered, loose := false, false
	for _, a := range x.argv[1:] {
		loose = loose || a == "!" || a == "-not" || a == "-o" || a == "-or" || a == ","
	}
	for _, o := range x.args.Options {
		switch o.Name {
		case "-name", "-iname", "-path", "-type", "-mtime", "-mmin", "-size", "-user", "-newer", "-regex",
			"-empty", "-maxdepth", "-mindepth",
			"-atime", "-ctime", "-perm", "-inum", "-links", "-group", "-wholename", "-ipath", "-iregex",
			"-cmin", "-amin":
			filtered = filtered || o.Name != "-maxdepth" && o.Name != "-mindepth" && strings.Trim(o.Value, ".*/") != "" &&
				o.Name != "-type"
		}
	}
	if filtered {
		for i, p := range places {
			if loose && w.tree(p) == fatal {
				places[i] = strings.TrimSuffix(p, "/") + "/" + hole // the test may be true of nearly all
				continue
			}
			if p == "/" {
				p = "/" + notEmpty
			}
			places[i] = strings.TrimSuffix(p, "/") + "/" + notEmpty
		}
	}
	return places
}

// parallel judges GNU parallel with the lines of its standard input.
func (w *walk) parallel(operands []string, x *invocation) stream {
	x.children = true
	for i, o := range operands {
		if strings.HasPrefix(o, ":::") && i == 0 {
			for _, text := range operands[1:] {
				w.source(text)
			}
			return stream{text: hole, is: true}
		}
		if strings.HasPrefix(o, ":::") {
			return w.shellText(strings.Join(operands, " "), x.name)
		}
	}
	lines := []string{hole}
	if !hasHole(x.in.text) {
		lines = strings.Split(strings.TrimRight(x.in.text, "\n"), "\n")
	}
	if len(lines) > 8 {
		lines = append(lines[:8:8], hole)
	}
	out := stream{text: hole, is: true}
	for _, l := range lines {
		argv, used := make([]string, len(operands)), false
		for i, o := range operands {
			argv[i] = strings.ReplaceAll(o, "{}", l)
			used = used || argv[i] != o
		}
		if !used {
			argv = append(argv, l)
		}
		if len(argv) == 1 || strings.Contains(argv[0], " ") {
			w.source(strings.ReplaceAll(strings.Join(argv, " "), hole, someText))
		} else {
			w.run(argv, out)
		}
	}
	return out
}
