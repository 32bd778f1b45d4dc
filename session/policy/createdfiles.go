package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// createdFile is a file that the line itself creates: a copy or a link of another, or text that it writes.
type createdFile struct {
	source string // clean path of the copied or linked file
	link   bool   // a symbolic link: what is below it is below the source
	mount  bool   // with link: source is mounted there, so the name itself is source, too
	text   string // its text, with marks
	judged bool   // judged as a file that a program of the project runs
}

// appended marks a target to which text is appended.
const appended = ">>"

// noteWritten records that the output of a command goes to a file.
func (w *analyzer) noteWritten(target string, out stream) {
	target, add := strings.CutPrefix(target, appended)
	full, ok := w.createdKey(target)
	if !ok || hasGlob(full) || strings.HasPrefix(full, "/dev/") || len(w.created) > maxCreated {
		return
	}
	text := out.text
	if !out.set {
		text = hole
	}
	if isUnitFile(full, w.home) {
		w.codes.systemdUnit(text)
	} else if startsLater(full, w.home) && text != hole {
		w.mergeFindings(func() { w.source(strings.ReplaceAll(text, hole, "")) })
	}
	switch {
	case strings.HasPrefix(full, "/etc/udev/rules.d/"):
		w.guesses.findDestroyerInLines(text)
	case full == "/etc/sysctl.conf" || strings.HasPrefix(full, "/etc/sysctl.d/"):
		w.denial.sysctlFile(&Command{Argv: []string{">", target}}, text)
	}
	if add {
		old, ok := w.created[full]
		if !ok || old.source != "" {
			old.text = hole + "\n"
		}
		text = old.text + text
	}
	if len(text) > 64<<10 {
		text = hole
	}
	w.created[full] = createdFile{text: text}
	w.noteChanged(full)
}

// noteChanged records that the line changes a file here.
func (w *analyzer) noteChanged(full string) {
	if len(w.changes) < maxCreated && !slices.ContainsFunc(w.changes, func(c Change) bool { return c.File == full }) {
		w.changes = append(w.changes, Change{full, len(w.commands)})
	}
}

// noteEdited records the files that a program edits in place.
func (w *analyzer) noteEdited(x *invocation) {
	inPlace := func(a string) bool {
		return a == "--in-place" || strings.HasPrefix(a, "--in-place=") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "i")
	}
	if !slices.ContainsFunc(x.argv[1:], inPlace) {
		return
	}
	for _, a := range x.argv[1:] {
		if full, ok := w.createdKey(a); ok && !strings.HasPrefix(a, "-") && !isSomewhere(full) {
			w.noteChanged(full)
		}
	}
}

// startsLater reports whether shells or git run a file's text by themselves.
func startsLater(full, home string) bool {
	name, inHome := strings.CutPrefix(full, home+"/.")
	return strings.Contains(full, "/.git/hooks/") || inHome && (strings.HasSuffix(name, "rc") ||
		strings.HasSuffix(name, "profile") || strings.HasSuffix(name, "env") || strings.HasSuffix(name, "login") ||
		strings.HasSuffix(name, "logout") || strings.HasSuffix(name, "aliases")) || strings.HasPrefix(full, "/etc/profile") ||
		strings.HasPrefix(full, "/etc/cron")
}

// maxCreated bounds the created files that are recorded.
const maxCreated = 200

// noteCopies records the copies and links that a command creates. A target may be a directory or a file: both are
// recorded.
func (fs *files) noteCopies(x *invocation) {
	ops := x.args.Operands
	link := x.name == "ln" && x.args.Has("-s", "--symbolic")
	if dir, has := x.args.Get("-t", "--target-directory"); has {
		fs.addCopies(ops, dir+"/", link)
	} else if len(ops) == 1 && x.name == "ln" {
		fs.addCopies(ops, "./", link)
	} else if len(ops) > 1 {
		fs.addCopies(ops[:len(ops)-1], ops[len(ops)-1], link)
	}
}

// noteRewritten records a file that a program makes from another: a copy, or the same without parts that are not needed
// to run it.
func (fs *files) noteRewritten(x *invocation) {
	var ops []string
	to := ""
	for i := 1; i < len(x.argv); i++ {
		switch a := x.argv[i]; {
		case (a == "-o" || a == "--output") && i+1 < len(x.argv):
			i++
			to = x.argv[i]
		case !strings.HasPrefix(a, "-"):
			ops = append(ops, a)
		}
	}
	if to == "" && len(ops) > 1 {
		to, ops = ops[len(ops)-1], ops[:len(ops)-1]
	}
	if to != "" && len(ops) > 0 {
		fs.addCopies(ops[len(ops)-1:], to, false)
	}
}

