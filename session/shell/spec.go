package shell

import (
	"maps"
	"slices"
)

// Spec is what is special about one kind of shell: its names, how its editor behaves, and how it is
// integrated. A shell is a row of specs, and its script.
type Spec struct {
	names    []string   // of the executable
	profiles [][]string // profile names, each followed by its executables, best first

	// Pastes is set if the shell's editor supports bracketed paste. A plain sh and the Korn shells take the brackets
	// for text.
	Pastes bool
	// DropsTabs is set if the editor drops tabs, pasted ones too.
	DropsTabs bool
	// Edits is set if the shell has a line editor, which sets the terminal as needed. A plain sh uses the terminal's
	// line mode.
	Edits bool
	// NeedsSane is set if a program's changes of the terminal must be undone before a line is typed: the shell has no
	// editor, or uses it only if echo is on.
	NeedsSane bool
	// RawAtPrompt is set if a shell that reads keys reads a command line, although it has not enabled pastes.
	RawAtPrompt bool
	// KeepsIncomplete is set if the editor silently keeps an incomplete line.
	KeepsIncomplete bool
	// MuteInterrupt is set if Ctrl-C in an empty editor prints no new prompt.
	MuteInterrupt bool
	// EscSearches is set if ESC P starts a search in the editor.
	EscSearches bool
	// RingsWhenEmpty is set if the editor rings if it has no text to kill.
	RingsWhenEmpty bool
	// KillDraws is set if killing an empty line draws the prompt on another row.
	KillDraws bool
	// ReadsBriefly is set if the kernel does not show which of the shell's waits are for a moment only: the limit of a
	// read is an alarm.
	ReadsBriefly bool

	// Renews is set if the shell reads variables from the file of Renewal.
	Renews bool

	expands bool   // exclamation marks, in lines that are typed
	unsaved string // what keeps a line out of the history where no key does

	quality Quality
	files   [][2]string // of the integration: where they are put, and the script
	parse   func(args []string) options
	refusal func(options) string // nil: only what is not interactive
	plan    func(*plan) []string
	source  string                                  // the command that reads a file
	again   string                                  // see PrepareAtPrompt; empty if it cannot be prepared at its prompt
	repair  string                                  // see Repair; empty if unsupported
	wrap    func(line, first, second string) string // see Wrap; nil if unsupported
}

var specs = map[Kind]*Spec{
	// What is not known is taken for a shell with an editor.
	Unknown: {Pastes: true, Edits: true},
	Bash: {
		names:    []string{"bash", "rbash"},
		profiles: [][]string{{"bash"}},
		Pastes:   true, Edits: true, EscSearches: true, RingsWhenEmpty: true, expands: true, Renews: true,
		quality: Full, files: [][2]string{{"longterm.bash", "longterm.bash"}}, parse: shOptions.parse, plan: (*plan).bash,
		source: ".", again: againBash, repair: "__longterm_keep 2>/dev/null; __longterm_prompts 2>/dev/null", wrap: wrapSh,
	},
	Zsh: {
		names:    []string{"zsh", "rzsh"},
		profiles: [][]string{{"zsh"}},
		Pastes:   true, Edits: true, expands: true, Renews: true,
		quality: Full, files: [][2]string{{"zsh/.zshenv", "zshenv"}, {"zsh/longterm.zsh", "longterm.zsh"}, {"zsh/options.zsh", "options.zsh"}},
		parse: shOptions.parse, refusal: zshRefusal, plan: (*plan).zsh,
		source: ".", again: againZsh, repair: "_longterm_hooks 2>/dev/null", wrap: wrapZsh,
	},
	Fish: {
		names:    []string{"fish"},
		profiles: [][]string{{"fish"}},
		Pastes:   true, Edits: true, DropsTabs: true, RawAtPrompt: true, KeepsIncomplete: true, MuteInterrupt: true, unsaved: " ", Renews: true,
		quality: Full, files: [][2]string{{"longterm.fish", "longterm.fish"}}, parse: fishOptions.parse, plan: (*plan).fish,
		source: "source", again: againFish, wrap: wrapFish,
	},
	Ksh: {
		names:    []string{"ksh", "ksh93", "rksh", "ksh93u+m"},
		profiles: [][]string{{"ksh", "ksh93", "mksh"}},
		Edits:    true, NeedsSane: true, RawAtPrompt: true, KillDraws: true, ReadsBriefly: true,
		quality: Basic, files: shFiles, parse: shOptions.parse, plan: (*plan).sh,
		source: ".", again: againSh, repair: forgetKsh + repairSh, wrap: wrapKsh,
	},
	Mksh: {
		names:    []string{"mksh", "lksh"},
		profiles: [][]string{{"mksh"}},
		Edits:    true, RawAtPrompt: true, unsaved: " ",
		quality: Basic, files: shFiles, parse: shOptions.parse, plan: (*plan).sh,
		source: ".", again: againSh, repair: repairSh, wrap: wrapMksh,
	},
	Dash: {
		names:     []string{"sh", "dash", "ash"},
		profiles:  [][]string{{"sh"}, {"dash"}},
		NeedsSane: true,
		quality:   Basic, files: shFiles, parse: shOptions.parse, plan: (*plan).sh,
		source: ".", again: againSh, repair: repairSh, wrap: wrapDash,
	},
	Pwsh: {
		names:    []string{"pwsh", "pwsh-preview", "powershell"},
		profiles: [][]string{{"pwsh", "powershell"}, {"powershell", "pwsh"}},
		Pastes:   true, Edits: true,
		quality: Full, files: [][2]string{{"longterm.ps1", "longterm.ps1"}}, parse: pwshOptions, plan: (*plan).pwsh,
	},
}

// shFiles are common to the Korn shells and a plain sh.
var shFiles = [][2]string{{"longterm.sh", "longterm.sh"}}

const repairSh = "PS1=$__longterm_mark${PS1-}"

// Spec returns the properties of a kind; unlisted kinds have those of Unknown.
func (k Kind) Spec() *Spec {
	if s := specs[k]; s != nil {
		return s
	}
	return specs[Unknown]
}

// kindOf returns the kind of an executable.
func kindOf(name string) Kind {
	for k, s := range specs {
		if slices.Contains(s.names, name) {
			return k
		}
	}
	return Unknown
}

// Programs returns the executables of a profile, best first, or nil for an unknown profile.
func Programs(profile string) []string {
	for _, s := range specs {
		for _, p := range s.profiles {
			if p[0] == profile {
				return slices.Clone(p)
			}
		}
	}
	return nil
}

// Names returns the executables of a kind of shell; none for Unknown.
func Names(k Kind) []string { return slices.Clone(specs[k].names) }

// Kinds returns the supported kinds of shells, without Unknown.
func Kinds() []Kind {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(k Kind) bool { return k == Unknown })
}
