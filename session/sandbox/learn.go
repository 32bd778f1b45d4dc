package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/config/tomldoc"
	"github.com/longterm-dev/longterm/session/confine"
)

// ReadObserved reads the record of an observed program. A final marker line proves that the file is complete.
func ReadObserved(r io.Reader) (all []confine.Observed, err error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, maxFile)
	for in.Scan() {
		if in.Text() == "end" {
			return all, nil
		}
		var o confine.Observed
		if err := json.Unmarshal(in.Bytes(), &o); err != nil {
			return nil, fmt.Errorf("what was observed cannot be read: %w", err)
		}
		all = append(all, o)
	}
	return nil, errors.Join(in.Err(), io.ErrUnexpectedEOF)
}

// wholeDirThreshold is the number of files of a directory from which the profile includes the whole directory.
const wholeDirThreshold = 8

// systemDirs are included whole or not at all: after an update, a program may read other files in them.
var systemDirs = []string{"/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix", "/etc"}

// learnedDescription is the description of learned profiles; users write others.
const learnedDescription = "learned from a run"

// IsLearned reports whether Learn made the profile and no user has changed its description.
func (p *Profile) IsLearned() bool { return p.Description == learnedDescription }

// OmittedWrites returns the written files that a learned profile does not include: each sandbox has a private /tmp.
func OmittedWrites(all []confine.Observed, at Place) []string {
	var out []string
	for _, o := range all {
		if (o.Operation == "write" || o.Operation == "make") && isInsideAny(o.Path, []string{"/tmp", "/var/tmp"}) && !IsInside(o.Path, at.Cwd) {
			out = append(out, o.Path)
		}
	}
	return sortedUnique(out)
}

// Learn returns the smallest profile for the observed accesses. It names paths relative to the working and home
// directory.
func Learn(name string, all []confine.Observed, at Place) *Profile {
	p := &Profile{Name: name, Description: learnedDescription, PrivateTmp: true, OnDifference: "ask"}
	p.setDefaults()
	var read, write, programs, hosts []string
	for _, o := range all {
		switch o.Operation {
		case "exec":
			programs, read = append(programs, o.Path), append(read, o.Path)
		case "read":
			read = append(read, o.Path)
		case "write":
			write = append(write, o.Path)
		case "make":
			write = append(write, filepath.Dir(o.Path))
		case "connect":
			if _, err := ParseHost(o.Host); err == nil && !strings.HasSuffix(o.Host, ":53") {
				hosts = append(hosts, o.Host)
			}
		case "unix":
			p.UnixSockets = p.UnixSockets || !strings.HasPrefix(o.Path, "/var/run/nscd") && !strings.HasPrefix(o.Path, "/run/nscd")
		}
	}
	read, write = at.generalizeAll(read), at.generalizeAll(write)
	isPrivate := func(path string) bool { // private to each sandbox
		return path == "/" || isInsideAny(path, []string{"/proc", "/dev", "/sys", "/tmp", "/var/tmp"}) && !IsInside(path, at.Cwd)
	}
	p.Write = compactPaths(write, isPrivate)
	p.Read = slices.DeleteFunc(compactPaths(append(slices.Clone(systemDirsOf(read)), read...), isPrivate), func(f string) bool { return isInsideAny(f, p.Write) })
	isNearCwd := func(f string) bool { return IsInside(f, at.Cwd) || IsInside(at.Cwd, f) }
	if at.Cwd != "" && at.Cwd != "/" && at.Cwd != at.Home && // only the user may grant a whole home directory
		!slices.ContainsFunc(p.Read, isNearCwd) && !slices.ContainsFunc(p.Write, isNearCwd) {
		p.Read = append(p.Read, at.Cwd) // the working directory must exist inside
	}
	p.Programs = sortedUnique(programs)
	if p.Hosts = sortedUnique(hosts); len(p.Hosts) > 0 {
		p.Network = NetworkHosts
	}
	for _, list := range [][]string{p.Read, p.Write} {
		for i := range list {
			list[i] = at.profilePath(list[i])
		}
	}
	return p
}

// cacheDirs are directories of the home directory whose file names change. For one with a star, each directory in it is a
// cache.
var cacheDirs = []string{
	".cache/*", "Library/Caches/*", "go/pkg/mod", ".npm", ".yarn", ".cargo/registry", ".cargo/git", ".rustup/toolchains", ".m2/repository",
	".gradle/caches", ".ivy2", ".gem", ".bundle", ".pyenv", ".nvm", ".nuget/packages", ".local/share/pnpm", ".ccache", ".terraform.d",
}

