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

// StateVariable is the environment variable with the directory of a shell's integration. A shell is started with it,
// but does not pass it to child processes or to a program that replaces it (exec).
const StateVariable = "LONGTERM_STATE"

// Setup describes a shell to be started.
type Setup struct {
	Argv []string // the shell and its arguments; Argv[0] is not searched in PATH
	Env  []string // its environment, as in os/exec
	Cwd  string   // start directory, for the state only
	Host string   // name of this machine; if empty, the system's
	// Dir is an absolute directory of this session alone, mode 0700, that exists as long as the session. Prepare writes
	// the scripts there.
	Dir string
	// StateDir is a similar directory, preferably in memory (MemoryDir). The shell writes its environment and newest
	// history entry there. If empty, Dir is used.
	StateDir string
	// Nonce is the nonce of this session's marks. If empty, Prepare creates one.
	Nonce string
}

// Launch describes how to start a prepared shell.
type Launch struct {
	Argv, Env    []string
	Kind         Kind
	Quality      Quality
	Reason       string // why the shell cannot be integrated
	Nonce        string // set if the shell is integrated
	StateDir     string // for ReadEnv; set if the shell is integrated
	Cwd          string
	CommandCount uint64 // number of the newest command of the session's earlier shells
}

// ShadowedFile is the name of the file, in the state directory, that IsShadowed checks.
const ShadowedFile = "shadowed"

// IsShadowed reports whether the user's functions or settings replaced builtins that the integration calls, so that no
// mark will come.
func (l *Launch) IsShadowed() bool {
	_, err := os.Stat(filepath.Join(l.StateDir, ShadowedFile))
	return l.StateDir != "" && err == nil
}

