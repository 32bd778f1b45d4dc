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

// bridgeVerb returns the hidden verb at both ends of a connection to a remote host: ssh runs it there, and the process
// that holds the connection runs it here with --link.
func bridgeVerb(a *app, c *cobra.Command) {
	var target, program string
	var readyFD int
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if target != "" {
			return a.link(cmd.Context(), target, program, readyFD)
		}
		a.host = "" // ignore LONGTERM_HOST: the bridge serves this host
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
	c.Long = `Pass connections on between standard input and output and the daemon. The daemon is started if it is not
running. ssh runs this verb on remote hosts for ` + "`longterm -H HOST`" + `; do not call it by hand.`
	f := c.Flags()
	f.StringVar(&target, "link", "", "`HOST` whose connection to hold")
	f.StringVar(&program, "program", "longterm", "`PATH` of longterm on the host")
	f.IntVar(&readyFD, "ready-fd", 0, "`DESCRIPTOR` that receives ok when clients can connect")
	for _, name := range []string{"link", "program", "ready-fd"} {
		_ = f.MarkHidden(name)
	}
}

// pollable returns fd as a file whose pending reads and writes end on Close; those of a blocking file do not.
func pollable(fd int, name string) *os.File {
	_ = syscall.SetNonblock(fd, true) // on failure the file stays blocking
	return os.NewFile(uintptr(fd), name)
}

// link runs the process that holds the connection to a host. It writes "ok" or the error to readyFD.
func (a *app) link(ctx context.Context, name, program string, readyFD int) error {
	h, err := a.hosts()
	if err != nil {
		return err
	}
	w, err := h.Way(name)
	if err != nil {
		return err
	}
	report := func(string) {}
	if readyFD > 0 {
		ready := os.NewFile(uintptr(readyFD), "ready")
		report = func(word string) {
			_, _ = ready.WriteString(word + "\n")
			_ = ready.Close()
		}
	}
	l := hosts.Link{Target: w.Target, SSH: w.SSH, Program: program, Keep: h.Settings.Hosts.ConnIdleTimeout, Version: version(), Log: logs.To(os.Stderr)}
	served := false
	err = l.Serve(ctx, func() {
		served = true
		report("ok")
	})
	if err != nil && !served {
		report(err.Error())
	}
	return err
}
