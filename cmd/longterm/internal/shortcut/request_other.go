//go:build !linux

package shortcut

// request is the verbs' own: who serves a socket is asked in each system's way.
func request(string, string, string, *bool) (string, bool) { return "", false }
