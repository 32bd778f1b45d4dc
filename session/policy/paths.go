package policy

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Marks in folded words, for what is not known before the line runs. They stand for themselves in no
// line: a line with such bytes is asked about unparsed.
const (
	hole     = "\x01" // any text, also none, perhaps several words
	someText = "\x02" // any text in one word, also none
	notEmpty = "\x03" // at least one character, in one word
	globStar = "\x04" // *
	globOne  = "\x05" // ? or […]

	holes = hole + someText + notEmpty
	globs = globStar + globOne

	anyBelow = someText + someText // behind a path: it, or something below it, also in quotes
)

// shown replaces marks by what a person reads.
var shown = strings.NewReplacer(hole, "…", someText, "…", notEmpty, "…", globStar, "*", globOne, "?")

func joinWords(argv []string) string { return shown.Replace(strings.Join(argv, " ")) }

func hasHole(s string) bool { return strings.ContainsAny(s, holes) }
func hasGlob(s string) bool { return strings.ContainsAny(s, globs) }

// files is what is known of the files that a line names: where it works, whose they are, which of them it makes itself.
type files struct {
	engine  *Engine
	cwd     string
	root    string // the directory that the line was given in
	home    string
	real    func(string) string // resolves links in a path; may be nil
	account string              // the account's home, where home is another
	placed  bool                // its file was put by root where packages are
	lost    bool                // the line changed to a directory that is not known
	made    map[string]made     // files that the line makes, by their clean path
	pipes   map[string]string   // commands of process substitutions, by their names
}

// danger says what removing or overwriting a path would do.
type danger uint8

const (
	harmless danger = iota
	perhaps         // it may be one of the others: a part is not known
	fatal           // the system or a person's home
)

