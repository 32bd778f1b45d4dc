//go:build !unix

package viewsource

import "github.com/gdamore/tcell/v2"

// openTTY is nil: this system has only the console.
var openTTY func() (tcell.Tty, error)
