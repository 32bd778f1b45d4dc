package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/pattern"
	"github.com/longterm-dev/longterm/session/policy/building"
	"github.com/longterm-dev/longterm/session/policy/programs"
)

// criticalFiles are files without which no user can log in or the machine does not start.
var criticalFiles = map[string]bool{"/etc/passwd": true, "/etc/shadow": true, "/etc/group": true,
	"/etc/sudoers": true, "/etc/fstab": true,
	"/etc/gshadow": true, "/bin/sh": true, "/bin/bash": true, "/etc/ld.so.preload": true, "/etc/ld.so.conf": true,
	"/proc/sysrq-trigger": true, "/etc/hosts": true, "/etc/resolv.conf": true, "/sbin/init": true,
	"/etc/crypttab": true, "/etc/sudoers.d": true, corePattern: true, "/proc/sys/kernel/modprobe": true,
	"/proc/sys/kernel/hotplug": true, "/proc/sys/kernel/poweroff_cmd": true, "/proc/sys/fs/binfmt_misc/register": true, "/sys/kernel/uevent_helper": true}

// essentials are programs required to log in, start programs or repair the system; basicLibraries are prefixes of
// libraries that nearly every program loads.
const (
	essentials = words("sh bash dash zsh busybox env sudo su login ls cp mv rm cat ln chmod chown mkdir mount umount tar gzip grep sed awk ps kill test " +
		"true false id stat systemctl init agetty apt apt-get dpkg rpm dnf yum pacman apk ip ssh sshd passwd")
	basicLibraries = words("libc.so libc-2 ld-linux ld-musl ld.so ld64.so libc.musl libpthread.so libdl.so libm.so libpam.so libcrypt.so libtinfo.so libselinux.so")
)

