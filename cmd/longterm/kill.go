//go:build unix

package main

import (
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/longterm/internal/request"
	"github.com/longterm-dev/longterm/session/api"
	"github.com/longterm-dev/longterm/session/client"
)

func killVerb(a *app, c *cobra.Command) {
	var grace time.Duration
	c.RunE = a.onSession(func(cmd *cobra.Command, s *client.Session, _ []string) error {
		info, err := s.Kill(cmd.Context(), api.Kill{GraceMS: request.GraceMS(cmd, grace)})
		if err != nil {
			return err
		}
		return a.Print(info, func(io.Writer) {})
	})
	c.Long = "End a session's process and all its descendants: interrupt, terminate, hang up, kill, each after the grace time (exec.grace of the configuration).\nScreen and output stay until `longterm rm`."
	c.Flags().DurationVar(&grace, "grace", 200*time.Millisecond, "time each step has to work")
}
