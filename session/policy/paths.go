package policy

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Marks in expanded words, for parts unknown before the line runs. No line contains them literally: a line with such
// bytes needs approval unparsed.
const (
	hole     = "\x01" // any text, also empty, perhaps several words
	someText = "\x02" // any text in one word, also empty
	notEmpty = "\x03" // at least one character, in one word
	globStar = "\x04" // *
	globOne  = "\x05" // ? or […]

	holes = hole + someText + notEmpty
	globs = globStar + globOne

	anyBelow = someText + someText // behind a path: the path itself or a path below it, also in quotes
)

// displayMarks replaces marks for display.
var displayMarks = strings.NewReplacer(hole, "…", someText, "…", notEmpty, "…", globStar, "*", globOne, "?")

// joinWords returns words as text for display.
func joinWords(argv []string) string { return displayMarks.Replace(strings.Join(argv, " ")) }

// hasHole reports whether a word has an unknown part.
func hasHole(s string) bool { return strings.ContainsAny(s, holes) }

// hasGlob reports whether a word has a glob.
func hasGlob(s string) bool { return strings.ContainsAny(s, globs) }

// files resolves the paths that a line names. It knows the working directory, the home, and the files that the line
// itself creates.
type files struct {
	engine     *Engine
	cwd        string
	root       string // directory in which the line was given
	home       string
	disk       Disk                   // resolves links and lists directories; may be nil
	account    string                 // the account's home, where home is another
	installed  bool                   // root put the executed file into a package directory
	unknownDir bool                   // the line changed to a directory that is not known
	created    map[string]createdFile // files that the line creates, by their clean path
	pipes      map[string]string      // texts of process substitutions, by their names
}

// danger rates the removal or overwriting of a path.
type danger uint8

const (
	harmless danger = iota
	perhaps         // it may be fatal: a part of the path is unknown
	fatal           // the system or a user's home
)

// systemDirs holds vital directories and directories with all users' files.
var systemDirs = map[string]bool{"/": true, "/bin": true, "/boot": true, "/dev": true, "/etc": true,
	"/home": true, "/lib": true,
	"/lib32": true, "/lib64": true, "/libx32": true, "/opt": true, "/proc": true, "/root": true,
	"/run": true, "/sbin": true,
	"/srv": true, "/sys": true, "/usr": true, "/var": true, "/usr/bin": true, "/usr/lib": true, "/usr/lib64": true,
	"/usr/sbin": true, "/usr/share": true, "/usr/local": true, "/var/lib": true, "/var/log": true,
	"/usr/include": true,
	"/System":      true, "/Library": true, "/Applications": true, "/Users": true, "/Volumes": true,
	"/private": true, "/cores": true,
	"/private/etc": true, "/private/var": true, "/nix": true, "/nix/store": true, "/mnt": true,
	"/media": true, "/data": true,
	"/lost+found": true, "/snap": true, "/etc/ssh": true, "/etc/systemd": true, "/mnt/c": true, "/c": true,
	"/cygdrive/c": true}

// procDir has a directory for each process, by its PID.
const procDir = "/proc"

// notProjects are prefixes of directories that are never a project.
var notProjects = []string{"/bin/", "/boot/", "/dev/", "/etc/", "/lib", "/opt/", "/proc/", "/run/", "/sbin/", "/snap/", "/sys/", "/usr/"}

// ProtectedDirs returns the directories that must not be removed with their content: the system's, and a home.
func ProtectedDirs(home string) []string {
	all := slices.Sorted(maps.Keys(systemDirs))
	if home != "" {
		all = append(all, home)
	}
	return all
}

