package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/policy/programs"
)

// A walk over a home or the system (find ~, fd . ~, ls -R /) passes the name of every file to the next command. The engine writes
// these names as the start of the walk and anyBelow. If literal names narrow the walk, find prints the start and notEmpty instead.

// whyEach is the reason why a command that gets every name of a walk needs approval.
const whyEach = "it may change every file of a home or of the system: no literal name narrows the walk"

// narrowing is how far the tests of find restrict its results.
type narrowing uint8

const (
	unrestricted narrowing = iota // it finds everything
	restricted                    // it may still find nearly everything
	narrowed                      // a literal name, or an age away from homes, restricts it
)

// nameTests and pathTests compare names with a pattern. otherTests narrow a walk away from homes only: nearly every file there may
// pass them. weakTests never narrow it.
const (
	nameTests  = words("-name -iname -lname -ilname")
	pathTests  = words("-path -ipath -wholename -iwholename -regex -iregex")
	otherTests = words("-mtime -mmin -size -user -newer -atime -ctime -group -cmin -amin -uid -gid -fstype")
	weakTests  = words("-perm -links")
)

// narrowingOf returns how far the tests of find restrict the files below start.
func (fs *files) narrowingOf(x *invocation, start string) narrowing {
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
			if is = narrowed; ok && fs.holdsAll(fs.resolve(full)) {
				is = restricted
			}
		}
		got = max(got, is)
	}
	if got == narrowed && fs.removalDanger(start) == fatal && slices.ContainsFunc(x.argv[1:], func(a string) bool {
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

// holdsAll reports whether a directory is the root, or is or holds a home.
func (fs *files) holdsAll(full string) bool {
	dir := path.Dir(full)
	return full == "/" || full == "/root" || fs.holdsHome(full) || dir == "/home" || dir == "/Users" || fs.isOtherHome(full)
}

// isEveryName reports whether a word is the name of every file of a walk, also behind an equals sign.
func (fs *files) isEveryName(word string) bool {
	if !strings.HasSuffix(word, anyBelow) {
		return false
	}
	return fs.isFatal(word) || fs.isFatal(word[strings.LastIndexByte(word, '=')+1:])
}

// printsEveryName reports whether one of the first lines of a text is such a name.
func (fs *files) printsEveryName(in stream) bool {
	if !in.set || !strings.Contains(in.text, anyBelow) {
		return false
	}
	return slices.ContainsFunc(strings.SplitN(in.text[:min(len(in.text), maxPath)], "\n", 16), fs.isEveryName)
}

// judgeEveryFile requires approval of a command that may change, remove or run each file of a walk, whose names are its words or input.
func (h *hardRules) judgeEveryFile(c *Command, x *invocation) {
	if c.Verdict != Allow {
		return
	}
	switch words := slices.ContainsFunc(x.argv[1:], h.isEveryName); {
	case !words && !h.printsEveryName(x.in) && !h.readsListOfEvery(x):
	case h.isHarmlessCode(x, words):
	case words && h.leavesFilesUnchanged(x), !words && !h.actsOnInputNames(x):
	default:
		h.ask(c, "hard:remove", whyEach)
	}
}

// isHarmlessCode reports whether x is an interpreter whose code is in the line and neither runs nor changes anything.
func (h *hardRules) isHarmlessCode(x *invocation, words bool) bool {
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
		return containsRunner(text)
	})
}

// copiers are programs that only read the files in their words, or that other rules judge by these files.
const copiers = words("cp gcp install ln mv rm scp rsync tar bsdtar gtar zip 7z 7za 7zz 7zr cpio pax restic borg rclone find gfind bfs fd fdfind du " +
	"shred srm wipe unlink rmdir trash trash-put gio identify mediainfo ffprobe pdfinfo b3sum xxhsum clamscan")

// leavesFilesUnchanged reports whether a command does not change the files in its words.
func (h *hardRules) leavesFilesUnchanged(x *invocation) bool {
	if x.name == "chmod" {
		return len(x.args.Operands) > 1 && !locksOwnerOut(x.args.Operands[0], '6')
	}
	if copiers.has(x.name) || textPrograms.has(x.name) && (x.row == nil || x.row.Lang == "") {
		return true
	}
	switch {
	case x.name == "git":
		return len(x.words) > 1 && (gitReaders.has(x.words[1]) || x.words[1] == "add")
	case x.row == nil:
		return false
	case x.row.Lang == "sh":
		return x.name == "eval" || hasShellOption(x.args, "c")
	case x.row.Run == programs.RunArgv || x.row.Run == programs.RunShell || x.row.Run == programs.RunFirstShell:
		return true // the command that it runs is judged by itself
	}
	reads, _ := x.row.ReadsOnly(&x.args)
	return reads
}

