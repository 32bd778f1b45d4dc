package shell

import (
	"maps"
	"slices"
)

// Spec describes a kind of shell: its names, how its editor behaves, and how it is integrated. A shell consists of a
// row of specs and its script.
type Spec struct {
	executables []string   // names of the executable
	profiles    [][]string // profile names, each followed by its executables in order of preference

	// SupportsPaste is set if the shell's editor supports bracketed paste. A plain sh and the Korn shells read the
	// brackets as text.
	SupportsPaste bool
	// DropsTabs is set if the editor drops tabs, pasted ones too.
	DropsTabs bool
	// HasEditor is set if the shell has a line editor, which sets the terminal as needed. A plain sh uses the
	// terminal's line mode.
	HasEditor bool
	// NeedsSaneTerminal is set if a program's changes of the terminal must be undone before a line is typed: the shell
	// has no editor, or uses it only if echo is on.
	NeedsSaneTerminal bool
	// ReadsKeysAtPrompt is set if a shell that reads keys is at its prompt even if it has not enabled bracketed paste.
	ReadsKeysAtPrompt bool
	// KeepsIncompleteLine is set if the editor silently keeps an incomplete line.
	KeepsIncompleteLine bool
	// InterruptIsSilent is set if Ctrl-C in an empty editor prints no new prompt.
	InterruptIsSilent bool
	// EscSearches is set if ESC P starts a search in the editor.
	EscSearches bool
	// KillRingsBell is set if the editor rings the bell when it has no text to kill.
	KillRingsBell bool
	// KillRedrawsPrompt is set if killing an empty line draws the prompt on another row.
	KillRedrawsPrompt bool
	// HidesBriefReads is set if the kernel does not show which of the shell's reads have a short timeout: the limit is
	// an alarm.
	HidesBriefReads bool

	// ReadsEnvUpdate is set if the shell reads the file of EnvUpdateFile before a prompt.
	ReadsEnvUpdate bool

	expandsHistory   bool   // the editor expands exclamation marks in typed lines
	unrecordedPrefix string // prefix that keeps a line out of the history, for shells without UnrecordedLiteralKey

	quality       Quality
	scriptFiles   [][2]string // pairs of a path in the state directory and an embedded script
	parseOptions  func(args []string) shellOptions
	rejectOptions func(shellOptions) string               // reason not to integrate a shell with options; nil: only for non-interactive shells
	buildArgv     func(*launchPlan) []string              // command line that loads the integration
	sourceCommand string                                  // command that reads a file
	resumeText    string                                  // format of the file of PrepareAtPrompt; empty: unsupported
	repair        string                                  // see RepairLine; empty: unsupported
	wrap          func(line, first, second string) string // see Wrap; nil: unsupported
}

