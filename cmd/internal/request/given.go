//go:build unix

package request

import (
	"time"

	"github.com/spf13/cobra"
)

// FlagOr returns a flag's value if the flag was given, else the configured value.
func FlagOr[T any](cmd *cobra.Command, flag string, given, configured T) T {
	if cmd.Flags().Changed(flag) {
		return given
	}
	return configured
}

// GraceHelp is the help text of --grace.
const GraceHelp = "longest wait after each signal, until all processes have exited (default: exec.grace, 10s; for agents exec.agent_grace, 2s)"

// GraceMS returns --grace in milliseconds, or 0 if it is not given: the configuration applies then.
func GraceMS(cmd *cobra.Command, d time.Duration) int {
	if !cmd.Flags().Changed("grace") {
		return 0
	}
	return max(1, int(d.Milliseconds()))
}
