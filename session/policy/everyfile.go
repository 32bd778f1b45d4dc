package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// A walk over a home or the system (find ~, fd . ~, ls -R /) hands the name of every file to the command behind it. Such names
// are written as the start with anyBelow behind it. Literal names narrow a walk: find then prints the start with notEmpty.

// whyEach is the reason for asking about a command that gets every name of a walk.
const whyEach = "it may change every file of a home or of the system: no literal name narrows the walk"

// narrowing is how far the tests of find restrict its results.
type narrowing uint8

const (
	unrestricted narrowing = iota // it finds everything
	restricted                    // it may still find nearly everything
	narrowed                      // a literal name, or an age away from homes, restricts it
)

// nameTests and pathTests compare literal text with names; otherTests compare properties that nearly every file may have.
const (
	nameTests  = words("-name -iname -lname -ilname")
	pathTests  = words("-path -ipath -wholename -iwholename -regex -iregex")
	otherTests = words("-mtime -mmin -size -user -newer -atime -ctime -group -cmin -amin -uid -gid -fstype")
	weakTests  = words("-perm -links")
)

// narrows returns how far the tests of find restrict the files below one start.
func (fs *files) narrows(x *invocation, start string) narrowing {
	full, ok := fs.clean(start)
	got := unrestricted
	for _, o := range x.args.Options {
		is := unrestricted
		switch {
		case nameTests.has(o.Name):
			is = literalTest(o.Value, "")
		case pathTests.has(o.Name):
			is = literalTest(o.Value, full)
		case o.Name == "-empty" || o.Name == "-samefile", o.Name == "-inum" && strings.Trim(o.Value, "0123456789") == "":
			is = narrowed
		case weakTests.has(o.Name) || o.Name == "-inum":
			is = restricted
		case otherTests.has(o.Name) && strings.Trim(o.Value, ".*/") != "":
			if is = narrowed; ok && fs.ofAll(full) {
				is = restricted
			}
		}
		got = max(got, is)
	}
	if got == narrowed && fs.tree(start) == fatal && slices.ContainsFunc(x.argv[1:], func(a string) bool {
		return a == "!" || a == "-not" || a == "-o" || a == "-or" || a == ","
	}) {
		return restricted // the test may be true of nearly all
	}
	return got
}

// literalTest returns narrowed if a pattern has literal text that the name of the start does not have.
func literalTest(pattern, start string) narrowing {
	if strings.Trim(pattern, ".*/") == "" {
		return unrestricted
	}
	for bare := pattern; ; {
		open := strings.IndexByte(bare, '[')
		if open < 0 {
			pattern = bare
			break
		}
		end := strings.IndexByte(bare[min(open+2, len(bare)):], ']')
		if end < 0 {
			pattern = bare[:open]
			break
		}
		bare = bare[:open] + "*" + bare[min(open+2, len(bare))+end+1:]
	}
	literals := strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`.*/?+()|\{},^$`+holes+globs, r) })
	if slices.ContainsFunc(literals, func(l string) bool { return !strings.Contains(start, l) }) {
		return narrowed
	}
	return restricted
}

// ofAll reports a directory that holds everything, or a home.
func (fs *files) ofAll(full string) bool {
	dir := path.Dir(full)
	return full == "/" || full == "/root" || fs.holdsHome(full) || dir == "/home" || dir == "/Users" || fs.otherHome(full)
}

// everyName reports whether a word is the name of every file of a walk, also behind an equals sign.
func (fs *files) everyName(word string) bool {
	if !strings.HasSuffix(word, anyBelow) {
		return false
	}
	return fs.isFatal(word) || fs.isFatal(word[strings.LastIndexByte(word, '=')+1:])
}

// printsEvery reports a text whose first lines are such words.
func (fs *files) printsEvery(in stream) bool {
	if !in.is || !strings.Contains(in.text, anyBelow) {
		return false
	}
	return slices.ContainsFunc(strings.SplitN(in.text[:min(len(in.text), maxPath)], "\n", 16), fs.everyName)
}

// everyFile requires approval of a command that may change, remove or run each file of a walk. It gets the names as words or as input.
func (h *hardRules) everyFile(c *Command, x *invocation) {
	if c.Verdict != Allow {
		return
	}
	switch words := slices.ContainsFunc(x.argv[1:], h.everyName); {
	case !words && !h.printsEvery(x.in) && !h.listsEvery(x):
	case h.codeOnly(x, words):
	case words && h.leavesAlone(x), !words && !h.takesNames(x):
	default:
		h.ask(c, "hard:remove", whyEach)
	}
}

