package session

import (
	"net/url"
	"path/filepath"
	"strings"
)

// cwdOf is the directory in the payload of OSC 7 (a file URL) or of its relatives (a
// path); empty when it is neither. The host is not judged here: a shell on another
// machine names directories of that machine.
func cwdOf(text string) string {
	if strings.HasPrefix(text, "file:") {
		u, err := url.Parse(text)
		if err != nil || !filepath.IsAbs(u.Path) {
			return ""
		}
		return filepath.Clean(u.Path)
	}
	if filepath.IsAbs(text) {
		return filepath.Clean(text)
	}
	return ""
}
