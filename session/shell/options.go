package shell

import "strings"

// shellOptions are the parsed options of a shell that determine how the integration is loaded.
type shellOptions struct {
	isInteractive bool   // false for a script or a command
	rejection     string // why the shell cannot be integrated
	isLogin       bool
	isPOSIX       bool   // bash --posix
	noRC          bool   // bash --norc, zsh -f
	noProfile     bool   // bash --noprofile
	rcFile        string // bash --rcfile
	// otherArgs are the arguments without those that the fields above express.
	otherArgs []string
}

// optionSyntax describes the options of a shell.
type optionSyntax struct {
	withValue     string            // short options that take the next argument
	longOptions   map[string]bool   // true if they take the next argument
	commandFlags  string            // short options of non-interactive shells
	rejectedFlags map[string]string // short options that prevent the integration, with the reason
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
var shOptions = optionSyntax{
	withValue:     "oO",
	commandFlags:  "c",
	rejectedFlags: map[string]string{"r": reasonRestricted, "p": reasonNoFiles},
	longOptions: map[string]bool{
		"login": false, "posix": false, "norc": false, "noprofile": false, "rcfile": true, "init-file": true,
		"noediting": false, "verbose": false, "interactive": false, "emacs": false, "vi": false,
	},
}

// fishOptions are the options of fish.
var fishOptions = optionSyntax{
	withValue:    "CdoDf",
	commandFlags: "cnvh",
	longOptions: map[string]bool{
		"init-command": true, "debug": true, "debug-output": true, "features": true, "profile": true,
		"profile-startup": true, "interactive": false, "login": false, "no-config": false, "private": false,
	},
}

// parse parses arguments without the program's name.
func (y optionSyntax) parse(args []string) shellOptions {
	o := shellOptions{isInteractive: true}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--" || arg == "-":
			o.otherArgs = append(o.otherArgs, arg)
			return o.parseOperands(args[i+1:])
		case strings.HasPrefix(arg, "--"):
			i = y.parseLong(&o, args, i)
		case len(arg) > 1 && (arg[0] == '-' || arg[0] == '+'):
			i = y.parseShort(&o, args, i)
		default:
			return o.parseOperands(args[i:])
		}
		if !o.isInteractive {
			return o
		}
	}
	return o
}

// parseOperands parses the arguments after the options: a script, except with -s.
func (o shellOptions) parseOperands(args []string) shellOptions {
	stdin := false
	for _, a := range o.otherArgs {
		stdin = stdin || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "s")
	}
	if len(args) > 0 && !stdin {
		o.isInteractive, o.rejection = false, reasonScript
	}
	o.otherArgs = append(o.otherArgs, args...)
	return o
}

// parseLong parses the long option at args[i]. It returns the index of its last argument.
func (y optionSyntax) parseLong(o *shellOptions, args []string, i int) int {
	name, value, joined := strings.Cut(args[i][2:], "=")
	takes, known := y.longOptions[name]
	if !known {
		o.isInteractive, o.rejection = false, reasonOption+args[i]
		return i
	}
	first := i
	if takes && !joined && i+1 < len(args) {
		i++
		value = args[i]
	}
	switch name {
	case "login":
		o.isLogin = true
	case "posix":
		o.isPOSIX = true
	case "norc":
		o.noRC = true
	case "noprofile":
		o.noProfile = true
	case "rcfile", "init-file":
		o.rcFile = value
	default:
		o.otherArgs = append(o.otherArgs, args[first:i+1]...)
	}
	return i
}

// parseShort parses the group of short options at args[i]. It returns the index of its last argument.
func (y optionSyntax) parseShort(o *shellOptions, args []string, i int) int {
	arg := args[i]
	first := i
	for j, c := range arg[1:] {
		flag := string(c)
		switch {
		case arg[0] == '-' && strings.Contains(y.commandFlags, flag):
			o.isInteractive, o.rejection = false, reasonCommand
			return i
		case arg[0] == '-' && y.rejectedFlags[flag] != "":
			o.isInteractive, o.rejection = false, y.rejectedFlags[flag]
			return i
		case c == 'l' && arg[0] == '-':
			o.isLogin = true
		case strings.Contains(y.withValue, flag):
			if j+2 == len(arg) && i+1 < len(args) {
				i++
			} else if j+2 < len(arg) {
				o.otherArgs = append(o.otherArgs, arg)
				return i
			}
		}
	}
	o.isPOSIX = o.isPOSIX || i > first && arg == "-o" && args[i] == "posix"
	o.otherArgs = append(o.otherArgs, args[first:i+1]...)
	return i
}
