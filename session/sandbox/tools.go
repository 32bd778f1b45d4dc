package sandbox

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/longterm-dev/longterm/session/confine"
)

// Command returns the argument vector by which another program enforces rules. argv starts with the program.
// A container has the values of env from the environment of the returned command. pipe is set if it has no terminal.
func (r *Rules) Command(l Level, p *Profile, argv, env []string, pipe bool) ([]string, error) {
	switch l {
	case Bwrap:
		return append(r.bwrap(), argv...), nil
	case Docker, Podman:
		if p.Image == "" {
			return nil, &LevelError{l, "the profile lacks an image", `add for example image = "debian:12"`}
		}
		return append(r.container(l, p, env, pipe), argv...), nil
	case Seatbelt:
		return append([]string{l.Tool(), "-p", r.seatbelt()}, argv...), nil
	}
	return nil, &LevelError{l, "not an external program", "use bwrap, docker, podman or seatbelt"}
}

// bwrap returns the arguments of bubblewrap. It keeps the terminal's session (--new-session would disable job control).
// From Linux 6.2 on the kernel rejects TIOCSTI if dev.tty.legacy_tiocsti is 0.
func (r *Rules) bwrap() []string {
	args := []string{"bwrap", "--die-with-parent", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"}
	if r.Network == NetworkOff {
		args = append(args, "--unshare-net")
	}
	if slices.Contains(r.Read, "/") {
		args = append(args, "--ro-bind", "/", "/")
	}
	args = append(args, "--dev", "/dev", "--proc", "/proc")
	for _, orders := range []string{"/proc/sys", "/proc/sysrq-trigger"} { // root inside is root for these files
		args = append(args, "--ro-bind-try", orders, orders)
	}
	for _, m := range r.mounts() {
		switch m.Kind {
		case confine.MountRead:
			args = append(args, "--ro-bind", m.Path, m.Path)
		case confine.MountWrite:
			args = append(args, "--bind", m.Path, m.Path)
		case confine.MountTmp:
			args = append(args, "--tmpfs", m.Path)
		case confine.MountHide:
			if isDir(m.Path) {
				args = append(args, "--tmpfs", m.Path, "--remount-ro", m.Path)
			} else {
				args = append(args, "--ro-bind", "/dev/null", m.Path)
			}
		}
	}
	return append(args, "--chdir", r.Cwd, "--")
}

// container returns the arguments of docker and podman. It does not mount "/": the image has its own files.
func (r *Rules) container(l Level, p *Profile, env []string, pipe bool) []string {
	args := []string{string(l), "run", "--rm", "--interactive"}
	if !pipe {
		args = append(args, "--tty")
	}
	args = append(args, "--init", "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--read-only")
	args = append(args, containerUser(l, os.Getuid(), os.Getgid())...)
	if r.Network == NetworkOff {
		args = append(args, "--network", "none")
	}
	for _, limit := range []struct {
		flag  string
		value float64
	}{{"--memory", float64(p.Memory)}, {"--cpus", p.CPU}, {"--pids-limit", float64(p.PIDs)}} {
		if limit.value > 0 {
			args = append(args, limit.flag, strconv.FormatFloat(limit.value, 'f', -1, 64))
		}
	}
	for _, m := range r.mounts() {
		mount := "type=bind,source=" + m.Path + ",target=" + m.Path
		switch m.Kind {
		case confine.MountRead:
			args = append(args, "--mount", mount+",readonly")
		case confine.MountWrite:
			args = append(args, "--mount", mount)
		case confine.MountTmp:
			args = append(args, "--tmpfs", m.Path)
		case confine.MountHide:
			if isDir(m.Path) {
				args = append(args, "--tmpfs", m.Path)
			} else {
				args = append(args, "--mount", "type=bind,source=/dev/null,target="+m.Path+",readonly")
			}
		}
	}
	passed := map[string]bool{"PATH": true} // the image has its own
	for _, kv := range env {
		name, _, ok := strings.Cut(kv, "=")
		if ok && name != "" && !passed[name] && !strings.HasPrefix(name, "LONGTERM_CONFINE") {
			passed[name] = true
			args = append(args, "--env", name) // without the value, which other users could read
		}
	}
	return append(args, "--workdir", r.Cwd, p.Image)
}
