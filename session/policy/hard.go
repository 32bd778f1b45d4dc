package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/longterm-dev/longterm/session/policy/damage"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// The sentences of the built-in denials.
const (
	whyRemove  = "it removes the system or a person's files"
	whyPerhaps = "what it removes is not known, and may be the system"
	whyRights  = "it changes who may use the whole system"
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

	fetched   bool // the line gets something from another machine
	ownNumber bool // a command says which number a process of longterm's has
}

// A denial judges one command of the programs that it is about.
type denial struct {
	programs string
	judge    func(h *hardRules, c *Command, x *invocation)
}

// denials has a row for each kind of program that has a denial of its own; a program stands in one row.
var denials = []denial{
	{"rm srm wipe", (*hardRules).remove},
	{"rmdir unlink trash trash-put", (*hardRules).unlinks},
	{"rimraf del-cli", func(h *hardRules, c *Command, x *invocation) { h.trees(c, x.args.Operands) }},
	{"find gfind bfs", (*hardRules).finds},
	{"gio", (*hardRules).gio},
	{"mv", (*hardRules).moves},
	{"chmod chown chgrp chattr", (*hardRules).modes},
	{"setfacl", (*hardRules).lists},
	{"install", (*hardRules).judgeInstall},
	{"setcap", func(h *hardRules, c *Command, x *invocation) {
		h.rights(c, x.args.Operands[min(1, len(x.args.Operands)):])
	}},
	{"clamscan", (*hardRules).scans},
	{"userdel deluser", (*hardRules).users},

	{"rsync", (*hardRules).rsync},
	{"rclone", (*hardRules).rclone},
	{"curl wget", (*hardRules).downloaded},
	{"aria2c", (*hardRules).aria2c},
	{"nc ncat netcat", (*hardRules).listens},
	{"socat", (*hardRules).socat},

	{"tar bsdtar gtar", (*hardRules).tar},
	{"zip", (*hardRules).zip},
	{"unzip", (*hardRules).unzips},
	{"7z 7za 7zz 7zr", (*hardRules).sevenZip},

	{"git", (*hardRules).git},
	{"cmake", (*hardRules).cmake},
	{"go", (*hardRules).cleansModules},
	{"pytest", (*hardRules).pytest},
	{"sed gsed perl ruby", (*hardRules).inPlace},
	{"sponge ed ex", (*hardRules).edits},

	{"dd dcfldd dc3dd", (*hardRules).copiesDisks},
	{"mount", (*hardRules).mounts},
	{"sysctl", (*hardRules).kernelSettings},
	{"dpkg-divert", (*hardRules).diverts},
	{"update-alternatives alternatives", (*hardRules).alternative},

	{"crontab", (*hardRules).crontab},
	{"tmux", (*hardRules).terminals},
	{"xdotool ydotool", (*hardRules).types},
	{"zpty", (*hardRules).zpty},
	{"longterm", (*hardRules).ownSettings},
}

// denialOf is the row of each program.
var denialOf = sync.OnceValue(func() map[string]*denial {
	rows := map[string]*denial{}
	for i := range denials {
		for name := range strings.FieldsSeq(denials[i].programs) {
			rows[name] = &denials[i]
		}
	}
	return rows
})

// hard applies the built-in denials to one command.
func (h *hardRules) hard(c *Command, x *invocation) {
	if h.engine.preset == Off {
		return
	}
	if row := denialOf()[x.name]; row != nil {
		row.judge(h, c, x)
	}
	h.damages(c, x)
	h.everyFile(c, x)
	h.signals(c, x)
	h.gets(c, x)
	h.ownFiles(c, x)
	h.outputs(c, x)
	h.handsOver(c, x)
}

// unlinks judges programs that remove single files and empty directories.
func (h *hardRules) unlinks(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		if x.name != "rmdir" && h.overwritten(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
		if full, ok := h.clean(p); ok && (full == "/" || ours(full, h.home)) {
			h.deny(c, "hard:remove", whyRemove, useRemove)
		} else if h.isFatal(p) && x.name != "rmdir" { // a glob, or all that find has printed
			h.ask(c, "hard:remove", whyRemove)
		}
	}
}

