// Package paths defines where longterm stores its files.
//
//	runtime  daemon.sock, daemon.lock, start.lock, upgrade.lock, keepers/KEY.{sock,lock}, hosts/KEY.{sock,lock,json,ssh}
//	state    longterm.db, daemon.log, keeper.log, audit/, audit.head, secrets.{json,key}, tokens.json, sessions/ID/{journal/,files/,checkpoint,…},
//	         locks/{daemon,keeper-KEY}.lock, trusted/HASH.json
//	config   config.toml, policy.toml
//
// Runtime is $XDG_RUNTIME_DIR/longterm, else "run" in the state directory. State is $XDG_STATE_HOME/longterm, else
// ~/.local/state/longterm. Config is $XDG_CONFIG_HOME/longterm, else ~/.config/longterm. LONGTERM_DIR puts all under
// one directory. Runtime and state have mode 0700 and belong to the user. Directories that others own or can write to
// are rejected, also for the configuration.
package paths

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// EnvDir is the variable that puts everything under one directory.
const EnvDir = "LONGTERM_DIR"

// MainKeeper is the placement key of the shared keeper.
const MainKeeper = "main"

// Dirs are the directories.
type Dirs struct{ Run, State, Config string }

// Default reads the environment. Directories that are not ours alone are refused.
func Default() (Dirs, error) {
	d, err := fromEnvironment()
	if err != nil {
		return Dirs{}, err
	}
	return d, d.Check()
}

func fromEnvironment() (Dirs, error) {
	if d := os.Getenv(EnvDir); d != "" {
		abs, err := filepath.Abs(d)
		if err != nil {
			return Dirs{}, fmt.Errorf("%s=%s: %w", EnvDir, d, err)
		}
		return Dirs{Run: filepath.Join(abs, "run"), State: filepath.Join(abs, "state"), Config: abs}, nil
	}
	state, err := homeDir("XDG_STATE_HOME", ".local", "state")
	if err != nil {
		return Dirs{}, err
	}
	config, err := homeDir("XDG_CONFIG_HOME", ".config")
	if err != nil {
		return Dirs{}, err
	}
	d := Dirs{Run: filepath.Join(state, "run"), State: state, Config: config}
	if run := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		d.Run = filepath.Join(run, "longterm")
	}
	return d, nil
}

// homeDir returns longterm's directory below that of a variable, else below one in the home directory.
func homeDir(variable string, below ...string) (string, error) {
	if s := os.Getenv(variable); filepath.IsAbs(s) {
		return filepath.Join(s, "longterm"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no home directory (%w); set %s to a directory of yours", err, EnvDir)
	}
	return filepath.Join(append(append([]string{home}, below...), "longterm")...), nil
}

// Make creates the directories and refuses ones that others could write to.
func (d Dirs) Make() error {
	if err := errors.Join(d.Check(), d.fits()); err != nil {
		return err
	}
	for _, dir := range []string{d.State, d.Run, d.Keepers(), d.Sessions(), d.Locks()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("%w; make it writable, or set %s to a directory that is", err, EnvDir)
		}
	}
	return errors.Join(makePrivate(d.Run), makePrivate(d.State))
}

// maxDatabase is how long the path of a database may be, in bytes: SQLite takes 512 with what it adds to the name itself, and the
// -journal of the longest.
const maxDatabase = 512 - len("-journal")

// fits rejects a state directory with a path too long for SQLite to open its database. Sockets have no such limit.
func (d Dirs) fits() error {
	if over := len(d.Database()) - maxDatabase; over > 0 {
		return fmt.Errorf("the path of the state directory %s is too long: it has %d bytes, %d more than its database allows; set %s to a directory with a shorter name",
			d.State, len(d.State), over, EnvDir)
	}
	return nil
}

// Socket returns the daemon's socket.
func (d Dirs) Socket() string { return filepath.Join(d.Run, "daemon.sock") }

// DaemonLock returns the lock that the daemon holds.
func (d Dirs) DaemonLock() string { return filepath.Join(d.Run, "daemon.lock") }

// Stopped returns the file with the time when longterm and all sessions were stopped; the next start removes it.
func (d Dirs) Stopped() string { return filepath.Join(d.Run, "stopped") }

// Hosts holds what there is of connections to other hosts: a socket, a lock and facts for each.
func (d Dirs) Hosts() string { return filepath.Join(d.Run, "hosts") }

// StartLock returns the lock of a client that starts a keeper.
func (d Dirs) StartLock() string { return filepath.Join(d.Run, "start.lock") }

// UpgradeLock returns the lock of a client that replaces keepers and daemon.
func (d Dirs) UpgradeLock() string { return filepath.Join(d.Run, "upgrade.lock") }

// Keepers holds a socket and a lock for each keeper.
func (d Dirs) Keepers() string { return filepath.Join(d.Run, "keepers") }

// KeeperSocket returns the socket of the keeper with a placement key.
func (d Dirs) KeeperSocket(key string) string { return filepath.Join(d.Keepers(), key+".sock") }

