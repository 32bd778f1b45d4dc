package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/policy/damage"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// Reasons and hints of the built-in denials.
const (
	whyRemove  = "it removes the system or a user's files"
	whyPerhaps = "what it removes is not known, and may be the system"
	whyRights  = "it changes access to the whole system"
	whyDevice  = "it destroys what is on a disk"
	whyOwn     = "it is in the directory of longterm's own files (LONGTERM_DIR), with all sessions and settings"
	useOwn     = "`longterm rm` removes sessions; work in a directory outside of LONGTERM_DIR"
	useRemove  = "name the one directory below the project or /tmp that is to go"
	useDevice  = "work on an image file"
)

// hardRules are the built-in denials.
type hardRules struct {
	shared
	guesses *guesser

	fetched      bool // the line downloads something from another machine
	printsOwnPID bool // a command prints the PID of a longterm process
}

// denial judges one command of the programs that it is about.
type denial struct {
	programs string
	judge    func(h *hardRules, c *Command, x *invocation)
}

// denials has a row for each kind of program with its own denial; a program is in one row.
var denials = []denial{
	{"rm srm wipe", (*hardRules).remove},
	{"rmdir unlink trash trash-put", (*hardRules).unlink},
	{"rimraf del-cli", func(h *hardRules, c *Command, x *invocation) { h.removeTrees(c, x.args.Operands) }},
	{"find gfind bfs", (*hardRules).find},
	{"gio", (*hardRules).gio},
	{"mv", (*hardRules).move},
	{"chmod chown chgrp chattr", (*hardRules).chmod},
	{"setfacl", (*hardRules).setfacl},
	{"install", (*hardRules).judgeInstall},
	{"setcap", func(h *hardRules, c *Command, x *invocation) {
		h.judgePermissions(c, x.args.Operands[min(1, len(x.args.Operands)):])
	}},
	{"clamscan", (*hardRules).virusScan},
	{"userdel deluser", (*hardRules).userdel},

	{"rsync", (*hardRules).rsync},
	{"rclone", (*hardRules).rclone},
	{"curl wget", (*hardRules).judgeDownload},
	{"aria2c", (*hardRules).aria2c},
	{"nc ncat netcat", (*hardRules).netcat},
	{"socat", (*hardRules).socat},

	{"tar bsdtar gtar", (*hardRules).tar},
	{"zip", (*hardRules).zip},
	{"unzip", (*hardRules).unzip},
	{"7z 7za 7zz 7zr", (*hardRules).sevenZip},

	{"git", (*hardRules).git},
	{"cmake", (*hardRules).cmake},
	{"go", (*hardRules).cleanModules},
	{"pytest", (*hardRules).pytest},
	{"sed gsed perl ruby", (*hardRules).editInPlace},
	{"sponge ed ex", (*hardRules).editors},

	{"dd dcfldd dc3dd", (*hardRules).copyDisks},
	{"mount", (*hardRules).mount},
	{"sysctl", (*hardRules).kernelSettings},
	{"dpkg-divert", (*hardRules).divert},
	{"update-alternatives alternatives", (*hardRules).alternative},

	{"crontab", (*hardRules).crontab},
	{"tmux", (*hardRules).judgeTerminals},
	{"xdotool ydotool", (*hardRules).typeKeys},
	{"zpty", (*hardRules).zpty},
	{"longterm", (*hardRules).ownSettings},
}

// denialOf maps programs to their row in denials.
var denialOf = sync.OnceValue(func() map[string]*denial {
	rows := map[string]*denial{}
	for i := range denials {
		for name := range strings.FieldsSeq(denials[i].programs) {
			rows[name] = &denials[i]
		}
	}
	return rows
})

// applyDenials applies the built-in denials to one command.
func (h *hardRules) applyDenials(c *Command, x *invocation) {
	if h.engine.preset == Off {
		return
	}
	if row := denialOf()[x.name]; row != nil {
		row.judge(h, c, x)
	}
	h.damage(c, x)
	h.judgeEveryFile(c, x)
	h.judgeSignals(c, x)
	h.askDiskArgument(c, x)
	h.judgeOwnFiles(c, x)
	h.judgeOutputs(c, x)
	h.judgeCriticalArguments(c, x)
}

