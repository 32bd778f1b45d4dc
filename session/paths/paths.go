// Package paths says where longterm keeps its files.
//
//	runtime  daemon.sock, daemon.lock, start.lock, upgrade.lock, keepers/KEY.{sock,lock}, hosts/KEY.{sock,lock,json,ssh}
//	state    longterm.db, daemon.log, keeper.log, audit/, audit.head, secrets.{json,key}, tokens.json, sessions/ID/{journal/,checkpoint,…},
//	         locks/{daemon,keeper-KEY}.lock, trusted/HASH.json
//	config   config.toml, policy.toml
//
// Runtime is $XDG_RUNTIME_DIR/longterm, else "run" in the state directory. State is
// $XDG_STATE_HOME/longterm, else ~/.local/state/longterm. Config is
// $XDG_CONFIG_HOME/longterm, else ~/.config/longterm. LONGTERM_DIR puts all under one
// directory. Runtime and state are mode 0700 and ours; what others own or can write to is
// refused, the configuration too.
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

// homeDir is our directory below the one a variable names, else below one of the home
// directory.
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

// fits says of a state directory whose database SQLite could not open that its name is too long. Sockets have no such bound.
func (d Dirs) fits() error {
	if over := len(d.Database()) - maxDatabase; over > 0 {
		return fmt.Errorf("the path of the state directory %s is too long: it has %d bytes, %d more than its database allows; set %s to a directory with a shorter name",
			d.State, len(d.State), over, EnvDir)
	}
	return nil
}

// Socket is the daemon's.
func (d Dirs) Socket() string { return filepath.Join(d.Run, "daemon.sock") }

// DaemonLock is held by the one daemon.
func (d Dirs) DaemonLock() string { return filepath.Join(d.Run, "daemon.lock") }

// Stopped is a file with the time when longterm was ended with all its sessions; it goes when it is started again.
func (d Dirs) Stopped() string { return filepath.Join(d.Run, "stopped") }

// Hosts holds what there is of connections to other hosts: a socket, a lock and facts for each.
func (d Dirs) Hosts() string { return filepath.Join(d.Run, "hosts") }

// StartLock is held by a client that starts a keeper.
func (d Dirs) StartLock() string { return filepath.Join(d.Run, "start.lock") }

// UpgradeLock is held by a client that has keepers and daemon replaced.
func (d Dirs) UpgradeLock() string { return filepath.Join(d.Run, "upgrade.lock") }

// Keepers holds a socket and a lock for each keeper.
func (d Dirs) Keepers() string { return filepath.Join(d.Run, "keepers") }

// KeeperSocket is the socket of the keeper with a placement key.
func (d Dirs) KeeperSocket(key string) string { return filepath.Join(d.Keepers(), key+".sock") }

// KeeperLock is held by the keeper with a placement key.
func (d Dirs) KeeperLock(key string) string { return filepath.Join(d.Keepers(), key+".lock") }

// DaemonStateLock is held by the one daemon that uses the state directory, wherever its
// runtime directory is.
func (d Dirs) DaemonStateLock() string { return filepath.Join(d.Locks(), "daemon.lock") }

// KeeperStateLock is likewise held by the keeper with a placement key.
func (d Dirs) KeeperStateLock(key string) string {
	return filepath.Join(d.Locks(), keeperLock+key+".lock")
}

const keeperLock = "keeper-"

// Locks holds the locks of the state directory.
func (d Dirs) Locks() string { return filepath.Join(d.State, "locks") }

// KeeperKeys are the placement keys of keepers that left a trace: one that runs, and maybe some
// that do not any more.
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

// Database is the SQLite file.
func (d Dirs) Database() string { return filepath.Join(d.State, "longterm.db") }

// SecretsKnown has the fingerprints of values that are secret, SecretsKey what they are made with.
func (d Dirs) SecretsKnown() string { return filepath.Join(d.State, "secrets.json") }

// SecretsKey is the key of fingerprints.
func (d Dirs) SecretsKey() string { return filepath.Join(d.State, "secrets.key") }

// Fleet holds what makes this machine part of a fleet.
func (d Dirs) Fleet() string { return filepath.Join(d.State, "fleet") }

// Tokens is the file of those who may come in over TCP.
func (d Dirs) Tokens() string { return filepath.Join(d.State, "tokens.json") }

// Notices is where what is to be posted to webhooks waits.
func (d Dirs) Notices() string { return filepath.Join(d.State, "notices") }

// Shares is the file of sessions that are shared through relays.
func (d Dirs) Shares() string { return filepath.Join(d.State, "shares.json") }

// Web says where the page in the browser is served.
func (d Dirs) Web() string { return filepath.Join(d.State, "web.json") }

// Audit holds the segments of the audit log. Its head is beside it.
func (d Dirs) Audit() string { return filepath.Join(d.State, "audit") }

// DaemonLog and KeeperLog are appended to.
func (d Dirs) DaemonLog() string { return filepath.Join(d.State, "daemon.log") }

// KeeperLog is where keepers, and what they start, write their complaints.
func (d Dirs) KeeperLog() string { return filepath.Join(d.State, "keeper.log") }

// ConfigFile is the user's configuration.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.toml") }

// SandboxFile are the user's sandbox profiles.
func (d Dirs) SandboxFile() string { return filepath.Join(d.Config, "sandbox.toml") }

// ConfigKept is the daemon's copy of the last configuration that was in order.
func (d Dirs) ConfigKept() string { return filepath.Join(d.State, "config.last.toml") }

// PolicyFile is the user's file of rules.
func (d Dirs) PolicyFile() string { return filepath.Join(d.Config, "policy.toml") }

// PolicyKept is a copy of the last file of rules that was in order.
func (d Dirs) PolicyKept() string { return filepath.Join(d.State, "policy.last.toml") }

// Root is the one directory that all is below; empty where each has its own place.
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

// Session is the directory of one session.
func (d Dirs) Session(id string) string { return filepath.Join(d.Sessions(), id) }

// Wanted is the directory of commands that wait for a person before they are started.
func (d Dirs) Wanted() string { return filepath.Join(d.State, "wanted") }