// goes asks about trees that are moved away or otherwise lost, for a reason.
func (h *hardRules) goes(c *Command, paths []string, why string) {
	for _, p := range paths {
		if h.isFatal(p) {
			h.ask(c, "hard:remove", why)
		}
	}
}

func (h *hardRules) finds(c *Command, x *invocation) {
	if x.args.Has("-delete") {
		h.trees(c, h.found(x))
	}
}

func (h *hardRules) gio(c *Command, x *invocation) {
	if ops := x.args.Operands; len(ops) > 1 && (ops[0] == "trash" || ops[0] == "remove") {
		h.goes(c, ops[1:], whyRemove)
	}
}

func (h *hardRules) moves(c *Command, x *invocation) {
	ops := x.args.Operands
	to, has := x.args.Get("-t", "--target-directory")
	if !has && len(ops) > 0 {
		to = ops[len(ops)-1]
	}
	if x.args.Has("-T", "--no-target-directory") && len(ops) > 1 {
		h.goes(c, ops[len(ops)-1:], "it takes the place of a directory of the system")
	}
	if x.args.Has("-t", "--target-directory") {
		ops = append(ops[:len(ops):len(ops)], "") // the target is an option
	}
	if len(ops) < 2 {
		return
	}
	for _, p := range ops[:len(ops)-1] {
		if h.overwritten(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
		h.goes(c, []string{p}, "it moves the system or a person's files away")
		if full, ok := h.clean(p); ok && h.kept(full) && h.forgotten(to) {
			h.ask(c, "hard:remove", "it moves a person's files to where they do not last")
		}
	}
}

// forgotten reports a place that is emptied when the machine starts, or by itself.
func (fs *files) forgotten(p string) bool {
	full, ok := fs.clean(p)
	return ok && !strings.HasPrefix(full+"/", fs.home+"/") && slices.ContainsFunc([]string{"/tmp/", "/var/tmp/", "/dev/", "/run/", "/var/run/"}, func(dir string) bool { return strings.HasPrefix(full+"/", dir) })
}

// recursive reports that all below a directory is changed.
func recursive(x *invocation) bool { return x.args.Has("-R", "--recursive") }

// opens judges who may use trees.
func (h *hardRules) opens(c *Command, paths []string) {
	h.trees(c, paths)
	if c.Rule != "" {
		c.Why = whyRights
	}
}

func (h *hardRules) modes(c *Command, x *invocation) {
	ops := x.args.Operands
	switch {
	case recursive(x) && len(ops) > 1:
		h.opens(c, ops[1:])
	case x.args.Has("--reference"):
		h.trees(c, ops)
	case len(ops) > 1:
		h.rights(c, ops[1:])
	case x.name == "chmod": // its mode looks like an option: -x
		h.rights(c, ops)
	}
	if x.name != "chmod" || len(ops) == 0 {
		return
	}
	if mode := x.argv[1]; strings.HasPrefix(mode, "-") && strings.Trim(mode, "-rwxXst") == "" {
		h.askIfLockedOut(c, mode, ops)
	} else {
		h.askIfLockedOut(c, ops[0], ops[1:])
	}
}

// lists judges access control lists, whose settings are values of options.
func (h *hardRules) lists(c *Command, x *invocation) {
	switch ops := x.args.Operands; {
	case recursive(x) && len(ops) > 0:
		h.opens(c, ops)
	case x.args.Has("--reference"):
		h.trees(c, ops)
	default:
		h.rights(c, ops)
	}
}

// scans judges a search for viruses that removes or moves what it takes for one.
func (h *hardRules) scans(c *Command, x *invocation) {
	removes, given := x.args.Get("--remove")
	if given && removes != "no" || !given && x.args.Has("--remove") || x.args.Has("--move") {
		h.goes(c, x.args.Operands, whyRemove)
	}
}

func (h *hardRules) users(c *Command, x *invocation) {
	if x.args.Has("-r", "--remove", "--remove-home", "--remove-all-files") {
		h.ask(c, "hard:remove", "it removes a person's files")
	}
}

func (h *hardRules) rsync(c *Command, x *invocation) {
	ops := x.args.Operands
	if x.args.Has("--remove-source-files") && len(ops) > 1 {
		h.trees(c, ops[:len(ops)-1])
	}
	for _, o := range x.args.Options {
		if strings.HasPrefix(o.Name, "--delete") && len(ops) > 1 {
			h.trees(c, ops[len(ops)-1:])
		}
	}
}

func (h *hardRules) rclone(c *Command, x *invocation) {
	ops := x.args.Operands
	if len(ops) > 1 && slices.Contains([]string{"purge", "delete", "rmdirs", "move", "moveto"}, ops[0]) {
		h.trees(c, local(ops[1:2]))
	} else if len(ops) > 2 && (ops[0] == "sync" || ops[0] == "bisync") {
		h.trees(c, local(ops[2:3]))
	}
}

// aria2c joins the directory and the name that it is given.
func (h *hardRules) aria2c(c *Command, x *invocation) {
	dir, _ := x.args.Get("-d", "--dir")
	if name, named := x.args.Get("-o", "--out"); named && dir != "" {
		h.target(c, dir+"/"+name)
	}
}

func (h *hardRules) listens(c *Command, x *invocation) {
	if x.args.Has("-e", "-c", "--exec", "--sh-exec", "--lua-exec") {
		h.ask(c, "unknown", whyReached)
	}
}

func (h *hardRules) socat(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		kind, what, _ := strings.Cut(p, ":")
		if kind = strings.ToLower(kind); kind == "exec" || kind == "system" || kind == "shell" {
			what, _, _ = strings.Cut(what, ",")
			h.shellText(strings.Trim(what, `"'`), "socat")
			h.ask(c, "unknown", whyReached)
		} else if kind == "open" || kind == "create" || kind == "gopen" || kind == "file" {
			what, _, _ = strings.Cut(what, ",")
			h.target(c, what)
		}
	}
}

