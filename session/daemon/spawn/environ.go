//go:build unix

package spawn

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/shell"
)

// getenv returns a variable's value in env, or "".
func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// outerTerminalVars describe the terminal in which longterm was started, which is not the session's.
var outerTerminalVars = []string{
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "COLUMNS", "LINES", "TERMCAP", "TERM_SESSION_ID",
	"ZELLIJ", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON",
	"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "VTE_VERSION", "ITERM_SESSION_ID", "ALACRITTY_WINDOW_ID",
	"KONSOLE_VERSION", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
}

// terminalVars returns the variables that describe the session's terminal.
func terminalVars(id string) map[string]string {
	return map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "longterm", "LONGTERM_SESSION": id,
	}
}

// childEnv returns the environment of a session's process. Variables in given, which were set for this session alone,
// are passed on regardless of their names.
func childEnv(env []string, id, cwd string, given ...string) []string {
	set := terminalVars(id)
	set["PWD"] = cwd
	var out []string
	at := map[string]int{}
	put := func(name, value string) {
		if i, ok := at[name]; ok {
			out[i] = name + "=" + value
			return
		}
		at[name] = len(out)
		out = append(out, name+"="+value)
	}
	for _, kv := range env {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && (!slices.Contains(outerTerminalVars, name) || slices.Contains(given, kv)) {
			put(name, value)
		}
	}
	for name, value := range set {
		put(name, value)
	}
	return out
}

// loginVars describe the login or moment of a shell, and are not restored.
var loginVars = []string{
	"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "SHLVL", "PWD", "OLDPWD", "_",
}

// lastEnv returns the variables that a session's shell had changed and exported at its last prompt, without secrets.
func (s *Spawner) lastEnv(id string) []string {
	last := session.LastEnv(s.Dirs.Session(id))
	if l := s.LaunchOf(id); l != nil && l.StateDir != "" {
		if now, _, err := shell.ReadEnv(l.StateDir); err == nil { // its end was not seen
			for name, value := range now {
				last[name] = &value
			}
		}
	}
	var env []string
	for name, value := range last {
		if value != nil && !strings.HasPrefix(name, "SSH_") && !strings.HasPrefix(name, "LONGTERM_") && !slices.Contains(loginVars, name) {
			env = append(env, name+"="+*value)
		}
	}
	return env
}