// unlink judges programs that remove single files and empty directories.
func (h *hardRules) unlink(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		if x.name != "rmdir" && h.overwriteDanger(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
		if full, ok := h.clean(p); ok && (full == "/" || isOwnState(full, h.home)) {
			h.deny(c, "hard:remove", whyRemove, useRemove)
		} else if h.isFatal(p) && x.name != "rmdir" { // a glob, or all that find has printed
			h.ask(c, "hard:remove", whyRemove)
		}
	}
}

// askLostTrees requires approval for trees that are moved away or otherwise lost, with a reason.
func (h *hardRules) askLostTrees(c *Command, paths []string, why string) {
	for _, p := range paths {
		if h.isFatal(p) {
			h.ask(c, "hard:remove", why)
		}
	}
}

// find judges find -delete and its kind.
func (h *hardRules) find(c *Command, x *invocation) {
	if x.args.Has("-delete") {
		h.removeTrees(c, h.findResults(x))
	}
}

// gio judges gio trash and gio remove.
func (h *hardRules) gio(c *Command, x *invocation) {
	if ops := x.args.Operands; len(ops) > 1 && (ops[0] == "trash" || ops[0] == "remove") {
		h.askLostTrees(c, ops[1:], whyRemove)
	}
}

// move judges mv: what it moves away, and what it overwrites.
func (h *hardRules) move(c *Command, x *invocation) {
	ops := x.args.Operands
	to, has := x.args.Get("-t", "--target-directory")
	if !has && len(ops) > 0 {
		to = ops[len(ops)-1]
	}
	if x.args.Has("-T", "--no-target-directory") && len(ops) > 1 {
		h.askLostTrees(c, ops[len(ops)-1:], "it replaces a system directory")
	}
	if x.args.Has("-t", "--target-directory") {
		ops = append(ops[:len(ops):len(ops)], "") // the target is an option
	}
	if len(ops) < 2 {
		return
	}
	for _, p := range ops[:len(ops)-1] {
		if h.overwriteDanger(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
		h.askLostTrees(c, []string{p}, "it moves the system or a user's files away")
		if full, ok := h.clean(p); ok && h.isValuable(full) && h.isVolatile(to) {
			h.ask(c, "hard:remove", "it moves a user's files to where they do not last")
		}
	}
}

// isVolatile reports whether a directory is emptied when the machine starts, or by itself.
func (fs *files) isVolatile(p string) bool {
	full, ok := fs.clean(p)
	return ok && !strings.HasPrefix(full+"/", fs.home+"/") && slices.ContainsFunc([]string{"/tmp/", "/var/tmp/", "/dev/", "/run/", "/var/run/"}, func(dir string) bool { return strings.HasPrefix(full+"/", dir) })
}

// isRecursive reports whether a command changes all below a directory.
func isRecursive(x *invocation) bool { return x.args.Has("-R", "--recursive") }

// judgeAccess judges changed access to trees.
func (h *hardRules) judgeAccess(c *Command, paths []string) {
	h.removeTrees(c, paths)
	if c.Rule != "" {
		c.Why = whyRights
	}
}

// chmod judges changes of modes.
func (h *hardRules) chmod(c *Command, x *invocation) {
	ops, dashed := x.args.Operands, dashedMode(x)
	switch {
	case isRecursive(x) && dashed != "":
		h.judgeAccess(c, ops)
	case isRecursive(x) && len(ops) > 1:
		h.judgeAccess(c, ops[1:])
	case x.args.Has("--reference"):
		h.removeTrees(c, ops)
	case len(ops) > 1:
		h.judgePermissions(c, ops[1:])
	case x.name == "chmod": // its mode looks like an option: -x
		h.judgePermissions(c, ops)
	}
	if x.name != "chmod" || len(ops) == 0 {
		return
	}
	if dashed != "" {
		h.askIfLockedOut(c, dashed, ops)
	} else {
		h.askIfLockedOut(c, ops[0], ops[1:])
	}
}

// dashedMode returns a mode of chmod that looks like options, without the letters that are options: -x of -Rx. It returns ""
// without one.
func dashedMode(x *invocation) string {
	if x.name != "chmod" {
		return ""
	}
	for _, a := range x.argv[1:] {
		if strings.HasPrefix(a, "-") && strings.Trim(a, "-rwxXstRvcf") == "" && strings.ContainsAny(a, "rwxXst") {
			return "-" + strings.Trim(a, "-Rvcf")
		}
	}
	return ""
}

// setfacl judges access control lists, whose settings are values of options.
func (h *hardRules) setfacl(c *Command, x *invocation) {
	switch ops := x.args.Operands; {
	case isRecursive(x) && len(ops) > 0:
		h.judgeAccess(c, ops)
	case x.args.Has("--reference"):
		h.removeTrees(c, ops)
	default:
		h.judgePermissions(c, ops)
	}
}

// virusScan judges a virus scanner that removes or moves what it finds.
func (h *hardRules) virusScan(c *Command, x *invocation) {
	removes, given := x.args.Get("--remove")
	if given && removes != "no" || !given && x.args.Has("--remove") || x.args.Has("--move") {
		h.askLostTrees(c, x.args.Operands, whyRemove)
	}
}

// userdel judges the removal of users and their homes.
func (h *hardRules) userdel(c *Command, x *invocation) {
	if x.args.Has("-r", "--remove", "--remove-home", "--remove-all-files") {
		h.ask(c, "hard:remove", "it removes a user's files")
	}
}

// rsync judges rsync: deleted and overwritten targets.
func (h *hardRules) rsync(c *Command, x *invocation) {
	ops := x.args.Operands
	if x.args.Has("--remove-source-files") && len(ops) > 1 {
		h.removeTrees(c, ops[:len(ops)-1])
	}
	for _, o := range x.args.Options {
		if strings.HasPrefix(o.Name, "--delete") && len(ops) > 1 {
			h.removeTrees(c, ops[len(ops)-1:])
		}
	}
}

// rclone judges rclone: deleted and overwritten local targets.
func (h *hardRules) rclone(c *Command, x *invocation) {
	ops := x.args.Operands
	if len(ops) > 1 && slices.Contains([]string{"purge", "delete", "rmdirs", "move", "moveto"}, ops[0]) {
		h.removeTrees(c, localPaths(ops[1:2]))
	} else if len(ops) > 2 && (ops[0] == "sync" || ops[0] == "bisync") {
		h.removeTrees(c, localPaths(ops[2:3]))
	}
}

// aria2c judges the file that aria2c writes, from its directory and name.
func (h *hardRules) aria2c(c *Command, x *invocation) {
	dir, _ := x.args.Get("-d", "--dir")
	if name, named := x.args.Get("-o", "--out"); named && dir != "" {
		h.judgeTarget(c, dir+"/"+name)
	}
}

// netcat judges programs that connect a shell to the network.
func (h *hardRules) netcat(c *Command, x *invocation) {
	if x.args.Has("-e", "-c", "--exec", "--sh-exec", "--lua-exec") {
		h.ask(c, "unknown", whyReached)
	}
}

// socat judges socat's addresses: programs and files.
func (h *hardRules) socat(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		kind, what, _ := strings.Cut(p, ":")
		if kind = strings.ToLower(kind); kind == "exec" || kind == "system" || kind == "shell" {
			what, _, _ = strings.Cut(what, ",")
			h.shellText(strings.Trim(what, `"'`), "socat")
			h.ask(c, "unknown", whyReached)
		} else if kind == "open" || kind == "create" || kind == "gopen" || kind == "file" {
			what, _, _ = strings.Cut(what, ",")
			h.judgeTarget(c, what)
		}
	}
}