func (h *hardRules) tar(c *Command, x *invocation) {
	has := x.args.Has
	if file, ok := x.args.Get("-f", "--file"); ok && has("-c", "-r", "-u", "--create", "--append", "--update") {
		h.target(c, file)
	}
	dir, named := x.args.Get("-C", "--directory")
	if has("--remove-files") {
		h.in([]string{dir}, named, func() { h.trees(c, x.args.Operands) })
	}
	if !has("-x", "--extract", "--get") {
		return
	}
	if has("-P", "--absolute-names", "--absolute-paths") {
		h.ask(c, "hard:overwrite", "what it unpacks may overwrite any file: names that begin with / are taken as they are")
	}
	if !named {
		dir = "."
	}
	h.over(c, dir)
}

// unzips judges where files are unpacked to.
func (h *hardRules) unzips(c *Command, x *invocation) {
	if !x.args.Has("-d", "-l", "-t", "-p", "-v", "-z", "-Z", "-c") && len(x.args.Operands) > 0 {
		h.over(c, ".")
	}
}

// in judges as if the command worked in another directory, where it is named.
func (h *hardRules) in(dir []string, named bool, judge func()) {
	cwd := h.cwd
	if named {
		h.changeDir(dir)
	}
	judge()
	h.cwd = cwd
}

func (h *hardRules) zip(c *Command, x *invocation) {
	moves := slices.ContainsFunc(x.args.Options, func(o option) bool {
		return o.Name == "--move" || strings.HasPrefix(o.Name, "-") && !strings.HasPrefix(o.Name, "--") && strings.Contains(o.Name, "m")
	})
	if ops := x.args.Operands; moves && len(ops) > 1 {
		h.trees(c, ops[1:])
	}
}

