package shell

import (
	"path/filepath"
	"slices"
	"strings"
)

// Kind is a shell's syntax and way of being integrated.
type Kind string

// Kinds. Dash stands for every plain sh.
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

// Pastes says that the shell's editor can take pastes (bracketed paste); a plain sh and the
// Korn shells take the brackets for text.
func (k Kind) Pastes() bool {
	return k != Dash && k != Ksh && k != Mksh
}

// Quality says how much is known of what a shell does.
type Quality string

// Qualities, from most to least.
const (
	Full  Quality = "full"  // start, end, text and status of each command
	Basic Quality = "basic" // prompts and statuses; starts from what was typed
	None  Quality = "none"  // nothing: a foreign shell, or one that was replaced
)

// programs are the kinds by the name of the executable.
var programs = map[string]Kind{
	"bash": Bash, "rbash": Bash,
	"zsh": Zsh, "rzsh": Zsh,
	"fish": Fish,
	"ksh":  Ksh, "ksh93": Ksh, "rksh": Ksh, "ksh93u+m": Ksh,
	"mksh": Mksh, "lksh": Mksh,
	"sh": Dash, "dash": Dash, "ash": Dash,
	"pwsh": Pwsh, "pwsh-preview": Pwsh, "powershell": Pwsh,
}

// Detect tells a shell's kind from its argument vector: by the name of the executable,
// less a login shell's dash, a version and ".exe".
func Detect(argv []string) Kind {
	if len(argv) == 0 {
		return Unknown
	}
	name := strings.ToLower(argv[0])
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = strings.TrimSuffix(strings.TrimPrefix(name, "-"), ".exe")
	if k, ok := programs[name]; ok {
		return k
	}
	base, version, ok := strings.Cut(name, "-")
	if !ok || strings.Trim(version, "0123456789.") != "" {
		return Unknown
	}
	return programs[base]
}

// Profiles are the names by which a shell can be asked for, best first where one name
// stands for several programs.
var profiles = map[string][]string{
	"bash": {"bash"}, "zsh": {"zsh"}, "fish": {"fish"},
	"ksh": {"ksh", "ksh93", "mksh"}, "mksh": {"mksh"},
	"sh": {"sh"}, "dash": {"dash"},
	"pwsh": {"pwsh", "powershell"}, "powershell": {"powershell", "pwsh"},
}

// Programs are the executables that a profile's name stands for, best first; nil for a
// name that is none.
func Programs(profile string) []string { return slices.Clone(profiles[profile]) }

// isSystemBash reports whether path is macOS's own bash 3.2, which ignores $ENV.
func isSystemBash(goos, path string) bool {
	return goos == "darwin" && filepath.Clean(path) == "/bin/bash"
}

// Edits says that the shell reads lines by an editor of its own, which sets the terminal as
// it needs it; a plain sh leaves that to the terminal's line mode.
func (k Kind) Edits() bool { return k != Dash }
