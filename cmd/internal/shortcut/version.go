package shortcut

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// Release is set by the linker: -X github.com/longterm-dev/longterm/cmd/internal/shortcut.Release=v1.2.3.
var Release string

// modinfo is what runtime/debug.ReadBuildInfo reads. Package runtime gives it to that package by the same name, which
// cannot be imported here: half of the standard library would be initialised first.
//
//go:linkname modinfo runtime/debug.modinfo
func modinfo() string

// Version names this build: the release, else the module's version or the commit it was made from.
func Version() string {
	if Release != "" {
		return Release
	}
	return versionOf(modinfo())
}

// versionOf is the version in what the linker wrote down of a build, between two marks of 16 bytes: lines of words that
// tabs separate.
func versionOf(info string) string {
	const mark = 16
	if len(info) < 2*mark {
		return "unknown"
	}
	rev, dirty := "", ""
	for s := info[mark : len(info)-mark]; s != ""; {
		var line string
		line, s, _ = cut(s, "\n")
		kind, rest, _ := cut(line, "\t")
		switch kind {
		case "mod":
			_, v, _ := cut(rest, "\t")
			if v, _, _ = cut(v, "\t"); v != "" && v != "(devel)" {
				return v
			}
		case "build":
			key, value, _ := cut(rest, "=")
			switch {
			case key == "vcs.revision":
				rev = value[:min(12, len(value))]
			case key == "vcs.modified" && value == "true":
				dirty = "-dirty"
			}
		}
	}
	if rev == "" {
		return "devel"
	}
	return "devel-" + rev + dirty
}

// VersionLine is what the verb version prints.
func VersionLine() string {
	return "longterm " + Version() + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n"
}
