package sandbox

import (
	"fmt"
	"strings"
)

// Restriction is something that a sandbox may keep from a program. A test tries each (escape_linux_test.go) and finds the levels
// that enforce it; docs/sandbox.md contains the resulting table.
type Restriction struct {
	Key        string
	Text       string
	IsEnforced func(l Level, r *Rules, h Features) bool
}

// alwaysEnforced implements IsEnforced for restrictions that every level enforces.
func alwaysEnforced(Level, *Rules, Features) bool { return true }

// usesNamespaces reports whether a level isolates programs in separate namespaces: all levels but Landlock.
func usesNamespaces(l Level, _ *Rules, _ Features) bool { return l != Landlock }

// Restrictions lists the possible restrictions, in display order.
var Restrictions = []Restriction{
	{"write", "writing files outside of write, by any name", alwaysEnforced},
	{"attributes", "changing modes, owners and times of the user's files elsewhere", usesNamespaces},
	{"protect", "writing .git, start files of shells, editors' settings", alwaysEnforced},
	{"hide", "reading what is hidden: longterm's own files, other programs' sockets, what the profile hides", alwaysEnforced},
	{"names", "seeing the names of hidden files", usesNamespaces},
	{"devices", "disks and memory, for root", alwaysEnforced},
	{"kernel", "controlling the kernel by /proc and /sys, for root", alwaysEnforced},
	{"cgroups", "stopping and ending processes by files of cgroups (cgroup.freeze, cgroup.kill)", alwaysEnforced},
	{"signal", "signals to processes outside", func(l Level, _ *Rules, h Features) bool { return l != Landlock || h.Landlock >= 6 }},
	{"ptrace", "inspecting and controlling other processes", alwaysEnforced},
	{"processes", "seeing processes outside", usesNamespaces},
	{"abstract", "abstract sockets of programs outside", func(l Level, r *Rules, h Features) bool {
		return !r.UnixSockets || h.Landlock >= 6 || l != Landlock && r.Network != NetworkOn
	}},
	{"sockets", "sockets in the file system, as those of docker, D-Bus, agents and longterm", func(l Level, r *Rules, _ Features) bool { return !r.UnixSockets }},
	{"tcp", "TCP to hosts that are not listed", func(l Level, r *Rules, _ Features) bool { return r.Network != NetworkOn }},
	{"udp", "UDP, and DNS queries", func(l Level, r *Rules, _ Features) bool { return r.Network != NetworkOn }},
	{"raw", "raw sockets, packets, vsock, Bluetooth, netlink except routes", alwaysEnforced},
	{"tiocsti", "typing into its terminal as the user (TIOCSTI)", alwaysEnforced},
	{"iouring", "io_uring, which bypasses system call filters", alwaysEnforced},
	{"keys", "keys of the kernel (keyctl), BPF, userfaultfd, perf", alwaysEnforced},
	{"namespaces", "new namespaces, mounts and roots", alwaysEnforced},
	{"setuid", "more rights by sudo and other setuid programs", alwaysEnforced},
	{"setid", "setuid and setgid files that would remain afterwards", alwaysEnforced},
	{"ipc", "shared memory of programs outside (System V, /dev/shm)", func(l Level, r *Rules, _ Features) bool { return l != Landlock }},
	{"left", "processes that outlive the program", usesNamespaces},
}

// DescribeEnforced returns descriptions of the restrictions that are enforced, and of those that are not.
func (r *Rules) DescribeEnforced(l Level, h Features) (holds, not []string) {
	holds, not = []string{}, []string{}
	for _, row := range Restrictions {
		if row.IsEnforced(l, r, h) {
			holds = append(holds, row.Text)
		} else {
			not = append(not, row.Text)
		}
	}
	switch {
	case l.Tool() != "":
		return []string{"what " + l.Tool() + " enforces with its arguments"}, []string{
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
	if r.AllowsCommits {
		not = append(not, "with git = \"commit\": a file .git/commondir that leads git to another configuration")
	}
	return holds, not
}

// summary describes rules on one line.
func (r *Rules) summary(l Level, h Features) string {
	parts := []string{"writes no host files"}
	if len(r.Write) > 0 {
		parts[0] = "writes only " + firstFew(r.Write)
	}
	if r.PrivateTmp {
		parts = append(parts, "private /tmp and /var/tmp")
	}
	if len(r.Protect) > 0 {
		parts = append(parts, "keeps "+firstFew(r.Protect))
	}
	switch r.Network {
	case NetworkOff:
		parts = append(parts, "no network")
	case NetworkHosts:
		parts = append(parts, "network to "+firstFew(r.Hosts))
	default:
		parts = append(parts, "the whole network")
	}
	if l == Landlock || l == Userns {
		var open []string
		for _, row := range Restrictions {
			if !row.IsEnforced(l, r, h) {
				open = append(open, row.Key)
			}
		}
		held := fmt.Sprintf("%d of %d kinds of escape held", len(Restrictions)-len(open), len(Restrictions))
		if len(open) > 0 {
			held += ", not: " + strings.Join(open, " ")
		}
		parts = append(parts, held)
	}
	return strings.Join(parts, "; ")
}

// firstFew returns the first entries of a list as text.
func firstFew(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// Report returns the report on rules at a level.
func (r *Rules) Report(l Level, h Features) *Report {
	holds, not := r.DescribeEnforced(l, h)
	return &Report{Profile: r.Profile, Level: l, Summary: r.summary(l, h), Network: r.Network, Hosts: r.Hosts, Enforced: holds, NotEnforced: not, Rules: r}
}
