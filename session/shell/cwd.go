package shell

import (
	"path"
	"strings"
)

// Cwd is a directory that a program reported as its own. Host is empty if not reported. The directory is not checked: a
// shell on another machine reports directories of that machine.
type Cwd struct{ Host, Path string }

// ParseCwd decodes the payload of OSC 7 (name "7": a file or kitty-shell-cwd URL) or of the similar 9;9, 633 and 1337
// (a path). Path is empty for other payloads.
func ParseCwd(name, text string) Cwd {
	scheme, rest, isURL := strings.Cut(text, "://")
	if !isURL || name == "9;9" {
		return Cwd{Path: cleanPath(text)}
	}
	host, p, _ := strings.Cut(rest, "/")
	switch scheme {
	case "file":
		p = decodePercent("/" + p)
	case "kitty-shell-cwd": // not encoded
		p = "/" + p
	default:
		return Cwd{}
	}
	if strings.ContainsAny(host, "%;") || len(host) > 255 {
		host = ""
	}
	return Cwd{Host: host, Path: cleanPath(p)}
}

// cleanPath returns a clean absolute path of Unix or Windows, or "".
func cleanPath(p string) string {
	switch {
	case strings.ContainsRune(p, 0):
		return ""
	case strings.HasPrefix(p, "/"):
		return path.Clean(p)
	case hasDrive(p):
		return p
	}
	return ""
}

// hasDrive reports whether p starts with C:\ or C:/.
func hasDrive(p string) bool {
	return len(p) >= 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') &&
		(p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}
