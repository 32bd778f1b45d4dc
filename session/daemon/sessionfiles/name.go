//go:build unix

package sessionfiles

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

const (
	maxName = 200 // bytes of a stored name; a number may be added, and file systems take 255
	maxExt  = 20
)

// SafeName returns the name under which a file is stored: the given one, with "_" for what a shell or a terminal could take
// for something else (controls, invisible characters, invalid UTF-8, a leading "-"), cut to 200 bytes. It rejects names
// with directories.
func SafeName(given string) (string, error) {
	switch {
	case given == "":
		return "", api.Errorf(api.CodeInvalid, "the file's name is empty").WithHint("name it (--as NAME)")
	case given == "." || given == ".." || strings.Contains(given, "/"):
		return "", api.Errorf(api.CodeInvalid, "%q is not a file's name", given).WithHint("give a name without directories (--as NAME)")
	}
	name := strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, given)
	if name[0] == '-' || atomicfile.IsPending(name) {
		name = "_" + name[1:]
	}
	if len(name) > maxName {
		stem, ext := splitExt(name)
		if len(ext) > maxExt {
			stem, ext = name, ""
		}
		end := maxName - len(ext)
		for !utf8.RuneStart(stem[end]) {
			end--
		}
		name = stem[:end] + ext
	}
	if atomicfile.IsPending(name) { // once it is cut
		name = "_" + name[1:]
	}
	return name, nil
}

// splitExt splits a name before its extension. A name that only has one is its stem.
func splitExt(name string) (stem, ext string) {
	ext = filepath.Ext(name)
	stem = strings.TrimSuffix(name, ext)
	if archive, ok := strings.CutSuffix(stem, ".tar"); ok {
		stem, ext = archive, ".tar"+ext
	}
	if stem == "" {
		return name, ""
	}
	return stem, ext
}

// addNumber returns the n-th name for files of one name: shot.png, shot-2.png.
func addNumber(name string, n int) string {
	if n == 1 {
		return name
	}
	stem, ext := splitExt(name)
	return fmt.Sprintf("%s-%d%s", stem, n, ext)
}
