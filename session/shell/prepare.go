package shell

import (
	"crypto/rand"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// StateVariable is the environment variable with the directory of a shell's integration. A shell is started with it, but does not
// pass it to child processes or to a program that replaces it (exec).
const StateVariable = "LONGTERM_STATE"

// Setup is a shell that is about to be started.
type Setup struct {
	Argv []string // the shell and its arguments; Argv[0] is not looked up
	Env  []string // its environment, as in os/exec
	Cwd  string   // where it starts; informational
	Host string   // name of this machine; if empty, the system's
	// Dir is a directory for this session alone, absolute, 0700, that lives as long
	// as the session. The scripts are put there.
	Dir string
	// State is a similar directory that should be in memory (StateHome): the shell writes its environment and its
	// newest history entry there. If empty, Dir is used.
	State string
	// Nonce is the nonce of this session's marks. If empty, a new one is made.
	Nonce string
}

// Launch is how to start it.
type Launch struct {
	Argv, Env []string
	Kind      Kind
	Quality   Quality
	Reason    string // reason for a Quality of None
	Nonce     string // set for any other Quality
	StateDir  string // for ReadEnv; set for any other Quality
	Cwd       string
	Numbers   uint64 // that commands of the session's shells before this one have
}

// ShadowedFile is the name of the file, in the state directory, that IsShadowed checks for.
const ShadowedFile = "shadowed"

// IsShadowed reports whether the user's functions or settings took builtins away that the integration calls, so that no mark will
// come.
func (l *Launch) IsShadowed() bool {
	_, err := os.Stat(filepath.Join(l.StateDir, ShadowedFile))
	return l.StateDir != "" && err == nil
}

// Prepare returns how to start the shell so that it loads the integration after the
// user's own configuration, which stays untouched. What cannot be integrated is returned as it
// came, with Quality None and the reason: that is no error.
func Prepare(s Setup) (Launch, error) {
	l := Launch{Argv: slices.Clone(s.Argv), Env: slices.Clone(s.Env), Kind: Detect(s.Argv), Quality: None, Cwd: s.Cwd}
	spec := l.Kind.Spec()
	if spec.plan == nil {
		l.Reason = reasonUnknown
		return l, nil
	}
	opts := spec.parse(s.Argv[1:])
	if reason := spec.refuse(opts); reason != "" {
		l.Reason = reason
		return l, nil
	}
	if !filepath.IsAbs(s.Dir) || strings.ContainsAny(s.Dir, "'\"$`\\\n:") {
		return l, fmt.Errorf("shell integration: the directory %q is not absolute or has special characters", s.Dir)
	}
	if s.State == "" {
		s.State = s.Dir
	}
	if s.Nonce == "" {
		s.Nonce = NewNonce()
	}
	if err := errors.Join(install(s.Dir, spec.files), writeNonce(s.State, s.Nonce)); err != nil {
		return l, fmt.Errorf("shell integration: %w", err)
	}
	if s.Host == "" {
		s.Host, _ = os.Hostname()
	}
	p := &plan{argv0: s.Argv[0], dir: s.Dir, opts: opts, env: environment(l.Env)}
	p.env.set(StateVariable, s.State)
	p.env.set("LONGTERM_HOST", s.Host)
	l.Argv = spec.plan(p)
	l.Env, l.Nonce, l.Quality, l.StateDir = p.env, s.Nonce, spec.quality, s.State
	return l, nil
}

// writeNonce writes the nonce to a file that the script reads first and then empties. The environment would be visible
// to every program that the shell starts (/proc/PID/environ).
//
// It also creates the files that the shell will write, as a shell would create them by its umask, perhaps readable for
// other users.
func writeNonce(dir, nonce string) error {
	err := os.WriteFile(filepath.Join(dir, "nonce"), []byte(nonce+"\n"), 0o600)
	for _, name := range []string{"environ", "history", "trap"} {
		f, openErr := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
		err = errors.Join(err, openErr)
		if openErr == nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// NewNonce makes a nonce of 128 bits.
func NewNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// IsNonce reports whether a text has the form of a nonce.
func IsNonce(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}

// install puts scripts into dir: files are pairs of the name there and the embedded one.
func install(dir string, files [][2]string) error {
	for _, f := range files {
		b, err := scripts.ReadFile("scripts/" + f[1])
		if err != nil {
			return err
		}
		to := filepath.Join(dir, f[0])
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// plan is a launch in the making.
type plan struct {
	argv0 string
	dir   string
	opts  options
	env   environment
}

func (p *plan) file(name string) string { return filepath.Join(p.dir, name) }

func (p *plan) argv(args ...string) []string {
	return append(append([]string{p.argv0}, args...), p.opts.rest...)
}

func (s *Spec) refuse(o options) string {
	if !o.interactive {
		return o.reason
	}
	if s.refusal != nil {
		return s.refusal(o)
	}
	return ""
}

// bash reads our file as its init file. A login shell reads no init file, and --norc
// would keep ours out too: those start in POSIX mode, in which bash reads $ENV and
// nothing else, and the script leaves that mode before it reads the user's files.
func (p *plan) bash() []string {
	o := &p.opts
	login := o.login || strings.HasPrefix(p.argv0, "-")
	var start []string
	if login && !o.noProfile {
		start = append(start, "login")
	}
	if !(login || o.noRC || o.posix) || isSystemBash(runtime.GOOS, p.argv0) && !o.posix {
		if !login && !o.noRC {
			p.env.set("LONGTERM_RC", p.rcFile())
		}
		o.rest = withoutFlag(o.rest, 'l')
		p.env.set("LONGTERM_START", strings.Join(start, ","))
		return p.argv("--init-file", p.file("longterm.bash"))
	}
	start = append(start, "posix")
	if o.posix {
		start = append(start, "keep-posix", "env")
	} else if _, ok := p.env.get("HISTFILE"); !ok {
		start = append(start, "histfile")
	}
	p.env.set("LONGTERM_START", strings.Join(start, ","))
	p.env.shim("ENV", "LONGTERM_ENV", p.file("longterm.bash"))
	args := []string{"--posix"}
	if o.login && !slices.ContainsFunc(o.rest, func(a string) bool { return withoutFlagIn(a, 'l') != a }) {
		args = append(args, "--login")
	}
	return p.argv(args...)
}

func (p *plan) rcFile() string {
	if p.opts.rcFile != "" {
		return p.opts.rcFile
	}
	home, _ := p.env.get("HOME")
	return filepath.Join(home, ".bashrc")
}

// zsh reads its files from ZDOTDIR; our file restores the variable first.
func (p *plan) zsh() []string {
	p.env.shim("ZDOTDIR", "LONGTERM_ZDOTDIR", p.file("zsh"))
	return append([]string{p.argv0}, p.withLogin()...)
}

func zshRefusal(o options) string {
	for _, a := range o.rest {
		if len(a) > 1 && a[0] == '-' && strings.Contains(a, "f") {
			return reasonNoFiles
		}
	}
	return ""
}

// withLogin returns rest with the login option that parse removed from it.
func (p *plan) withLogin() []string {
	has := slices.ContainsFunc(p.opts.rest, func(a string) bool { return withoutFlagIn(a, 'l') != a })
	if p.opts.login && !has {
		return append([]string{"--login"}, p.opts.rest...)
	}
	return p.opts.rest
}

// fish runs init commands after the configuration.
func (p *plan) fish() []string {
	p.opts.rest = p.withLogin()
	return p.argv("-C", "source '"+p.file("longterm.fish")+"'")
}

// sh reads the file that ENV names, if it is interactive.
func (p *plan) sh() []string {
	p.env.shim("ENV", "LONGTERM_ENV", p.file("longterm.sh"))
	return append([]string{p.argv0}, p.withLogin()...)
}

// pwsh reads the profiles, then the file, and stays.
func (p *plan) pwsh() []string {
	return append(append([]string{p.argv0}, p.opts.rest...), "-NoExit", "-File", p.file("longterm.ps1"))
}

// pwshOptions takes only arguments that leave the shell interactive.
func pwshOptions(args []string) options {
	o := options{interactive: true, rest: args}
	for i := 0; i < len(args); i++ {
		switch strings.ToLower(strings.TrimLeft(args[i], "-/")) {
		case "noexit", "noe", "nologo", "nol", "noprofile", "nop", "login", "l", "interactive", "i", "mta", "sta":
		case "workingdirectory", "wd", "wo", "executionpolicy", "ex", "ep", "custompipename", "configurationname",
			"config", "settingsfile", "settings", "windowstyle", "w", "version", "v":
			i++
		default:
			return options{reason: reasonCommand}
		}
	}
	return o
}

func withoutFlag(args []string, flag byte) []string {
	var kept []string
	for _, a := range args {
		if a = withoutFlagIn(a, flag); a != "-" {
			kept = append(kept, a)
		}
	}
	return kept
}

// withoutFlagIn takes a letter out of a group of short options.
func withoutFlagIn(arg string, flag byte) string {
	if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' {
		return arg
	}
	return "-" + strings.ReplaceAll(arg[1:], string(flag), "")
}
