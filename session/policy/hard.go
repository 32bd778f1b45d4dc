package policy

import (
	"slices"
	"strings"
)

// The sentences of the built-in denials.
const (
	whyRemove  = "it removes the system or a person's files"
	whyPerhaps = "what it removes is not known, and may be the system"
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

// hard applies the built-in denials to one command.
func (h *hardRules) hard(c *Command, x *invocation) {
	if h.engine.preset == Off {
		return
	}
	ops := x.args.Operands
	switch x.name {
	case "rm", "srm", "wipe":
		h.remove(c, x)
	case "rmdir", "unlink", "trash", "trash-put":
		for _, p := range ops {
			if x.name != "rmdir" && h.overwritten(p) == perhaps {
				h.ask(c, "hard:remove", h.whyNeeded(p))
			}
			if full, ok := h.clean(p); ok && (full == "/" || ours(full, h.home)) {
				h.deny(c, "hard:remove", whyRemove, useRemove)
			} else if h.tree(p) == fatal && x.name != "rmdir" { // a glob, or all that find has printed
				h.ask(c, "hard:remove", whyRemove)
			}
		}
	case "rimraf", "del-cli":
		h.trees(c, ops)
	case "zpty": // zsh's: it has the words after a name run, or typed
		if len(ops) > 1 {
			h.source(strings.Join(ops[1:], " "))
		}
	case "cmake":
		h.cmakeScript(x)
		for _, a := range x.argv[1:] { // a list is a command in some settings
			if _, list, is := strings.Cut(a, "="); is && strings.HasPrefix(a, "-D") && strings.Contains(list, ";") {
				h.only(func() { h.source(strings.ReplaceAll(list, ";", " ")) })
			}
		}
		if len(ops) > 1 && x.args.Has("-E") && slices.Contains([]string{"rm", "remove", "remove_directory"}, ops[0]) {
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
	case "pytest":
		for i, a := range x.argv { // it is emptied first
			if dir, joined := strings.CutPrefix(a, "--basetemp="); joined {
				h.trees(c, []string{dir})
			} else if a == "--basetemp" && i+1 < len(x.argv) {
				h.trees(c, x.argv[i+1:i+2])
			}
		}
	case "nc", "ncat", "netcat":
		if x.args.Has("-e", "-c", "--exec", "--sh-exec", "--lua-exec") {
			h.ask(c, "unknown", whyReached)
		}
	case "socat":
		for _, p := range ops {
			kind, what, _ := strings.Cut(p, ":")
			if kind = strings.ToLower(kind); kind == "exec" || kind == "system" || kind == "shell" {
				what, _, _ = strings.Cut(what, ",")
				h.shellText(strings.Trim(what, `"'`), "socat")
				h.ask(c, "unknown", whyReached)
			}
		}
	case "gio":
		if len(ops) > 1 && (ops[0] == "trash" || ops[0] == "remove") {
			for _, p := range ops[1:] {
				if h.tree(p) == fatal {
					h.ask(c, "hard:remove", whyRemove)
				}
			}
		}
	case "rclone":
		if len(ops) > 1 && slices.Contains([]string{"purge", "delete", "rmdirs", "move", "moveto"}, ops[0]) {
			h.trees(c, local(ops[1:2]))
		} else if len(ops) > 2 && (ops[0] == "sync" || ops[0] == "bisync") {
			h.trees(c, local(ops[2:3]))
		}
	case "zip":
		if len(ops) > 1 && slices.ContainsFunc(x.args.Options, func(o option) bool {
			return o.Name == "--move" || strings.HasPrefix(o.Name, "-") && !strings.HasPrefix(o.Name, "--") && strings.Contains(o.Name, "m")
		}) {
			h.trees(c, ops[1:])
		}
	case "find", "gfind", "bfs":
		if x.args.Has("-delete") {
			h.trees(c, h.found(x))
		}
	case "chmod", "chown", "chgrp", "chattr", "setfacl":
		if x.args.Has("-R", "--recursive") && x.name == "setfacl" && len(ops) > 0 || x.args.Has("-R", "--recursive") && len(ops) > 1 {
			if x.name != "setfacl" { // its settings are values of options
				ops = ops[1:]
			}
			h.trees(c, ops)
			if c.Rule != "" {
				c.Why = "it changes who may use the whole system"
			}
		} else if x.args.Has("--reference") {
			h.trees(c, ops)
		} else if len(ops) > 1 && x.name != "setfacl" {
			h.rights(c, ops[1:])
		}
	case "sed", "gsed", "perl", "ruby", "sponge", "ed", "ex":
		if x.name == "sponge" || x.name == "ed" || x.name == "ex" || x.args.Has("-i", "--in-place") {
			for _, p := range ops {
				h.target(c, p)
			}
		}
	case "mv":
		if x.args.Has("-T", "--no-target-directory") && len(ops) > 1 && h.tree(ops[len(ops)-1]) == fatal {
			h.ask(c, "hard:remove", "it takes the place of a directory of the system")
		}
		if x.args.Has("-t", "--target-directory") {
			ops = append(ops[:len(ops):len(ops)], "") // the target is an option
		}
		if len(ops) > 1 {
			for _, p := range ops[:len(ops)-1] {
				if h.overwritten(p) == perhaps {
					h.ask(c, "hard:remove", h.whyNeeded(p))
				}
				if h.tree(p) == fatal {
					h.ask(c, "hard:remove", "it moves the system or a person's files away")
				}
			}
		}
	case "rsync":
		if x.args.Has("--remove-source-files") && len(ops) > 1 {
			h.trees(c, ops[:len(ops)-1])
		}
		for _, o := range x.args.Options {
			if strings.HasPrefix(o.Name, "--delete") && len(ops) > 1 {
				h.trees(c, ops[len(ops)-1:])
			}
		}
	case "git":
		if len(x.words) > 1 && x.words[1] == "clean" && !x.args.Has("-n", "--dry-run") {
			cwd := h.cwd
			h.changeDir(gitPlace(x))
			h.trees(c, x.args.Operands)
			if h.cwd != "" && len(x.args.Operands) == 0 {
				h.trees(c, []string{h.cwd})
			}
			h.cwd = cwd
		}
		if len(x.words) > 1 && x.words[1] == "rm" && x.args.Has("-r") && !x.args.Has("--cached", "-n", "--dry-run") {
			cwd := h.cwd
			h.changeDir(gitPlace(x))
			for _, p := range x.args.Operands {
				if h.tree(p) == fatal {
					h.ask(c, "hard:remove", whyRemove)
				}
			}
			h.cwd = cwd
		}
		if len(x.words) > 2 && x.words[1] == "worktree" && x.words[2] == "remove" {
			h.trees(c, x.args.Operands)
		}
		if place := gitPlace(x); place[0] != "." && len(x.words) > 1 && (x.words[1] == "checkout" || x.words[1] == "reset" ||
			x.words[1] == "restore" || x.words[1] == "read-tree") {
			h.trees(c, place)
		}
	case "dpkg-divert":
		for _, p := range ops {
			if h.overwritten(p) != harmless || h.tree(p) == fatal {
				h.ask(c, "hard:remove", "it moves away what the machine needs")
			}
		}
	case "update-alternatives", "alternatives":
		h.alternative(c, x)
	case "cpio":
		if dir, ok := x.args.Get("-D", "--directory"); ok && x.args.Has("-i", "--extract") {
			h.over(c, dir)
		}
	case "tar", "bsdtar", "gtar":
		if file, ok := x.args.Get("-f", "--file"); ok && x.args.Has("-c", "-r", "-u", "--create", "--append", "--update") {
			h.target(c, file)
		}
		if x.args.Has("--remove-files") {
			cwd := h.cwd
			if dir, ok := x.args.Get("-C", "--directory"); ok {
				h.changeDir([]string{dir})
			}
			h.trees(c, ops)
			h.cwd = cwd
		}
		if dir, ok := x.args.Get("-C", "--directory"); ok && x.args.Has("-x", "--extract", "--get") {
			h.over(c, dir)
		}
	case "unzip":
		if dir, ok := x.args.Get("-d"); ok {
			h.over(c, dir)
		}
	case "dd", "dcfldd", "dc3dd":
		for _, a := range x.argv[1:] {
			key, p, _ := strings.Cut(a, "=")
			switch key {
			case "of", "wipe", "hof":
				if h.target(c, p); hasHole(p) && strings.IndexAny(p, holes) == 0 {
					h.ask(c, "hard:device", "what it overwrites is not known, and may be a disk")
				}
			}
		}
	case "userdel", "deluser":
		if x.args.Has("-r", "--remove", "--remove-home", "--remove-all-files") {
			h.ask(c, "hard:remove", "it removes a person's files")
		}
	case "tmux":
		h.terminals(c, x)
	case "7z", "7za", "7zz", "7zr":
		if slices.Contains(x.argv, "-sdel") && len(ops) > 1 {
			h.trees(c, ops[1:])
		}
	case "curl", "wget":
		h.downloaded(c, x)
	case "crontab":
		if x.args.Has("-r") {
			h.ask(c, "hard:remove", "it removes all of the user's jobs")
		}
		if h.fetched && !x.args.Has("-l", "-r") {
			h.ask(c, "unknown", "the jobs may be what another machine has sent")
		}
		if len(ops) > 0 && ops[0] != "-" && ops[0] != "/dev/stdin" && !x.args.Has("-l", "-r", "-e") {
			h.ask(c, "unknown", "it installs what runs later, and the file is not judged")
		}
	case "longterm":
		h.ownSettings(c, x)
	default:
		h.disks(c, x)
	}
	h.signals(c, x)
	h.gets(c, x)
	h.ownFiles(c, x)
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
	"losetup dmsetup qemu-system-x86_64 qemu-nbd testdisk photorec chmod chown chgrp ls ln stat file test [ echo printf " +
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
			h.ask(c, "hard:remove", whyPerhaps)
		case d == fatal: // a glob, or all that find has printed
			h.ask(c, "hard:remove", whyRemove)
		}
		if !deep && h.overwritten(p) == perhaps {
			h.ask(c, "hard:remove", h.whyNeeded(p))
		}
	}
}