// tar judges where tar unpacks, and the files that it removes.
func (h *hardRules) tar(c *Command, x *invocation) {
	has := x.args.Has
	if file, ok := x.args.Get("-f", "--file"); ok && has("-c", "-r", "-u", "--create", "--append", "--update") {
		h.judgeTarget(c, file)
	}
	dir, named := x.args.Get("-C", "--directory")
	if has("--remove-files") {
		h.inDir([]string{dir}, named, func() { h.removeTrees(c, x.args.Operands) })
	}
	if !has("-x", "--extract", "--get") {
		return
	}
	if has("-P", "--absolute-names", "--absolute-paths") {
		h.ask(c, "hard:overwrite", "unpacked files may overwrite any file: absolute names are kept")
	}
	if !named {
		dir = "."
	}
	h.judgeUnpacking(c, dir)
}

// unzip judges where files are unpacked to.
func (h *hardRules) unzip(c *Command, x *invocation) {
	if !x.args.Has("-d", "-l", "-t", "-p", "-v", "-z", "-Z", "-c") && len(x.args.Operands) > 0 {
		h.judgeUnpacking(c, ".")
	}
}

// inDir calls judge with another working directory, if one is named.
func (h *hardRules) inDir(dir []string, named bool, judge func()) {
	cwd := h.cwd
	if named {
		h.changeDir(dir)
	}
	judge()
	h.cwd = cwd
}

