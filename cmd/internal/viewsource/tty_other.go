//go:build !unix

package viewsource

import "github.com/gdamore/tcell/v2"

// openTTY is nil: there is but the console.
var openTTY func() (tcell.Tty, error)
