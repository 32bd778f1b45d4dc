package fastpath

import "errors"

// newSession returns false: sessions are not supported on Windows.
func newSession(string, []string) (string, bool) { return "", false }

// randomID returns an error: nothing on Windows needs it.
func randomID() (string, error) { return "", errors.ErrUnsupported }
