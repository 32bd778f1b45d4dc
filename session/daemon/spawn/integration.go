//go:build unix

package spawn

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session/shell"
	"github.com/longterm-dev/longterm/store/atomicfile"
)

// launchFile, in a session's directory, records how its shell was integrated. A later daemon needs it to read the
// shell's marks. It holds the nonce and, like all files there, has mode 0600.
const launchFile = "launch.json"

// launchRecord is the file's content.
type launchRecord struct {
	Kind     shell.Kind    `json:"kind"`
	Quality  shell.Quality `json:"quality"`
	Reason   string        `json:"reason,omitempty"`
	Nonce    string        `json:"nonce,omitempty"`
	StateDir string        `json:"state_dir,omitempty"`
	Cwd      string        `json:"cwd"`
	Numbers  uint64        `json:"numbers,omitempty"`
	Argv     []string      `json:"argv,omitempty"`
}

// integrate adds command marks to a shell that is about to start. Other programs start unchanged.
func (s *Spawner) integrate(id string, p *Plan) error {
	if p.noIntegration || p.pipe || !s.Conf.Get().Shells.Integration || shell.Detect(p.argv) == shell.Unknown {
		return nil
	}
	dir := filepath.Join(s.Dirs.Session(id), "shell")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return StorageError(err, s.Dirs.State)
	}
	state, err := shell.MemoryDir(s.Dirs.Session(id))
	if err != nil {
		s.Log.Warn("the shell's environment will be on disk until it ends", "session", id, "err", err)
	}
	l, err := shell.Prepare(shell.Setup{Argv: p.argv, Env: p.env, Cwd: p.Record.Cwd, Dir: dir, StateDir: state})
	if l.StateDir != state { // it leaves nothing
		err = errors.Join(err, shell.RemoveMemoryDir(state))
	}
	if err != nil {
		s.Log.Warn("the shell's commands will not be followed", "session", id, "err", err)
		return nil
	}
	if l.Quality == shell.None && l.Reason != "" && !isInteractive(p.argv) {
		return nil // a script: nothing to follow
	}
	p.argv, p.env = l.Argv, l.Env
	b, err := json.Marshal(launchRecord{l.Kind, l.Quality, l.Reason, l.Nonce, l.StateDir, l.Cwd, p.UsedCommandNumbers, l.Argv})
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.Dirs.Session(id), launchFile), atomicfile.Options{}, b)
	}
	// The state of an earlier shell does not apply.
	if rmErr := os.Remove(filepath.Join(s.Dirs.Session(id), "shell.json")); !errors.Is(rmErr, os.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	if err != nil {
		return StorageError(err, s.Dirs.State)
	}
	return nil
}

// IsShell reports whether a command is an interactive shell: restoring it repeats no command.
func IsShell(argv []string) bool { return shell.Detect(argv) != shell.Unknown && isInteractive(argv) }

// plainOptions are options of shells that neither name a file nor hold a command.
var plainOptions = []string{
	"-i", "-l", "-il", "-li", "-f", "-N", "--interactive", "--login", "--norc", "--noprofile", "--no-rcs", "--no-config", "--posix",
}

// shellDirs are the directories in which a shell's name means that shell; "" means the PATH.
var shellDirs = []string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}

// PlainShellArgv returns the argv of a line that only starts a shell, such as zsh or bash -l, or nil. Started directly
// instead of by the user's shell, that shell can be integrated.
func PlainShellArgv(line string) []string {
	argv := strings.Fields(line)
	if len(argv) > 1 && argv[0] == "exec" {
		argv = argv[1:]
	}
	if len(argv) == 0 || shell.Detect(argv) == shell.Unknown {
		return nil
	}
	// elsewhere it may be any program
	if dir, _ := filepath.Split(argv[0]); !slices.Contains(shellDirs, dir) || strings.Contains(argv[0], `\`) {
		return nil
	}
	for _, a := range argv[1:] {
		if !slices.Contains(plainOptions, a) {
			return nil
		}
	}
	return argv
}

// isInteractive reports whether a shell was started without a command or script.
func isInteractive(argv []string) bool {
	for _, a := range argv[1:] {
		if a == "" || a[0] != '-' && a[0] != '+' || a == "-c" {
			return false
		}
	}
	return true
}

// DropState removes the files that a session's shell wrote for longterm. A restored shell uses the session's own state,
// which has no secrets.
func (s *Spawner) DropState(id string) {
	l := s.LaunchOf(id)
	if l == nil || l.StateDir == "" {
		return
	}
	var err error
	for _, name := range []string{"environ", "history", "trap", "nonce", "shadowed"} {
		if rmErr := os.Remove(filepath.Join(l.StateDir, name)); !errors.Is(rmErr, os.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	if err = errors.Join(err, shell.RemoveMemoryDir(l.StateDir)); err != nil {
		s.Log.Warn("remove a shell's state", "session", id, "err", err)
	}
}

// LaunchOf returns how a session's shell was started, or nil if it has none or that is unknown.
func (s *Spawner) LaunchOf(id string) *shell.Launch {
	b, err := os.ReadFile(filepath.Join(s.Dirs.Session(id), launchFile))
	if err != nil {
		return nil
	}
	var r launchRecord
	if err := json.Unmarshal(b, &r); err != nil {
		s.Log.Warn("shell launch record not readable", "session", id, "err", err)
		return nil
	}
	return &shell.Launch{Kind: r.Kind, Quality: r.Quality, Reason: r.Reason, Nonce: r.Nonce, StateDir: r.StateDir, Cwd: r.Cwd, CommandCount: r.Numbers, Argv: r.Argv}
}