// KeeperLock returns the lock of the keeper with a placement key.
func (d Dirs) KeeperLock(key string) string { return filepath.Join(d.Keepers(), key+".lock") }

// DaemonStateLock returns the lock of the daemon that uses the state directory, wherever its runtime directory is.
func (d Dirs) DaemonStateLock() string { return filepath.Join(d.Locks(), "daemon.lock") }

// KeeperStateLock returns the same lock of the keeper with a placement key.
func (d Dirs) KeeperStateLock(key string) string {
	return filepath.Join(d.Locks(), keeperLock+key+".lock")
}

const keeperLock = "keeper-"

// Locks holds the locks of the state directory.
func (d Dirs) Locks() string { return filepath.Join(d.State, "locks") }

// KeeperKeys returns the placement keys of keepers that left files: running ones, and possibly former ones.
func (d Dirs) KeeperKeys() []string {
	keys := map[string]bool{}
	for _, trace := range [...]struct{ dir, prefix, suffix string }{
		{d.Keepers(), "", ".sock"}, {d.Keepers(), "", ".lock"}, {d.Locks(), keeperLock, ".lock"},
	} {
		entries, _ := os.ReadDir(trace.dir) // it may have been removed
		for _, e := range entries {
			name, isOne := strings.CutPrefix(e.Name(), trace.prefix)
			if key, ok := strings.CutSuffix(name, trace.suffix); ok && isOne {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// Database returns the SQLite file.
func (d Dirs) Database() string { return filepath.Join(d.State, "longterm.db") }

// SecretsKnown returns the file with the fingerprints of secret values; SecretsKey holds their key.
func (d Dirs) SecretsKnown() string { return filepath.Join(d.State, "secrets.json") }

// SecretsKey returns the file with the key of fingerprints.
func (d Dirs) SecretsKey() string { return filepath.Join(d.State, "secrets.key") }

// Fleet holds what makes this machine part of a fleet.
func (d Dirs) Fleet() string { return filepath.Join(d.State, "fleet") }

// Tokens returns the file of tokens for access over TCP.
func (d Dirs) Tokens() string { return filepath.Join(d.State, "tokens.json") }

// Notices returns the directory of pending webhook notices.
func (d Dirs) Notices() string { return filepath.Join(d.State, "notices") }

// Shares returns the file of sessions shared through relays.
func (d Dirs) Shares() string { return filepath.Join(d.State, "shares.json") }

// Push returns the file of browsers that receive notifications.
func (d Dirs) Push() string { return filepath.Join(d.State, "push.json") }

// Web returns the file with the web server's state.
func (d Dirs) Web() string { return filepath.Join(d.State, "web.json") }

// Audit returns the directory of the audit log's segments. Its head is next to it.
func (d Dirs) Audit() string { return filepath.Join(d.State, "audit") }

// DaemonLog and KeeperLog are appended to.
func (d Dirs) DaemonLog() string { return filepath.Join(d.State, "daemon.log") }

// KeeperLog returns the log of keepers and of what they start.
func (d Dirs) KeeperLog() string { return filepath.Join(d.State, "keeper.log") }

// ConfigFile returns the user's configuration.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.toml") }

// SandboxFile returns the file of the user's sandbox profiles.
func (d Dirs) SandboxFile() string { return filepath.Join(d.Config, "sandbox.toml") }

// ConfigKept returns the daemon's copy of the last valid configuration.
func (d Dirs) ConfigKept() string { return filepath.Join(d.State, "config.last.toml") }

// PolicyFile returns the user's rule file.
func (d Dirs) PolicyFile() string { return filepath.Join(d.Config, "policy.toml") }

// PolicyKept returns the copy of the last valid rule file.
func (d Dirs) PolicyKept() string { return filepath.Join(d.State, "policy.last.toml") }

// Root returns the one directory above all others, or "" if they are separate.
func (d Dirs) Root() string {
	if d.Config != "" && filepath.Dir(d.State) == d.Config {
		return d.Config
	}
	return ""
}

// PolicyTrust holds a file for each project's file of rules that the user trusts.
func (d Dirs) PolicyTrust() string { return filepath.Join(d.State, "trusted") }

// Sessions holds a directory for each session.
func (d Dirs) Sessions() string { return filepath.Join(d.State, "sessions") }

// Session returns the directory of one session.
func (d Dirs) Session(id string) string { return filepath.Join(d.Sessions(), id) }

// SessionFiles returns the directory of the files that clients put into a session.
func (d Dirs) SessionFiles(id string) string { return filepath.Join(d.Session(id), "files") }

// Drafts returns the directory of drafts: file changes of sessions, kept apart, which outlive those.
func (d Dirs) Drafts() string { return filepath.Join(d.State, "drafts") }

// PendingStarts returns the directory of commands that await approval before their start.
func (d Dirs) PendingStarts() string { return filepath.Join(d.State, "wanted") }