// zip judges files that zip moves into an archive.
func (h *hardRules) zip(c *Command, x *invocation) {
	moves := slices.ContainsFunc(x.args.Options, func(o option) bool {
		return o.Name == "--move" || strings.HasPrefix(o.Name, "-") && !strings.HasPrefix(o.Name, "--") && strings.Contains(o.Name, "m")
	})
	if ops := x.args.Operands; moves && len(ops) > 1 {
		h.removeTrees(c, ops[1:])
	}
}

// sevenZip judges where 7z unpacks, and files that it removes.
func (h *hardRules) sevenZip(c *Command, x *invocation) {
	ops := x.args.Operands
	if slices.Contains(x.argv, "-sdel") && len(ops) > 1 {
		h.removeTrees(c, ops[1:])
	}
	if len(ops) > 1 && (ops[0] == "a" || ops[0] == "u") {
		h.judgeTarget(c, ops[1])
	}
}

// git judges git commands that remove or overwrite files.
func (h *hardRules) git(c *Command, x *invocation) {
	if len(x.words) < 2 {
		return
	}
	ops, place := x.args.Operands, h.gitDirs(x)
	switch dry := x.args.Has("-n", "--dry-run"); x.words[1] {
	case "clean":
		if !dry {
			h.inDir(place, true, func() { h.gitClean(c, ops) })
		}
	case "rm":
		if x.args.Has("-r") && !x.args.Has("--cached") && !dry {
			h.inDir(place, true, func() { h.askLostTrees(c, ops, whyRemove) })
		}
	case "worktree":
		if len(x.words) > 2 && x.words[2] == "remove" {
			h.removeTrees(c, ops)
		}
	case "checkout", "reset", "restore", "read-tree":
		if place[0] != "." {
			h.removeTrees(c, []string{place[0] + "/"})
		}
	}
}

// gitClean judges git clean: its arguments, or its whole working directory.
func (h *hardRules) gitClean(c *Command, paths []string) {
	h.removeTrees(c, paths)
	if h.cwd != "" && len(paths) == 0 {
		h.removeTrees(c, []string{h.cwd + "/"})
	}
}

