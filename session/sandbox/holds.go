package sandbox

import (
	"fmt"
	"strings"
)

// Row is something that a sandbox may keep from a program. A test tries each (escape_linux_test.go) and finds out at
// which levels it is held; docs/sandbox.md has its table from there.
type Row struct {
	Key  string
	Text string
	Held func(l Level, r *Rules, h Have) bool
}

func always(Level, *Rules, Have) bool { return true }

func spaces(l Level, _ *Rules, _ Have) bool { return l != Landlock }

// Rows are what there is to be held, in the order in which it is said.
var Rows = []Row{
	{"write", "writing files elsewhere than in write, by whatever name", always},
	{"attributes", "changing modes, owners and times of one's own files elsewhere", spaces},
	{"protect", "writing .git, start files of shells, editors' settings", always},
	{"hide", "reading what is hidden: longterm's own files, other programs' sockets, what the profile hides", always},
	{"names", "seeing the names of what is hidden", spaces},
	{"devices", "disks and memory, for root", always},
	{"kernel", "telling the kernel what to do by /proc and /sys, for root", always},
	{"cgroups", "stopping and ending processes by files of cgroups (cgroup.freeze, cgroup.kill)", always},
	{"signal", "signals to processes outside", func(l Level, _ *Rules, h Have) bool { return l != Landlock || h.Landlock >= 6 }},
	{"ptrace", "looking into other processes, and steering them", always},
	{"processes", "seeing that there are processes outside", spaces},
	{"abstract", "abstract sockets of programs outside", func(l Level, r *Rules, h Have) bool {
		return !r.UnixSockets || h.Landlock >= 6 || l != Landlock && r.Network != NetworkOn
	}},
	{"sockets", "sockets in the file system, as those of docker, D-Bus, agents and longterm", func(l Level, r *Rules, _ Have) bool { return !r.UnixSockets }},
	{"tcp", "TCP to hosts that are not listed", func(l Level, r *Rules, _ Have) bool { return r.Network != NetworkOn }},
	{"udp", "UDP, and names asked of DNS", func(l Level, r *Rules, _ Have) bool { return r.Network != NetworkOn }},
	{"raw", "raw sockets, packets, vsock, Bluetooth, netlink but for routes", always},
	{"tiocsti", "typing into its terminal in a person's name (TIOCSTI)", always},
	{"iouring", "io_uring, which passes filters of system calls by", always},
	{"keys", "keys of the kernel (keyctl), BPF, userfaultfd, perf", always},
	{"namespaces", "new namespaces, mounts and roots", always},
	{"setuid", "more rights by sudo and other setuid programs", always},
	{"setid", "setuid and setgid files that would be there afterwards", always},
	{"ipc", "shared memory of programs outside (System V, /dev/shm)", func(l Level, r *Rules, _ Have) bool { return l != Landlock }},
	{"left", "processes that outlive the program", spaces},
}

// Held are what is held and what is not, in words.
func (r *Rules) Held(l Level, h Have) (holds, not []string) {
	holds, not = []string{}, []string{}
	for _, row := range Rows {
		if row.Held(l, r, h) {
			holds = append(holds, row.Text)
		} else {
			not = append(not, row.Text)
		}
	}
	switch {
	case l == Bwrap || l == Docker || l == Podman:
		return []string{"what " + string(l) + " holds by the arguments it was given"}, []string{
			"nothing of this is tested by longterm's own escapes", "setuid and setgid files that would be there afterwards",
			"calls of the kernel that longterm's own levels refuse: io_uring, new user namespaces, and typing into its terminal (TIOCSTI) where dev.tty.legacy_tiocsti is 1",
		}
	case l == Landlock && len(r.Protect)+len(r.Hide) > 0:
		not = append(not, "beside what is protected or hidden: names made later have no rights (Landlock gives rights to trees only)")
	}
	for _, dir := range r.Unsearched {
		not = append(not, "repositories and other projects' files far below "+dir+": there is more than is looked through for them")
	}
	for _, f := range r.Linked {
		not = append(not, f+", which has another name (a hard link): where that is in what may be written, it is written by it")
	}
	if len(r.Write) > 0 {
		not = append(not, "a repository that the program makes anew, with hooks of its own making, in what it may write")
	}
	if r.Commits {
		not = append(not, "with git = \"commit\": a file .git/commondir that leads git to another configuration")
	}
	return holds, not
}

// summary is what rules come to, in one line.
func (r *Rules) summary(l Level, h Have) string {
	parts := []string{"writes nothing of the host's"}
	if len(r.Write) > 0 {
		parts[0] = "writes only " + some(r.Write)
	}
	if r.Tmp {
		parts = append(parts, "/tmp and /var/tmp of its own")
	}
	if len(r.Protect) > 0 {
		parts = append(parts, "keeps "+some(r.Protect))
	}
	switch r.Network {
	case NetworkOff:
		parts = append(parts, "no network")
	case NetworkHosts:
		parts = append(parts, "network to "+some(r.Hosts))
	default:
		parts = append(parts, "the whole network")
	}
	if l == Landlock || l == Userns {
		var open []string
		for _, row := range Rows {
			if !row.Held(l, r, h) {
				open = append(open, row.Key)
			}
		}
		held := fmt.Sprintf("%d of %d kinds of escape held", len(Rows)-len(open), len(Rows))
		if len(open) > 0 {
			held += ", not: " + strings.Join(open, " ")
		}
		parts = append(parts, held)
	}
	return strings.Join(parts, "; ")
}

// some are the first of a list.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// Report is what is said of rules at a level.
func (r *Rules) Report(l Level, h Have) *Report {
	holds, not := r.Held(l, h)
	return &Report{Profile: r.Profile, Level: l, Summary: r.summary(l, h), Network: r.Network, Hosts: r.Hosts, Holds: holds, NotHeld: not, Rules: r}
}
