package bench

import "github.com/spf13/cobra"

// Benches are what can be measured here.
var Benches = []func(*Program) *cobra.Command{emulatorCommand, policyCommand, docsCommand}
