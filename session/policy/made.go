package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// made is a file that the line itself makes: a copy or a link of another, or text that it writes.
type made struct {
	source string // clean path of what it is a copy of or a link to
	link   bool   // a symbolic link: what is below it is below the source
	mount  bool   // with link: another place lies there, which the name itself is, too
	text   string // with marks
	judged bool   // as a file that a program of the project runs
}

// appended marks a target that text is added to.
const appended = ">>"

// filled notes that the output of a command goes to a file.
func (w *walk) filled(target string, out stream) {
	target, add := strings.CutPrefix(target, appended)
	full, ok := w.spot(target)
	if !ok || hasGlob(full) || strings.HasPrefix(full, "/dev/") || len(w.made) > maxMade {
		return
	}
	text := out.text
	if !out.is {
		text = hole
	}
	if unitFile(full, w.home) {
		w.codes.unit(text)
	} else if startsLater(full, w.home) && text != hole {
		w.mayAsk(func() { w.source(strings.ReplaceAll(text, hole, "")) })
	}
	switch {
	case strings.HasPrefix(full, "/etc/udev/rules.d/"):
		w.guesses.withinLines(text)
	case full == "/etc/sysctl.conf" || strings.HasPrefix(full, "/etc/sysctl.d/"):
		w.denial.settings(&Command{Argv: []string{">", target}}, text)
	}
	if add {
		old, ok := w.made[full]
		if !ok || old.source != "" {
			old.text = hole + "\n"
		}
		text = old.text + text
	}
	if len(text) > 64<<10 {
		text = hole
	}
	w.made[full] = made{text: text}
	w.changed(full)
}

// changed notes that the line changes a file here.
func (w *walk) changed(full string) {
	if len(w.changes) < maxMade && !slices.ContainsFunc(w.changes, func(c Change) bool { return c.File == full }) {
		w.changes = append(w.changes, Change{full, len(w.commands)})
	}
}

// edited notes the files that a program changes in their place.
func (w *walk) edited(x *invocation) {
	inPlace := func(a string) bool {
		return a == "--in-place" || strings.HasPrefix(a, "--in-place=") || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "i")
	}
	if !slices.ContainsFunc(x.argv[1:], inPlace) {
		return
	}
	for _, a := range x.argv[1:] {
		if full, ok := w.spot(a); ok && !strings.HasPrefix(a, "-") && !isSomewhere(full) {
			w.changed(full)
		}
	}
}

// startsLater reports files whose text shells and git run by themselves.
func startsLater(full, home string) bool {
	name, inHome := strings.CutPrefix(full, home+"/.")
	return strings.Contains(full, "/.git/hooks/") || inHome && (strings.HasSuffix(name, "rc") ||
		strings.HasSuffix(name, "profile") || strings.HasSuffix(name, "env") || strings.HasSuffix(name, "login") ||
		strings.HasSuffix(name, "logout") || strings.HasSuffix(name, "aliases")) || strings.HasPrefix(full, "/etc/profile") ||
		strings.HasPrefix(full, "/etc/cron")
}

const maxMade = 200

// copied notes the copies and links that a command makes. A target may be a directory: both are noted.
func (fs *files) copied(x *invocation) {
	ops := x.args.Operands
	link := x.name == "ln" && x.args.Has("-s", "--symbolic")
	if dir, has := x.args.Get("-t", "--target-directory"); has {
		fs.copies(ops, dir+"/", link)
	} else if len(ops) == 1 && x.name == "ln" {
		fs.copies(ops, "./", link)
	} else if len(ops) > 1 {
		fs.copies(ops[:len(ops)-1], ops[len(ops)-1], link)
	}
}

// rewritten notes what a program makes of another: a copy, or the same without what it does not need to run.
func (fs *files) rewritten(x *invocation) {
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
		fs.copies(ops[len(ops)-1:], to, false)
	}
}

// dumped notes what dd writes: a copy of a file, or what it is given.
func (w *walk) dumped(x *invocation) {
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
		w.filled(to, x.in)
	default:
		w.copies([]string{from}, to, false)
	}
}

