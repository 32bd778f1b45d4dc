//go:build unix

package request

import (
	"time"

	"github.com/spf13/cobra"
)

// GivenOr is a flag's value when the flag is given, else the configuration's.
func GivenOr[T any](cmd *cobra.Command, flag string, given, configured T) T {
	if cmd.Flags().Changed(flag) {
		return given
	}
	return configured
}

// GraceHelp is the help of --grace.
const GraceHelp = "time each step has to work; it ends early once all processes have exited (default: exec.grace of the configuration, 10s; for agents exec.agent_grace, 2s)"

// GraceMS is a --grace in milliseconds; 0: it is not given, and the configuration's counts.
func GraceMS(cmd *cobra.Command, d time.Duration) int {
	if !cmd.Flags().Changed("grace") {
		return 0
	}
	return max(1, int(d.Milliseconds()))
}
