//go:build unix

package main

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/session/daemon"
)

func init() { probeLine = daemon.ProbeLine }

// verbs are the commands, in the order help lists them, by the words that call them.
var verbs = []verb{
	{"new", newCommand}, {"run", runCommand}, {"watch", watchCommand}, {"ls list", listCommand}, {"info", infoCommand},
	{"attach", attachCommand}, {"view", viewCommand}, {"exec", execCommand}, {"jobs", jobsCommand}, {"commands", commandsCommand}, {"suggest", suggestCommand}, {"send", sendCommand}, {"keys", keysCommand},
	{"respond", respondCommand}, {"expect", expectCommand},
	{"paste", pasteCommand}, {"wait", waitCommand}, {"screen", screenCommand}, {"output", outputCommand},
	{"play", playCommand}, {"export", exportCommand},
	{"search", searchCommand}, {"resize", resizeCommand}, {"rename", renameCommand}, {"label", labelCommand}, {"signal", signalCommand},
	{"kill", killCommand}, {"restore", restoreCommand}, {"rm", removeCommand}, {"prune", pruneCommand}, {"render", renderCommand}, {"bench", benchCommand},
	{"config", configCommand}, {"daemon", daemonCommand}, {"doctor", doctorCommand}, {"version", versionCommand}, {"keeper", keeperCommand},
}

// platform is what the verbs share on systems with keepers.
type platform struct {
	backend *backend // made on first use
}

func (p *platform) close() {
	if p.backend != nil {
		p.backend.close()
	}
}

// noVerb is longterm by itself: the viewer.
func noVerb(a *app, cmd *cobra.Command) error { return a.viewDefault(cmd) }