// cmake judges cmake -E and the directories that cmake writes to.
func (h *hardRules) cmake(c *Command, x *invocation) {
	h.cmakeScript(x)
	for _, a := range x.argv[1:] { // a list is a command in some settings
		if _, list, is := strings.Cut(a, "="); is && strings.HasPrefix(a, "-D") && strings.Contains(list, ";") {
			h.downgradeDenials(func() { h.source(strings.ReplaceAll(list, ";", " ")) })
		}
	}
	if ops := x.args.Operands; len(ops) > 1 && x.args.Has("-E") && slices.Contains([]string{"rm", "remove", "remove_directory"}, ops[0]) {
		h.removeTrees(c, ops[1:])
	}
	if i := slices.Index(x.argv, "-E"); i > 0 && i+2 < len(x.argv) {
		switch rest := x.argv[i+1:]; rest[0] {
		case "env", "time":
			h.run(rest, stream{})
		case "chdir":
			h.run(append([]string{"env", "-C"}, rest[1:]...), stream{})
		}
	}
}

// cleanModules judges go clean -modcache, which removes the directory that a variable names.
func (h *hardRules) cleanModules(c *Command, x *invocation) {
	if place := h.scope.get("GOMODCACHE"); place.set && len(x.words) > 1 && x.words[1] == "clean" && x.args.Has("-modcache") {
		h.removeTrees(c, []string{place.text})
	}
}

// pytest judges the directory of pytest's temporary files, which is emptied first.
func (h *hardRules) pytest(c *Command, x *invocation) {
	for i, a := range x.argv {
		if dir, joined := strings.CutPrefix(a, "--basetemp="); joined {
			h.removeTrees(c, []string{dir})
		} else if a == "--basetemp" && i+1 < len(x.argv) {
			h.removeTrees(c, x.argv[i+1:i+2])
		}
	}
}

// editInPlace judges files that sed, perl and others edit in place.
func (h *hardRules) editInPlace(c *Command, x *invocation) {
	if x.args.Has("-i", "--in-place") {
		h.editors(c, x)
	}
}

// editors judges files that an editor gets to write.
func (h *hardRules) editors(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		h.judgeTarget(c, p)
	}
}

// copyDisks judges programs that copy to a disk.
func (h *hardRules) copyDisks(c *Command, x *invocation) {
	for _, a := range x.argv[1:] {
		switch key, p, _ := strings.Cut(a, "="); key {
		case "of", "wipe", "hof":
			if h.judgeTarget(c, p); hasHole(p) && strings.IndexAny(p, holes) == 0 {
				h.ask(c, "hard:device", "what it overwrites is not known, and may be a disk")
			}
		}
	}
}

// mount requires approval for mounts over system directories.
func (h *hardRules) mount(c *Command, x *invocation) {
	ops := x.args.Operands
	over := slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "bind") || a == "overlay" || a == "-B" })
	hides := slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "tmpfs") || a == "ramfs" })
	if len(ops) == 0 || !over && !hides || hides && len(ops) > 1 && usualTmpfs.has(ops[len(ops)-1]) {
		return
	}
	if full, ok := h.clean(ops[len(ops)-1]); ok && full != "/" && (sharedDirs.has(full) || criticalFiles[full] || hides && h.holdsHome(full)) {
		h.ask(c, "hard:system", "it hides or replaces files in "+full)
	}
}

// usualTmpfs are directories that usually are tmpfs.
const usualTmpfs = words("/run /dev /sys /proc")

// kernelSettings requires approval for settings that name a program which the kernel runs as root.
func (h *hardRules) kernelSettings(c *Command, x *invocation) {
	for _, o := range x.argv[1:] {
		if text, made := h.textAt(o[strings.IndexByte(o, '=')+1:]); made {
			h.sysctlFile(&Command{Argv: x.argv}, text)
		}
	}
	for _, o := range x.argv[1:] {
		if key, value, set := strings.Cut(o, "="); set && namesProgram(key, value) {
			h.ask(c, "hard:system", "the kernel runs the program that "+key+" names, as root")
		}
	}
}