func (h *hardRules) sevenZip(c *Command, x *invocation) {
	ops := x.args.Operands
	if slices.Contains(x.argv, "-sdel") && len(ops) > 1 {
		h.trees(c, ops[1:])
	}
	if len(ops) > 1 && (ops[0] == "a" || ops[0] == "u") {
		h.target(c, ops[1])
	}
}

func (h *hardRules) git(c *Command, x *invocation) {
	if len(x.words) < 2 {
		return
	}
	ops, place := x.args.Operands, h.gitPlace(x)
	switch dry := x.args.Has("-n", "--dry-run"); x.words[1] {
	case "clean":
		if !dry {
			h.in(place, true, func() { h.cleans(c, ops) })
		}
	case "rm":
		if x.args.Has("-r") && !x.args.Has("--cached") && !dry {
			h.in(place, true, func() { h.goes(c, ops, whyRemove) })
		}
	case "worktree":
		if len(x.words) > 2 && x.words[2] == "remove" {
			h.trees(c, ops)
		}
	case "checkout", "reset", "restore", "read-tree":
		if place[0] != "." {
			h.trees(c, place)
		}
	}
}

// cleans judges git clean: what it is given, or all of where it works.
func (h *hardRules) cleans(c *Command, paths []string) {
	h.trees(c, paths)
	if h.cwd != "" && len(paths) == 0 {
		h.trees(c, []string{h.cwd})
	}
}

func (h *hardRules) cmake(c *Command, x *invocation) {
	h.cmakeScript(x)
	for _, a := range x.argv[1:] { // a list is a command in some settings
		if _, list, is := strings.Cut(a, "="); is && strings.HasPrefix(a, "-D") && strings.Contains(list, ";") {
			h.only(func() { h.source(strings.ReplaceAll(list, ";", " ")) })
		}
	}
	if ops := x.args.Operands; len(ops) > 1 && x.args.Has("-E") && slices.Contains([]string{"rm", "remove", "remove_directory"}, ops[0]) {
		h.trees(c, ops[1:])
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

// cleansModules judges go clean -modcache, which removes what a variable names.
func (h *hardRules) cleansModules(c *Command, x *invocation) {
	if place := h.scope.get("GOMODCACHE"); place.set && len(x.words) > 1 && x.words[1] == "clean" && x.args.Has("-modcache") {
		h.trees(c, []string{place.text})
	}
}

// pytest judges its directory of temporary files, which is emptied first.
func (h *hardRules) pytest(c *Command, x *invocation) {
	for i, a := range x.argv {
		if dir, joined := strings.CutPrefix(a, "--basetemp="); joined {
			h.trees(c, []string{dir})
		} else if a == "--basetemp" && i+1 < len(x.argv) {
			h.trees(c, x.argv[i+1:i+2])
		}
	}
}

func (h *hardRules) inPlace(c *Command, x *invocation) {
	if x.args.Has("-i", "--in-place") {
		h.edits(c, x)
	}
}

func (h *hardRules) edits(c *Command, x *invocation) {
	for _, p := range x.args.Operands {
		h.target(c, p)
	}
}

func (h *hardRules) copiesDisks(c *Command, x *invocation) {
	for _, a := range x.argv[1:] {
		switch key, p, _ := strings.Cut(a, "="); key {
		case "of", "wipe", "hof":
			if h.target(c, p); hasHole(p) && strings.IndexAny(p, holes) == 0 {
				h.ask(c, "hard:device", "what it overwrites is not known, and may be a disk")
			}
		}
	}
}

// mounts asks about places of the system that another one is put over.
func (h *hardRules) mounts(c *Command, x *invocation) {
	ops := x.args.Operands
	over := slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "bind") || a == "overlay" || a == "-B" })
	hides := slices.ContainsFunc(x.argv[1:], func(a string) bool { return strings.Contains(a, "tmpfs") || a == "ramfs" })
	if len(ops) == 0 || !over && !hides || hides && len(ops) > 1 && usualTmpfs.has(ops[len(ops)-1]) {
		return
	}
	if full, ok := h.clean(ops[len(ops)-1]); ok && full != "/" && (needed.has(full) || vital[full] || hides && h.holdsHome(full)) {
		h.ask(c, "hard:system", "it puts other files in the place of "+full)
	}
}