// copies notes copies of files, or links to them.
func (fs *files) copies(files []string, dir string, link bool) {
	for _, from := range files {
		if len(fs.made) > maxMade {
			return
		}
		source, ok := fs.spot(from)
		if !ok {
			continue
		}
		if link && !strings.HasPrefix(from, "/") {
			if target, ok := fs.clean(dir); ok {
				source = path.Join(path.Dir(target), from)
			}
		}
		m, known := fs.made[source]
		if !known || link {
			m = made{source: source, link: link}
		}
		if !known && isSomewhere(source) {
			continue // it is nothing of this line's, and not known either
		}
		for _, to := range []string{dir, dir + "/" + path.Base(source)} {
			if full, ok := fs.spot(to); ok && full != source {
				fs.made[full] = m
			}
		}
	}
}

// madeAt returns what the line made at a path.
func (fs *files) madeAt(p string) (made, bool) {
	if len(fs.made) == 0 {
		return made{}, false
	}
	full, ok := fs.spot(p)
	if !ok {
		return made{}, false
	}
	m, ok := fs.made[full]
	return m, ok
}

// textAt is the text of a file that the line makes, or of what stands behind the name of a process substitution.
func (fs *files) textAt(file string) (string, bool) {
	if text, ok := fs.pipes[file]; ok {
		return text, true
	}
	m, ok := fs.madeAt(file)
	return m.text, ok && m.source == ""
}

// somewhere stands for a directory that is not known, as after "cd $(mktemp -d)". What the line makes in one it is taken
// to find in any other that is not known: it may be the same.
const somewhere = "(somewhere)"

func isSomewhere(full string) bool { return strings.HasPrefix(full, somewhere) }

