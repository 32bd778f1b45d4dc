//go:build unix

package tmuxcompat

import "strings"

// notHere are tmux's commands that are not answered, by their names and aliases, and what does here what they do.
func notHere() map[string]string {
	return map[string]string{
		"choose-tree choose-client":         "`longterm` shows all sessions, `longterm ls` lists them",
		"clear-history clearhist":           "`longterm prune` lets go of history",
		"command-prompt":                    "it is for a person at a terminal: `longterm view --keys tmux` has one",
		"confirm-before confirm":            "it is for a person at a terminal: `longterm view --keys tmux` asks",
		"copy-mode clock-mode":              "nothing is drawn here: `longterm view --keys tmux` has it",
		"customize-mode":                    "`longterm config` lists what can be set",
		"detach-client detach list-clients": "`longterm clients SESSION` lists who is there, `--detach N` takes one off",
		"display-menu menu":                 "nothing is drawn here",
		"display-panes displayp":            "nothing is drawn here; list-panes lists them",
		"display-popup popup":               "`longterm layout split SESSION --float -- COMMAND`",
		"find-window findw":                 "`longterm search TEXT`, or list-windows -a with -F",
		"if-shell if":                       "let the shell decide: if CONDITION; then tmux …; fi",
		"link-window linkw":                 "a pane is a session of longterm: the viewer shows it in as many tabs as you like",
		"list-keys lsk":                     "`longterm view --keys tmux` has tmux's, C-b ? lists them",
		"lock-server lock-session lock-client lock locks lockc": "sessions are not locked",
		"move-pane movep":   "join-pane does it",
		"move-window movew": "windows stay where they are; new-window -t SESSION:NUMBER starts one at a number",
		"next-layout nextl": "select-layout NAME",
		"pipe-pane pipep":   "`longterm pipe SESSION COMMAND`, with the session's name: tmux-N for pane %N",
		"previous-layout":   "select-layout NAME",
		"respawn-window":    "respawn-pane -k",
		"run-shell run":     "call the command in your shell, or `longterm run -- COMMAND`",
		"send-prefix":       "send-keys C-b",
		"server-access":     "`longterm share SESSION` lets others in",
		"show-hooks":        "`longterm events ls` lists hooks",
		"show-messages":     "`longterm events` prints what happens",
		"suspend-client":    "there is no client to suspend",
		"swap-window swapw": "windows stay where they are",
		"unbind-key unbind": "`longterm config set keys.ACTION \"\"` takes an action's keys away",
		"unlink-window":     "kill-window ends a window",
		"wait-for wait":     "`longterm wait SESSION --for WHAT`, with the session's name: tmux-N for pane %N",
		"set-buffer show-buffer paste-buffer save-buffer delete-buffer list-buffers choose-buffer setb showb pasteb saveb deleteb lsb": "there are no buffers: send-keys -l types a text, `longterm output SESSION` prints what was printed",
	}
}

// instead says of a command of tmux's that is not answered what does what it does; empty: it is none.
func instead(word string) string {
	for names, how := range notHere() {
		for name := range strings.FieldsSeq(names) {
			if name == word {
				return how
			}
		}
	}
	return ""
}