// usualTmpfs are places that are tmpfs anyway.
const usualTmpfs = words("/run /dev /sys /proc")

// kernelSettings asks about settings that name a program which the kernel then runs as root.
func (h *hardRules) kernelSettings(c *Command, x *invocation) {
	for _, o := range x.argv[1:] {
		if text, made := h.textAt(o[strings.IndexByte(o, '=')+1:]); made {
			h.settings(&Command{Argv: x.argv}, text)
		}
	}
	for _, o := range x.argv[1:] {
		if key, value, set := strings.Cut(o, "="); set && namesProgram(key, value) {
			h.ask(c, "hard:system", "the kernel runs the program that "+key+" names, as root")
		}
	}
}

// settings judges a file of such settings.
func (h *hardRules) settings(c *Command, text string) {
	for line := range strings.Lines(text) {
		if key, value, set := strings.Cut(line, "="); set && namesProgram(strings.TrimSpace(key), strings.TrimSpace(value)) && h.engine.preset != Off {
			h.ask(c, "hard:system", "the kernel runs the program that "+strings.TrimSpace(key)+" names, as root")
			h.record(*c)
			return
		}
	}
}

func (h *hardRules) diverts(c *Command, x *invocation) {
	if x.args.Has("--list", "--listpackage", "--truename") {
		return
	}
	paths := x.args.Operands
	if to, ok := x.args.Get("--divert"); ok {
		paths = append(paths[:len(paths):len(paths)], to)
	}
	for _, p := range paths {
		if h.overwritten(p) != harmless || h.tree(p) == fatal {
			h.ask(c, "hard:remove", "it moves away what the machine needs")
		}
	}
}

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

// types asks about keys that are pressed one by one in a window of others.
func (h *hardRules) types(c *Command, x *invocation) {
	if len(x.argv) > 2 && x.argv[1] == "key" && slices.ContainsFunc(x.argv[2:], func(a string) bool { return strings.EqualFold(a, "space") }) {
		h.ask(c, "unknown", "what it types is told key by key")
	}
}

// zpty is zsh's: it has the words after a name run, or typed.
func (h *hardRules) zpty(_ *Command, x *invocation) {
	if ops := x.args.Operands; len(ops) > 1 {
		h.source(strings.Join(ops[1:], " "))
	}
}

// whyReached is why a program is asked about that a connection is given to.
const whyReached = "whoever is at the other end of the connection may tell it what to run"

// local are those of rclone's places that are no remote ones.
func local(places []string) []string {
	return slices.DeleteFunc(slices.Clone(places), func(p string) bool { return strings.Contains(p, ":") })
}

// over judges unpacking into a directory of the system.
func (h *hardRules) over(c *Command, dir string) {
	if h.ownPlace(dir) {
		h.ask(c, "hard:longterm", "what it unpacks may overwrite longterm's own files")
	}
	switch full, _ := h.clean(dir); full {
	case "/", "/etc", "/bin", "/sbin", "/usr", "/usr/bin", "/usr/sbin", "/lib", "/usr/lib", "/boot":
		h.ask(c, "hard:overwrite", "what it unpacks may overwrite files that the machine needs")
	}
}

// diskReaders only look at a disk that they are given, or attach it, or are judged by what they do with it.
var diskReaders = words("dd rm mount umount smartctl udevadm eject dumpe2fs xfs_info lsblk blkid fdisk sfdisk parted gdisk " +
	"sgdisk hdparm nvme cryptsetup wipefs badblocks tune2fs e2fsck mdadm pvs vgs lvs pvdisplay lvdisplay vgdisplay vgchange " +
	"lvchange lvcreate lvextend lvremove vgremove vgreduce findfs partprobe blockdev sync fuser cp cat mkswap swapon swapoff " +
	"losetup dmsetup qemu-nbd testdisk photorec chmod chown chgrp ls ln stat file test [ echo printf " +
	"docker podman xfs_growfs resize2fs fsck fstrim tar zstd gzip pv head tail strings xxd hexdump od sha256sum md5sum " +
	"cmp rsync less more sudo")