// actsOnInputNames reports whether a command removes, changes or runs the files whose names it reads from its input.
func (h *hardRules) actsOnInputNames(x *invocation) bool {
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

// maxLists is how many words of a command are looked up as files with a list of names; listReaders read such a list from an operand.
const (
	maxLists    = 32
	listReaders = words("perl ruby awk gawk mawk rename prename 7z 7za 7zz 7zr")
)

// readsListOfEvery reports whether a file with a list of names (tar -T, rsync --files-from, 7z @list, perl -n) has every name of a walk.
func (h *hardRules) readsListOfEvery(x *invocation) bool {
	var lists []string
	if listReaders.has(x.name) {
		lists = x.argv[1:min(len(x.argv), maxLists)]
	}
	if list, given := x.args.Get("-T", "--files-from"); given {
		lists = append([]string{list}, lists...)
	}
	return slices.ContainsFunc(lists, func(list string) bool {
		text, known := h.textAt(strings.TrimPrefix(list, "@"))
		return known && h.printsEveryName(stream{text: text, set: true})
	})
}

// passedNames returns the name of every file of a walk if a program that passes on what it reads reads it, or "".
func (fs *files) passedNames(x *invocation) string {
	if x.name == "string" { // of fish: its words or its input
		if i := slices.IndexFunc(x.argv, fs.isEveryName); i >= 0 {
			return x.argv[i]
		}
	}
	if !passesAll(x) {
		return ""
	}
	if names := fs.firstLines(x.in); strings.HasSuffix(names, anyBelow) {
		return names
	}
	for _, list := range x.argv[1:min(len(x.argv), maxLists)] {
		text, known := fs.textAt(list)
		if names := fs.firstLines(stream{text: text, set: known}); strings.HasSuffix(names, anyBelow) {
			return names
		}
	}
	return ""
}

// foundNames returns what find prints.
func (fs *files) foundNames(x *invocation) string {
	text := ""
	for _, p := range fs.findResults(x) {
		text += p + "\n"
		if fs.removalDanger(p) == fatal {
			text += everyFileBelow(p) + "\n"
		}
	}
	return text
}

// noteLists notes the files that a program fills with the names of a walk without the shell: find -fprint, sort -o, sponge.
func (w *analyzer) noteLists(x *invocation) {
	switch x.name {
	case "find", "gfind", "bfs":
		for i, a := range x.argv[:len(x.argv)-1] {
			if a == "-fprint" || a == "-fprint0" || a == "-fprintf" || a == "-fls" {
				w.noteWritten(x.argv[i+1], stream{text: w.foundNames(x), set: true})
			}
		}
	case "sponge":
		for _, o := range x.args.Operands {
			w.noteWritten(o, x.in)
		}
	case "sort":
		if names := w.passedNames(x); names != "" {
			if file, given := x.args.Get("-o", "--output"); given {
				w.noteWritten(file, stream{text: names + "\n", set: true})
			}
		}
	}
}

// askIfLockedOut requires approval of a mode that locks a user out of a home.
func (h *hardRules) askIfLockedOut(c *Command, mode string, dirs []string) {
	for _, p := range dirs {
		if full, ok := h.clean(p); ok && h.holdsAll(h.resolve(full)) && locksOwnerOut(mode, '7') {
			h.ask(c, "hard:system", "it takes a home away from its user")
		}
	}
}

// judgeInstall judges the mode of directories that install makes.
func (h *hardRules) judgeInstall(c *Command, x *invocation) {
	if mode, given := x.args.Get("-m", "--mode"); given && x.args.Has("-d", "--directory") {
		h.askIfLockedOut(c, mode, x.args.Operands)
	}
}

// locksOwnerOut reports whether a mode of chmod gives the owner less than the octal digit least.
func locksOwnerOut(mode string, least byte) bool {
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
