//go:build unix

package main

import (
	"context"
	"net"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/logs"
	"github.com/longterm-dev/longterm/session/hosts"
	"github.com/longterm-dev/longterm/session/sys/unixsock/netsock"
)

// bridgeVerb is both ends of the way to another host: there, what ssh runs; here, the process that holds the
// connection.
func bridgeVerb(a *app, c *cobra.Command) {
	var target, program string
	var readyFD int
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if target != "" {
			return a.link(cmd.Context(), target, program, readyFD)
		}
		a.host = "" // whatever the environment says: it is about this host
		b, err := a.connect()
		if err != nil {
			return err
		}
		bridge := hosts.Bridge{In: pollable(0, "stdin"), Out: pollable(1, "stdout"), Version: version(), Dial: func(ctx context.Context) (net.Conn, error) {
			if conn, err := netsock.Dial(b.dirs.Socket()); err == nil {
				return conn, nil
			}
			if err := b.client.Ensure(ctx); err != nil {
				return nil, err
			}
			return netsock.Dial(b.dirs.Socket())
		}}
		return bridge.Serve(cmd.Context())
	}
	c.Long = `Pass connections on between standard input and output and the daemon, which is started if it does not run.
ssh runs it on other hosts, for ` + "`longterm -H HOST`" + `; it is of no use by hand.`
	f := c.Flags()
	f.StringVar(&target, "link", "", "hold the connection to this host")
	f.StringVar(&program, "program", "longterm", "longterm there")
	f.IntVar(&readyFD, "ready-fd", 0, "descriptor to say on that clients may come")
	for _, name := range []string{"link", "program", "ready-fd"} {
		_ = f.MarkHidden(name)
	}
}

// pollable is a pipe whose reads and writes end when it is closed, which those of a blocking one do not.
func pollable(fd int, name string) *os.File {
	_ = syscall.SetNonblock(fd, true) // else it is as it was
	return os.NewFile(uintptr(fd), name)
}

// link is the process that holds the connection to a host.
func (a *app) link(ctx context.Context, name, program string, readyFD int) error {
	h, err := a.hosts()
	if err != nil {
		return err
	}
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	tell := func(string) {}
	if readyFD > 0 {
		ready := os.NewFile(uintptr(readyFD), "ready")
		tell = func(word string) {
			_, _ = ready.WriteString(word + "\n")
			_ = ready.Close()
		}
	}
	l := hosts.Link{Target: w.Target, SSH: w.SSH, Program: program, Keep: h.Settings.Hosts.Keep, Version: version(), Log: logs.To(os.Stderr)}
	served := false
	err = l.Serve(ctx, func() {
		served = true
		tell("ok")
	})
	if err != nil && !served {
		tell(err.Error())
	}
	return err
}
