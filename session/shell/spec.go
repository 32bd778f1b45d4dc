package shell

import (
	"maps"
	"slices"
)

// Spec is what is special about one kind of shell: its names, how its editor behaves, and how it is
// integrated. A shell is a row of specs, and its script.
type Spec struct {
	names    []string   // of the executable
	profiles [][]string // names by which it can be asked for, each with the executables it stands for, best first

	// Pastes says that the shell's editor can take pastes (bracketed paste); a plain sh and the
	// Korn shells take the brackets for text.
	Pastes bool
	// DropsTabs says that the editor drops tabs, pasted ones too.
	DropsTabs bool
	// Edits says that the shell reads lines by an editor of its own, which sets the terminal as
	// it needs it; a plain sh leaves that to the terminal's line mode.
	Edits bool
	// NeedsSane says that what a program did to the terminal has to be undone before a line is typed:
	// there is no editor, or it is used only where it finds echo on.
	NeedsSane bool
	// RawAtPrompt says that a shell that reads keys reads a line to run, without having asked for pastes.
	RawAtPrompt bool
	// KeepsIncomplete says that the editor keeps a line that is incomplete, without a word.
	KeepsIncomplete bool
	// MuteInterrupt says that Ctrl-C in an editor that is empty brings no other prompt.
	MuteInterrupt bool
	// EscSearches says that ESC P begins a search in the editor.
	EscSearches bool
	// RingsWhenEmpty says that the editor rings where there is nothing to kill.
	RingsWhenEmpty bool
	// KillDraws says that killing a line that is empty draws the prompt on another row.
	KillDraws bool
	// ReadsBriefly says that the kernel does not tell which of the shell's waits are for a moment only:
	// the limit of a read is an alarm.
	ReadsBriefly bool

	// Renews says that the shell takes over variables that are left for it (Renewal).
	Renews bool

	expands bool   // exclamation marks, in lines that are typed
	unsaved string // what keeps a line out of the history where no key does

	quality Quality
	files   [][2]string // of the integration: where they are put, and the script
	parse   func(args []string) options
	refusal func(options) string // nil: only what is not interactive
	plan    func(*plan) []string
	source  string                                  // the command that reads a file
	again   string                                  // see Again; empty: it cannot be prepared at its prompt
	repair  string                                  // see Repair; empty: there is none
	wrap    func(line, first, second string) string // see Wrap; nil: there is none
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
		source: ".", again: againSh, repair: repairSh, wrap: wrapSh,
	},
	Mksh: {
		names:    []string{"mksh", "lksh"},
		profiles: [][]string{{"mksh"}},
		Edits:    true, RawAtPrompt: true,
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

// What the Korn shells and a plain sh have in common.
var shFiles = [][2]string{{"longterm.sh", "longterm.sh"}}

const repairSh = "PS1='${__longterm_e#$((__longterm_n=__longterm_n+1))}$({ __longterm_prompt $?; } 2>/dev/null)'$PS1"

// Spec is what is special about a kind; one that is in no row is not known.
func (k Kind) Spec() *Spec {
	if s := specs[k]; s != nil {
		return s
	}
	return specs[Unknown]
}

// kindOf is the kind of an executable.
func kindOf(name string) Kind {
	for k, s := range specs {
		if slices.Contains(s.names, name) {
			return k
		}
	}
	return Unknown
}

// Programs are the executables that a profile's name stands for, best first; nil for a
// name that is none.
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

// Names are the names of the executables of a kind of shell; empty for Unknown.
func Names(k Kind) []string { return slices.Clone(specs[k].names) }

// Kinds are the kinds of shells that are known, Unknown not among them.
func Kinds() []Kind {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(k Kind) bool { return k == Unknown })
}
