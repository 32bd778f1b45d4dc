// Package apitoken controls access where other users' processes can connect: over TCP.
//
//	request → Source.Check (Host, Origin: rejects requests of foreign web pages)
//	        → BearerOf → Store.Verify (hash, constant time, expiry) → Grant: name, level, one session or all
//
// A token is a random secret that is shown once. Only its SHA-256 is stored: 130 random bits cannot be guessed, so a
// slow hash would only slow requests down. Only the daemon writes the file (Store.Make, Store.Revoke); other processes
// of the user, such as the MCP server, read it (Store.Verify detects a replaced file).
//
// The package knows neither sessions nor routes: its caller interprets levels and session ids.
package apitoken

import (
	"fmt"
	"strings"
)

// Level is how much a token lets its holder do.
type Level int

// Levels, each with all of those before it.
const (
	Read   Level = iota // looks only
	Change              // runs and types
	All                 // ends and removes, too
)

var levelNames = []string{"read", "change", "all"}

func (l Level) String() string { return levelNames[l] }

// ParseLevel reads a level's name.
func ParseLevel(name string) (Level, error) {
	for i, n := range levelNames {
		if n == name {
			return Level(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no level; there are %s", name, strings.Join(levelNames, ", "))
}
