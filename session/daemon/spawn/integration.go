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

// launchFile, in a session's directory, says how its shell was integrated: a later daemon
// needs it to read the shell's marks. It holds the nonce; it has mode 0600 as all there.
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

// integrate has a shell that is about to start tell of its commands. What cannot be
// integrated starts as it is.
func (s *Spawner) integrate(id string, p *Plan) error {
	if p.plain || p.pipe || !s.Conf.Get().Shells.Integration || shell.Detect(p.argv) == shell.Unknown {
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
	l, err := shell.Prepare(shell.Setup{Argv: p.argv, Env: p.env, Cwd: p.Record.Cwd, Dir: dir, State: state})
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
	b, err := json.Marshal(launchRecord{l.Kind, l.Quality, l.Reason, l.Nonce, l.StateDir, l.Cwd, p.Numbers, l.Argv})
	if err == nil {
		err = atomicfile.Write(filepath.Join(s.Dirs.Session(id), launchFile), atomicfile.Options{}, b)
	}
	// The state of a shell before this one says nothing about it.
	if rmErr := os.Remove(filepath.Join(s.Dirs.Session(id), "shell.json")); !errors.Is(rmErr, os.ErrNotExist) {
		err = errors.Join(err, rmErr)
	}
	if err != nil {
		return StorageError(err, s.Dirs.State)
	}
	return nil
}

// IsShell says that a command is a shell for a person: restoring it runs nothing again.
func IsShell(argv []string) bool { return shell.Detect(argv) != shell.Unknown && isInteractive(argv) }

// plainOptions are options of shells that neither name a file nor hold a command.
var plainOptions = []string{
	"-i", "-l", "-il", "-li", "-f", "-N", "--interactive", "--login", "--norc", "--noprofile", "--no-rcs", "--no-config", "--posix",
}

// shellDirs are where a shell of that name is one; the first is PATH's choice.
var shellDirs = []string{"", "/bin/", "/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"}

// ShellAlone is the argv of a line that does nothing but start a shell, as zsh or bash -l do; nil: it is another one.
// Started so, and not by the user's shell in between, the shell tells of its commands.
func ShellAlone(line string) []string {
	argv := strings.Fields(line)
	if len(argv) > 1 && argv[0] == "exec" {
		argv = argv[1:]
	}
	if len(argv) == 0 || shell.Detect(argv) == shell.Unknown {
		return nil
	}
	if dir, _ := filepath.Split(argv[0]); !slices.Contains(shellDirs, dir) || strings.Contains(argv[0], `\`) { // of another place: who knows what it is
		return nil
	}
	for _, a := range argv[1:] {
		if !slices.Contains(plainOptions, a) {
			return nil
		}
	}
	return argv
}

// isInteractive says that a shell was started without a command or script.
func isInteractive(argv []string) bool {
	for _, a := range argv[1:] {
		if a == "" || a[0] != '-' && a[0] != '+' || a == "-c" {
			return false
		}
	}
	return true
}

// DropState removes what a session's shell left for the session: it is not asked for any more.
// What a restored shell is given is in the session's own state, without secrets.
func (s *Spawner) DropState(id string) {
	l := s.LaunchOf(id)
	if l == nil || l.StateDir == "" {
		return
	}
	var err error
	for _, name := range []string{"environ", "history", "trap", "nonce"} {
		if rmErr := os.Remove(filepath.Join(l.StateDir, name)); !errors.Is(rmErr, os.ErrNotExist) {
			err = errors.Join(err, rmErr)
		}
	}
	if err = errors.Join(err, shell.RemoveMemoryDir(l.StateDir)); err != nil {
		s.Log.Warn("remove what a shell left", "session", id, "err", err)
	}
}

// LaunchOf is how a session's shell was started; nil: it is none, or that is not known.
func (s *Spawner) LaunchOf(id string) *shell.Launch {
	b, err := os.ReadFile(filepath.Join(s.Dirs.Session(id), launchFile))
	if err != nil {
		return nil
	}
	var r launchRecord
	if err := json.Unmarshal(b, &r); err != nil {
		s.Log.Warn("how the shell was started is not known", "session", id, "err", err)
		return nil
	}
	return &shell.Launch{Kind: r.Kind, Quality: r.Quality, Reason: r.Reason, Nonce: r.Nonce, StateDir: r.StateDir, Cwd: r.Cwd, Numbers: r.Numbers, Argv: r.Argv}
}