// messages are programs that are given texts, messageOptions what stands before those.
var (
	messages       = words("git gh glab hub jj hg svn")
	messageOptions = words("-m --message -t --title -b --body -F --notes -n")
)

// gets asks about a disk in the hands of a program that is not known to only read it.
func (h *hardRules) gets(c *Command, x *invocation) {
	if c.Verdict != Allow || diskReaders.has(x.name) || len(x.argv) < 2 {
		return
	}
	if x.row != nil && (x.row.Reads || x.row.Run != 0 || x.row.Lang != "") && !writesOf.has(x.name) {
		return
	}
	for i, a := range x.argv[1:] {
		if !strings.Contains(a, "/") || i > 0 && messages.has(x.name) && messageOptions.has(x.argv[i]) {
			continue
		}
		for _, p := range []string{a, a[strings.IndexByte(a, '=')+1:], a[strings.LastIndexByte(a, ':')+1:],
			strings.TrimLeft(a, "-oOwdZf")} {
			if strings.ContainsAny(a[:len(a)-len(p)], " \t\n") { // a sentence
				continue
			}
			if strings.HasPrefix(p, "/dev/") && h.device(p) == fatal || len(h.made) > 0 && h.device(p) == fatal {
				h.ask(c, "hard:device", "it may write over a disk")
				return
			}
		}
	}
}

// writesOf are programs with subcommands or code of their own that write what they are given.
var writesOf = words("xxd grub-install")

