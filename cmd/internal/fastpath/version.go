package fastpath

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// Release is set by the linker: -X github.com/longterm-dev/longterm/cmd/internal/fastpath.Release=v1.2.3.
var Release string

// modinfo is the source of runtime/debug.ReadBuildInfo. Package runtime exports it by that name; runtime/debug cannot
// be imported here, because it would initialise half of the standard library first.
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

// versionOf returns the version in the linker's build information: lines of tab-separated words between two marks of 16
// bytes.
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

// VersionLine returns the output of the verb version.
func VersionLine() string {
	return "longterm " + Version() + " (" + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH + ")\n"
}