// noteDD records what dd writes: a copy of a file, or its input.
func (w *analyzer) noteDD(x *invocation) {
	from, to := "", ""
	for _, a := range x.argv[1:] {
		if file, is := strings.CutPrefix(a, "if="); is {
			from = file
		} else if file, is := strings.CutPrefix(a, "of="); is {
			to = file
		}
	}
	switch {
	case to == "":
	case from == "":
		w.noteWritten(to, x.in)
	default:
		w.addCopies([]string{from}, to, false)
	}
}

// addCopies records copies of files, or links to them.
func (fs *files) addCopies(files []string, dir string, link bool) {
	for _, from := range files {
		if len(fs.created) > maxCreated {
			return
		}
		source, ok := fs.createdKey(from)
		if !ok {
			continue
		}
		if link && !strings.HasPrefix(from, "/") {
			if target, ok := fs.clean(dir); ok {
				source = path.Join(path.Dir(target), from)
			}
		}
		m, known := fs.created[source]
		if !known || link {
			m = createdFile{source: source, link: link}
		}
		if !known && isSomewhere(source) {
			continue // neither created by this line nor known
		}
		for _, to := range []string{dir, dir + "/" + path.Base(source)} {
			if full, ok := fs.createdKey(to); ok && full != source {
				fs.created[full] = m
			}
		}
	}
}

// createdAt returns the file that the line created at a path.
func (fs *files) createdAt(p string) (createdFile, bool) {
	if len(fs.created) == 0 {
		return createdFile{}, false
	}
	full, ok := fs.createdKey(p)
	if !ok {
		return createdFile{}, false
	}
	m, ok := fs.created[full]
	if ok && m.link {
		if target, made := fs.created[fs.followLinks(full, true)]; made {
			return target, true
		}
	}
	return m, ok
}

// textAt returns the text of a file that the line creates, or of a process substitution.
func (fs *files) textAt(file string) (string, bool) {
	if text, ok := fs.pipes[file]; ok {
		return text, true
	}
	m, ok := fs.createdAt(file)
	return m.text, ok && m.source == ""
}

// somewhere stands for an unknown directory, as after "cd $(mktemp -d)". Files created in one unknown directory count
// as present in any other: it may be the same.
const somewhere = "(somewhere)"

// isSomewhere reports whether a path is below the unknown directory.
func isSomewhere(full string) bool { return strings.HasPrefix(full, somewhere) }

// createdKey returns the key of a path among the created files: the clean path, or one below somewhere.
func (fs *files) createdKey(p string) (string, bool) {
	if p == "" {
		return "", false
	}
	full, ok := fs.clean(p)
	if ok && !hasHole(full) {
		return full, true
	}
	if !ok {
		full = "/" + p
	}
	return somewhere + path.Clean(full), true
}

// maxLinks bounds the links that are followed, as systems do. A path with more links counts as unknown.
const maxLinks = 64

// followLinks resolves the links that the line created: it returns the real path of a clean path, or somewhere if that
// is unknown. With whole false, a link that is the path itself is not followed, because the command removes the link.
func (fs *files) followLinks(full string, whole bool) string {
	for range maxLinks {
		if len(full) > maxPath {
			return somewhere
		}
		link := fs.linkIn(full, whole)
		if link == "" {
			return full
		}
		full, whole = path.Join(fs.created[link].source, full[len(link):]), true
	}
	return somewhere
}

// linkIn returns the longest name of a created link that equals a clean path or is above it, or "". The names are few,
// while looking up each ancestor of a path takes quadratic time.
func (fs *files) linkIn(full string, whole bool) (longest string) {
	for name, m := range fs.created {
		below, is := strings.CutPrefix(full, name)
		if is && m.link && len(name) > max(len(longest), 1) && (below == "" && (whole || m.mount) || strings.HasPrefix(below, "/")) {
			longest = name
		}
	}
	return longest
}