// specs has the properties of each kind of shell.
var specs = map[Kind]*Spec{
	// An unknown shell is treated as one with an editor.
	Unknown: {SupportsPaste: true, HasEditor: true},
	Bash: {
		executables:   []string{"bash", "rbash"},
		profiles:      [][]string{{"bash"}},
		SupportsPaste: true, HasEditor: true, EscSearches: true, KillRingsBell: true, expandsHistory: true, ReadsEnvUpdate: true,
		quality: Full, scriptFiles: [][2]string{{"longterm.bash", "longterm.bash"}}, parseOptions: shOptions.parse, buildArgv: (*launchPlan).bash,
		sourceCommand: ".", resumeText: resumeBash, repair: "__longterm_keep 2>/dev/null; __longterm_prompts 2>/dev/null", wrap: wrapSh,
	},
	Zsh: {
		executables:   []string{"zsh", "rzsh"},
		profiles:      [][]string{{"zsh"}},
		SupportsPaste: true, HasEditor: true, expandsHistory: true, ReadsEnvUpdate: true,
		quality: Full, scriptFiles: [][2]string{{"zsh/.zshenv", "zshenv"}, {"zsh/longterm.zsh", "longterm.zsh"}, {"zsh/options.zsh", "options.zsh"}},
		parseOptions: shOptions.parse, rejectOptions: zshRejectionReason, buildArgv: (*launchPlan).zsh,
		sourceCommand: ".", resumeText: resumeZsh, repair: "_longterm_hooks 2>/dev/null", wrap: wrapZsh,
	},
	Fish: {
		executables:   []string{"fish"},
		profiles:      [][]string{{"fish"}},
		SupportsPaste: true, HasEditor: true, DropsTabs: true, ReadsKeysAtPrompt: true, KeepsIncompleteLine: true, InterruptIsSilent: true, unrecordedPrefix: " ", ReadsEnvUpdate: true,
		quality: Full, scriptFiles: [][2]string{{"longterm.fish", "longterm.fish"}}, parseOptions: fishOptions.parse, buildArgv: (*launchPlan).fish,
		sourceCommand: "source", resumeText: resumeFish, wrap: wrapFish,
	},
	Ksh: {
		executables: []string{"ksh", "ksh93", "rksh", "ksh93u+m"},
		profiles:    [][]string{{"ksh", "ksh93", "mksh"}},
		HasEditor:   true, NeedsSaneTerminal: true, ReadsKeysAtPrompt: true, KillRedrawsPrompt: true, HidesBriefReads: true,
		quality: Basic, scriptFiles: shFiles, parseOptions: shOptions.parse, buildArgv: (*launchPlan).sh,
		sourceCommand: ".", resumeText: resumeKsh, repair: forgetKsh + repairSh, wrap: wrapKsh,
	},
	Mksh: {
		executables: []string{"mksh", "lksh"},
		profiles:    [][]string{{"mksh"}},
		HasEditor:   true, ReadsKeysAtPrompt: true, unrecordedPrefix: " ",
		quality: Basic, scriptFiles: shFiles, parseOptions: shOptions.parse, buildArgv: (*launchPlan).sh,
		sourceCommand: ".", resumeText: resumeSh, repair: repairSh, wrap: wrapMksh,
	},
	Dash: {
		executables:       []string{"sh", "dash", "ash"},
		profiles:          [][]string{{"sh"}, {"dash"}},
		NeedsSaneTerminal: true,
		quality:           Basic, scriptFiles: shFiles, parseOptions: shOptions.parse, buildArgv: (*launchPlan).sh,
		sourceCommand: ".", resumeText: resumeSh, repair: repairSh, wrap: wrapDash,
	},
	Pwsh: {
		executables:   []string{"pwsh", "pwsh-preview", "powershell"},
		profiles:      [][]string{{"pwsh", "powershell"}, {"powershell", "pwsh"}},
		SupportsPaste: true, HasEditor: true,
		quality: Full, scriptFiles: [][2]string{{"longterm.ps1", "longterm.ps1"}}, parseOptions: pwshOptions, buildArgv: (*launchPlan).pwsh,
	},
}

// shFiles are common to the Korn shells and a plain sh.
var shFiles = [][2]string{{"longterm.sh", "longterm.sh"}}

// repairSh is Spec.repair of the Korn shells and a plain sh.
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
		if slices.Contains(s.executables, name) {
			return k
		}
	}
	return Unknown
}

// ProfileExecutables returns the executables of a profile in order of preference, or nil for an unknown profile.
func ProfileExecutables(profile string) []string {
	for _, s := range specs {
		for _, p := range s.profiles {
			if p[0] == profile {
				return slices.Clone(p)
			}
		}
	}
	return nil
}

// Executables returns the names of the executables of a kind of shell; none for Unknown.
func Executables(k Kind) []string { return slices.Clone(specs[k].executables) }

// Kinds returns the supported kinds of shells, without Unknown.
func Kinds() []Kind {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(specs)), func(k Kind) bool { return k == Unknown })
}