// sysctlFile judges a file of kernel settings.
func (h *hardRules) sysctlFile(c *Command, text string) {
	for line := range strings.Lines(text) {
		if key, value, set := strings.Cut(line, "="); set && namesProgram(strings.TrimSpace(key), strings.TrimSpace(value)) && h.engine.preset != Off {
			h.ask(c, "hard:system", "the kernel runs the program that "+strings.TrimSpace(key)+" names, as root")
			h.record(*c)
			return
		}
	}
}

// divert judges dpkg-divert, which renames a package's file.
func (h *hardRules) divert(c *Command, x *invocation) {
	if x.args.Has("--list", "--listpackage", "--truename") {
		return
	}
	paths := x.args.Operands
	if to, ok := x.args.Get("--divert"); ok {
		paths = append(paths[:len(paths):len(paths)], to)
	}
	for _, p := range paths {
		if h.overwriteDanger(p) != harmless || h.removalDanger(p) == fatal {
			h.ask(c, "hard:remove", "it moves away what the machine needs")
		}
	}
}

// crontab judges crontab: the table that it installs or removes.
func (h *hardRules) crontab(c *Command, x *invocation) {
	ops, lists := x.args.Operands, x.args.Has("-l", "-r")
	if x.args.Has("-r") {
		h.ask(c, "hard:remove", "it removes all of the user's jobs")
	}
	if h.fetched && !lists {
		h.ask(c, "unknown", "the jobs may be what another machine has sent")
	}
	if len(ops) > 0 && ops[0] != "-" && ops[0] != "/dev/stdin" && !lists && !x.args.Has("-e") {
		h.ask(c, "unknown", "it installs what runs later, and the file is not judged")
	}
}

// typeKeys requires approval for keys typed one by one into another window.
func (h *hardRules) typeKeys(c *Command, x *invocation) {
	if len(x.argv) > 2 && x.argv[1] == "key" && slices.ContainsFunc(x.argv[2:], func(a string) bool { return strings.EqualFold(a, "space") }) {
		h.ask(c, "unknown", "it types single keys")
	}
}

// zpty judges zsh's zpty: it runs or types the words after a name.
func (h *hardRules) zpty(_ *Command, x *invocation) {
	if ops := x.args.Operands; len(ops) > 1 {
		h.source(strings.Join(ops[1:], " "))
	}
}

// whyReached is why a program connected to the network needs approval.
const whyReached = "the other end of the connection may choose what it runs"

// localPaths returns rclone's local paths.
func localPaths(places []string) []string {
	return slices.DeleteFunc(slices.Clone(places), func(p string) bool { return strings.Contains(p, ":") })
}

// judgeUnpacking judges unpacking into a directory of the system.
func (h *hardRules) judgeUnpacking(c *Command, dir string) {
	if h.isOwnFile(dir) {
		h.ask(c, "hard:longterm", "what it unpacks may overwrite longterm's own files")
	}
	full, ok := h.clean(dir)
	if ok {
		full = h.resolve(full)
	}
	switch full {
	case "/", "/etc", "/bin", "/sbin", "/usr", "/usr/bin", "/usr/sbin", "/lib", "/usr/lib", "/boot":
		h.ask(c, "hard:overwrite", "what it unpacks may overwrite files that the machine needs")
	}
}

// diskReaders only read or attach a disk argument, or are judged by their action on it.
var diskReaders = words("dd rm mount umount smartctl udevadm eject dumpe2fs xfs_info lsblk blkid fdisk sfdisk parted gdisk " +
	"sgdisk hdparm nvme cryptsetup wipefs badblocks tune2fs e2fsck mdadm pvs vgs lvs pvdisplay lvdisplay vgdisplay vgchange " +
	"lvchange lvcreate lvextend lvremove vgremove vgreduce findfs partprobe blockdev sync fuser cp cat mkswap swapon swapoff " +
	"losetup dmsetup qemu-nbd testdisk photorec chmod chown chgrp ls ln stat file test [ echo printf " +
	"docker podman xfs_growfs resize2fs fsck fstrim tar zstd gzip pv head tail strings xxd hexdump od sha256sum md5sum " +
	"cmp rsync less more sudo")

