//go:build unix

package spawn

import (
	"slices"
	"strings"

	"github.com/longterm-dev/longterm/session"
	"github.com/longterm-dev/longterm/session/shell"
)

func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- { // the last one counts
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// notOurs are variables that describe the terminal longterm was started in, which is
// not the one the child gets.
var notOurs = []string{
	"TMUX", "TMUX_PANE", "STY", "WINDOW", "WINDOWID", "COLUMNS", "LINES", "TERMCAP", "TERM_SESSION_ID",
	"ZELLIJ", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID", "KITTY_PID", "KITTY_LISTEN_ON",
	"WEZTERM_PANE", "WEZTERM_UNIX_SOCKET", "VTE_VERSION", "ITERM_SESSION_ID", "ALACRITTY_WINDOW_ID",
	"KONSOLE_VERSION", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
}

// ours are variables that describe the terminal the child gets.
func ours(id string) map[string]string {
	return map[string]string{
		"TERM": "xterm-256color", "COLORTERM": "truecolor", "TERM_PROGRAM": "longterm", "LONGTERM_SESSION": id,
	}
}

// childEnv is the environment of a session's process. What was given for this session alone (again in given) is passed
// on whatever it is named.
func childEnv(env []string, id, cwd string, given ...string) []string {
	set := ours(id)
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
		if ok && name != "" && (!slices.Contains(notOurs, name) || slices.Contains(given, kv)) {
			put(name, value)
		}
	}
	for name, value := range set {
		put(name, value)
	}
	return out
}

// ofItsTime are variables that describe the login or the moment a shell ran in, not what was
// done in it.
var ofItsTime = []string{
	"DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "SHLVL", "PWD", "OLDPWD", "_",
}

// lastEnv is what a session's shell exported at its last prompt, as far as it was kept: what
// was changed in it, without secrets; nothing when that is not known.
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
		if value != nil && !strings.HasPrefix(name, "SSH_") && !strings.HasPrefix(name, "LONGTERM_") && !slices.Contains(ofItsTime, name) {
			env = append(env, name+"="+*value)
		}
	}
	return env
}
