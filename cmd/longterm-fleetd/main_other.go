//go:build !unix

// Command longterm-fleetd is the server of a fleet, on Unix.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "longterm-fleetd: a fleet's server runs on Linux and macOS")
	os.Exit(1)
}
