//go:build unix

package fastpath

import "github.com/longterm-dev/longterm/cmd/internal/termio/takeover"

// Terminal is the terminal that was taken over for the verb, which must restore it. nil if unset.
var Terminal *takeover.Terminal
