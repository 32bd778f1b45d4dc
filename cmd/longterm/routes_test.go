//go:build unix

package main

import (
	"strings"
	"testing"

	"github.com/longterm-dev/longterm/session/daemon/httpapi"
)

// The verb that the table of routes says asks for a route is one.
func TestVerbsOfRoutes(t *testing.T) {
	root := rootCommand(newApp(), nil)
	for i := range httpapi.Routes {
		r := &httpapi.Routes[i]
		if r.Verb == "" { // programs ask for it
			continue
		}
		if c, _, err := root.Find(strings.Fields(r.Verb)); err != nil || c == root || c.CommandPath() != "longterm "+r.Verb {
			t.Errorf("%s is asked for by %q, which is no verb", r.ID, r.Verb)
		}
	}
}
