package policy

import (
	"path"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// vital are files without which no user can log in or the machine does not start.
var vital = map[string]bool{"/etc/passwd": true, "/etc/shadow": true, "/etc/group": true,
	"/etc/sudoers": true, "/etc/fstab": true,
	"/etc/gshadow": true, "/bin/sh": true, "/bin/bash": true, "/etc/ld.so.preload": true, "/etc/ld.so.conf": true,
	"/proc/sysrq-trigger": true, "/etc/hosts": true, "/etc/resolv.conf": true, "/sbin/init": true,
	"/etc/crypttab": true, "/etc/sudoers.d": true, corePattern: true, "/proc/sys/kernel/modprobe": true,
	"/proc/sys/kernel/hotplug": true, "/proc/sys/kernel/poweroff_cmd": true, "/proc/sys/fs/binfmt_misc/register": true, "/sys/kernel/uevent_helper": true}

// essentials are programs without which nobody logs in, starts another or mends what is broken; loaded begin the names of the
// libraries that nearly every program loads.
const (
	essentials = words("sh bash dash zsh busybox env sudo su login ls cp mv rm cat ln chmod chown mkdir mount umount tar gzip grep sed awk ps kill test " +
		"true false id stat systemctl init agetty apt apt-get dpkg rpm dnf yum pacman apk ip ssh sshd passwd")
	loaded = words("libc.so libc-2 ld-linux ld-musl ld.so ld64.so libc.musl libpthread.so libdl.so libm.so libpam.so libcrypt.so libtinfo.so libselinux.so")
)

// allNeed reports a program or library of the system without which the others do not start.
func allNeed(full string) bool {
	dir, base := path.Split(full)
	if strings.HasPrefix(dir, "/lib") || strings.HasPrefix(dir, "/usr/lib") {
		for begin := range strings.FieldsSeq(string(loaded)) {
			if strings.HasPrefix(base, begin) || hasGlob(base) && globMatch(base, begin+".6") {
				return true
			}
		}
		return false
	}
	if dir == "/" && (strings.HasPrefix(base, "vmlinuz") || strings.HasPrefix(base, "initrd")) {
		return true
	}
	if !systemPlaces[dir] || strings.HasPrefix(dir, "/usr/local/") {
		return false
	}
	if !hasGlob(base) {
		return essentials.has(base)
	}
	for name := range strings.FieldsSeq(string(essentials)) {
		if globMatch(base, name) {
			return true
		}
	}
	return false
}

// corePattern says what the kernel does with the memory of a program that fails: writes a file, or starts a program.
const corePattern = "/proc/sys/kernel/core_pattern"

// namesProgram reports settings of the kernel's that name a program which it runs.
func namesProgram(setting, value string) bool {
	file := "/proc/sys/" + strings.ReplaceAll(strings.TrimSpace(setting), ".", "/")
	if file == corePattern {
		value = strings.TrimLeft(value, " \t'\"")
		return strings.HasPrefix(value, "|") || strings.IndexAny(value, holes) == 0
	}
	return vital[file]
}

// overwritten judges a path that is written to, with and without its links resolved.
func (fs *files) overwritten(p string) danger {
	if full, ok := fs.clean(p); ok && fs.real != nil {
		if to := fs.leadsTo(full); to != full {
			return max(fs.writtenAt(p), fs.writtenAt(to))
		}
	}
	return fs.writtenAt(p)
}

// writtenAt judges a path that is written to. It resolves no links.
func (fs *files) writtenAt(p string) danger {
	if d := fs.device(p); d != harmless {
		return d
	}
	full, ok := fs.clean(p)
	if ok && hasGlob(full) {
		for file := range vital {
			if globMatch(full, file) {
				return perhaps
			}
		}
	}
	if ok && (vital[full] || ofTheKernel(full) || strings.HasPrefix(full, "/boot/") || strings.HasPrefix(full, "/etc/sudoers.d/") || allNeed(full)) {
		return perhaps
	}
	if fs.ownPlace(p) || strings.HasSuffix("/"+full, projectRules) || strings.HasSuffix(p, anyBelow) && fs.isFatal(p) ||
		ok && hasGlob(full) && fs.coversAll(full) {
		return perhaps
	}
	return harmless
}

// isFatal reports a path that nobody removes, or what may be anything below it.
func (fs *files) isFatal(p string) bool {
	below, is := strings.CutSuffix(p, anyBelow)
	return fs.tree(p) == fatal || is && (below == "/" || !strings.HasSuffix(below, "/")) && fs.tree(below) == fatal
}

// coversAll reports whether a pattern covers all names in a directory that holds a home or the system: ~/*, ~/*/*.
func (fs *files) coversAll(full string) bool {
	dir := full
	for covers(path.Base(dir)) {
		dir = path.Dir(dir)
	}
	return dir != full && fs.protected(dir) == fatal
}

// ofTheKernel reports files by which devices go, the firmware changes, or another process does something else.
func ofTheKernel(full string) bool {
	for _, begin := range []string{"/sys/firmware/", "/dev/watchdog", "/dev/rtc", "/dev/efi_capsule_loader", "/dev/tpm", "/dev/cpu/"} {
		if strings.HasPrefix(full, begin) {
			return true
		}
	}
	below, process := strings.CutPrefix(full, "/proc/")
	if _, file, deeper := strings.Cut(below, "/"); process && deeper && (file == "mem" || strings.HasPrefix(file, "task/") && strings.HasSuffix(file, "/mem")) {
		return true
	}
	if !strings.HasPrefix(full, "/sys/") {
		return false
	}
	switch path.Base(full) { // switches of devices by which they are taken away from the kernel
	case "delete", "state":
		return strings.HasSuffix(path.Dir(full), "/device")
	case "remove", "reset", "unbind":
		return strings.Contains(full, "/pci") || strings.Contains(full, "/drivers/")
	}
	return false
}

// readToo are files that nearly every program may be given to read, and that are not what a machine stands or falls with.
var readToo = words("/etc/hosts /etc/resolv.conf /bin/sh /bin/bash /sbin/init")

// names returns a vital file that a text names, wherever it stands in it; empty: none.
func (fs *files) names(text string) string {
	if !strings.Contains(text, "/") {
		return ""
	}
	for _, p := range building.Paths(aroundPaths(text)) {
		if p = strings.TrimRight(p, "."); !strings.HasPrefix(p, "/") || readToo.has(p) || strings.HasPrefix(p, "/boot/") {
			continue
		}
		if full, ok := fs.clean(p); ok && (vital[full] || ofTheKernel(full) || strings.HasPrefix(full, "/etc/sudoers.d/")) {
			return full
		}
	}
	return ""
}

// aroundPaths puts blanks in the place of signs of other languages that end a path, of which a shell knows nothing.
func aroundPaths(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}[]`\\", r) {
			return ' '
		}
		return r
	}, text)
}

// knowThem are programs that are there for such files, or keep a copy of them, or look at them.
var knowThem = words("visudo vipw vigr pwck grpck getent mount umount findmnt swapon swapoff lsattr getfacl namei systemd-analyze sshd passwd setfacl ldconfig " +
	"logrotate chsh usermod useradd cryptsetup etckeeper auditctl aide tripwire debsums rdfind sysctl dd lsof fuser")

// handsOver asks about a vital file in the hands of a program that is not known to leave it as it is.
func (h *hardRules) handsOver(c *Command, x *invocation) {
	if c.Verdict != Allow || textual.has(x.name) && x.name != "curl" || copying.has(x.name) || knowThem.has(x.name) || watchers.has(x.name) ||
		screens.has(x.name) || messages.has(x.name) {
		return
	}
	sentences := false
	if row := x.row; row != nil {
		if reads, _ := row.ReadsOnly(&x.args); reads || row.Lang != "" && row.Lang != "console" || row.Run != programs.RunNothing && row.Run != programs.RunPerhaps {
			return
		}
		sentences = row.Run == programs.RunPerhaps
	}
	for i, a := range x.argv[1:] {
		if !strings.Contains(a, "/") || prose.has(x.argv[i]) || !sentences && strings.ContainsAny(a, " \t\n") {
			continue
		}
		if file := h.names(a); file != "" {
			h.ask(c, "hard:overwrite", "it may change "+file+", which the machine needs")
			return
		}
	}
}

var (
	changing = [...]string{"rite", "truncate", "unlink", "emove", "rename", "os.replace(", "copy", "move", "spit ", "spurt", "save", "elete", "put_contents", "outfile",
		"dumpfile", "o_wronly", "o_rdwr", "lo_export", "vacuum", ".out", ".once", ".backup", ".clone", ".log /", "capture", "logging", "dump ", "core-file",
		"get ", "set output", "set print", "w! ", "w /", "wq ", "tee ", "mail(", "cp(", "mv(", "attach"}
	opensThem  = pattern.Lazy(`["'][waxr]b?\+?[bt]?["']|>>?\s*["']?/(?:etc|proc|sys)/|\bto\s+["']/`)
	movesTree  = pattern.Lazy(`\b(?:rename|move|mv)\w*\s*\(?\s*["']([^"']+)["']`)
	otherSinks = [...]string{"stdout.write", "stderr.write", `"r"`, "'r'", `"rb"`, "'rb'"} // what looks so, and changes no file
)

// changesVital asks about code that names a file without which the machine does not work, and has words by which files are changed.
func (cr *codeReader) changesVital(lang, text string, x *invocation) {
	if cr.engine.preset == Off || !strings.Contains(text, "/") {
		return
	}
	lower := strings.ToLower(text)
	for _, sink := range otherSinks {
		lower = strings.ReplaceAll(lower, sink, "")
	}
	if strings.Contains(lower, "move") || strings.Contains(lower, "rename") || strings.Contains(lower, "mv") {
		for _, m := range movesTree.FindAllStringSubmatch(text, maxCalls) {
			if cr.tree(m[1]) == fatal {
				c := Command{Argv: x.argv}
				cr.ask(&c, "hard:remove", "it moves the system or a person's files away")
				cr.record(c)
			}
		}
	}
	changes := contains(lower, changing[:]) || lang != "awk" && opensThem.MatchString(lower)
	if lang == "awk" && !changes && strings.Contains(text, ">") {
		bare, ok := bareAwk(text)
		changes = !ok || awkPrintsTo(bare)
	}
	if !changes {
		return
	}
	for _, p := range devicePath.FindAllString(text, 20) {
		if (lang == "vim" || lang == "sql" || lang == "console") && cr.device(p) == fatal {
			cr.unknown(x.argv, "it may write over a disk")
		}
	}
	if file := cr.names(text); file != "" {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:overwrite", "its code may change "+file+", which the machine needs")
		cr.record(c)
	}
}

// needed are directories whose rights everybody depends on.
var needed = words("/ /bin /boot /dev /etc /home /lib /lib64 /proc /root /run /sbin /sys /usr /usr/bin /usr/lib /usr/sbin /var")

// rights asks about those of a directory of the system itself, or of all that is in it.
func (h *hardRules) rights(c *Command, paths []string) {
	for _, p := range paths {
		if full, ok := h.clean(p); ok && (needed.has(full) || vital[full] || allNeed(full) || hasGlob(full) && h.tree(p) == fatal) {
			h.ask(c, "hard:system", whyRights)
		}
	}
}