// messagePrograms are programs that take texts; messageOptions precede those.
var (
	messagePrograms = words("git gh glab hub jj hg svn")
	messageOptions  = words("-m --message -t --title -b --body -F --notes -n")
)

// askDiskArgument requires approval for a disk as argument of a program that may write to it.
func (h *hardRules) askDiskArgument(c *Command, x *invocation) {
	if c.Verdict != Allow || diskReaders.has(x.name) || len(x.argv) < 2 {
		return
	}
	if x.row != nil && (x.row.Reads || x.row.Run != 0 || x.row.Lang != "") && !argumentWriters.has(x.name) {
		return
	}
	for i, a := range x.argv[1:] {
		if !strings.Contains(a, "/") || i > 0 && messagePrograms.has(x.name) && messageOptions.has(x.argv[i]) {
			continue
		}
		for _, p := range []string{a, a[strings.IndexByte(a, '=')+1:], a[strings.LastIndexByte(a, ':')+1:],
			strings.TrimLeft(a, "-oOwdZf")} {
			if strings.ContainsAny(a[:len(a)-len(p)], " \t\n") { // a sentence
				continue
			}
			if strings.HasPrefix(p, "/dev/") && h.deviceDanger(p) == fatal || len(h.created) > 0 && h.deviceDanger(p) == fatal {
				h.ask(c, "hard:device", "it may write over a disk")
				return
			}
		}
	}
}

// argumentWriters are programs with subcommands or code that write to their arguments.
var argumentWriters = words("xxd grub-install")

