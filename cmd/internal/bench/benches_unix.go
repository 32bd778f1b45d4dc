//go:build unix

package bench

import (
	"github.com/spf13/cobra"

	"github.com/longterm-dev/longterm/cmd/internal/bench/faults"
)

// Benches lists the benches available on this system.
var Benches = []func(*Program) *cobra.Command{
	sessionsCommand, emulatorCommand, crashCommand, soakCommand, detectCommand, viewerCommand, expectCommand, policyCommand, agentCommand,
	webCommand, scaleCommand, fleetCommand, simulateCommand, sshCommand, docsCommand,
	func(p *Program) *cobra.Command { return faults.Command(p.Printer, p.Path) },
}
