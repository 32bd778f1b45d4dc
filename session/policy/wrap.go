package policy

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// transparentWrappers add nothing to what they run: reading stays reading.
var transparentWrappers = words("env nice ionice time timeout command stdbuf builtin sh bash dash zsh ksh busybox xargs eval noglob nocorrect " +
	"taskset")

// wrapping judges programs that run a command of their words.
type wrapping struct {
	*hardRules
	forCommand func(name string)
	emptyInput bool // the command of xargs is judged as without input
}

// appletShells are the shells of multicall files. They run other programs of the same file without executing them.
var appletShells = words("sh ash hush bash")

// emptiedDirs are variables that name a directory which a program empties, or writes over.
var emptiedDirs = words("GIT_WORK_TREE GOMODCACHE")

// runArgv judges the command that a wrapper runs.
func (wr *wrapping) runArgv(operands []string, x *invocation) stream {
	out := stream{text: hole, set: true}
	if x.row.Assigns {
		for _, o := range x.args.Options {
			if o.Value == "LONGTERM_AGENT" {
				wr.unknown(x.argv, "it changes the caller's identity for longterm")
			}
		}
		env, cwd := wr.env, wr.cwd
		defer func() { wr.env, wr.cwd = env, cwd }()
		if dir, ok := x.args.Get("-C", "--chdir", "-D"); ok && (x.name == "env" || x.name == "sudo") {
			wr.changeDir([]string{dir})
		}
		for len(operands) > 0 {
			name, value, ok := strings.Cut(operands[0], "=")
			if !ok || name == "" {
				break
			}
			wr.forCommand(name)
			if wr.engine.preset == Build || loadsCode(name) || programVariables.has(name) || gitSettings[name] != "" || name == "LONGTERM_AGENT" || emptiedDirs.has(name) {
				mark := wr.scope.mark()
				wr.scope.put(name, value)
				defer func() { wr.scope.undo(min(mark, wr.scope.mark())) }()
			}
			if isCodeVariable(name) && !(wr.engine.preset == Build && wr.isHarmlessVariable(name, value)) {
				wr.judgePossibleShell(optionText(name, value), "the variable "+name)
			}
			wr.guesses.judgeValue(name, value, true)
			if name == "BASH_ENV" {
				wr.unknown(x.argv, whyBashEnv)
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
			operands = operands[1:] // an architecture may precede the command
		}
	case "chrt", "taskset":
		if x.args.Has("-p") {
			return out
		}
	case "capsh":
		for i, a := range x.argv {
			if a == "--" && i+1 < len(x.argv) {
				x.hasJudgedChildren = true
				return wr.run(append([]string{"bash"}, x.argv[i+1:]...), x.in)
			}
		}
	case "flock":
		if len(operands) > 1 && operands[0] == "-c" {
			x.hasJudgedChildren = true
			return wr.shellText(operands[1], x.name)
		}
	case "runuser":
		if len(operands) > 1 && !x.args.Has("-u", "--user") {
			operands = operands[1:]
		}
	case "busybox", "toybox":
		if wr.executed && len(operands) > 1 && wr.engine.preset != Off && appletShells.has(operands[0]) && !strings.HasPrefix(operands[1], "-") {
			c := Command{Argv: x.argv}
			wr.ask(&c, "hard:applets", x.name+"'s shell runs "+x.name+"'s programs within its own process, where executions are not seen")
			c.Instead = "run the script by the system's shell"
			wr.record(c)
		}
	case "xargs":
		return wr.xargs(operands, x)
	case "zargs":
		if i := slices.Index(operands, "--"); i > 0 {
			operands = slices.Concat(operands[i+1:], operands[:i])
		}
	case "stack", "opam", "dune", "cabal": // rm -- -rf is rm -rf
		if i := slices.Index(operands, "--"); i > 0 {
			operands = slices.Concat(operands[:i], operands[i+1:])
		}
	case "docker", "podman", "nerdctl", "docker-compose", "ctr", "buildah", "singularity", "apptainer", "systemd-nspawn":
		wr.container(x)
		if v, ok := x.args.Get("--entrypoint"); ok && v != "" {
			operands = append([]string{v}, operands...)
		}
	case "npx", "bunx", "uvx", "pipx", "nix", "npm", "pnpm", "yarn", "bun", "uv":
		if len(operands) > 1 && operands[1] == "--" && x.name == "nix" {
			operands = append(operands[:1:1], operands[2:]...)
		}
		if len(operands) > 0 {
			operands = append([]string{programOfPackage(operands[0])}, operands[1:]...)
		}
	case "screen":
		if x.args.Has("-X") {
			if do, _ := x.args.Get("-X"); slices.Contains([]string{"source", "readbuf", "paste", "bufferfile"}, do) {
				wr.unknown(x.argv, "screen runs or types text that is not on the line")
			}
			return wr.judgeTypedText(operands, x)
		}
	}
	if len(operands) == 0 {
		if (x.name == "sudo" || x.name == "su") && x.in.set && x.args.Has("-s", "-i", "--shell", "--login") {
			x.hasJudgedChildren = true
			return wr.shellText(x.in.text, x.name)
		}
		return out
	}
	x.hasJudgedChildren = true
	outside := wr.direct
	wr.direct = false
	defer func() { wr.direct = outside }()
	if strings.Contains(operands[0], " ") && x.name != "docker" {
		return wr.shellText(strings.Join(operands, " "), x.name)
	}
	if name := operands[0]; (wr.funcs[name] != nil || wr.aliases[name] != nil) && x.name != "noglob" && x.name != "nocorrect" {
		// What a wrapper runs is a program, not the function or alias of that name.
		body, words := wr.funcs[name], wr.aliases[name]
		delete(wr.funcs, name)
		delete(wr.aliases, name)
		defer func() {
			if body != nil {
				wr.funcs[name] = body
			}
			if words != nil {
				wr.aliases[name] = words
			}
		}()
	}
	return wr.run(operands, x.in)
}

// programOfPackage returns the program that a package is named after: nixpkgs#curl, npm:cowsay@1, @scope/tool.
func programOfPackage(name string) string {
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

// judgeTypedText judges text that is typed into another terminal.
func (wr *wrapping) judgeTypedText(operands []string, x *invocation) stream {
	text := strings.Join(operands, " ")
	if last := len(operands) - 1; last > 0 && strings.Contains(typedLines(strings.Join(operands[:last], " ")), "\n") {
		// Text after a line end may belong to the previous command, like the words that xargs adds.
		wr.shellText(strings.ReplaceAll(typedLines(text), "\n", " "), x.name)
	}
	return wr.shellText(typedLines(text), x.name)
}

// mountOptions mount a directory of the machine into a container.
var mountOptions = words("-v --volume --mount -B --bind")

// container requires approval for containers that see the whole machine.
func (wr *wrapping) container(x *invocation) {
	wr.guesses.guessDestroyers(x.argv[1:]) // an option may take no word for its value
	if len(x.args.Operands) > 0 && wr.engine.denies {
		image, _, _ := strings.Cut(path.Base(x.args.Operands[0]), "@")
		image, _, _ = strings.Cut(image, ":")
		if !destroyers.has(image) && wr.engine.mayBeDenied(image) {
			wr.unknown(x.argv, "the image may run "+image+", which a rule is about")
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
		if mountOptions.has(o.Name) && strings.HasPrefix(src, "/") &&
			wr.removalDanger(src) == fatal {
			c := Command{Argv: x.argv}
			wr.ask(&c, "hard:container", "the container can change "+src)
			wr.record(c)
		}
	}
}

// xargs judges a command with the words that standard input adds to it.
func (wr *wrapping) xargs(operands []string, x *invocation) stream {
	if len(operands) == 0 {
		operands = []string{"echo"}
	}
	x.hasJudgedChildren = true
	if most, _ := x.args.Get("-P", "--max-procs"); x.in.endless && most == "0" && wr.engine.preset != Off {
		c := Command{Argv: x.argv}
		wr.ask(&c, "hard:forkbomb", "it starts processes without end, and all at once")
		wr.record(c)
	}
	outside := wr.direct
	wr.direct = false
	defer func() { wr.direct = outside }()
	words, in := []string{hole}, x.in
	if file, given := x.args.Get("-a", "--arg-file"); given && !isStdin(file) {
		text, known := wr.textAt(file)
		in = stream{text: text, set: known && text != ""}
	}
	if in.set && in.text != hole {
		words = strings.Fields(strings.ReplaceAll(in.text, "\x00", "\n"))
		if x.args.Has("-I", "--replace", "-i", "-d", "--delimiter") {
			words = strings.Split(strings.TrimRight(strings.ReplaceAll(in.text, "\x00", "\n"), "\n"), "\n")
		}
		if len(words) > 64 {
			words = append(words[:64:64], hole)
		}
	}
	if in.set && x.args.Has("-0", "--null") && strings.Contains(in.text, "\x00") {
		words = strings.Split(strings.TrimRight(in.text, "\x00"), "\x00")
		if len(words) > 64 {
			words = append(words[:64:64], hole)
		}
	}
	words = wr.addFilesBelow(words)
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
		if wr.emptyInput {
			return wr.run(operands, stream{text: hole, set: true})
		}
		wr.emptyInput = true
		wr.mergeFindings(func() { wr.run(operands, stream{text: hole, set: true}) })
		wr.emptyInput = false
	}
	if !ok {
		for few := range slices.Chunk(words, wr.batchSize(x, len(words))) {
			wr.run(append(operands[:len(operands):len(operands)], few...), stream{text: hole, set: true})
		}
		return stream{text: hole, set: true}
	}
	lines := words
	if len(lines) > 8 {
		lines = append(lines[:8:8], hole)
	}
	for _, l := range lines {
		argv := make([]string, len(operands))
		for i, o := range operands {
			if l == projectNames && o != mark { // elsewhere they are not ours
				argv[i] = strings.ReplaceAll(o, mark, hole)
				continue
			}
			argv[i] = strings.ReplaceAll(o, mark, l)
		}
		wr.run(argv, stream{text: hole, set: true})
	}
	return stream{text: hole, set: true}
}

// batchSize returns how many of n words xargs passes to one command; with fewer, each round may be another command.
func (wr *wrapping) batchSize(x *invocation, n int) int {
	few, has := x.args.Get("-n", "--max-args")
	if _, lines := x.args.Get("-L", "-l", "--max-lines"); lines {
		few, has = "1", true
	}
	if k, err := strconv.Atoi(few); has && err == nil && k > 0 && n > 0 && n/k <= 16 {
		return k
	}
	return max(n, 1)
}

// everyFileBelow returns a start of a walk with the mark for everything below it.
func everyFileBelow(start string) string {
	if bare := strings.TrimRight(start, "/"); bare != "" {
		start = bare
	} else if start != "" {
		start = "/"
	}
	return start + anyBelow
}

// addFilesBelow adds every file below those of the places that contain a home or the system.
func (wr *wrapping) addFilesBelow(places []string) []string {
	for _, p := range places[:min(len(places), maxRounds)] {
		if wr.removalDanger(p) == fatal {
			places = append(places[:len(places):len(places)], everyFileBelow(p))
		}
	}
	return places
}

// runEach judges the command after find -exec, with the places that find may put into it.
func (wr *wrapping) runEach(argv []string, x *invocation) {
	if x.name == "flatpak" || x.name == "snap" || x.name == "nix" {
		wr.run(argv, stream{})
		return
	}
	if len(argv) > 0 && removePrograms.has(path.Base(argv[0])) && (len(argv) > 1 || strings.HasPrefix(x.name, "fd")) {
		c := Command{Argv: append([]string{x.name + " -exec"}, argv...)}
		if wr.removeTrees(&c, wr.findResults(x)); c.Verdict != Allow && wr.engine.preset != Off {
			wr.record(c) // each file of a tree is as much as the tree
		}
	}
	for _, place := range wr.addFilesBelow(wr.findResults(x)) {
		full := make([]string, len(argv))
		has := false
		for i, a := range argv {
			full[i] = strings.ReplaceAll(a, "{}", place)
			has = has || full[i] != a
		}
		if !has && strings.HasPrefix(x.name, "fd") {
			full = append(full, place)
		}
		wr.run(full, stream{text: hole, set: true})
	}
}

// findResults returns what find finds: its starting points, and something below them.
func (fs *files) findResults(x *invocation) []string {
	if x.foundPaths == nil {
		x.foundPaths = fs.findMatches(x)
	}
	return x.foundPaths
}

// findMatches works like findResults without its cache.
func (fs *files) findMatches(x *invocation) []string {
	starts := x.args.Operands
	if strings.HasPrefix(x.name, "fd") {
		if here := fs.fdStart(x); here != "" {
			return []string{here}
		}
		if len(starts) < 2 || strings.Trim(starts[0], ".*^$") != "" {
			return []string{"./" + notEmpty}
		}
		if x.args.Has("-e", "--extension") {
			places := slices.Clone(starts[1:])
			for i, p := range places {
				places[i] = strings.TrimSuffix(p, "/") + "/" + notEmpty
			}
			return places
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
	if x.args.Has("-L", "-H", "-follow") {
		for i, p := range places {
			places[i] = fs.followStart(p)
		}
	}
	for i, p := range places {
		bare := strings.TrimSuffix(p, "/")
		switch full, ok := fs.clean(p); fs.narrowingOf(x, p) {
		case restricted:
			if fs.removalDanger(p) == fatal {
				places[i] = everyFileBelow(p)
				continue
			}
			places[i] = bare + "/" + notEmpty
		case narrowed:
			if ok && commonDirs.has(full) && !findsLeftovers(x) {
				places[i] = everyFileBelow(p) // what the machine needs may have that name, too
				continue
			}
			places[i] = bare + "/" + notEmpty
		}
	}
	return places
}

// namesAnywhere returns the output of a command that searches names on the whole machine or in a home, or "".
func (fs *files) namesAnywhere(x *invocation) string {
	has, ops := x.args.Has, x.args.Operands
	all := false // no search term: it prints everything
	switch x.name {
	case "locate", "plocate", "mlocate":
		return "/" + anyBelow
	case "dpkg", "rpm":
		if slices.Contains(x.argv, "-L") || slices.Contains(x.argv, "--listfiles") || slices.Contains(x.argv, "-ql") {
			return "/" + anyBelow
		}
		return ""
	case "rg":
		if !has("-l", "--files", "--files-with-matches") {
			return ""
		}
		ops = orHere(x, ops, !has("--files"))
		all = has("--files") && !narrowsByGlob(x) || !has("--files") && matchesAll(ops)
	case "grep", "egrep", "fgrep":
		if !has("-l", "-L", "--files-with-matches", "--files-without-match") || !has("-r", "-R", "--recursive") {
			return ""
		}
		ops = orHere(x, ops, true)
		all = has("-v", "--invert-match") || matchesAll(ops)
	case "ag", "ack", "ack-grep":
		ops = slices.DeleteFunc(slices.Clone(x.argv[1:]), func(a string) bool { return strings.HasPrefix(a, "-") })
		switch {
		case slices.Contains(x.argv, "-f"):
			all, ops = true, orHere(x, ops, false)
		case slices.ContainsFunc(x.argv, func(a string) bool { return a == "-l" || a == "-L" || a == "-g" || a == "--files-with-matches" }):
			ops = orHere(x, ops, true)
			all = matchesAll(ops)
		default:
			return ""
		}
	case "git":
		others := func(a string) bool {
			return a == "--others" || strings.HasPrefix(a, "-") && a[1] != '-' && strings.Contains(a, "o")
		}
		if len(x.argv) < 3 || x.argv[1] != "ls-files" || !slices.ContainsFunc(x.argv[2:], others) {
			return ""
		}
		all, ops = true, orHere(x, ops, false)
	case "du", "tree":
		all, ops = true, x.argv[1:] // its row is one of many programs, and takes -a to have a value
		if !slices.ContainsFunc(ops, func(a string) bool { return !strings.HasPrefix(a, "-") }) {
			ops = []string{"."}
		}
	case "ls", "dir":
		if all = has("-R", "--recursive"); !all {
			return ""
		}
		ops = orHere(x, ops, false)
	case "fd", "fdfind":
		if here := fs.fdStart(x); here != "" {
			return everyFileBelow(here)
		}
		if len(ops) < 2 || strings.Trim(ops[0], ".*^$") != "" {
			return ""
		}
		all, ops = !has("-e", "--extension"), ops[1:]
	default:
		return ""
	}
	for _, o := range ops[:min(len(ops), maxRounds)] {
		if o = fs.followStart(o); all && fs.removalDanger(o) == fatal {
			return everyFileBelow(o)
		}
		if full, ok := fs.clean(o); ok && (commonDirs.has(full) || strings.HasPrefix(o, "/") && fs.holdsHome(full)) {
			return strings.TrimSuffix(o, "/") + "/" + anyBelow
		}
	}
	return ""
}

// matchesAll reports whether the pattern of a search matches nearly every file: nearly every one has any one letter.
func matchesAll(operands []string) bool {
	return len(operands) > 1 && len(strings.Trim(operands[0], `.*^$?+\|()s`)) < 2
}

// orHere returns the operands of a search, with the current directory if they name no place. If patterned, the first operand
// is a pattern, which an option may give instead.
func orHere(x *invocation, operands []string, patterned bool) []string {
	if pattern, given := x.args.Get("-e", "--regexp"); patterned && given {
		operands = append([]string{pattern}, operands...)
	}
	if len(operands) == 0 || patterned && len(operands) == 1 {
		return append(operands[:len(operands):len(operands)], ".")
	}
	return operands
}

// narrowsByGlob reports whether rg --files prints only the files of a type or of a glob with literal text. A glob after ! omits files.
func narrowsByGlob(x *invocation) bool {
	return slices.ContainsFunc(x.args.Options, func(o option) bool {
		return o.Name == "-t" || o.Name == "--type" || (o.Name == "-g" || o.Name == "--glob" || o.Name == "--iglob") &&
			!strings.HasPrefix(o.Value, "!") && strings.Trim(o.Value, "*./") != ""
	})
}

// fdStart returns the directory from which fd finds everything without a path among its operands, if that must not be removed, or "".
func (fs *files) fdStart(x *invocation) string {
	ops, start := x.args.Operands, "."
	for i, a := range x.argv {
		name, value, joined := strings.Cut(a, "=")
		if name != "--search-path" && name != "--base-directory" {
			continue
		}
		if !joined && i+1 < len(x.argv) {
			value = x.argv[i+1]
		}
		start = value
		ops = slices.DeleteFunc(slices.Clone(ops), func(o string) bool { return o == value })
	}
	if len(ops) > 1 || len(ops) == 1 && strings.Trim(ops[0], ".*^$") != "" || x.args.Has("-e", "--extension") {
		return ""
	}
	if start = fs.followStart(start); fs.removalDanger(start) != fatal {
		return ""
	}
	return start
}

// commonDirs are directories in which the same names belong to the system, services and all users.
const commonDirs = words("/ /bin /boot /etc /home /lib /lib64 /sbin /srv /usr /usr/bin /usr/lib /usr/lib64 /usr/sbin /var /var/lib")

// findsLeftovers reports whether find searches for names that only unneeded files have.
func findsLeftovers(x *invocation) bool {
	for _, o := range x.args.Options {
		if (o.Name == "-name" || o.Name == "-iname") && leftoverNames.has(o.Value) {
			return true
		}
	}
	return false
}

// leftoverNames match files that are not needed.
const leftoverNames = words("*.pyc *.pyo *.py[co] __pycache__ *.swp *.swo *~ .DS_Store Thumbs.db ._* *.orig *.rej *.dpkg-old *.dpkg-dist *.dpkg-new *.rpmsave *.rpmnew *.bak core core.*")

// maxRounds bounds the commands of parallel that are judged one by one; the rest is unknown.
const maxRounds = 64

// parallel judges GNU parallel: the words before the first ::: or :::: are the command, what follows the words or files of
// words that it gets, one of each; without any, the lines of a file or of standard input.
func (wr *wrapping) parallel(operands []string, x *invocation) stream {
	x.hasJudgedChildren = true
	out := stream{text: hole, set: true}
	at := slices.IndexFunc(operands, func(o string) bool { return strings.HasPrefix(o, ":::") })
	command := operands
	var sources [][]string
	if at >= 0 {
		command = operands[:at]
		sources = wr.parallelSources(operands[at:])
	} else if file, given := x.args.Get("-a", "--arg-file"); given {
		sources = [][]string{wr.linesOf(wr.textAt(file))}
	} else {
		sources = [][]string{wr.linesOf(x.in.text, x.in.set)}
	}
	for _, word := range command {
		if strings.Contains(word, "{=") { // perl, for each of them
			wr.guesses.findDestroyer(word)
		}
	}
	rounds := [][]string{nil}
	for _, source := range sources {
		var more [][]string
		for _, before := range rounds {
			for _, item := range source {
				more = append(more, append(before[:len(before):len(before)], item))
			}
		}
		if rounds = more; len(rounds) > maxRounds {
			rounds = append(rounds[:maxRounds:maxRounds], []string{hole})
		}
	}
	for _, round := range rounds {
		argv := parallelWords(command, round)
		if len(argv) == 1 || len(argv) > 0 && strings.Contains(argv[0], " ") {
			wr.source(strings.ReplaceAll(strings.Join(argv, " "), hole, someText))
		} else if len(argv) > 0 {
			wr.run(argv, out)
		}
	}
	return out
}

// parallelSources returns the lists after the command: words after :::, files of words after ::::.
func (wr *wrapping) parallelSources(words []string) (sources [][]string) {
	files := false
	for _, word := range words {
		if mark := strings.TrimSuffix(word, "+"); mark == ":::" || mark == "::::" {
			files = mark == "::::"
			sources = append(sources, nil)
			continue
		}
		items := []string{word}
		if files {
			items = wr.linesOf(wr.textAt(word))
		}
		last := &sources[len(sources)-1]
		if *last = append(*last, items...); len(*last) > maxRounds {
			*last = append((*last)[:maxRounds:maxRounds], hole)
		}
	}
	return sources
}

// linesOf returns the lines of a text, as far as known.
func (fs *files) linesOf(text string, known bool) []string {
	if known && strings.Contains(text, everyProcess) {
		return []string{everyProcess}
	}
	if names := fs.firstLines(stream{text: text, set: known}); names != hole {
		return []string{names}
	}
	if !known || hasHole(text) {
		return []string{hole}
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > 8 {
		lines = append(lines[:8:8], hole)
	}
	return lines
}

// parallelWords returns the command with one word of each source in place: {} is all of them, {2} the second.
func parallelWords(command, round []string) []string {
	all := strings.Join(round, " ")
	argv, used := make([]string, len(command)), false
	for i, o := range command {
		argv[i] = strings.ReplaceAll(o, "{}", all)
		for n, item := range round {
			argv[i] = strings.ReplaceAll(argv[i], "{"+strconv.Itoa(n+1)+"}", item)
		}
		used = used || argv[i] != o
	}
	if !used {
		argv = append(argv, round...)
	}
	return argv
}
