//go:build unix

package tmuxcompat

import "strings"

// notHere are tmux's commands that are not answered, by their names and aliases, and what does here what they do.
func notHere() map[string]string {
	return map[string]string{
		"choose-tree choose-client": "`longterm` shows all sessions, `longterm ls` lists them",
		"clear-history clearhist":   "`longterm prune` lets go of history",
		"command-prompt":            "it is for a person at a terminal: `longterm view --keys tmux` has one",
		"confirm-before confirm":    "it is for a person at a terminal: `longterm view --keys tmux` asks",
		"copy-mode clock-mode":      "nothing is drawn here: `longterm view --keys tmux` has it",
		"customize-mode":            "`longterm config` lists what can be set",
		"display-menu menu":         "nothing is drawn here",
		"display-panes displayp":    "nothing is drawn here; list-panes lists them",
		"display-popup popup":       "`longterm layout split SESSION --float -- COMMAND`",
		"find-window findw":         "`longterm search TEXT`, or list-windows -a with -F",
		"link-window linkw":         "a pane is a session of longterm: the viewer shows it in as many tabs as you like",
		"list-keys lsk":             "`longterm view --keys tmux` has tmux's, C-b ? lists them",
		"lock-server lock-session lock-client lock locks lockc": "sessions are not locked",
		"move-pane movep": "join-pane does it",
		"send-prefix":     "send-keys C-b",
		"server-access":   "`longterm share SESSION` lets others in",
		"show-hooks":      "`longterm events ls` lists hooks",
		"show-messages":   "`longterm events` prints what happens",
		"suspend-client":  "there is no client to suspend",
		"unlink-window":   "kill-window ends a window",
		"choose-buffer":   "it is for a person at a terminal: list-buffers lists them",
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
