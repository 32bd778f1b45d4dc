//go:build unix

package tmuxcompat

import "strings"

// unsupported maps unsupported tmux commands, by name and alias, to suggestions.
func unsupported() map[string]string {
	return map[string]string{
		"choose-tree choose-client": "use `longterm` or `longterm ls`",
		"clear-history clearhist":   "use `longterm prune`",
		"command-prompt":            "only in the viewer: `longterm view --keys tmux`",
		"confirm-before confirm":    "only in the viewer: `longterm view --keys tmux`",
		"copy-mode clock-mode":      "only in the viewer: `longterm view --keys tmux`",
		"customize-mode":            "use `longterm config`",
		"display-menu menu":         "nothing is drawn here",
		"display-panes displayp":    "nothing is drawn here; use list-panes",
		"display-popup popup":       "use `longterm layout split SESSION --float -- COMMAND`",
		"find-window findw":         "use `longterm search TEXT`, or list-windows -a with -F",
		"link-window linkw":         "not needed: the viewer can show a session in several tabs",
		"list-keys lsk":             "`longterm view --keys tmux` has tmux's, C-b ? lists them",
		"lock-server lock-session lock-client lock locks lockc": "sessions are not locked",
		"move-pane movep": "join-pane does it",
		"send-prefix":     "send-keys C-b",
		"server-access":   "`longterm share SESSION` lets others in",
		"show-hooks":      "`longterm events ls` lists hooks",
		"show-messages":   "`longterm events` prints what happens",
		"suspend-client":  "no client to suspend",
		"unlink-window":   "kill-window ends a window",
		"choose-buffer":   "it needs a user at a terminal: list-buffers lists them",
	}
}

// suggestion returns what to use instead of an unsupported tmux command, or "" for an unknown word.
func suggestion(word string) string {
	for names, how := range unsupported() {
		for name := range strings.FieldsSeq(names) {
			if name == word {
				return how
			}
		}
	}
	return ""
}