// remove judges rm.
func (h *hardRules) remove(c *Command, x *invocation) {
	deep := x.args.Has("-r", "-R", "--recursive", "--no-preserve-root")
	mayBeDeep := false
	for _, a := range x.argv[1:] {
		mayBeDeep = mayBeDeep || a == hole || strings.HasPrefix(a, "-") && hasHole(a)
	}
	for _, p := range x.args.Operands {
		d := h.tree(p)
		switch {
		case d == harmless:
		case d == fatal && deep:
			h.removes(c, p)
		case deep || mayBeDeep && d == fatal:
			h.ask(c, "hard:remove", h.whyAsked(p))
		case h.isFatal(p): // a glob, or all that find has printed
			h.ask(c, "hard:remove", whyRemove)
		}
		if (!deep || d == harmless) && h.overwritten(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
	}
}

// whyNeeded is why a file is not to go without asking.
func (fs *files) whyNeeded(p string) string {
	switch full, _ := fs.clean(p); {
	case fs.ownPlace(p):
		return "it is one of longterm's own files"
	case fs.isEveryName(p) || fs.coversAll(full):
		return whyRemove
	}
	return "the machine needs the file"
}

// removes denies what removes a directory that must not go.
func (h *hardRules) removes(c *Command, p string) {
	if full, ok := h.clean(p); ok && h.engine.owns(full) && !ours(full, h.home) {
		h.deny(c, "hard:remove", whyOwn, useOwn)
		return
	}
	h.deny(c, "hard:remove", whyRemove, useRemove)
}

// trees judges directories that go with all that is in them.
func (h *hardRules) trees(c *Command, paths []string) {
	for _, p := range paths {
		switch h.tree(p) {
		case fatal:
			h.removes(c, p)
		case perhaps:
			h.ask(c, "hard:remove", h.whyAsked(p))
		}
	}
}

// whyAsked is why a tree is asked about: what it is, where that is known.
func (fs *files) whyAsked(p string) string {
	if full, ok := fs.clean(p); ok && !hasHole(full) && fs.protected(full) != harmless {
		return whyRemove
	}
	return whyPerhaps
}

// damages judges what a program does by the table of package damage.
func (h *hardRules) damages(c *Command, x *invocation) {
	args := x.args
	if x.row != nil && len(x.words) > 1 && x.row != programs.Lookup(x.name) { // of a subcommand: with its name
		args = x.row.Parse(x.words[1:])
	}
	for _, e := range damage.Effects(x.name, x.argv[1:], &args) {
		switch e.Kind {
		case damage.Disk:
			if e.Word != "" {
				h.destroyed(c, x, e.Word)
			} else if slices.ContainsFunc(x.args.Options, func(o option) bool { return o.Has && h.device(o.Value) == fatal }) {
				h.deny(c, "hard:device", whyDevice, useDevice)
			}
		case damage.Tree:
			h.trees(c, local([]string{e.Word}))
		case damage.Into:
			if _, dir, is := strings.Cut(e.Word, "dest="); is { // of docker's
				e.Word = dir
			}
			h.over(c, e.Word)
		case damage.File:
			h.target(c, e.Word)
		case damage.Volume:
			h.ask(c, "hard:device", e.Why)
		case damage.System:
			h.ask(c, "hard:system", e.Why)
		case damage.Denies:
			h.deny(c, "hard:device", e.Why, useDevice)
		}
	}
}

// destroyed judges one operand of a program that destroys what it is given.
func (h *hardRules) destroyed(c *Command, x *invocation, p string) {
	if x.name == "shred" && h.tree(p) == fatal { // all that find has printed
		h.ask(c, "hard:remove", whyRemove)
	}
	if len(h.made) > 0 && h.device(p) == fatal {
		h.deny(c, "hard:device", whyDevice, useDevice)
	}
	switch full, ok := h.clean(p); {
	case hasHole(p) && strings.IndexAny(p, holes) == 0, ok && strings.HasPrefix(full, "/dev/") && hasHole(full):
		h.ask(c, "hard:device", "which disk it destroys is not known")
	case ok && (blockDevice(full) || hasGlob(full) && globMatch(full, "/dev/sda")):
		h.deny(c, "hard:device", whyDevice, useDevice)
	case ok && strings.HasPrefix(full, "/dev/") && x.name != "shred" && h.device(p) != harmless:
		h.deny(c, "hard:device", whyDevice, useDevice)
	}
}

// outputOptions are what programs call the file that they write, whichever they are.
var outputOptions = words("-o -out -sOutputFile --output --out --output-file --outfile --log-file --logfile --log --capturefile --dump --save " +
	"--write --cwd-file --warc-file")

// outputs asks about a program that is told to write a file without which the machine does not work.
func (h *hardRules) outputs(c *Command, x *invocation) {
	if c.Verdict != Allow || textual.has(x.name) || watchers.has(x.name) {
		return
	}
	own := x.argv
	if x.row != nil && x.row.Run == programs.RunArgv && x.row.Stop { // the command that it runs is judged by itself
		own = own[:len(own)-min(len(x.args.Operands), len(own)-1)]
	}
	for i, a := range own[1:] {
		name, file, joined := strings.Cut(a, "=")
		over := name == "-w" && testers.has(x.name)
		if !over && !outputOptions.has(name) || x.row != nil && x.row.Reads && !x.row.IsWrite(name) {
			continue
		}
		if !joined && i+2 < len(x.argv) {
			file = x.argv[i+2]
		}
		if bootMenu.has(x.name) && strings.HasPrefix(file, "/boot/") {
			continue
		}
		if h.overwritten(file) == perhaps {
			h.ask(c, "hard:overwrite", whyOverwrites)
		}
	}
}

// watchers name with such an option what they look at; bootMenu are programs whose whole purpose is to write the menu that the
// machine starts with.
var (
	testers  = words("badblocks debugfs") // their -w writes over what they are given
	watchers = words("fswatch watchexec nodemon entr auditctl fuser inotifywait")
	bootMenu = words("grub-mkconfig grub2-mkconfig")
)
