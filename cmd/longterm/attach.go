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
	"github.com/longterm-dev/longterm/cmd/internal/fastpath"
	"github.com/longterm-dev/longterm/cmd/internal/request"
	"github.com/longterm-dev/longterm/cmd/internal/termio"
	"github.com/longterm-dev/longterm/cmd/internal/termio/takeover"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/attach"
	"github.com/longterm-dev/longterm/session/client"
	"github.com/longterm-dev/longterm/session/config"
	"github.com/longterm-dev/longterm/session/identity"
	"github.com/longterm-dev/longterm/session/paths"
)

// attachFlags holds the flags of `attach`.
type attachFlags struct {
	detachKey, size      string
	predict              string
	readOnly, scrollback bool
	alone                bool
}

func attachVerb(a *app, c *cobra.Command) {
	var given attachFlags
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error { return a.attach(cmd, s, given) })
	c.Long = `Connect this terminal to a session S until you detach or the session ends.

  longterm attach work

The detach key (C-\ d) leaves the session running; two other keys switch to the next and the previous session.
Keys: attach.detach_key, next_key and previous_key of the configuration. After a restart of the daemon the
terminal is attached again automatically.

The session is shown on the terminal's alternate screen, and the primary screen is restored at the end. With
--scrollback the session uses the primary screen: its history is printed first, and the terminal keeps the
scrollback.

--size sets the session's size policy: latest (size of the client that was active last), largest or smallest
(of all clients), fixed (the session keeps its size), none (ignore this client's size). A terminal of a different
size shows the part that fits.

The terminal's modes are restored at the end. If they are not, for example after a crash of the machine,
` + "`longterm doctor --terminal`" + ` resets them.`
	f := c.Flags()
	f.StringVar(&given.detachKey, "detach-key", "", "`KEYS` to detach: a control key and a second key ($LONGTERM_DETACH_KEY; default: attach.detach_key, C-\\ d)")
	f.StringVar(&given.size, "size", "", "size `POLICY`: latest, largest, smallest, fixed, none (default: attach.size, latest)")
	f.BoolVar(&given.scrollback, "scrollback", false, "primary screen, with the terminal's own scrollback")
	f.BoolVarP(&given.alone, "detach-others", "d", false, "detach all other terminals from the session")
	f.StringVar(&given.predict, "predict", "", "local echo on remote hosts, underlined, a `MODE`: auto (on slow links), always, never (default: attach.predict, auto)")
	f.BoolVar(&given.readOnly, "read-only", false, "view-only: no input is sent")
}

// attach shows a session on the terminal, configured by flags and the configuration.
func (a *app) attach(cmd *cobra.Command, s *client.Session, given attachFlags) error {
	conf := a.settings().Attach
	given.scrollback = request.FlagOr(cmd, "scrollback", given.scrollback, conf.Scrollback)
	if given.size = request.FlagOr(cmd, "size", given.size, conf.Size); given.size == "latest" && !cmd.Flags().Changed("size") {
		given.size = "" // another client's policy applies
	}
	given.predict = request.FlagOr(cmd, "predict", given.predict, conf.Predict)
	if !slices.Contains(config.Predictions, given.predict) {
		return exit.Usagef("--predict %q: invalid value; use one of %s", given.predict, strings.Join(config.Predictions, ", "))
	}
	var chords attach.Chords
	leave := request.FlagOr(cmd, "detach-key", given.detachKey, conf.DetachKey)
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
	a.forwardSSHAgent(b.dirs)
	a.renew(cmd.Context(), b.client)
	here := (*client.Client)(nil)
	if a.host != "" {
		here = client.New(client.Options{Dirs: b.dirs, Build: version})
		defer here.Close()
	}
	taken := fastpath.Terminal
	fastpath.Terminal = nil
	return attachclient.Run(cmd.Context(), s, attachclient.Options{
		Taken: taken, Key: begunKey(), Leaving: a.leaving, Client: b.client, Stdin: a.stdin, Stderr: a.Stderr, Chords: &chords, Leave: leave,
		Policy: given.size, ReadOnly: given.readOnly, Scrollback: given.scrollback, DetachOthers: given.alone, Host: a.host, Local: here, Predict: given.predict,
	})
}

// begunKey returns the key of the stream that the fast path opened before the program was initialised, or "" without
// one.
func begunKey() string {
	u, err := url.Parse(fastpath.Sent.URI)
	if err != nil {
		return ""
	}
	return u.Query().Get("resume")
}

// listenForLeaving receives the signals that were held back while the fast path had the terminal. It returns nil if the
// fast path did not take it.
func listenForLeaving() chan os.Signal {
	if fastpath.Terminal == nil {
		return nil
	}
	leaving := make(chan os.Signal, len(takeover.TerminationSignals))
	// must come first: held-back signals are delivered when the first of them is listened for
	signal.Notify(leaving, takeover.TerminationSignals...)
	return leaving
}

// outliveFileLimit makes a write beyond the file size limit (ulimit -f) fail with an error, which is reported like a
// full disk. By default SIGXFSZ ends the process. Child processes keep the default.
func outliveFileLimit() { signal.Notify(make(chan os.Signal, 1), syscall.SIGXFSZ) }

// detachedError returns the error of a verb that had the terminal and got a signal before it reached its session. The
// user already saw the session, so the message is the one of a later detach. Without such a signal it returns err.
func detachedError(leaving chan os.Signal, err error) error {
	if leaving == nil || !exit.IsInterrupted(err) {
		return err
	}
	signal.Stop(leaving) // waits for signals in delivery
	select {
	case sig := <-leaving:
		return attachclient.SignalError("", sig.(syscall.Signal))
	default:
		return err
	}
}

// giveTerminalBack restores the terminal if the fast path took it for a verb that never used it.
func giveTerminalBack() {
	if taken := fastpath.Terminal; taken != nil {
		fastpath.Terminal = nil
		termio.FromTakeover(taken).Restore(true)
	}
}

// forwardSSHAgent links the ssh agent of the user at this terminal into sessions, if the configuration says so. It
// skips programs in sessions, which have no ssh agent, and agents, whose ssh agent is not for others.
func (a *app) forwardSSHAgent(dirs paths.Dirs) {
	socket := os.Getenv("SSH_AUTH_SOCK")
	if !a.settings().Shells.SSHAgent || socket == "" || !a.isLogin() {
		return
	}
	if err := dirs.LinkAgentSocket(socket); err != nil {
		fmt.Fprintln(a.Stderr, "longterm: ssh agent not available in sessions:", err)
	}
}

// isLogin reports whether this terminal is a user's login on this machine, neither a session nor an agent's terminal.
func (a *app) isLogin() bool {
	return a.host == "" && os.Getenv(identity.Env) == "" && os.Getenv("LONGTERM_SESSION") == ""
}

// renew updates the variables that the configuration names (shells.renew) in running shells, from this login.
func (a *app) renew(ctx context.Context, c *client.Client) {
	names := a.settings().Shells.UpdateEnv
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
	if err := c.UpdateShellEnv(ctx, api.Renewal{Env: env}); err != nil {
		fmt.Fprintln(a.Stderr, "longterm: variables of shells not updated:", err)
	}
}
