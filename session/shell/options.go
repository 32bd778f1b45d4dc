package shell

import "strings"

// options holds the shell options that determine how the integration is loaded.
type options struct {
	interactive bool // false for a script or a command
	reason      string
	login       bool
	posix       bool   // bash --posix
	noRC        bool   // bash --norc, zsh -f
	noProfile   bool   // bash --noprofile
	rcFile      string // bash --rcfile
	// rest are the arguments less those that are expressed otherwise.
	rest []string
}

// syntax describes the options of a shell.
type syntax struct {
	withValue string          // short options that take the next argument
	long      map[string]bool // long options, true if they take the next argument
	command   string          // short options after which nothing is interactive
	reasons   map[string]string
}

const (
	reasonCommand    = "a command is run, not an interactive shell"
	reasonScript     = "a script is run, not an interactive shell"
	reasonRestricted = "a restricted shell may not load it"
	reasonNoFiles    = "the shell's options disable startup files"
	reasonUnknown    = "not a shell that longterm knows"
	reasonOption     = "an option that is not known: "
)

// shOptions are understood by all shells of the Bourne family.
var shOptions = syntax{
	withValue: "oO",
	command:   "c",
	reasons:   map[string]string{"r": reasonRestricted, "p": reasonNoFiles},
	long: map[string]bool{
		"login": false, "posix": false, "norc": false, "noprofile": false, "rcfile": true, "init-file": true,
		"noediting": false, "verbose": false, "interactive": false, "emacs": false, "vi": false,
	},
}

var fishOptions = syntax{
	withValue: "CdoDf",
	command:   "cnvh",
	long: map[string]bool{
		"init-command": true, "debug": true, "debug-output": true, "features": true, "profile": true,
		"profile-startup": true, "interactive": false, "login": false, "no-config": false, "private": false,
	},
}

// parse reads args, without the program's name.
func (y syntax) parse(args []string) options {
	o := options{interactive: true}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" || arg == "-":
			o.rest = append(o.rest, arg)
			return o.operands(args[i+1:])
		case strings.HasPrefix(arg, "--"):
			i = y.longOption(&o, args, i)
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+'):
			i = y.shortOptions(&o, args, i)
		default:
			return o.operands(args[i:])
		}
		if !o.interactive {
			return o
		}
	}
	return o
}

// operands parses the arguments after the options: a script, except with -s.
func (o options) operands(args []string) options {
	stdin := false
	for _, a := range o.rest {
		stdin = stdin || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "s")
	}
	if len(args) > 0 && !stdin {
		o.interactive, o.reason = false, reasonScript
	}
	o.rest = append(o.rest, args...)
	return o
}

func (y syntax) longOption(o *options, args []string, i int) int {
	name, value, joined := strings.Cut(args[i][2:], "=")
	takes, known := y.long[name]
	if !known {
		o.interactive, o.reason = false, reasonOption+args[i]
		return i
	}
	first := i
	if takes && !joined && i+1 < len(args) {
		i++
		value = args[i]
	}
	switch name {
	case "login":
		o.login = true
	case "posix":
		o.posix = true
	case "norc":
		o.noRC = true
	case "noprofile":
		o.noProfile = true
	case "rcfile", "init-file":
		o.rcFile = value
	default:
		o.rest = append(o.rest, args[first:i+1]...)
	}
	return i
}

func (y syntax) shortOptions(o *options, args []string, i int) int {
	arg := args[i]
	first := i
	for j, c := range arg[1:] {
		flag := string(c)
		switch {
		case arg[0] == '-' && strings.Contains(y.command, flag):
			o.interactive, o.reason = false, reasonCommand
			return i
		case arg[0] == '-' && y.reasons[flag] != "":
			o.interactive, o.reason = false, y.reasons[flag]
			return i
		case c == 'l' && arg[0] == '-':
			o.login = true
		case strings.Contains(y.withValue, flag):
			if j+2 == len(arg) && i+1 < len(args) {
				i++
			} else if j+2 < len(arg) {
				o.rest = append(o.rest, arg)
				return i
			}
		}
	}
	o.posix = o.posix || i > first && arg == "-o" && args[i] == "posix"
	o.rest = append(o.rest, args[first:i+1]...)
	return i
}