// isEssential reports whether a file is a program or library of the system without which the others do not start.
func isEssential(full string) bool {
	dir, base := path.Split(full)
	if strings.HasPrefix(dir, "/lib") || strings.HasPrefix(dir, "/usr/lib") {
		for begin := range strings.FieldsSeq(string(basicLibraries)) {
			if strings.HasPrefix(base, begin) || hasGlob(base) && globMatch(base, begin+".6") {
				return true
			}
		}
		return false
	}
	if dir == "/" && (strings.HasPrefix(base, "vmlinuz") || strings.HasPrefix(base, "initrd")) {
		return true
	}
	if !systemProgramDirs[dir] || strings.HasPrefix(dir, "/usr/local/") {
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

// corePattern sets what the kernel does with a crashed program's memory: write a file, or start a program.
const corePattern = "/proc/sys/kernel/core_pattern"

// namesProgram reports whether a kernel setting names a program that the kernel runs.
func namesProgram(setting, value string) bool {
	file := "/proc/sys/" + strings.ReplaceAll(strings.TrimSpace(setting), ".", "/")
	if file == corePattern {
		value = strings.TrimLeft(value, " \t'\"")
		return strings.HasPrefix(value, "|") || strings.IndexAny(value, holes) == 0
	}
	return criticalFiles[file]
}

// overwriteDanger judges a path that is written to, with and without its links resolved.
func (fs *files) overwriteDanger(p string) danger {
	if full, ok := fs.clean(p); ok {
		if led, _ := fs.globLinks(full, true); slices.ContainsFunc(led, func(to string) bool { return fs.overwriteDangerAt(to) != harmless }) {
			return perhaps
		}
		if to := fs.resolve(full); to != full {
			return max(fs.overwriteDangerAt(p), fs.overwriteDangerAt(to))
		}
	}
	return fs.overwriteDangerAt(p)
}

// overwriteDangerAt judges a path that is written to. It resolves no links.
func (fs *files) overwriteDangerAt(p string) danger {
	if d := fs.deviceDanger(p); d != harmless {
		return d
	}
	full, ok := fs.clean(p)
	if ok && hasGlob(full) {
		for file := range criticalFiles {
			if globMatch(full, file) {
				return perhaps
			}
		}
	}
	if ok && (criticalFiles[full] || isKernelFile(full) || strings.HasPrefix(full, "/boot/") || strings.HasPrefix(full, "/etc/sudoers.d/") || isEssential(full)) {
		return perhaps
	}
	if fs.isOwnFile(p) || strings.HasSuffix("/"+full, projectRules) || strings.HasSuffix(p, anyBelow) && fs.isFatal(p) ||
		ok && hasGlob(full) && fs.coversAll(full) {
		return perhaps
	}
	return harmless
}

// isFatal reports whether a path must not be removed, or may mean anything below such a path.
func (fs *files) isFatal(p string) bool {
	below, is := strings.CutSuffix(p, anyBelow)
	return fs.removalDanger(p) == fatal || is && (below == "/" || !strings.HasSuffix(below, "/")) && fs.removalDanger(below) == fatal
}

// coversAll reports whether a pattern covers all names in a directory that holds a home or the system: ~/*, ~/*/*.
func (fs *files) coversAll(full string) bool {
	dir := coveredDir(full)
	return dir != full && fs.pathDanger(dir) == fatal
}

// coveredDir returns the directory whose names a pattern covers, on one or more levels.
func coveredDir(full string) string {
	for coversEveryName(path.Base(full)) {
		full = path.Dir(full)
	}
	return full
}

// isKernelFile reports whether a file controls devices, the firmware or other processes.
func isKernelFile(full string) bool {
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

// commonOperands are vital files that nearly every program may get to read, and that are not critical for the machine.
var commonOperands = words("/etc/hosts /etc/resolv.conf /bin/sh /bin/bash /sbin/init")

// namedCriticalFile returns a vital file named anywhere in a text, or "".
func (fs *files) namedCriticalFile(text string) string {
	if !strings.Contains(text, "/") {
		return ""
	}
	for _, p := range building.Paths(separatePaths(text)) {
		if p = strings.TrimRight(p, "."); !strings.HasPrefix(p, "/") || commonOperands.has(p) || strings.HasPrefix(p, "/boot/") {
			continue
		}
		if full, ok := fs.clean(p); ok && (criticalFiles[full] || isKernelFile(full) || strings.HasPrefix(full, "/etc/sudoers.d/")) {
			return full
		}
	}
	return ""
}

// separatePaths replaces other languages' delimiters, which end a path but mean nothing to a shell, by blanks.
func separatePaths(text string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("{}[]`\\", r) {
			return ' '
		}
		return r
	}, text)
}

// criticalFileTools are programs that edit vital files safely, keep a copy of them, or only read them.
var criticalFileTools = words("visudo vipw vigr pwck grpck getent mount umount findmnt swapon swapoff lsattr getfacl namei systemd-analyze sshd passwd setfacl ldconfig " +
	"logrotate chsh usermod useradd cryptsetup etckeeper auditctl aide tripwire debsums rdfind sysctl dd lsof fuser")

// judgeCriticalArguments requires approval for a vital file as argument of a program that may change it.
func (h *hardRules) judgeCriticalArguments(c *Command, x *invocation) {
	if c.Verdict != Allow || textPrograms.has(x.name) && x.name != "curl" || targetWriters.has(x.name) || criticalFileTools.has(x.name) || watchPrograms.has(x.name) ||
		fullScreenPrograms.has(x.name) || messagePrograms.has(x.name) {
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
		if !strings.Contains(a, "/") || textOptions.has(x.argv[i]) || !sentences && strings.ContainsAny(a, " \t\n") {
			continue
		}
		if file := h.namedCriticalFile(a); file != "" {
			h.ask(c, "hard:overwrite", "it may change "+file+", which the machine needs")
			return
		}
	}
}

var (
	// changeParts are parts of the words by which code changes files.
	changeParts = [...]string{"rite", "truncate", "unlink", "emove", "rename", "os.replace(", "copy", "move", "spit ", "spurt", "save", "elete", "put_contents", "outfile",
		"dumpfile", "o_wronly", "o_rdwr", "lo_export", "vacuum", ".out", ".once", ".backup", ".clone", ".log /", "capture", "logging", "dump ", "core-file",
		"get ", "set output", "set print", "w! ", "w /", "wq ", "tee ", "mail(", "cp(", "mv(", "attach"}
	// openModes matches modes of open that write, and redirections.
	openModes = pattern.Lazy(`["'][waxr]b?\+?[bt]?["']|>>?\s*["']?/(?:etc|proc|sys)/|\bto\s+["']/`)
	// movesTree matches calls that move a directory.
	movesTree = pattern.Lazy(`\b(?:rename|move|mv)\w*\s*\(?\s*["']([^"']+)["']`)
	// harmlessWrites look like changeParts and change no file.
	harmlessWrites = [...]string{"stdout.write", "stderr.write", `"r"`, "'r'", `"rb"`, "'rb'"}
)

// localDatabases are clients of a database that is a file; another rule judges that.
const localDatabases = words("sqlite3 duckdb osqueryi")

// dropsTables matches SQL that destroys a table, or more.
var dropsTables = pattern.Lazy(`(?i)\b(drop\s+(table|database|schema|keyspace|tablespace)|truncate\s+(table\s+)?[\w."` + "`" + `]+)`)

// judgeCriticalInCode requires approval for code that names a vital file and has words that change files.
func (cr *codeReader) judgeCriticalInCode(lang, text string, x *invocation) {
	if lang == "sql" && !localDatabases.has(x.name) && dropsTables.MatchString(text) {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:elsewhere", "it destroys tables of a database")
		cr.record(c)
	}
	if cr.engine.preset == Off || !strings.Contains(text, "/") {
		return
	}
	lower := strings.ToLower(text)
	for _, sink := range harmlessWrites {
		lower = strings.ReplaceAll(lower, sink, "")
	}
	if strings.Contains(lower, "move") || strings.Contains(lower, "rename") || strings.Contains(lower, "mv") {
		for _, m := range movesTree.FindAllStringSubmatch(text, maxCalls) {
			if cr.removalDanger(m[1]) == fatal {
				c := Command{Argv: x.argv}
				cr.ask(&c, "hard:remove", "it moves the system or a user's files away")
				cr.record(c)
			}
		}
	}
	changes := contains(lower, changeParts[:]) || lang != "awk" && openModes.MatchString(lower)
	if lang == "awk" && !changes && strings.Contains(text, ">") {
		bare, ok := bareAwk(text)
		changes = !ok || awkPrintsTo(bare)
	}
	if !changes {
		return
	}
	for _, p := range devicePath.FindAllString(text, 20) {
		if (lang == "vim" || lang == "sql" || lang == "console") && cr.deviceDanger(p) == fatal {
			cr.unknown(x.argv, "it may write over a disk")
		}
	}
	if file := cr.namedCriticalFile(text); file != "" {
		c := Command{Argv: x.argv}
		cr.ask(&c, "hard:overwrite", "its code may change "+file+", which the machine needs")
		cr.record(c)
	}
}

// sharedDirs are directories whose permissions all users depend on.
var sharedDirs = words("/ /bin /boot /dev /etc /home /lib /lib64 /proc /root /run /sbin /sys /usr /usr/bin /usr/lib /usr/sbin /var")

// judgePermissions requires approval for changed permissions of a system directory, or of everything in it.
func (h *hardRules) judgePermissions(c *Command, paths []string) {
	for _, p := range paths {
		full, ok := h.clean(p)
		if ok {
			full = h.resolve(full)
		}
		if ok && (sharedDirs.has(full) || criticalFiles[full] || isEssential(full) || hasGlob(full) && h.removalDanger(p) == fatal) {
			h.ask(c, "hard:system", whyRights)
		}
	}
}