// remove judges rm.
func (h *hardRules) remove(c *Command, x *invocation) {
	deep := x.args.Has("-r", "-R", "--recursive", "--no-preserve-root")
	mayBeDeep := false
	for _, a := range x.argv[1:] {
		mayBeDeep = mayBeDeep || a == hole || strings.HasPrefix(a, "-") && hasHole(a)
	}
	for _, p := range x.args.Operands {
		d := h.removalDanger(p)
		switch {
		case d == harmless:
		case d == fatal && deep:
			h.removeTree(c, p)
		case deep || mayBeDeep && d == fatal:
			h.ask(c, "hard:remove", h.treeKind(p))
		case h.isFatal(p): // a glob, or all that find has printed
			h.ask(c, "hard:remove", whyRemove)
		}
		if (!deep || d == harmless) && h.overwriteDanger(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
	}
}

// whyNeeded returns why removing a file needs approval, or "".
func (fs *files) whyNeeded(p string) string {
	switch full, _ := fs.clean(p); {
	case fs.isOwnFile(p):
		return "one of longterm's own files"
	case fs.isEveryName(p) || fs.coversAll(full):
		return whyRemove
	}
	return "the machine needs the file"
}

// removeTree denies the removal of a directory that must not be removed.
func (h *hardRules) removeTree(c *Command, p string) {
	if full, ok := h.clean(p); ok && h.engine.owns(full) && !isOwnState(full, h.home) {
		h.deny(c, "hard:remove", whyOwn, useOwn)
		return
	}
	h.deny(c, "hard:remove", whyRemove, useRemove)
}

// removeTrees judges directories that are removed with their content.
func (h *hardRules) removeTrees(c *Command, paths []string) {
	for _, p := range paths {
		switch h.removalDanger(p) {
		case fatal:
			h.removeTree(c, p)
		case perhaps:
			h.ask(c, "hard:remove", h.treeKind(p))
		}
	}
}

// treeKind returns why removing a tree needs approval: its kind, if known.
func (fs *files) treeKind(p string) string {
	if full, ok := fs.clean(p); ok && !hasHole(full) && fs.pathDanger(full) != harmless {
		return whyRemove
	}
	return whyPerhaps
}

// damage judges a program by the table of package damage.
func (h *hardRules) damage(c *Command, x *invocation) {
	args := x.args
	if x.row != nil && len(x.words) > 1 && x.row != programs.Lookup(x.name) { // of a subcommand: with its name
		args = x.row.Parse(x.words[1:])
	}
	for _, e := range damage.Effects(x.name, x.argv[1:], &args) {
		switch e.Kind {
		case damage.Disk:
			if e.Word != "" {
				h.judgeDestruction(c, x, e.Word)
			} else if slices.ContainsFunc(x.args.Options, func(o option) bool { return o.HasValue && h.deviceDanger(o.Value) == fatal }) {
				h.deny(c, "hard:device", whyDevice, useDevice)
			}
		case damage.Tree:
			h.removeTrees(c, localPaths([]string{e.Word}))
		case damage.Into:
			if _, dir, is := strings.Cut(e.Word, "dest="); is { // of docker's
				e.Word = dir
			}
			h.judgeUnpacking(c, e.Word)
		case damage.File:
			h.judgeTarget(c, e.Word)
		case damage.Volume:
			h.ask(c, "hard:device", e.Why)
		case damage.System:
			h.ask(c, "hard:system", e.Why)
		case damage.Elsewhere:
			h.ask(c, "hard:elsewhere", e.Why)
		case damage.Denies:
			h.deny(c, "hard:device", e.Why, useDevice)
		}
	}
}

// judgeDestruction judges one operand of a program that destroys its operands.
func (h *hardRules) judgeDestruction(c *Command, x *invocation, p string) {
	if x.name == "shred" && h.removalDanger(p) == fatal { // all that find has printed
		h.ask(c, "hard:remove", whyRemove)
	}
	if len(h.created) > 0 && h.deviceDanger(p) == fatal {
		h.deny(c, "hard:device", whyDevice, useDevice)
	}
	switch full, ok := h.clean(p); {
	case hasHole(p) && strings.IndexAny(p, holes) == 0, ok && strings.HasPrefix(full, "/dev/") && hasHole(full):
		h.ask(c, "hard:device", "which disk it destroys is not known")
	case ok && (isBlockDevice(full) || hasGlob(full) && globMatch(full, "/dev/sda")):
		h.deny(c, "hard:device", whyDevice, useDevice)
	case ok && strings.HasPrefix(full, "/dev/") && x.name != "shred" && h.deviceDanger(p) != harmless:
		h.deny(c, "hard:device", whyDevice, useDevice)
	}
}

// outputOptions are the usual names of options for a program's output file.
var outputOptions = words("-o -out -sOutputFile --output --out --output-file --outfile --log-file --logfile --log --capturefile --dump --save " +
	"--write --cwd-file --warc-file")

// judgeOutputs requires approval for a program that writes a vital file.
func (h *hardRules) judgeOutputs(c *Command, x *invocation) {
	if c.Verdict != Allow || textPrograms.has(x.name) || watchPrograms.has(x.name) {
		return
	}
	own := x.argv
	if x.row != nil && x.row.Run == programs.RunArgv && x.row.Stop { // the command that it runs is judged by itself
		own = own[:len(own)-min(len(x.args.Operands), len(own)-1)]
	}
	for i, a := range own[1:] {
		name, file, joined := strings.Cut(a, "=")
		over := name == "-w" && testers.has(x.name)
		if !over && !outputOptions.has(name) || x.row != nil && x.row.Reads && !x.row.TakesOutputFile(name) {
			continue
		}
		if !joined && i+2 < len(x.argv) {
			file = x.argv[i+2]
		}
		if bootMenu.has(x.name) && strings.HasPrefix(file, "/boot/") {
			continue
		}
		if h.overwriteDanger(file) == perhaps {
			h.ask(c, "hard:overwrite", whyOverwrites)
		}
	}
}

// testers overwrite their argument with -w. watchPrograms name the files that they watch with such an option. bootMenu
// are programs that write the boot menu.
var (
	testers       = words("badblocks debugfs") // their -w overwrites the argument
	watchPrograms = words("fswatch watchexec nodemon entr auditctl fuser inotifywait")
	bootMenu      = words("grub-mkconfig grub2-mkconfig")
)