// removalDanger rates the removal of a path with all below it.
func (fs *files) removalDanger(p string) danger {
	if strings.Trim(p, holes) == "" && p != "" || strings.Trim(p, hole+someText+globs) == "" && hasHole(p) {
		return perhaps
	}
	full, ok := fs.clean(p)
	d := harmless
	if at, is := fs.createdKey(p); is && len(fs.created) > 0 {
		switch to := fs.followLinks(at, namesDirectory(p)); {
		case to == at:
		case isSomewhere(to) || hasHole(to) && !hasHole(p):
			return perhaps // it lies over another place, which is not known
		default:
			full, ok = to, true
		}
	}
	if ok {
		d = fs.pathDanger(full)
		if to := fs.resolvedEntry(p, full); to != full {
			d = max(d, fs.pathDanger(to))
		}
		led, _ := fs.globLinks(full, namesDirectory(p))
		for _, to := range led {
			d = max(d, fs.pathDanger(to))
		}
	} else if fs.unknownDir && strings.Trim(p, "./"+globs) == "" {
		return perhaps
	} else if full == ".." || strings.HasPrefix(full, "../../../") || strings.HasSuffix(full, "/..") {
		d = perhaps
	} else if full == "." || full == globStar {
		return harmless
	}
	if !hasHole(p) {
		return d
	}
	if strings.HasPrefix(p, ownDir) {
		return perhaps
	}
	// Unknown parts may be empty: then "$DIR/" is the root.
	without := strings.NewReplacer(hole, "", someText, "", notEmpty, "x").Replace(p)
	if full, ok := fs.clean(without); ok && (fs.pathDanger(full) != harmless || namesDirectory(without) && fs.pathDanger(fs.resolve(full)) != harmless) {
		return perhaps
	}
	if d == fatal {
		return perhaps
	}
	return d
}

// pathDanger rates the removal of a clean absolute path.
func (fs *files) pathDanger(full string) danger {
	if fs.holdsHome(full) || systemDirs[full] {
		return fatal
	}
	dir, last := path.Split(full)
	dir = strings.TrimSuffix(dir, "/")
	if dir == "" {
		dir = "/"
	}
	homes := dir == "/home" || dir == "/Users"
	switch {
	case coversEveryName(last) && (systemDirs[dir] && !strings.HasPrefix(dir, "/mnt") || dir == fs.home):
		return fatal // everything in a protected directory
	case coversEveryName(last) && (path.Dir(dir) == "/home" || path.Dir(dir) == "/Users"):
		return fatal
	case homes && !coversEveryName(last):
		return fatal
	case strings.HasPrefix(full, "/dev/") && isBlockDevice(full):
		return fatal
	case strings.HasPrefix(full, "/proc/") || strings.HasPrefix(full, "/sys/firmware") ||
		strings.HasPrefix(full, "/boot/"):
		return perhaps
	case hasGlob(full):
		for d := range systemDirs {
			if d != "/" && globMatch(full, d) {
				return fatal
			}
		}
		for dir := fs.home; len(dir) > 1; dir = path.Dir(dir) {
			if globMatch(full, dir) {
				return fatal
			}
		}
	}
	if isOwnState(full, fs.home) || fs.engine.owns(full) || fs.engine.containsOwn(full) {
		return fatal
	}
	if isServiceData(full) || fs.isOtherHome(full) || fs.isValuable(full) {
		return perhaps
	}
	return harmless
}

// serviceData are directories of /var/lib whose data exists nowhere else.
const serviceData = words("apt containerd dpkg docker elasticsearch etcd grafana influxdb kubelet libvirt lxc lxd machines mariadb mongodb mongo mysql neo4j pacman " +
	"pgsql postgres postgresql prometheus rabbitmq redis rpm samba systemd vault")

// isServiceData reports whether a path holds all data of a service, or the libraries of the system.
func isServiceData(full string) bool {
	if coversEveryName(path.Base(full)) {
		full = path.Dir(full)
	}
	if name, is := strings.CutPrefix(full, "/var/lib/"); is {
		return serviceData.has(name)
	}
	name, is := strings.CutPrefix(strings.TrimPrefix(full, "/usr"), "/lib/")
	return is && !strings.Contains(name, "/") && (name == "systemd" || name == "modules" || strings.HasSuffix(name, "-linux-gnu") || strings.HasSuffix(name, "-linux-gnueabihf"))
}