// runCreated judges a program that the line itself created. It reports false if it did not.
func (w *analyzer) runCreated(argv []string, in stream) (stream, bool) {
	if len(w.created) == 0 {
		return stream{}, false
	}
	name := argv[0]
	m, ok := w.createdAt(name)
	if !strings.Contains(name, "/") {
		ok = false
		if programs.Lookup(name) == nil {
			for full, one := range w.created {
				dir, base := path.Split(full)
				if base == name && (systemProgramDirs[dir] || w.scope.get("PATH").set) {
					m, ok = one, true
				}
			}
		}
	}
	if !ok {
		return stream{}, false
	}
	if m.source != "" {
		return w.run(append([]string{m.source}, argv[1:]...), in), true
	}
	w.record(Command{Argv: argv, Risk: Reads})
	return w.runText(m.text, argv, in), true
}

// runText judges the text of a program file: a shell's, or that of the interpreter in its first line.
func (w *analyzer) runText(text string, argv []string, in stream) stream {
	if text == hole || text == "" {
		w.unknown(argv, "what it runs is written by the same line, and not known before")
		return stream{text: hole, set: true}
	}
	first, _, _ := strings.Cut(text, "\n")
	if words := strings.Fields(strings.TrimPrefix(first, "#!")); strings.HasPrefix(first, "#!") && len(words) > 0 {
		base := path.Base(words[0])
		if base == "env" && len(words) > 1 {
			base = words[len(words)-1]
		}
		if row := programs.Lookup(base); row != nil && row.Lang != "" && row.Lang != "sh" {
			w.codes.code(row.Lang, text, &invocation{name: base, argv: argv, row: row})
			return stream{text: hole, set: true}
		}
	}
	args, feed := w.args, w.feed
	defer func() { w.args, w.feed = args, feed }()
	w.args, w.feed = append([]string{}, argv[1:]...), in
	return w.shellText(text, argv[0])
}

// judgeDownload judges where curl and wget write, as far as a directory and a settings file determine it.
func (h *hardRules) judgeDownload(c *Command, x *invocation) {
	dir, _ := x.args.Get("--output-dir", "-P", "--directory-prefix")
	for i, a := range x.argv[1:] {
		if i+2 < len(x.argv) && (a == "--output-dir" || a == "-P" && x.name == "wget") {
			dir = x.argv[i+2]
		}
	}
	if name, has := x.args.Get("-o", "--output"); has && dir != "" {
		h.judgeTarget(c, dir+"/"+name)
	}
	if full, ok := h.clean(dir); ok && dir != "" && (full == "/dev" || sharedDirs.has(full)) {
		h.ask(c, "hard:overwrite", "it may overwrite a file that the machine needs")
	}
	if file, has := x.args.Get("-K", "--config"); has {
		text, _ := h.textAt(file)
		if file == "-" {
			text = x.in.text
		}
		for line := range strings.Lines(text) {
			if key, value, ok := strings.Cut(line, "="); ok && strings.Trim(key, " -") == "output" {
				h.judgeTarget(c, strings.Trim(value, " \"\n"))
			}
		}
	}
}

// Mounts put one place under the name of another: what is removed there is removed here. They are followed as links that
// the line makes, for all below and for the name itself.

// noteMount records the effect of a mount of one directory or device at another.
func (w *analyzer) noteMount(x *invocation) {
	bind := false
	var source, target string
	var ops []string
	for i := 1; i < len(x.argv); i++ {
		name, value, joined := strings.Cut(x.argv[i], "=")
		takes := func() string {
			if !joined && i+1 < len(x.argv) {
				i++
				value = x.argv[i]
			}
			return value
		}
		switch {
		case name == "-B" || name == "-R" || name == "-M" || name == "--bind" || name == "--rbind" || name == "--move":
			bind = true
		case name == "-o" || name == "--options":
			for o := range strings.SplitSeq(takes(), ",") {
				bind = bind || o == "bind" || o == "rbind" || o == "move"
			}
		case name == "--source":
			source = takes()
		case name == "--target":
			target = takes()
		case name == "-t" || name == "--types" || name == "-N" || name == "--namespace" || name == "-L" || name == "-U":
			takes()
		case !strings.HasPrefix(x.argv[i], "-"):
			ops = append(ops, x.argv[i])
		}
	}
	if source != "" || target != "" {
		ops = slices.DeleteFunc(append([]string{source}, append(ops, target)...), func(o string) bool { return o == "" })
	}
	switch {
	case len(ops) < 2:
		return
	case !bind:
		w.noteFileSystem(x, ops)
		return
	}
	w.noteMountedOver(ops[0], ops[1])
	if full, ok := w.clean(ops[1]); ok && (systemProgramDirs[full+"/"] || systemProgramDirs[path.Dir(full)+"/"]) {
		w.unknown(x.argv, "it replaces programs in "+full)
	}
}

