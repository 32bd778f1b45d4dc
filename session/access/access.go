// Package access says who may come in where others than the user's own processes can knock: over TCP.
//
//	request → Source.Check (Host, Origin: no page of somebody else's asks through a browser)
//	        → BearerOf → Store.Verify (hash, constant time, expiry) → Grant: name, level, one session or all
//
// A token is a random secret that is shown once. What is kept is its SHA-256: 130 random bits are not guessed,
// so a slow hash would only slow requests down. The daemon alone writes the file (Store.Make, Store.Revoke); other
// processes of the user, such as the MCP server, read it (Store.Verify looks whether it was replaced).
//
// The package knows no session and no route: what a level and a session's id mean for a request is its caller's.
package access

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