// Prepare returns how to start the shell so that it loads the integration after the user's own configuration, which
// stays unchanged. A shell that cannot be integrated is returned unchanged, with Quality None and the reason, without
// an error.
func Prepare(s Setup) (Launch, error) {
	l := Launch{Argv: slices.Clone(s.Argv), Env: slices.Clone(s.Env), Kind: Detect(s.Argv), Quality: None, Cwd: s.Cwd}
	spec := l.Kind.Spec()
	if spec.buildArgv == nil {
		l.Reason = reasonUnknown
		return l, nil
	}
	opts := spec.parseOptions(s.Argv[1:])
	if reason := spec.rejectionReason(opts); reason != "" {
		l.Reason = reason
		return l, nil
	}
	if !filepath.IsAbs(s.Dir) || strings.ContainsAny(s.Dir, "'\"$`\\\n:") {
		return l, fmt.Errorf("shell integration: the directory %q is not absolute or has special characters", s.Dir)
	}
	if s.StateDir == "" {
		s.StateDir = s.Dir
	}
	if s.Nonce == "" {
		s.Nonce = NewNonce()
	}
	if err := errors.Join(writeScripts(s.Dir, spec.scriptFiles), writeNonce(s.StateDir, s.Nonce)); err != nil {
		return l, fmt.Errorf("shell integration: %w", err)
	}
	if s.Host == "" {
		s.Host, _ = os.Hostname()
	}
	p := &launchPlan{argv0: s.Argv[0], dir: s.Dir, opts: opts, env: environment(l.Env)}
	p.env.set(StateVariable, s.StateDir)
	p.env.set("LONGTERM_HOST", s.Host)
	l.Argv = spec.buildArgv(p)
	l.Env, l.Nonce, l.Quality, l.StateDir = p.env, s.Nonce, spec.quality, s.StateDir
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

// NewNonce returns a random nonce of 128 bits.
func NewNonce() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// IsNonce reports whether s has the form of a nonce.
func IsNonce(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 16
}

// writeScripts writes scripts to dir. files are pairs of a path in dir and an embedded script.
func writeScripts(dir string, files [][2]string) error {
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

// launchPlan is the state of Prepare.
type launchPlan struct {
	argv0 string
	dir   string
	opts  shellOptions
	env   environment
}

// file returns the path of a script.
func (p *launchPlan) file(name string) string { return filepath.Join(p.dir, name) }

// withArgs returns the shell's argument vector with args before the other arguments.
func (p *launchPlan) withArgs(args ...string) []string {
	return append(append([]string{p.argv0}, args...), p.opts.otherArgs...)
}

// rejectionReason returns why a shell with options cannot be integrated, or "".
func (s *Spec) rejectionReason(o shellOptions) string {
	if !o.isInteractive {
		return o.rejection
	}
	if s.rejectOptions != nil {
		return s.rejectOptions(o)
	}
	return ""
}

// bash returns the argument vector of bash, which reads the script as its init file. A login shell reads no init file,
// and --norc disables it. Those start in POSIX mode, in which bash reads $ENV and nothing else; the script leaves that
// mode before it reads the user's files.
func (p *launchPlan) bash() []string {
	o := &p.opts
	login := o.isLogin || strings.HasPrefix(p.argv0, "-")
	var start []string
	if login && !o.noProfile {
		start = append(start, "login")
	}
	if !(login || o.noRC || o.isPOSIX) || isSystemBash(runtime.GOOS, p.argv0) && !o.isPOSIX {
		if !login && !o.noRC {
			p.env.set("LONGTERM_RC", p.rcFile())
		}
		o.otherArgs = removeFlag(o.otherArgs, 'l')
		p.env.set("LONGTERM_START", strings.Join(start, ","))
		return p.withArgs("--init-file", p.file("longterm.bash"))
	}
	start = append(start, "posix")
	if o.isPOSIX {
		start = append(start, "keep-posix", "env")
	} else if _, ok := p.env.get("HISTFILE"); !ok {
		start = append(start, "histfile")
	}
	p.env.set("LONGTERM_START", strings.Join(start, ","))
	p.env.replaceSaving("ENV", "LONGTERM_ENV", p.file("longterm.bash"))
	args := []string{"--posix"}
	if o.isLogin && !slices.ContainsFunc(o.otherArgs, func(a string) bool { return removeFlagFrom(a, 'l') != a }) {
		args = append(args, "--login")
	}
	return p.withArgs(args...)
}

// rcFile returns the init file that the user's bash would read.
func (p *launchPlan) rcFile() string {
	if p.opts.rcFile != "" {
		return p.opts.rcFile
	}
	home, _ := p.env.get("HOME")
	return filepath.Join(home, ".bashrc")
}

// zsh returns the argument vector of zsh, which reads its files from ZDOTDIR. The script restores the variable first.
func (p *launchPlan) zsh() []string {
	p.env.replaceSaving("ZDOTDIR", "LONGTERM_ZDOTDIR", p.file("zsh"))
	return append([]string{p.argv0}, p.withLogin()...)
}

// zshRejectionReason rejects a zsh that reads no startup files.
func zshRejectionReason(o shellOptions) string {
	for _, a := range o.otherArgs {
		if len(a) > 1 && a[0] == '-' && strings.Contains(a, "f") {
			return reasonNoFiles
		}
	}
	return ""
}

// withLogin returns otherArgs with the login option that parse removed.
func (p *launchPlan) withLogin() []string {
	has := slices.ContainsFunc(p.opts.otherArgs, func(a string) bool { return removeFlagFrom(a, 'l') != a })
	if p.opts.isLogin && !has {
		return append([]string{"--login"}, p.opts.otherArgs...)
	}
	return p.opts.otherArgs
}

// fish returns the argument vector of fish, which runs init commands after the configuration.
func (p *launchPlan) fish() []string {
	p.opts.otherArgs = p.withLogin()
	return p.withArgs("-C", "source '"+p.file("longterm.fish")+"'")
}

// sh returns the argument vector of a plain sh, which reads the file in ENV if it is interactive.
func (p *launchPlan) sh() []string {
	p.env.replaceSaving("ENV", "LONGTERM_ENV", p.file("longterm.sh"))
	return append([]string{p.argv0}, p.withLogin()...)
}

// pwsh returns the argument vector of PowerShell, which reads the profiles, then the file, and stays.
func (p *launchPlan) pwsh() []string {
	return append(append([]string{p.argv0}, p.opts.otherArgs...), "-NoExit", "-File", p.file("longterm.ps1"))
}

// pwshOptions parses the options of PowerShell. It accepts only arguments with which the shell stays interactive.
func pwshOptions(args []string) shellOptions {
	o := shellOptions{isInteractive: true, otherArgs: args}
	for i := 0; i < len(args); i++ {
		switch strings.ToLower(strings.TrimLeft(args[i], "-/")) {
		case "noexit", "noe", "nologo", "nol", "noprofile", "nop", "login", "l", "interactive", "i", "mta", "sta":
		case "workingdirectory", "wd", "wo", "executionpolicy", "ex", "ep", "custompipename", "configurationname",
			"config", "settingsfile", "settings", "windowstyle", "w", "version", "v":
			i++
		default:
			return shellOptions{rejection: reasonCommand}
		}
	}
	return o
}

// removeFlag removes a short option from arguments.
func removeFlag(args []string, flag byte) []string {
	var kept []string
	for _, a := range args {
		if a = removeFlagFrom(a, flag); a != "-" {
			kept = append(kept, a)
		}
	}
	return kept
}

// removeFlagFrom removes a letter from a group of short options.
func removeFlagFrom(arg string, flag byte) string {
	if len(arg) < 2 || arg[0] != '-' || arg[1] == '-' {
		return arg
	}
	return "-" + strings.ReplaceAll(arg[1:], string(flag), "")
}