// generalize returns the directory that stands for a path in a cache, whose file names change.
func (at Place) generalize(path string) string {
	if at.Home != "/" && IsInside(path, at.Home) {
		below := strings.Split(strings.TrimPrefix(path[len(at.Home):], "/"), "/")
		for _, tree := range cacheDirs {
			parts := strings.Split(tree, "/")
			if n := len(parts); len(below) > n && slices.EqualFunc(below[:n], parts, func(b, p string) bool { return p == "*" || b == p }) {
				return filepath.Join(at.Home, filepath.Join(below[:n]...))
			}
		}
	}
	dir := path
	for d := path; len(d) > 1; d = filepath.Dir(d) {
		if isDigest(filepath.Base(d)) {
			dir = filepath.Dir(d)
		}
	}
	if dir == path {
		return path
	}
	if base := filepath.Base(dir); len(base) <= 3 && isHex(base) { // a hash's first digits
		dir = filepath.Dir(dir)
	}
	if IsInside(at.Cwd, dir) || IsInside(at.Home, dir) || strings.Count(dir, "/") < 2 { // too much for one file
		return path
	}
	return dir
}

// generalizeAll generalizes paths.
func (at Place) generalizeAll(paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = at.generalize(p)
	}
	return out
}

// isDigest reports whether a name starts with a hash.
func isDigest(name string) bool {
	const least = 16 // hexadecimal digits
	return len(name) >= least && isHex(name[:least])
}

// isHex reports whether s consists of hexadecimal digits.
func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdef") == "" }

// systemDirsOf returns the system directories that contain some of the paths.
func systemDirsOf(paths []string) (tops []string) {
	for _, w := range systemDirs {
		if slices.ContainsFunc(paths, func(f string) bool { return IsInside(f, w) }) {
			tops = append(tops, w)
		}
	}
	return tops
}

// sortedUnique sorts a list and removes duplicates.
func sortedUnique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// compactPaths drops paths inside of others, and replaces many files of a directory by the directory.
func compactPaths(paths []string, skip func(string) bool) []string {
	paths = slices.DeleteFunc(sortedUnique(paths), skip)
	count := map[string]int{}
	for _, f := range paths {
		count[filepath.Dir(f)]++
	}
	for dir, n := range count {
		if n > wholeDirThreshold && dir != "/" {
			paths = append(paths, dir)
		}
	}
	var out []string
	for _, f := range sortedUnique(paths) {
		if !isInsideAny(f, out) {
			out = append(out, f)
		}
	}
	return out
}

// profilePath returns a path in profile form, optional if it may be missing later.
func (at Place) profilePath(path string) string {
	switch {
	case path == at.Cwd:
		return "$CWD"
	case IsInside(path, at.Cwd) && at.Cwd != "/":
		return "?$CWD" + path[len(at.Cwd):]
	case IsInside(path, at.Home) && at.Home != "/":
		return "?~" + path[len(at.Home):]
	}
	return "?" + path
}

// Text returns the profile in file form.
func (p *Profile) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s]\ndescription = %s\n", p.Name, tomldoc.Quote(p.Description))
	list := func(key string, values []string) {
		fmt.Fprintf(&b, "%s = [", key)
		for _, v := range values {
			fmt.Fprintf(&b, "\n  %s,", tomldoc.Quote(v))
		}
		if len(values) > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("]\n")
	}
	list("read", p.Read)
	list("write", p.Write)
	list("programs", p.Programs)
	if p.Network == NetworkHosts {
		list("network", p.Hosts)
	} else {
		fmt.Fprintf(&b, "network = %s\n", tomldoc.Quote(string(p.Network)))
	}
	fmt.Fprintf(&b, "on_difference = %s\nunix_sockets = %t\n", tomldoc.Quote(p.OnDifference), p.UnixSockets)
	return b.String()
}

// PutProfile returns file content src with profile p added, in place of one with the same name.
func PutProfile(src []byte, p *Profile) []byte {
	var out strings.Builder
	skip := false
	for line := range strings.Lines(string(src)) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") && !strings.ContainsAny(trimmed, `",=`) {
			skip = strings.Trim(trimmed, "[] ") == p.Name
		}
		if !skip {
			out.WriteString(line)
		}
	}
	text := strings.TrimRight(out.String(), "\n")
	if text != "" {
		text += "\n\n"
	}
	return []byte(text + p.Text())
}
