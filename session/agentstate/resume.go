package agentstate

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Resume describes how a conversation is resumed.
type Resume struct {
	// ByID and Last are the arguments after the program's name; {id} is replaced by the conversation.
	ByID []string `json:"by_id"`
	Last []string `json:"last"` // the newest one of the directory
	// Drop are flags that chose a conversation before, or a prompt; those in Valued take a value.
	Drop   []string `json:"drop"`
	Valued []string `json:"valued"`
	// Switches are flags without a value. Of a flag in neither list, what follows it is taken for its
	// value.
	Switches []string `json:"switches"`
	// Prints are flags and subcommands with which the program prints and ends.
	Prints []string `json:"prints"`
	// Env are variables that the conversation's place depends on.
	Env []string `json:"env"`
	// File holds the conversation's id: {home}, {pid} and variables of Env are replaced. Field is where.
	File  string `json:"file,omitempty"`
	Field string `json:"field,omitempty"`
	// Open is a pattern of a file that the program keeps open, with the id as its group.
	Open string `json:"open,omitempty"`
}

// printsOnly reports whether the arguments are those of a run without interaction.
func (r *Resume) printsOnly(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		flag, _, _ := strings.Cut(a, "=")
		return slices.Contains(r.Prints, flag) && (strings.HasPrefix(a, "-") || len(args) > 0 && args[0] == a)
	})
}

// Command returns the argument vector that resumes a conversation: the program as it was started, with its flags. An
// empty id selects the newest conversation of its directory.
func (a *Agent) Command(argv []string, id string) []string {
	program, args := a.split(argv)
	if id == "" {
		id = a.ChosenID(argv)
	}
	with := a.Resume.Last
	if id != "" && isID(id) && len(a.Resume.ByID) > 0 {
		with = nil
		for _, s := range a.Resume.ByID {
			with = append(with, strings.ReplaceAll(s, "{id}", id))
		}
	}
	flags := a.Resume.flags(args)
	if len(with) > 0 && !strings.HasPrefix(with[0], "-") { // a subcommand: flags follow it
		return append(append(slices.Clone(program), with...), flags...)
	}
	return append(append(slices.Clone(program), flags...), with...)
}

// split parts the program, with its interpreter, from its arguments.
func (a *Agent) split(argv []string) (program, args []string) {
	if len(argv) == 0 {
		return []string{a.Programs[0]}, nil
	}
	if slices.Contains(a.Programs, programName(argv[0])) {
		return argv[:1:1], argv[1:]
	}
	for i, arg := range argv[1:] {
		if !strings.HasPrefix(arg, "-") && a.isScript(arg) {
			if slices.Contains(a.Programs, programName(arg)) { // it runs by its own first line
				return []string{arg}, argv[i+2:]
			}
			return argv[: i+2 : i+2], argv[i+2:]
		}
	}
	return []string{a.Programs[0]}, nil
}

// flags returns the flags to keep, without those that chose a conversation, and without the prompt.
func (r *Resume) flags(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			break
		}
		if !strings.HasPrefix(arg, "-") {
			continue // a prompt, or a subcommand that chose a conversation
		}
		flag, _, joined := strings.Cut(arg, "=")
		n := 1
		if follows := i+1 < len(args) && !strings.HasPrefix(args[i+1], "-"); follows && !joined && !slices.Contains(r.Switches, flag) {
			n = 2
		}
		drop := slices.Contains(r.Drop, flag)
		if drop && n == 2 && !slices.Contains(r.Valued, flag) {
			n = 1
		}
		if !drop {
			kept = append(kept, args[i:i+n]...)
		}
		i += n - 1
	}
	return kept
}

// ChosenID returns the conversation that arguments name, or "".
func (a *Agent) ChosenID(argv []string) string {
	_, args := a.split(argv)
	for i, s := range a.Resume.ByID {
		if s != "{id}" || i == 0 {
			continue
		}
		for j, arg := range args {
			flag, value, joined := strings.Cut(arg, "=")
			switch {
			case flag != a.Resume.ByID[i-1] && flag != "--session-id":
			case joined && looksLikeID(value):
				return value
			case !joined && j+1 < len(args) && looksLikeID(args[j+1]):
				return args[j+1]
			}
		}
	}
	return ""
}

var idForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|ses_[0-9A-Za-z]+)$`)
})

func looksLikeID(s string) bool { return idForm().MatchString(s) }

// OpenID returns the conversation of a file that the program has open, or "".
func (a *Agent) OpenID(path string) string {
	if a.Resume.Open == "" {
		return ""
	}
	re, err := regexp.Compile(a.Resume.Open)
	if err != nil {
		return ""
	}
	if m := re.FindStringSubmatch(path); len(m) == 2 && isID(m[1]) {
		return m[1]
	}
	return ""
}

// FilePath returns the file in which a process of the agent records its conversation, or "". getenv looks up variables
// of the process's environment.
func (a *Agent) FilePath(pid int, getenv func(string) string) string {
	path := a.Resume.File
	if path == "" || getenv("HOME") == "" {
		return ""
	}
	path = strings.ReplaceAll(path, "{home}", getenv("HOME"))
	path = strings.ReplaceAll(path, "{pid}", strconv.Itoa(pid))
	return variable().ReplaceAllStringFunc(path, func(v string) string { // {NAME:default}
		name, otherwise, _ := strings.Cut(strings.Trim(v, "{}"), ":")
		return cmp.Or(getenv(name), otherwise)
	})
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{[A-Z_]+:[^{}]*\}`) })

// FileID returns the conversation that such a file names, or "".
func (a *Agent) FileID(content []byte) string {
	var fields map[string]json.RawMessage
	var id string
	if json.Unmarshal(content, &fields) != nil || json.Unmarshal(fields[a.Resume.Field], &id) != nil || !isID(id) {
		return ""
	}
	return id
}
