package companion

import "github.com/longterm-dev/longterm/session/paths"

// KeeperArgv returns the command line of a keeper. The keeper with daemon set also keeps a daemon running.
func KeeperArgv(dirs paths.Dirs, key string, daemon bool) []string {
	argv := []string{
		"longterm", "keeper", "--socket", dirs.KeeperSocket(key), "--lock", dirs.KeeperLock(key), "--key", key,
	}
	if daemon {
		argv = append(argv, "--daemon")
	}
	return argv
}
