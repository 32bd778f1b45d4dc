// Command ltbench measures longterm on the machine it runs on, and does long checks. `longterm bench` runs it.
//
// It is a separate program because its code and the programs that it compares with are of no use to users of longterm.
package main

import "github.com/longterm-dev/longterm/cmd/internal/bench"

func main() { bench.Main() }
