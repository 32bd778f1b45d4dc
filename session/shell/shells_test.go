//go:build unix

package shell

import "github.com/longterm-dev/longterm/session/sessiontest/tier"

// testShell is a shell for tests: its name in tests, and its command.
type testShell struct {
	name string
	argv []string
}

// shells are the shells of tests with real shells. The default tier has bash and dash only.
var shells = func() []testShell {
	list := []testShell{{"bash", []string{"bash"}}, {"dash", []string{"dash"}}}
	if tier.IsFull() {
		for _, name := range []string{"zsh", "fish", "mksh", "ksh"} {
			list = append(list, testShell{name, []string{name}})
		}
	}
	return list
}()