// whyNeeded is why a file is not to go without asking.
func (fs *files) whyNeeded(p string) string {
	if fs.ownPlace(p) {
		return "it is one of longterm's own files"
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
			h.ask(c, "hard:remove", whyPerhaps)
		}
	}
}

// disks judges programs that make file systems and partitions.
func (h *hardRules) disks(c *Command, x *invocation) {
	ops, has := x.args.Operands, x.args.Has
	act := false
	switch x.name {
	case "flashrom":
		if has("-w", "--write", "-E", "--erase", "-r-x") {
			h.deny(c, "hard:device", "it overwrites the firmware without which the machine does not start", useDevice)
		}
		return
	case "flash_erase", "flashcp", "nandwrite", "sg_sanitize", "sg_write_same", "scrub", "nwipe", "fdformat",
		"growisofs", "cdrecord", "ddrescue", "dd_rescue":
		act = true
	case "debugfs":
		act = has("-w")
	case "zfs":
		if len(ops) > 0 && ops[0] == "destroy" {
			h.ask(c, "hard:device", "it destroys a file system")
		}
		return
	case "btrfs":
		if len(ops) > 1 && (ops[1] == "delete" || ops[1] == "remove") {
			h.trees(c, ops[2:])
		}
		return
	case "mke2fs", "mkswap", "mkdosfs", "newfs", "mkntfs", "mkreiserfs", "mkudffs", "newfs_apfs",
		"newfs_hfs", "bcachefs", "mkfs", "blkdiscard",
		"pvcreate", "pvremove", "sgdisk", "zpool", "diskutil", "sg_format", "shred", "cfdisk", "gdisk",
		"cgdisk":
		act = true
	case "wipefs":
		act = has("-a", "--all", "-o", "--offset", "-f", "--force")
	case "badblocks":
		act = has("-w", "-n")
	case "fdisk":
		act = !has("-l", "--list", "-x", "-s")
	case "sfdisk":
		act = !has("-l", "--list", "-d", "--dump", "-J", "--json", "-s", "-F", "-V")
	case "cryptsetup":
		act = len(ops) > 0 && (strings.HasPrefix(strings.ToLower(ops[0]), "luksformat") ||
			ops[0] == "erase" || ops[0] == "luksErase" ||
			ops[0] == "reencrypt" || ops[0] == "format")
	case "parted":
		for _, o := range ops {
			switch o {
			case "mklabel", "mktable", "rm", "mkpart", "resizepart", "mkpartfs":
				act = true
			}
		}
	case "hdparm":
		for _, o := range x.args.Options {
			act = act || strings.HasPrefix(o.Name, "--security-erase") || o.Name == "--trim-sector-ranges" ||
				o.Name == "--write-sector" ||
				o.Name == "--security-set-pass" || o.Name == "--yes-i-know-what-i-am-doing"
		}
	case "nvme":
		act = len(ops) > 0 && (ops[0] == "format" || ops[0] == "sanitize" || ops[0] == "write-zeroes" ||
			ops[0] == "delete-ns")
	case "mdadm":
		act = has("--zero-superblock", "--create", "-C", "--stop")
	case "vgremove", "lvremove", "dmsetup":
		if len(ops) > 0 && (x.name != "dmsetup" || strings.HasPrefix(ops[0], "remove") || ops[0] == "wipe_table") {
			h.ask(c, "hard:device", whyDevice)
		}
		return
	default:
		act = strings.HasPrefix(x.name, "mkfs.")
	}
	if !act {
		return
	}
	if (x.name == "zpool" || x.name == "diskutil" || x.name == "bcachefs") && len(ops) > 0 {
		switch strings.ToLower(ops[0]) {
		case "destroy", "labelclear", "erasedisk", "erasevolume", "zerodisk", "secureerase",
			"partitiondisk", "randomdisk", "format", "reformat",
			"deletevolume", "deletecontainer":
			h.deny(c, "hard:device", whyDevice, useDevice)
		}
	}
	if x.name == "ddrescue" || x.name == "dd_rescue" {
		ops = ops[min(1, len(ops)):] // it reads the first
	}
	for _, p := range ops {
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
	for _, o := range x.args.Options {
		if o.Has && h.device(o.Value) == fatal {
			h.deny(c, "hard:device", whyDevice, useDevice)
		}
	}
}
