package policy

import (
	"path"
	"slices"
	"strings"
)

// Mounts put one place under the name of another: what is removed there is removed here. They are followed as links that
// the line makes, for all below and for the name itself.

// mounted notes what a mount of one directory or device at another makes of the latter.
func (w *walk) mounted(x *invocation) {
	bind := false
	var source, target string
	var ops []string
	for i := 1; i < len(x.argv); i++ {
		name, value, joined := strings.Cut(x.argv[i], "=")
		takes := func() string {
			if !joined && i+1 < len(x.argv) {
				i++
				value = x.argv[i]
			}
			return value
		}
		switch {
		case name == "-B" || name == "-R" || name == "-M" || name == "--bind" || name == "--rbind" || name == "--move":
			bind = true
		case name == "-o" || name == "--options":
			for o := range strings.SplitSeq(takes(), ",") {
				bind = bind || o == "bind" || o == "rbind" || o == "move"
			}
		case name == "--source":
			source = takes()
		case name == "--target":
			target = takes()
		case name == "-t" || name == "--types" || name == "-N" || name == "--namespace" || name == "-L" || name == "-U":
			takes()
		case !strings.HasPrefix(x.argv[i], "-"):
			ops = append(ops, x.argv[i])
		}
	}
	if source != "" || target != "" {
		ops = slices.DeleteFunc(append([]string{source}, append(ops, target)...), func(o string) bool { return o == "" })
	}
	if !bind || len(ops) < 2 {
		return
	}
	w.lies(ops[0], ops[1])
	if full, ok := w.clean(ops[1]); ok && (systemPlaces[full+"/"] || systemPlaces[path.Dir(full)+"/"]) {
		w.unknown(x.argv, "it puts other programs in the place of "+full)
	}
}

// lies notes that a place lies over a name.
func (w *walk) lies(source, target string) {
	from, known := w.clean(source)
	to, ok := w.clean(target)
	if !ok || hasHole(to) || len(w.made) > maxMade {
		return
	}
	if !known || hasHole(from) {
		from = hole
	}
	if from != to {
		w.made[to] = made{source: w.behind(from, true), link: true, mount: true}
	}
}

// binds are options of programs that run another in a view of files of its own, by how many words they take: the first is
// the place and the last the name that it gets.
var binds = map[string]map[string]int{
	"bwrap": {"--bind": 2, "--bind-try": 2, "--dev-bind": 2, "--dev-bind-try": 2, "--ro-bind": 0, "--overlay": 0},
	"proot": {"-b": 1, "--bind": 1, "-m": 1, "--mount": 1},
}

// viewed notes the binds of bwrap and proot, and judges the command that they run. It reports false where there is none.
func (w *walk) viewed(x *invocation) (rest []string, ok bool) {
	places := binds[x.name]
	if places == nil {
		return nil, false
	}
	args := x.argv[1:]
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return args[i+1:], true
		}
		if !strings.HasPrefix(a, "-") {
			return args[i:], true
		}
		name, value, joined := strings.Cut(a, "=")
		if x.name == "proot" && !joined && len(a) > 2 && a[1] != '-' {
			name, value, joined = a[:2], a[2:], true // -b/a:/b
		}
		switch places[name] {
		case 2:
			if i+2 < len(args) {
				w.lies(args[i+1], args[i+2])
			}
		case 1:
			if !joined && i+1 < len(args) {
				value = args[i+1]
			}
			if from, to, both := strings.Cut(value, ":"); both {
				w.lies(from, to)
			}
		}
		switch {
		case x.name == "bwrap":
			i += bwrapWords(a)
		case !joined && slices.Contains([]string{"-b", "--bind", "-m", "--mount", "-r", "--rootfs", "-R", "-S", "-w", "--pwd", "--cwd", "-W", "-q", "--qemu", "-k", "-v", "-i"}, name):
			i++
		}
	}
	return nil, false
}

// bwrapWords is how many words follow an option of bwrap's.
func bwrapWords(option string) int {
	switch option {
	case "--bind", "--bind-try", "--dev-bind", "--dev-bind-try", "--ro-bind", "--ro-bind-try", "--symlink", "--file", "--bind-data",
		"--ro-bind-data", "--setenv", "--chmod", "--overlay", "--bind-fd", "--ro-bind-fd":
		if option == "--overlay" {
			return 3
		}
		return 2
	case "--unshare-all", "--unshare-user", "--unshare-user-try", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
		"--unshare-cgroup", "--unshare-cgroup-try", "--share-net", "--new-session", "--die-with-parent", "--as-pid-1", "--clearenv",
		"--disable-userns", "--assert-userns-disabled", "--help", "--version":
		return 0
	}
	return 1
}