// configDirs are directories required to start the system, log in or use the network; personalDirs are those of a home
// with irreplaceable files.
const (
	configDirs = words("/etc/NetworkManager /etc/apt /etc/default /etc/init.d /etc/netplan /etc/network /etc/pam.d /etc/rc.d /etc/security /etc/ssl /etc/ssl/certs " +
		"/etc/sudoers.d /etc/sysconfig /etc/yum.repos.d /usr/lib/python3 /var/backups /var/mail /var/spool /var/spool/cron /var/spool/mail /var/www")
	personalDirs = words(".aws .kube .mail .mozilla .password-store .thunderbird Desktop Documents Library Mail Maildir Movies Music Pictures Photos Videos")
)

// isValuable reports whether a path is such a directory, all its content, or a pattern that includes it.
func (fs *files) isValuable(full string) bool {
	_, last := path.Split(full)
	dir := path.Dir(full)
	if coversEveryName(last) {
		if path.Dir(dir) == "/media" || path.Dir(dir) == "/run/media" { // all that a user has plugged in
			return true
		}
		full = dir
		dir, last = path.Dir(full), path.Base(full)
	}
	if configDirs.has(full) || strings.HasPrefix(full, "/usr/lib/python3") && strings.Count(full, "/") == 3 {
		return true
	}
	if dir != fs.home && !globMatch(dir, fs.home) {
		return false
	}
	if !hasGlob(last) {
		return personalDirs.has(last)
	}
	for name := range strings.FieldsSeq(string(personalDirs)) {
		if globMatch(last, name) {
			return true
		}
	}
	return false
}

// isOtherHome reports whether a path is the home of another user outside of /home: /export/home/x, /var/home/x,
// /nfs/homes/x.
func (fs *files) isOtherHome(full string) bool {
	if coversEveryName(path.Base(full)) {
		full = path.Dir(full)
	}
	dir, last := path.Split(full)
	dir = strings.TrimSuffix(dir, "/")
	switch {
	case last == "" || strings.Count(dir, "/") > 3 || strings.HasPrefix(full, "/tmp/") || strings.HasPrefix(full, "/var/tmp/"):
		return false
	case strings.HasPrefix(full, strings.TrimSuffix(fs.home, "/")+"/") || fs.isProject(fs.root) && strings.HasPrefix(full, fs.root+"/"):
		return false
	}
	if isHomes := func(name string) bool { return name == "home" || name == "homes" || name == "Users" }; isHomes(last) || isHomes(path.Base(dir)) {
		return strings.Count(full, "/") > 1
	}
	return path.Dir(fs.home) == dir && dir != "/" // next to the user's own
}

// holdsHome reports whether a path is the home, or contains it: homes are not always in /home.
func (fs *files) holdsHome(full string) bool {
	below, is := strings.CutPrefix(fs.home, full)
	return is && (below == "" || below[0] == '/')
}

// owns reports whether a path is one of longterm's own, or below one.
func (e *Engine) owns(full string) bool {
	return slices.ContainsFunc(e.own, func(p string) bool { return full == p || strings.HasPrefix(full, p+"/") })
}

// containsOwn reports whether one of longterm's own paths is below a path.
func (e *Engine) containsOwn(full string) bool {
	return slices.ContainsFunc(e.own, func(p string) bool { return strings.HasPrefix(p, full+"/") })
}

// projectRules is the end of the path of a project's rule file.
const projectRules = "/.longterm/policy.toml"

// isOwnState reports whether a path holds longterm's own sessions and settings.
func isOwnState(full, home string) bool {
	for _, d := range []string{"/.local/share/longterm", "/.local/state/longterm", "/.config/longterm",
		"/Library/Application Support/longterm", "/.local/share", "/.config", "/.local", "/.ssh", "/.gnupg"} {
		if full == home+d || strings.HasPrefix(full, home+d+"/") && strings.HasSuffix(d, "longterm") {
			return true
		}
	}
	return false
}

// coversEveryName reports whether a glob matches every name, or nearly so: *, .*, [a-z]*.
func coversEveryName(name string) bool {
	return strings.Contains(name, globStar) && strings.Trim(name, globs+".{},") == "" || name == globOne+globStar
}

// clean makes p absolute and clean, as programs read it. It returns false if that is not possible.
func (fs *files) clean(p string) (string, bool) {
	full, ok := fs.absolute(p)
	switch {
	case p == "":
		return "", false
	case !ok:
		return path.Clean(p), false
	}
	return stripProcRoot(path.Clean(fs.leaveLinks(full))), true
}

