//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/attachclient"
	"github.com/longterm-dev/longterm/cmd/internal/exit"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/shortcut"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/session/actor"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/paths"
)

// attachFlags are what `attach` is told.
type attachFlags struct {
	detachKey, size      string
	predict              string
	readOnly, scrollback bool
	alone                bool
}

func attachVerb(a *app, c *cobra.Command) {
	var given attachFlags
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error { return a.attach(cmd, s, given) })
	c.Long = `Attach this terminal to a session, with full fidelity. The detach key leaves the session running; two other
keys switch to the next and to the previous session. If the daemon is restarted meanwhile the terminal is
attached again by itself. The keys are attach.detach_key, next_key and previous_key of the configuration.

The session is shown on the terminal's alternate screen, and the primary one is restored afterwards. With
--scrollback it is shown on the primary screen: its history is printed first, and the terminal itself keeps
what scrolls off.

--size says whose size the session takes: latest, of the client that was active last; largest or smallest,
of all; fixed, its own; none, not this client's. A terminal of another size shows what fits.

The terminal's modes are restored at the end. If they are not, for example after a crash of the machine
between, ` + "`longterm doctor --terminal`" + ` resets them.`
	f := c.Flags()
	f.StringVar(&given.detachKey, "detach-key", "", "control key and a second key that detach ($LONGTERM_DETACH_KEY; default: the configuration's, C-\\ d)")
	f.StringVar(&given.size, "size", "", "whose size the session takes: latest, largest, smallest, fixed, none (default: the configuration's, latest)")
	f.BoolVar(&given.scrollback, "scrollback", false, "use the terminal's own scrollback")
	f.BoolVarP(&given.alone, "detach-others", "d", false, "have all other terminals leave that are attached to the session")
	f.StringVar(&given.predict, "predict", "", "on other hosts, draw what is typed before its echo comes, underlined: auto, where the link is slow; always; never (default: the configuration's, auto)")
	f.BoolVar(&given.readOnly, "read-only", false, "send no input")
}

// attach puts a session on the terminal, as flags and the configuration have it.
func (a *app) attach(cmd *cobra.Command, s *client.Session, given attachFlags) error {
	conf := a.settings().Attach
	given.scrollback = request.GivenOr(cmd, "scrollback", given.scrollback, conf.Scrollback)
	if given.size = request.GivenOr(cmd, "size", given.size, conf.Size); given.size == "latest" && !cmd.Flags().Changed("size") {
		given.size = "" // what others ask for counts
	}
	given.predict = request.GivenOr(cmd, "predict", given.predict, conf.Predict)
	if !slices.Contains(config.Predictions, given.predict) {
		return exit.Usagef("--predict %q: there are %s", given.predict, strings.Join(config.Predictions, ", "))
	}
	var chords attach.Chords
	leave := request.GivenOr(cmd, "detach-key", given.detachKey, conf.DetachKey)
	err := errors.Join(
		chords.Bind(leave, attach.Detach),
		chords.Bind(conf.NextKey, attach.Next),
		chords.Bind(conf.PreviousKey, attach.Previous),
	)
	if err != nil {
		return exit.Usage(err)
	}
	b, err := a.connect()
	if err != nil {
		return err
	}
	a.passAgentOn(b.dirs)
	a.renew(cmd.Context(), b.client)
	here := (*client.Client)(nil)
	if a.host != "" {
		here = client.New(client.Options{Dirs: b.dirs, Build: version})
		defer here.Close()
	}
	taken := shortcut.Taken
	shortcut.Taken = nil
	return attachclient.Run(cmd.Context(), s, attachclient.Options{
		Taken: taken, Key: begunKey(), Leaving: a.leaving, Client: b.client, Stdin: a.stdin, Stderr: a.Stderr, Chords: &chords, Leave: leave,
		Policy: given.size, ReadOnly: given.readOnly, Scrollback: given.scrollback, DetachOthers: given.alone, Host: a.host, Here: here, Predict: given.predict,
	})
}

// begunKey is the key of the stream that was opened before the program was initialised; empty: there is none.
func begunKey() string {
	u, err := url.Parse(shortcut.Begun.URI)
	if err != nil {
		return ""
	}
	return u.Query().Get("resume")
}

// listenForLeaving takes the signals that are kept for whom the terminal was taken for; nil: it was not.
func listenForLeaving() chan os.Signal {
	if shortcut.Taken == nil {
		return nil
	}
	leaving := make(chan os.Signal, len(takeover.Leaving))
	signal.Notify(leaving, takeover.Leaving...) // at once: what was kept is told when the first of them is listened for
	return leaving
}

// outliveFileLimit makes a write beyond the limit of a file's size (ulimit -f) one that fails, and is told as a full disk is: by
// itself it ends the process. What we start has the signal as ever.
func outliveFileLimit() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }

// leftOnTheWay is the error of a verb that had the terminal and was told to leave before it came to its session: a
// person saw the session by then, and hears the same as later. Without such a signal it is the verb's own.
func leftOnTheWay(leaving chan os.Signal, err error) error {
	if leaving == nil || !exit.IsInterrupted(err) {
		return err
	}
	signal.Stop(leaving) // waits for what is on its way
	select {
	case sig := <-leaving:
		return attachclient.Left("", sig.(syscall.Signal))
	default:
		return err
	}
}

// giveTerminalBack gives the terminal back that was taken for a verb that did not come to it.
func giveTerminalBack() {
	if taken := shortcut.Taken; taken != nil {
		shortcut.Taken = nil
		termio.TakenOver(taken).Restore(true)
	}
}

// passAgentOn has sessions reach the ssh agent of the person at this terminal, where the configuration wants that. A
// program in a session has none of its own, and an agent's is nobody's to use.
func (a *app) passAgentOn(dirs paths.Dirs) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if !a.settings().Shells.SSHAgent || socket == "" || !a.isLogin() {
		return
	}
	if err := dirs.LinkAgentSocket(socket); err != nil {
		fmt.Fprintln(a.Stderr, "longterm: sessions do not reach your ssh agent:", err)
	}
}

// isLogin says that this terminal is a person's login on this machine, and no program in a session, nor an agent's.
func (a *app) isLogin() bool {
	return a.host == "" && os.Getenv(actor.Env) == "" && os.Getenv("LONGTERM_SESSION") == ""
}

// renew has shells take over the variables of this login that the configuration names: they have those of who started them.
func (a *app) renew(ctx context.Context, c *client.Client) {
	names := a.settings().Shells.Renew
	if len(names) == 0 || !a.isLogin() {
		return
	}
	env := map[string]*string{}
	for _, name := range names {
		env[name] = nil
		if value, ok := os.LookupEnv(name); ok {
			env[name] = &value
		}
	}
	if err := c.Renew(ctx, api.Renewal{Env: env}); err != nil {
		fmt.Fprintln(a.Stderr, "longterm: shells keep their variables:", err)
	}
}