// system holds directories without which the machine does not work, or that hold everybody's files.
var system = map[string]bool{"/": true, "/bin": true, "/boot": true, "/dev": true, "/etc": true,
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

// processes has a directory for each process, by its number.
const processes = "/proc"

// notProjects begin directories that are nobody's project.
var notProjects = []string{"/bin/", "/boot/", "/dev/", "/etc/", "/lib", "/opt/", "/proc/", "/run/", "/sbin/", "/snap/", "/sys/", "/usr/"}

// Protected are the directories that nobody removes with all that is in them: the system's, and a home.
func Protected(home string) []string {
	all := slices.Sorted(maps.Keys(system))
	if home != "" {
		all = append(all, home)
	}
	return all
}

// tree judges the removal of a path with all that is below it.
func (fs *files) tree(p string) danger {
	if strings.Trim(p, holes) == "" && p != "" || strings.Trim(p, hole+someText+globs) == "" && hasHole(p) {
		return perhaps
	}
	full, ok := fs.clean(p)
	d := harmless
	if at, is := fs.spot(p); is && len(fs.made) > 0 {
		switch to := fs.behind(at, strings.HasSuffix(p, "/")); {
		case to == at:
		case isSomewhere(to) || hasHole(to) && !hasHole(p):
			return perhaps // it lies over another place, which is not known
		default:
			full, ok = to, true
		}
	}
	if ok {
		d = fs.protected(full)
		if to := fs.leadsToEntry(p, full); to != full {
			d = max(d, fs.protected(to))
		}
	} else if fs.lost && strings.Trim(p, "./"+globs) == "" {
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
	if full, ok := fs.clean(without); ok && fs.protected(full) != harmless {
		return perhaps
	}
	if d == fatal {
		return perhaps
	}
	return d
}

// protected judges a clean absolute path.
func (fs *files) protected(full string) danger {
	if fs.holdsHome(full) || system[full] {
		return fatal
	}
	dir, last := path.Split(full)
	dir = strings.TrimSuffix(dir, "/")
	if dir == "" {
		dir = "/"
	}
	homes := dir == "/home" || dir == "/Users"
	switch {
	case covers(last) && (system[dir] && !strings.HasPrefix(dir, "/mnt") || dir == fs.home):
		return fatal // everything in a protected directory
	case covers(last) && (path.Dir(dir) == "/home" || path.Dir(dir) == "/Users"):
		return fatal
	case homes && !covers(last):
		return fatal
	case strings.HasPrefix(full, "/dev/") && blockDevice(full):
		return fatal
	case strings.HasPrefix(full, "/proc/") || strings.HasPrefix(full, "/sys/firmware") ||
		strings.HasPrefix(full, "/boot/"):
		return perhaps
	case hasGlob(full):
		for d := range system {
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
	if ours(full, fs.home) || fs.engine.owns(full) || fs.engine.holds(full) {
		return fatal
	}
	if ofServices(full) || fs.otherHome(full) || fs.kept(full) {
		return perhaps
	}
	return harmless
}

// services are directories of /var/lib in which programs keep what is nowhere else.
const services = words("apt containerd dpkg docker elasticsearch etcd grafana influxdb kubelet libvirt lxc lxd machines mariadb mongodb mongo mysql neo4j pacman " +
	"pgsql postgres postgresql prometheus rabbitmq redis rpm samba systemd vault")

// ofServices reports the data of a service with all that is in it, and the libraries of the system.
func ofServices(full string) bool {
	if covers(path.Base(full)) {
		full = path.Dir(full)
	}
	if name, is := strings.CutPrefix(full, "/var/lib/"); is {
		return services.has(name)
	}
	name, is := strings.CutPrefix(strings.TrimPrefix(full, "/usr"), "/lib/")
	return is && !strings.Contains(name, "/") && (name == "systemd" || name == "modules" || strings.HasSuffix(name, "-linux-gnu") || strings.HasSuffix(name, "-linux-gnueabihf"))
}

// configured are directories without which the system does not start, log anybody in or reach others; personal those of a home
// in which a person keeps what is nowhere else.
const (
	configured = words("/etc/NetworkManager /etc/apt /etc/default /etc/init.d /etc/netplan /etc/network /etc/pam.d /etc/rc.d /etc/security /etc/ssl /etc/ssl/certs " +
		"/etc/sudoers.d /etc/sysconfig /etc/yum.repos.d /usr/lib/python3 /var/backups /var/mail /var/spool /var/spool/cron /var/spool/mail /var/www")
	personal = words(".aws .kube .mail .mozilla .password-store .thunderbird Desktop Documents Library Mail Maildir Movies Music Pictures Photos Videos")
)

// kept reports such a directory, all that is in it, or names of which it is one.
func (fs *files) kept(full string) bool {
	_, last := path.Split(full)
	dir := path.Dir(full)
	if covers(last) {
		if path.Dir(dir) == "/media" || path.Dir(dir) == "/run/media" { // all that a person has plugged in
			return true
		}
		full = dir
		dir, last = path.Dir(full), path.Base(full)
	}
	if configured.has(full) || strings.HasPrefix(full, "/usr/lib/python3") && strings.Count(full, "/") == 3 {
		return true
	}
	if dir != fs.home && !globMatch(dir, fs.home) {
		return false
	}
	if !hasGlob(last) {
		return personal.has(last)
	}
	for name := range strings.FieldsSeq(string(personal)) {
		if globMatch(last, name) {
			return true
		}
	}
	return false
}

// otherHome reports the home of another person where homes are not in /home: /export/home/x, /var/home/x, /nfs/homes/x.
func (fs *files) otherHome(full string) bool {
	if covers(path.Base(full)) {
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
	return path.Dir(fs.home) == dir && dir != "/" // beside one's own
}

// holdsHome reports whether a path is the home, or has it below it: homes are not always in /home.
func (fs *files) holdsHome(full string) bool {
	below, is := strings.CutPrefix(fs.home, full)
	return is && (below == "" || below[0] == '/')
}

// owns reports whether a path is one of longterm's own, or below one.
func (e *Engine) owns(full string) bool {
	return slices.ContainsFunc(e.own, func(p string) bool { return full == p || strings.HasPrefix(full, p+"/") })
}

// holds reports whether one of longterm's own paths is below a path.
func (e *Engine) holds(full string) bool {
	return slices.ContainsFunc(e.own, func(p string) bool { return strings.HasPrefix(p, full+"/") })
}

// projectRules is the end of the name of a project's file of rules.
const projectRules = "/.longterm/policy.toml"

// ours reports whether a path holds longterm's own sessions and settings.
func ours(full, home string) bool {
	for _, d := range []string{"/.local/share/longterm", "/.local/state/longterm", "/.config/longterm",
		"/Library/Application Support/longterm", "/.local/share", "/.config", "/.local", "/.ssh", "/.gnupg"} {
		if full == home+d || strings.HasPrefix(full, home+d+"/") && strings.HasSuffix(d, "longterm") {
			return true
		}
	}
	return false
}

// covers reports whether a glob covers every name, or so many that it makes no difference: *, .*, [a-z]*.
func covers(name string) bool {
	return strings.Contains(name, globStar) && strings.Trim(name, globs+".{},") == "" || name == globOne+globStar
}

// clean makes p absolute and lexically clean; false if that is not possible.
func (fs *files) clean(p string) (string, bool) {
	if p == "" {
		return "", false
	}
	if !strings.HasPrefix(p, "/") {
		if fs.cwd == "" || hasHole(fs.cwd) || hasHole(p) && strings.IndexAny(p, holes) == 0 {
			return path.Clean(p), false
		}
		p = fs.cwd + "/" + p
	}
	return rooted(path.Clean(p)), true
}

// rooted is a clean path without other names of the root, by a process that has it: /proc/self/root/etc is /etc.
func rooted(p string) string {
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

// diskNames begin the names of disks.
var diskNames = []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "dm-", "md", "mapper", "disk", "rdisk",
	"loop", "nbd", "sr", "ram",
	"zram", "mem", "kmem", "port", "nvd", "ada", "da", "bcache", "drbd", "rbd", "pmem", "root", "block",
	"sg", "mtd", "ubi", "cciss", "dasd",
	"fd0", "st0", "raw", "vg", "zd", "zvol"}

// blockDevice reports whether a clean absolute path names a disk.
func blockDevice(full string) bool {
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

// device judges a path that is written to as a device.
func (fs *files) device(p string) danger {
	full, ok := fs.clean(p)
	if at, is := fs.spot(p); is && len(fs.made) > 0 {
		to := fs.behind(at, true)
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
	if blockDevice(full) {
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

// secret reports whether a path usually holds passwords, keys or the environment of a process.
func (fs *files) secret(p string) bool {
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
	case (base == "secrets.json" || base == "secrets.key" || base == "longterm.db") && fs.ownPlace(p),
		strings.Contains(full, "/.ssh/") && !strings.HasSuffix(full, ".pub") && base != "known_hosts" &&
			base != "config",
		strings.Contains(full, "/.gnupg"), strings.Contains(full, "/.aws/"), strings.Contains(full, "/.kube/"),
		strings.Contains(full, "/.docker/config"), strings.Contains(full, "/.config/gh/"),
		strings.Contains(full, "/.password-store"),
		strings.HasPrefix(full, "/etc/shadow"), strings.HasPrefix(full, "/etc/gshadow"),
		strings.HasPrefix(full, "/etc/sudoers"),
		strings.HasPrefix(full, "/etc/ssl/private"), strings.HasPrefix(full, "/etc/ssh/ssh_host"),
		strings.HasPrefix(full, "/proc/") && (base == "environ" || base == "mem" || hasGlob(base)),
		strings.HasPrefix(full, "/dev/") && blockDevice(full):
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

// InRoots reports whether dir lies in one of roots, compared by path component: /proj-evil is not in /proj.
// Both must be absolute, with symbolic links resolved by the caller. No roots are no limit.
//
// This limits where a command starts. It does not limit what the command does: cd and absolute paths lead
// out. For that there are rules and the sandbox.
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

// standardInput reports an operand that stands for it.
func standardInput(operand string) bool {
	switch operand {
	case "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0":
		return true
	}
	return false
}

// descriptor reports an operand that is an open file by its number.
func descriptor(operand string) bool {
	return strings.HasPrefix(operand, "/dev/fd/") || strings.HasPrefix(operand, "/proc/self/fd/")
}

// A name may be a link that an archive or a clone contained. The engine reads no files, so its caller resolves links.

// leadsTo returns a clean path with links resolved in its longest part without marks.
func (fs *files) leadsTo(full string) string {
	if fs.real == nil || !strings.HasPrefix(full, "/") {
		return full
	}
	at := strings.IndexAny(full, holes+globs)
	if at < 0 {
		return fs.real(full)
	}
	at = strings.LastIndexByte(full[:at], '/')
	return path.Join(fs.real(full[:max(at, 1)]), full[at:])
}

// leadsToEntry returns a clean path with links resolved except in its last name: the entry that rm and mv change.
func (fs *files) leadsToEntry(p, full string) string {
	if fs.real == nil || strings.HasSuffix(p, "/") || strings.HasSuffix(p, "/.") {
		return fs.leadsTo(full)
	}
	return path.Join(fs.leadsTo(path.Dir(full)), path.Base(full))
}

// isBelow reports whether a path is a directory, or lies in it.
func isBelow(full, dir string) bool {
	return dir != "" && (full == dir || strings.HasPrefix(full, strings.TrimSuffix(dir, "/")+"/"))
}

// leavesByLink reports whether a clean path leads out of the project and of /tmp by a link.
func (fs *files) leavesByLink(full string) bool {
	if fs.real == nil || !strings.HasPrefix(full, "/") {
		return false
	}
	to := fs.leadsTo(full)
	if tmp := fs.real("/tmp"); to == full || isBelow(to, tmp) && to != tmp && !isBelow(to, fs.real(fs.home)) {
		return false
	}
	return ofGit(to) || !isBelow(to, fs.real(path.Clean("/"+fs.project())))
}

// isLinkOut reports whether a word without a slash, or the value in it, is a link out of the project.
func (fs *files) isLinkOut(word string) bool {
	if fs.real == nil || hasHole(word) {
		return false
	}
	for _, name := range []string{word, word[strings.IndexByte(word, '=')+1:], strings.TrimPrefix(word, "-C"), strings.TrimPrefix(word, "-o")} {
		if full, ok := fs.clean(name); ok && !strings.HasPrefix(name, "-") && fs.leavesByLink(full) {
			return true
		}
	}
	return false
}