// absolute joins a path with the working directory. It returns false if the result is unknown.
func (fs *files) absolute(p string) (string, bool) {
	switch {
	case strings.HasPrefix(p, "/"):
		return p, true
	case fs.cwd == "" || hasHole(fs.cwd) || hasHole(p) && strings.IndexAny(p, holes) == 0:
		return p, false
	}
	return fs.cwd + "/" + p, true
}

// leaveLinks returns an absolute path in which ".." after a link leads to the directory above the link's target, as it does for programs.
func (fs *files) leaveLinks(p string) string {
	if fs.disk == nil || !strings.Contains(p, "/..") {
		return p
	}
	at := "/"
	for name := range strings.SplitSeq(p, "/") {
		if name == ".." && !strings.ContainsAny(at, holes+globs) {
			if to := fs.resolve(at); path.Dir(to) != fs.resolve(path.Dir(at)) {
				at = to
			}
		}
		at = path.Join(at, name)
	}
	return at
}

// stripProcRoot returns a clean path without aliases of the root through a process: /proc/self/root/etc is /etc.
func stripProcRoot(p string) string {
	for {
		below, is := strings.CutPrefix(p, "/proc/")
		who, rest, deeper := strings.Cut(below, "/")
		if !is || !deeper || rest != "root" && !strings.HasPrefix(rest, "root/") ||
			who != "self" && who != "thread-self" && strings.Trim(who, "0123456789"+holes) != "" {
			return p
		}
		if p = strings.TrimPrefix(rest, "root"); p == "" {
			return "/"
		}
	}
}

// globMatch matches a path with marks for globs against a known one, component by component.
func globMatch(pattern, name string) bool {
	ps, ns := strings.Split(pattern, "/"), strings.Split(name, "/")
	if len(ps) != len(ns) || strings.ContainsAny(pattern, holes) {
		return false
	}
	pattern = strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(pattern)
	pattern = strings.NewReplacer(globStar, "*", globOne, "?").Replace(pattern)
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// harmlessDevices may be written to.
var harmlessDevices = []string{"null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout",
	"stderr", "fd", "pts", "shm",
	"ptmx", "console", "tcp", "udp", "log", "mqueue", "char", "kmsg", "input", "snd", "net", "bus", "usb",
	"dri", "video", "hidraw", "vcs"}

// diskNames are prefixes of the names of disks.
var diskNames = []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "mapper", "disk", "rdisk",
	"loop", "nbd", "sr", "ram",
	"zram", "mem", "kmem", "port", "nvd", "ada", "da", "bcache", "drbd", "rbd", "pmem", "root", "block",
	"sg", "mtd", "ubi", "cciss", "dasd",
	"fd0", "st0", "raw", "vg", "zd", "zvol"}

// isBlockDevice reports whether a clean absolute path names a disk.
func isBlockDevice(full string) bool {
	name, ok := strings.CutPrefix(full, "/dev/")
	if !ok {
		return strings.HasPrefix(full, `\\.\PhysicalDrive`)
	}
	for _, d := range diskNames {
		if strings.HasPrefix(name, d) {
			return true
		}
	}
	return false
}

// deviceDanger rates a write to a path as a device.
func (fs *files) deviceDanger(p string) danger {
	full, ok := fs.clean(p)
	if at, is := fs.createdKey(p); is && len(fs.created) > 0 {
		to := fs.followLinks(at, true)
		if to == somewhere {
			return perhaps
		}
		if to != at {
			full, ok = to, true
		}
	}
	if !ok {
		return harmless
	}
	if isBlockDevice(full) {
		return fatal
	}
	if strings.HasPrefix(full, "/dev/") {
		for _, d := range harmlessDevices {
			if strings.HasPrefix(full, "/dev/"+d) {
				return harmless
			}
		}
		if hasHole(full) || hasGlob(full) {
			return perhaps
		}
	}
	return harmless
}