// spot is the place of a path among what the line makes: as clean has it, or below somewhere.
func (fs *files) spot(p string) (string, bool) {
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

// maxLinks bounds what is followed, as systems do: where a path leads through more links is not known.
const maxLinks = 64

// behind follows the links that the line made: it returns the path that a clean path really is, somewhere if that is not
// known. A link itself is not followed where it is removed (whole is false).
func (fs *files) behind(full string, whole bool) string {
	for range maxLinks {
		if len(full) > maxPath {
			return somewhere
		}
		link := fs.linkIn(full, whole)
		if link == "" {
			return full
		}
		full, whole = path.Join(fs.made[link].source, full[len(link):]), true
	}
	return somewhere
}

// linkIn is the longest name of a link that the line made which a clean path is, or is below; "" if there is none. The names
// are few: to look each ancestor of a path up takes the square of its length.
func (fs *files) linkIn(full string, whole bool) (longest string) {
	for name, m := range fs.made {
		below, is := strings.CutPrefix(full, name)
		if is && m.link && len(name) > max(len(longest), 1) && (below == "" && (whole || m.mount) || strings.HasPrefix(below, "/")) {
			longest = name
		}
	}
	return longest
}

// runMade judges a program that the line made itself. It reports false where it did not.
func (w *walk) runMade(argv []string, in stream) (stream, bool) {
	if len(w.made) == 0 {
		return stream{}, false
	}
	name := argv[0]
	m, ok := w.madeAt(name)
	if !strings.Contains(name, "/") {
		ok = false
		if programs.Lookup(name) == nil {
			for full, one := range w.made {
				dir, base := path.Split(full)
				if base == name && (systemPlaces[dir] || w.scope.get("PATH").set) {
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

// runText judges the text of a program file: of a shell, or of what its first line names.
func (w *walk) runText(text string, argv []string, in stream) stream {
	if text == hole || text == "" {
		w.unknown(argv, "what it runs is written by the same line, and not known before")
		return stream{text: hole, is: true}
	}
	first, _, _ := strings.Cut(text, "\n")
	if words := strings.Fields(strings.TrimPrefix(first, "#!")); strings.HasPrefix(first, "#!") && len(words) > 0 {
		base := path.Base(words[0])
		if base == "env" && len(words) > 1 {
			base = words[len(words)-1]
		}
		if row := programs.Lookup(base); row != nil && row.Lang != "" && row.Lang != "sh" {
			w.codes.code(row.Lang, text, &invocation{name: base, argv: argv, row: row})
			return stream{text: hole, is: true}
		}
	}
	args, feed := w.args, w.feed
	defer func() { w.args, w.feed = args, feed }()
	w.args, w.feed = append([]string{}, argv[1:]...), in
	return w.shellText(text, argv[0])
}

// downloaded judges where curl and wget write what they get, as far as a directory and a file of settings say it.
func (h *hardRules) downloaded(c *Command, x *invocation) {
	dir, _ := x.args.Get("--output-dir", "-P", "--directory-prefix")
	for i, a := range x.argv[1:] {
		if i+2 < len(x.argv) && (a == "--output-dir" || a == "-P" && x.name == "wget") {
			dir = x.argv[i+2]
		}
	}
	if name, has := x.args.Get("-o", "--output"); has && dir != "" {
		h.target(c, dir+"/"+name)
	}
	if full, ok := h.clean(dir); ok && dir != "" && (full == "/dev" || needed.has(full)) {
		h.ask(c, "hard:overwrite", "it may overwrite a file that the machine needs")
	}
	if file, has := x.args.Get("-K", "--config"); has {
		text, _ := h.textAt(file)
		if file == "-" {
			text = x.in.text
		}
		for line := range strings.Lines(text) {
			if key, value, ok := strings.Cut(line, "="); ok && strings.Trim(key, " -") == "output" {
				h.target(c, strings.Trim(value, " \"\n"))
			}
		}
	}
}

// Mounts put one place under the name of another: what is removed there is removed here. They are followed as links that
// the line makes, for all below and for the name itself.

// mounted notes what a mount of one directory or device at another makes of the latter.
func (w *walk) mounted(x *invocation) {
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
		w.mountedFrom(x, ops)
		return
	}
	w.lies(ops[0], ops[1])
	if full, ok := w.clean(ops[1]); ok && (systemPlaces[full+"/"] || systemPlaces[path.Dir(full)+"/"]) {
		w.unknown(x.argv, "it puts other programs in the place of "+full)
	}
}

// mountedFrom notes a mount that is no bind: of an overlay, what is changed lies in its upper directory; of a file system that is
// new, nothing; and else what is on a disk or another machine.
func (w *walk) mountedFrom(x *invocation, ops []string) {
	target := ops[len(ops)-1]
	for _, a := range x.argv[1:] {
		for o := range strings.SplitSeq(a, ",") {
			if upper, is := strings.CutPrefix(o, "upperdir="); is {
				w.lies(upper, target)
				return
			}
		}
	}
	if kind, _ := x.args.Get("-t", "--types"); !empties.has(kind) && !slices.ContainsFunc(x.argv[1:], func(a string) bool {
		return empties.has(a) || strings.HasPrefix(a, "/dev/loop") || strings.Contains(a, "loop") || strings.HasSuffix(a, ".img") || strings.HasSuffix(a, ".iso")
	}) {
		w.lies(hole, target)
	}
}

// empties are file systems that have nothing in them that is anywhere else.
const empties = words("tmpfs ramfs proc sysfs devtmpfs devpts cgroup cgroup2 mqueue hugetlbfs debugfs tracefs securityfs squashfs iso9660 udf overlay")

// lies notes that a place lies over a name.
func (fs *files) lies(source, target string) {
	from, known := fs.clean(source)
	to, ok := fs.spot(target)
	if !ok || len(fs.made) > maxMade {
		return
	}
	if !known || hasHole(from) {
		from = hole
	}
	if from != to {
		fs.made[to] = made{source: fs.behind(from, true), link: true, mount: true}
	}
}

// binds are options of programs that run another in a view of files of its own, by how many words they take: the first is
// the place and the last the name that it gets.
var binds = map[string]map[string]int{
	"bwrap": {"--bind": 2, "--bind-try": 2, "--dev-bind": 2, "--dev-bind-try": 2, "--ro-bind": 0, "--overlay": 0},
	"proot": {"-b": 1, "--bind": 1, "-m": 1, "--mount": 1},
}

// viewed notes the binds of bwrap and proot, and judges the command that they run. It reports false where there is none.
func (fs *files) viewed(x *invocation) (rest []string, ok bool) {
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
				fs.lies(args[i+1], args[i+2])
			}
		case 1:
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if from, to, both := strings.Cut(value, ":"); both {
				fs.lies(from, to)
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

// bwrapWords is how many words follow an option of bwrap's.
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
