package shell

import (
	"path/filepath"
	"strings"
)

// Kind is a kind of shell: its syntax and how it is integrated.
type Kind string

// Kinds of shells. Dash represents every plain sh.
const (
	Unknown Kind = ""
	Bash    Kind = "bash"
	Zsh     Kind = "zsh"
	Fish    Kind = "fish"
	Ksh     Kind = "ksh" // ksh93
	Mksh    Kind = "mksh"
	Dash    Kind = "sh"
	Pwsh    Kind = "pwsh"
)

// Quality is the extent to which a shell's state is known.
type Quality string

// Qualities, from most to least.
const (
	Full  Quality = "full"  // start, end, text and status of each command
	Basic Quality = "basic" // prompts and statuses; a command's start is the time of its input
	None  Quality = "none"  // nothing: a foreign shell, or one that was replaced
)

// Detect returns a shell's kind from its argument vector: by the name of the executable, without a login shell's dash,
// a version and ".exe".
func Detect(argv []string) Kind {
	if len(argv) == 0 {
		return Unknown
	}
	name := strings.ToLower(argv[0])
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(strings.TrimPrefix(name, "-"), ".exe")
	if k := kindOf(name); k != Unknown {
		return k
	}
	base, version, ok := strings.Cut(name, "-")
	if !ok || strings.Trim(version, "0123456789.") != "" {
		return Unknown
	}
	return kindOf(base)
}

// isSystemBash reports whether path is macOS's own bash 3.2, which ignores $ENV.
func isSystemBash(goos, path string) bool {
	return goos == "darwin" && filepath.Clean(path) == "/bin/bash"
}