// isSecret reports whether a path usually holds passwords, keys or the environment of a process.
func (fs *files) isSecret(p string) bool {
	p = strings.TrimPrefix(p, "file://")
	full, _ := fs.clean(p)
	base := path.Base(full)
	if hasGlob(full) {
		for _, s := range secretPlaces {
			if globMatch(full, fs.home+s) {
				return true
			}
		}
	}
	switch {
	case (base == "secrets.json" || base == "secrets.key" || base == "longterm.db") && fs.isOwnFile(p),
		strings.Contains(full, "/.ssh/") && !strings.HasSuffix(full, ".pub") && base != "known_hosts" &&
			base != "config",
		strings.Contains(full, "/.gnupg"), strings.Contains(full, "/.aws/"), strings.Contains(full, "/.kube/"),
		strings.Contains(full, "/.docker/config"), strings.Contains(full, "/.config/gh/"),
		strings.Contains(full, "/.password-store"),
		strings.HasPrefix(full, "/etc/shadow"), strings.HasPrefix(full, "/etc/gshadow"),
		strings.HasPrefix(full, "/etc/sudoers"),
		strings.HasPrefix(full, "/etc/ssl/private"), strings.HasPrefix(full, "/etc/ssh/ssh_host"),
		strings.HasPrefix(full, "/proc/") && (base == "environ" || base == "mem" || hasGlob(base)),
		strings.HasPrefix(full, "/dev/") && isBlockDevice(full):
		return true
	}
	switch base {
	case ".env", ".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".git-credentials",
		"id_rsa", "id_ed25519", "id_ecdsa",
		"id_dsa", ".vault-token", "credentials", ".htpasswd", ".bash_history", ".zsh_history",
		"credentials.json", "service-account.json":
		return true
	}
	return strings.HasPrefix(base, ".env.") && base != ".env.example" && base != ".env.sample" ||
		strings.HasSuffix(base, ".pem") ||
		strings.HasSuffix(base, ".key") && strings.Contains(full, "private") || strings.HasSuffix(base, ".kdbx")
}

// secretPlaces are files of a home that a glob may name.
var secretPlaces = []string{"/.ssh/id_rsa", "/.ssh/id_ed25519", "/.aws/credentials", "/.gnupg/secring.gpg", "/.netrc",
	"/.kube/config", "/.docker/config.json", "/.git-credentials", "/.bash_history", "/.config/gh/hosts.yml", "/.env"}