// noteFileSystem records a mount that is no bind: changes of an overlay go to its upper directory, a new file system is
// empty, others hold data of a disk or another machine.
func (w *analyzer) noteFileSystem(x *invocation, ops []string) {
	target := ops[len(ops)-1]
	for _, a := range x.argv[1:] {
		for o := range strings.SplitSeq(a, ",") {
			if upper, is := strings.CutPrefix(o, "upperdir="); is {
				w.noteMountedOver(upper, target)
				return
			}
		}
	}
	if kind, _ := x.args.Get("-t", "--types"); !emptyFileSystems.has(kind) && !slices.ContainsFunc(x.argv[1:], func(a string) bool {
		return emptyFileSystems.has(a) || strings.HasPrefix(a, "/dev/loop") || strings.Contains(a, "loop") || strings.HasSuffix(a, ".img") || strings.HasSuffix(a, ".iso")
	}) {
		w.noteMountedOver(hole, target)
	}
}

// emptyFileSystems are types of file systems that hold no data that exists elsewhere.
const emptyFileSystems = words("tmpfs ramfs proc sysfs devtmpfs devpts cgroup cgroup2 mqueue hugetlbfs debugfs tracefs securityfs squashfs iso9660 udf overlay")

// noteMountedOver records that source is mounted over a target.
func (fs *files) noteMountedOver(source, target string) {
	from, known := fs.clean(source)
	to, ok := fs.createdKey(target)
	if !ok || len(fs.created) > maxCreated {
		return
	}
	if !known || hasHole(from) {
		from = hole
	}
	if from != to {
		fs.created[to] = createdFile{source: fs.followLinks(from, true), link: true, mount: true}
	}
}

// binds are options of programs that run another one in a private file view, with their number of words: the first is
// the source, the last the name inside.
var binds = map[string]map[string]int{
	"bwrap": {"--bind": 2, "--bind-try": 2, "--dev-bind": 2, "--dev-bind-try": 2, "--ro-bind": 0, "--overlay": 0},
	"proot": {"-b": 1, "--bind": 1, "-m": 1, "--mount": 1},
}

// noteBinds records the binds of bwrap and proot and returns the command that they run; false without one.
func (fs *files) noteBinds(x *invocation) (rest []string, ok bool) {
	places := binds[x.name]
	if places == nil {
		return nil, false
	}
	args := x.argv[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return args[i+1:], true
		}
		if !strings.HasPrefix(a, "-") {
			return args[i:], true
		}
		name, value, joined := strings.Cut(a, "=")
		if x.name == "proot" && !joined && len(a) > 2 && a[1] != '-' {
			name, value, joined = a[:2], a[2:], true // -b/a:/b
		}
		switch places[name] {
		case 2:
			if i+2 < len(args) {
				fs.noteMountedOver(args[i+1], args[i+2])
			}
		case 1:
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if from, to, both := strings.Cut(value, ":"); both {
				fs.noteMountedOver(from, to)
			}
		}
		switch {
		case x.name == "bwrap":
			i += bwrapWords(a)
		case !joined && slices.Contains([]string{"-b", "--bind", "-m", "--mount", "-r", "--rootfs", "-R", "-S", "-w", "--pwd", "--cwd", "-W", "-q", "--qemu", "-k", "-v", "-i"}, name):
			i++
		}
	}
	return nil, false
}

// bwrapWords returns the number of words after a bwrap option.
func bwrapWords(option string) int {
	switch option {
	case "--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try", "--symlink", "--file", "--bind-data",
		"--ro-bind-data", "--setenv", "--chmod", "--overlay", "--bind-fd", "--ro-bind-fd":
		if option == "--overlay" {
			return 3
		}
		return 2
	case "--unshare-all", "--unshare-user", "--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
		"--unshare-cgroup", "--unshare-cgroup-try", "--share-net", "--new-session", "--die-with-parent", "--as-pid-1", "--clearenv",
		"--disable-userns", "--assert-userns-disabled", "--help", "--version":
		return 0
	}
	return 1
}
