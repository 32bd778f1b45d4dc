//go:build unix

package bench

import "github.com/spf13/cobra"

// Benches are what can be measured here.
var Benches = []func(*Program) *cobra.Command{
	sessionsCommand, emulatorCommand, crashCommand, soakCommand, detectCommand, viewerCommand, expectCommand, policyCommand, agentCommand,
	webCommand, scaleCommand, fleetCommand, simulateCommand, sshCommand, docsCommand,
}