// InRoots reports whether dir lies in one of roots, compared by path component: /proj-evil is not in /proj. Both must
// be absolute, with symbolic links resolved by the caller. No roots are no limit.
//
// This limits where a command starts. It does not limit what the command does: cd and absolute paths lead out. Rules
// and the sandbox limit that.
func InRoots(dir string, roots []string) bool {
	if len(roots) == 0 {
		return true
	}
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return false
	}
	dir = filepath.Clean(dir)
	for _, root := range roots {
		if !filepath.IsAbs(root) {
			continue
		}
		rest, err := filepath.Rel(filepath.Clean(root), dir)
		if err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// isStdin reports whether an operand means standard input.
func isStdin(operand string) bool {
	switch operand {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}

// isDescriptor reports whether an operand is an open file by its number.
func isDescriptor(operand string) bool {
	return strings.HasPrefix(operand, "/dev/fd/") || strings.HasPrefix(operand, "/proc/self/fd/")
}

// A name may be a link that an archive or a clone contained. The engine reads no files, so its caller resolves links.

// resolvedPath returns a clean path with links resolved in its longest part without marks.
func (fs *files) resolvedPath(full string) string {
	if fs.disk == nil || !strings.HasPrefix(full, "/") {
		return full
	}
	at := strings.IndexAny(full, holes+globs)
	if at < 0 {
		return fs.disk.Resolve(full)
	}
	at = strings.LastIndexByte(full[:at], '/')
	return path.Join(fs.disk.Resolve(full[:max(at, 1)]), full[at:])
}

// resolvedEntry returns a clean path with links resolved except in its last name: the entry that rm and mv change.
func (fs *files) resolvedEntry(p, full string) string {
	if fs.disk == nil || namesDirectory(p) {
		return fs.resolvedPath(full)
	}
	return path.Join(fs.resolvedPath(path.Dir(full)), path.Base(full))
}

// namesDirectory reports whether a word is a directory and never a link to it: x/, . and x/..
func namesDirectory(p string) bool {
	last := p[strings.LastIndexByte(p, '/')+1:]
	return last == "" || last == "." || last == ".."
}

// resolve returns where a clean path leads through the links that the line makes, and through those on disk.
func (fs *files) resolve(full string) string {
	if len(fs.created) > 0 {
		if to := fs.followLinks(full, true); !isSomewhere(to) && (!hasHole(to) || hasHole(full)) {
			full = to
		}
	}
	return fs.resolvedPath(full)
}

// followStart returns the start of a walk by a program that follows a link to it: where the link leads if that must not be removed,
// else the start itself.
func (fs *files) followStart(start string) string {
	if full, ok := fs.clean(start); ok && fs.removalDanger(start) != fatal && fs.removalDanger(start+"/") == fatal {
		return fs.resolve(full)
	}
	return start
}

// isBelow reports whether a path is a directory, or inside it.
func isBelow(full, dir string) bool {
	return dir != "" && (full == dir || strings.HasPrefix(full, strings.TrimSuffix(dir, "/")+"/"))
}

// leavesByLink reports whether a clean path leads out of the project and of /tmp by a link.
func (fs *files) leavesByLink(full string) bool {
	if fs.disk == nil || !strings.HasPrefix(full, "/") {
		return false
	}
	if to := fs.resolvedPath(full); to != full && fs.isOut(to) {
		return true
	}
	led, known := fs.globLinks(full, true)
	return !known || slices.ContainsFunc(led, fs.isOut)
}

// isOut reports whether a path without links is outside of the project and of /tmp, or where git keeps what it runs.
func (fs *files) isOut(to string) bool {
	if tmp := fs.disk.Resolve("/tmp"); isBelow(to, tmp) && to != tmp && !isBelow(to, fs.disk.Resolve(fs.home)) {
		return false
	}
	return isGitInternal(to) || !isBelow(to, fs.disk.Resolve(path.Clean("/"+fs.projectDir())))
}

// globLinks returns where the links lead that a pattern finds in existing directories, with the rest of the pattern behind. It follows
// a link in the last name only if whole. It returns false if what the pattern finds is not known.
func (fs *files) globLinks(pattern string, whole bool) (led []string, known bool) {
	at := strings.IndexAny(pattern, globs)
	if fs.disk == nil || at < 0 || hasHole(pattern) || !strings.HasPrefix(pattern, "/") {
		return nil, true
	}
	at = strings.LastIndexByte(pattern[:at], '/')
	dirs, names := []string{fs.disk.Resolve(pattern[:max(at, 1)])}, strings.Split(pattern[at+1:], "/")
	for i, name := range names {
		last, rest := i == len(names)-1, strings.Join(names[i+1:], "/")
		var next []string
		for _, dir := range dirs {
			if !hasGlob(name) {
				to := path.Join(dir, name)
				if entry := to; !last || whole {
					if to = fs.disk.Resolve(to); to != entry {
						led = append(led, path.Join(to, rest))
						continue
					}
				}
				next = append(next, to)
				continue
			}
			entries, ok := fs.disk.Entries(dir)
			if !ok {
				return led, false
			}
			for _, e := range entries {
				switch {
				case e.Name[0] == '.' && name[0] != '.' || !globMatch(name, e.Name):
				case e.Link && (!last || whole):
					led = append(led, path.Join(fs.disk.Resolve(path.Join(dir, e.Name)), rest))
				case !e.Link && !last:
					next = append(next, path.Join(dir, e.Name))
				}
			}
		}
		dirs = next
	}
	return led, true
}

// isLinkOut reports whether a word without a slash, or the value in it, is a link out of the project.
func (fs *files) isLinkOut(word string) bool {
	if fs.disk == nil || hasHole(word) {
		return false
	}
	for _, name := range []string{word, word[strings.IndexByte(word, '=')+1:], strings.TrimPrefix(word, "-C"), strings.TrimPrefix(word, "-o")} {
		if full, ok := fs.clean(name); ok && !strings.HasPrefix(name, "-") && fs.leavesByLink(full) {
			return true
		}
	}
	return false
}
