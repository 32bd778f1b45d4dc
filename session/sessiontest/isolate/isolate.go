// Package isolate separates a test run from the user who runs it. The run gets a private HOME and an environment
// without the settings of the user's shell, terminal and longterm. It fails if tests changed files of the real HOME,
// and it leaves no file or process behind, however it ends. Its children get SIGINT and SIGHUP, which a shell's
// background jobs and nohup ignore.
//
// A package whose tests start programs has
//
//	func TestMain(m *testing.M) { os.Exit(isolate.Run(m)) }
package isolate

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Runner is what TestMain is given (*testing.M), or a wrapper around it.
type Runner interface{ Run() int }

// Main wraps m for test mains that end by themselves (testscript.Main).
func Main(m Runner) Runner {
	beGuard()
	return isolated{m}
}

type isolated struct{ Runner }

func (i isolated) Run() int { return Run(i.Runner) }

// Run runs the tests with a private HOME and returns the exit status: not 0 if the real HOME changed meanwhile.
func Run(m Runner) int {
	beGuard()
	catchIgnored()
	real := placesFor(os.Environ())
	before := real.state()
	end, err := guard()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot start what clears up after the tests: %v\n", err)
		return 1
	}
	home, err := os.MkdirTemp("", "home")
	if err == nil {
		err = enter(home)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "cannot make a HOME for the tests: %v\n", err)
		return 1
	}
	status := m.Run()
	if err := errors.Join(os.RemoveAll(home), end()); err != nil {
		fmt.Fprintf(os.Stderr, "clear up after the tests: %v\n", err)
		status = max(status, 1)
	}
	if changed := diff(before, real.state()); len(changed) > 0 {
		fmt.Fprintf(os.Stderr, "FAIL: tests (or another program meanwhile) changed your files:\n\t%s\n",
			strings.Join(changed, "\n\t"))
		status = max(status, 1)
	}
	return status
}

// catchIgnored catches the signals that this process was started to ignore, and does nothing about them: a child starts with
// the default action of a caught signal, but ignores what its parent ignores.
func catchIgnored() {
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// private lists the variables of the user's own programs. Prefixes end in _.
var private = []string{
	"XDG_", "LONGTERM_", "HISTFILE", "HISTSIZE", "HISTFILESIZE", "HISTCONTROL", "ZDOTDIR", "ENV", "BASH_ENV", "PROMPT_COMMAND",
	"TMUX", "TMUX_PANE", "TMUX_TMPDIR", "STY", "SSH_AUTH_SOCK", "GNUPGHOME", "INPUTRC", "LESSHISTFILE", "VIMINIT",
	"DBUS_SESSION_BUS_ADDRESS",
}

// enter makes home the HOME of this process and removes private variables. Go's caches stay in place: tests do not
// affect them, and rebuilding is expensive.
func enter(home string) error {
	keep := map[string]func() (string, error){
		"GOCACHE": func() (string, error) { return below(os.UserCacheDir, "go-build") },
		"GOPATH":  func() (string, error) { return below(os.UserHomeDir, "go") },
		"GOENV":   func() (string, error) { return below(os.UserConfigDir, "go/env") },
	}
	for name, path := range keep {
		if os.Getenv(name) != "" {
			continue
		}
		p, err := path()
		if err != nil {
			return err
		}
		if err := os.Setenv(name, p); err != nil {
			return err
		}
	}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); isPrivate(name) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	// The go command that tests call counts its runs below HOME in the background, also while HOME is being removed.
	if err := os.MkdirAll(filepath.Join(home, ".config/go/telemetry"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, ".config/go/telemetry/mode"), []byte("off"), 0o600); err != nil {
		return err
	}
	return os.Setenv("HOME", home)
}

// forTests starts the names of variables that tell a process of a test's own binary its role. Without them that process
// would run the test again, without end.
const forTests = "LONGTERM_TEST"

func isPrivate(name string) bool {
	return !strings.HasPrefix(name, forTests) && slices.ContainsFunc(private, func(p string) bool {
		return name == p || strings.HasSuffix(p, "_") && strings.HasPrefix(name, p)
	})
}

func below(dir func() (string, error), name string) (string, error) {
	d, err := dir()
	return filepath.Join(d, name), err
}

// places are files and directories of a user that programs under test would touch.
type places struct{ files, trees []string }

// placesFor names them for an environment: histories of shells and programs, and longterm's own directories.
func placesFor(env []string) places {
	get := func(name string) string {
		for _, kv := range env {
			if v, ok := strings.CutPrefix(kv, name+"="); ok {
				return v
			}
		}
		return ""
	}
	or := func(name, fallback string) string {
		if v := get(name); v != "" {
			return v
		}
		return fallback
	}
	home := get("HOME")
	if home == "" {
		return places{}
	}
	var p places
	for _, f := range []string{
		".bash_history", ".zsh_history", ".zhistory", ".histfile", ".sh_history", ".ksh_history", ".mksh_history", ".history",
		".python_history", ".node_repl_history", ".lesshst", ".viminfo", ".sqlite_history", ".wget-hsts",
		".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".gitconfig", ".ssh/known_hosts", ".ssh/config",
	} {
		p.files = append(p.files, filepath.Join(home, f))
	}
	if h := get("HISTFILE"); h != "" {
		p.files = append(p.files, h)
	}
	data, config := or("XDG_DATA_HOME", filepath.Join(home, ".local/share")), or("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	state, cache := or("XDG_STATE_HOME", filepath.Join(home, ".local/state")), or("XDG_CACHE_HOME", filepath.Join(home, ".cache"))
	p.files = append(p.files, filepath.Join(data, "fish/fish_history"), filepath.Join(config, "fish/fish_variables"))
	for _, d := range []string{data, config, state, cache, get("XDG_RUNTIME_DIR")} {
		if d != "" {
			p.trees = append(p.trees, filepath.Join(d, "longterm"))
		}
	}
	if d := get("LONGTERM_DIR"); d != "" {
		p.trees = append(p.trees, d)
	}
	return p
}

// state maps each existing path to a stamp that reveals changes.
func (p places) state() map[string]string {
	state := map[string]string{}
	for _, f := range p.files {
		if info, err := os.Stat(f); err == nil {
			state[f] = stamp(info)
		}
	}
	for _, tree := range p.trees {
		// Only names: a daemon of the user's own may be writing there. What a test starts makes new ones.
		entries, _ := os.ReadDir(tree)
		for _, e := range entries {
			state[filepath.Join(tree, e.Name())] = e.Type().String()
			below, _ := os.ReadDir(filepath.Join(tree, e.Name()))
			for _, b := range below {
				state[filepath.Join(tree, e.Name(), b.Name())] = b.Type().String()
			}
		}
	}
	return state
}

func stamp(info os.FileInfo) string {
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}

// diff names what was made, changed or removed between two states, sorted.
func diff(before, after map[string]string) []string {
	var changed []string
	for path, s := range after {
		if was, ok := before[path]; !ok {
			changed = append(changed, path+" (made)")
		} else if was != s {
			changed = append(changed, path+" (changed)")
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			changed = append(changed, path+" (removed)")
		}
	}
	slices.Sort(changed)
	return changed
}
