//go:build unix

package shortcut

import "github.com/longterm-dev/longterm/cmd/internal/termio/takeover"

// Taken is the terminal that was taken for the verb, whose it is to give back; nil: none was.
var Taken *takeover.Taken