// codeOnly reports code of another language that the line holds and that neither runs nor changes anything.
func (h *hardRules) codeOnly(x *invocation, words bool) bool {
	if x.row == nil || x.row.Lang == "" || x.row.Lang == "sh" {
		return false
	}
	p := presets{h.shellState, h.verdicts}
	code := p.sedCode(x)
	inPlace := x.args.Has("-i", "--in-place") && (x.row.Lang == "perl" || x.row.Lang == "ruby" || x.row.Lang == "sed")
	if len(code) == 0 || inPlace || !p.hasCode(x) && x.row.Run != programs.RunFirstCode {
		return !words && !inPlace && len(x.args.Operands) == 0 && !x.row.StdinRun
	}
	return !slices.ContainsFunc(code, func(text string) bool {
		if x.row.Lang == "awk" || x.row.Lang == "sed" {
			return !codeReads(x.row.Lang, text)
		}
		return runs(text)
	})
}

// copiers are programs that only read the files that they get by name, or whose rows of denials judge these files.
const copiers = words("cp gcp install ln mv rm scp rsync tar bsdtar gtar zip 7z 7za 7zz 7zr cpio pax restic borg rclone find gfind bfs fd fdfind du " +
	"shred srm wipe unlink rmdir trash trash-put gio identify mediainfo ffprobe pdfinfo b3sum xxhsum clamscan")

// leavesAlone reports a command that does not change the files whose names it gets.
func (h *hardRules) leavesAlone(x *invocation) bool {
	if x.name == "chmod" {
		return len(x.args.Operands) > 1 && !locksOut(x.args.Operands[0], '6')
	}
	if copiers.has(x.name) || textual.has(x.name) && (x.row == nil || x.row.Lang == "") {
		return true
	}
	switch {
	case x.name == "git":
		return len(x.words) > 1 && (gitReaders.has(x.words[1]) || x.words[1] == "add")
	case x.row == nil:
		return false
	case x.row.Lang == "sh":
		return x.name == "eval" || shellOption(x.args, "c")
	case x.row.Run == programs.RunArgv || x.row.Run == programs.RunShell || x.row.Run == programs.RunFirstShell:
		return true // the command that it runs is judged by itself
	}
	reads, _ := x.row.ReadsOnly(&x.args)
	return reads
}

// takesNames reports a command that removes, changes or runs the files whose names it reads.
func (h *hardRules) takesNames(x *invocation) bool {
	switch x.name {
	case "tar", "bsdtar", "gtar":
		return x.args.Has("--remove-files")
	case "rsync":
		return x.args.Has("--remove-source-files")
	case "zip", "7z", "7za", "7zz", "7zr":
		return slices.ContainsFunc(x.argv[1:], func(a string) bool { return a == "-sdel" || a == "--move" || strings.HasPrefix(a, "-m") || a == "-rm" })
	case "rename", "prename", "mmv", "vidir":
		return true
	}
	return x.row != nil && x.row.Lang != "" && x.row.StdinRun || x.row != nil && x.row.Lang == "awk"
}

// listsEvery reports a file that names every file of a walk, where an option names such a list: tar -T, rsync --files-from.
func (h *hardRules) listsEvery(x *invocation) bool {
	list, given := x.args.Get("-T", "--files-from")
	if !given {
		return false
	}
	text, known := h.textAt(list)
	return known && h.printsEvery(stream{text: text, is: true})
}

// lockedOut requires approval of a mode that takes a home from its user.
func (h *hardRules) lockedOut(c *Command, mode string, dirs []string) {
	for _, p := range dirs {
		if full, ok := h.clean(p); ok && h.ofAll(full) && locksOut(mode, '7') {
			h.ask(c, "hard:system", "it takes a home away from its user")
		}
	}
}

// installs judges directories that install makes, or gives another mode.
func (h *hardRules) installs(c *Command, x *invocation) {
	if mode, given := x.args.Get("-m", "--mode"); given && x.args.Has("-d", "--directory") {
		h.lockedOut(c, mode, x.args.Operands)
	}
}

// locksOut reports a mode of chmod that takes from the owner what the least octal digit gives.
func locksOut(mode string, least byte) bool {
	if mode != "" && strings.Trim(mode, "01234567") == "" {
		if len(mode) < 3 {
			return true
		}
		return mode[len(mode)-3] < least
	}
	for clause := range strings.SplitSeq(mode, ",") {
		at := strings.IndexAny(clause, "+-=")
		if at < 0 || hasHole(clause) {
			return true
		}
		who, op, what := clause[:at], clause[at], clause[at+1:]
		if who != "" && !strings.ContainsAny(who, "ua") {
			continue
		}
		if op == '-' && strings.ContainsAny(what, "rwxX") || op == '=' && (!strings.Contains(what, "r") || !strings.Contains(what, "w")) && !strings.ContainsAny(what, "ugo") {
			return true
		}
	}
	return false
}
