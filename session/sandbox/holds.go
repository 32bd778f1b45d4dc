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

// Rows are the possible restrictions, in display order.
var Rows = []Row{
	{"write", "writing files outside of write, by any name", always},
	{"attributes", "changing modes, owners and times of the user's files elsewhere", spaces},
	{"protect", "writing .git, start files of shells, editors' settings", always},
	{"hide", "reading what is hidden: longterm's own files, other programs' sockets, what the profile hides", always},
	{"names", "seeing the names of hidden files", spaces},
	{"devices", "disks and memory, for root", always},
	{"kernel", "controlling the kernel by /proc and /sys, for root", always},
	{"cgroups", "stopping and ending processes by files of cgroups (cgroup.freeze, cgroup.kill)", always},
	{"signal", "signals to processes outside", func(l Level, _ *Rules, h Have) bool { return l != Landlock || h.Landlock >= 6 }},
	{"ptrace", "inspecting and controlling other processes", always},
	{"processes", "seeing processes outside", spaces},
	{"abstract", "abstract sockets of programs outside", func(l Level, r *Rules, h Have) bool {
		return !r.UnixSockets || h.Landlock >= 6 || l != Landlock && r.Network != NetworkOn
	}},
	{"sockets", "sockets in the file system, as those of docker, D-Bus, agents and longterm", func(l Level, r *Rules, _ Have) bool { return !r.UnixSockets }},
	{"tcp", "TCP to hosts that are not listed", func(l Level, r *Rules, _ Have) bool { return r.Network != NetworkOn }},
	{"udp", "UDP, and DNS queries", func(l Level, r *Rules, _ Have) bool { return r.Network != NetworkOn }},
	{"raw", "raw sockets, packets, vsock, Bluetooth, netlink except routes", always},
	{"tiocsti", "typing into its terminal as the user (TIOCSTI)", always},
	{"iouring", "io_uring, which bypasses system call filters", always},
	{"keys", "keys of the kernel (keyctl), BPF, userfaultfd, perf", always},
	{"namespaces", "new namespaces, mounts and roots", always},
	{"setuid", "more rights by sudo and other setuid programs", always},
	{"setid", "setuid and setgid files that would remain afterwards", always},
	{"ipc", "shared memory of programs outside (System V, /dev/shm)", func(l Level, r *Rules, _ Have) bool { return l != Landlock }},
	{"left", "processes that outlive the program", spaces},
}

// DescribeEnforced returns descriptions of what is enforced and what is not.
func (r *Rules) DescribeEnforced(l Level, h Have) (holds, not []string) {
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
		return []string{"what " + string(l) + " enforces with its arguments"}, []string{
			"not covered by longterm's escape tests", "setuid and setgid files that would remain afterwards",
			"system calls that longterm's own levels reject: io_uring, new user namespaces, and typing into its terminal (TIOCSTI) where dev.tty.legacy_tiocsti is 1",
		}
	case l == Landlock && len(r.Protect)+len(r.Hide) > 0:
		not = append(not, "next to protected or hidden files: names created later have no rights (Landlock grants rights to trees only)")
	}
	for _, dir := range r.Unsearched {
		not = append(not, "repositories and other projects' files far below "+dir+": too many files to search")
	}
	for _, f := range r.Linked {
		not = append(not, f+", which has another name (a hard link): writable by that name if it is in a writable directory")
	}
	if len(r.Write) > 0 {
		not = append(not, "a new repository that the program creates in a writable directory, with its own hooks")
	}
	if r.Commits {
		not = append(not, "with git = \"commit\": a file .git/commondir that leads git to another configuration")
	}
	return holds, not
}

// summary describes rules on one line.
func (r *Rules) summary(l Level, h Have) string {
	parts := []string{"writes no host files"}
	if len(r.Write) > 0 {
		parts[0] = "writes only " + some(r.Write)
	}
	if r.Tmp {
		parts = append(parts, "private /tmp and /var/tmp")
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

// some returns the first entries of a list as text.
func some(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// Report returns the report on rules at a level.
func (r *Rules) Report(l Level, h Have) *Report {
	holds, not := r.DescribeEnforced(l, h)
	return &Report{Profile: r.Profile, Level: l, Summary: r.summary(l, h), Network: r.Network, Hosts: r.Hosts, Enforced: holds, NotEnforced: not, Rules: r}
}
