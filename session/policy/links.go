package policy

import (
	"path"
	"strings"
)

// Names may lead elsewhere: a link that an archive or a clone has brought. The engine reads no files, so its caller resolves them.

// leadsTo returns where a clean path leads: that of its longest part without marks, with the rest behind.
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

// leadsToEntry returns where the directory of a clean path leads, with its last name behind: what rm and mv work on.
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

// strays reports whether a clean path leads out of the project and of /tmp by a link.
func (fs *files) strays(full string) bool {
	if fs.real == nil || !strings.HasPrefix(full, "/") {
		return false
	}
	to := fs.leadsTo(full)
	if tmp := fs.real("/tmp"); to == full || isBelow(to, tmp) && to != tmp && !isBelow(to, fs.real(fs.home)) {
		return false
	}
	return ofGit(to) || !isBelow(to, fs.real(path.Clean("/"+fs.project())))
}

// linkOut reports a word without a slash, or the value in it, that is a link which leads out of the project.
func (fs *files) linkOut(word string) bool {
	if fs.real == nil || hasHole(word) {
		return false
	}
	for _, name := range []string{word, word[strings.IndexByte(word, '=')+1:], strings.TrimPrefix(word, "-C"), strings.TrimPrefix(word, "-o")} {
		if full, ok := fs.clean(name); ok && !strings.HasPrefix(name, "-") && fs.strays(full) {
			return true
		}
	}
	return false
}
